"""Memories -> collections: embedding, vector stores, catalog, the one write path."""
