"""Kill an ingest at random moments, run it again, compare with a run that nobody killed."""
