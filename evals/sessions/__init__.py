"""Scripted long conversations, and whether what they said early is in the context at their end."""

NAME = "sessions"
"""The suite, as `letopis eval run` names it."""
