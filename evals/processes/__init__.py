"""Several processes on one embedded store: one ingests, two retrieve, commands come and go."""
