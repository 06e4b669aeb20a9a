"""Conversation memory: turn log, window, digest, facts, context assembly."""
