"""Questions about numbers: two sample databases, hand-written questions, their gold SQL."""
