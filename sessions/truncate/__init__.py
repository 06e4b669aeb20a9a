"""Long tool results cut to what a reader needs of them, by their kind. Pure functions."""

from sessions.truncate.cut import cut, shorten
from sessions.truncate.detect import Kind, detect

__all__ = ["Kind", "cut", "detect", "shorten"]
