"""What a conversation says, by rules: its lines by kind, open questions, topics, support.

Pure: no store, no clock, no model. The kinds are those of `sessions.types.LineKind`.
"""

from sessions.speech.classify import has_number
from sessions.speech.read import AROUND, is_question, lines_since, read_lines, still_open
from sessions.speech.support import supported
from sessions.speech.topics import topics

__all__ = [
    "AROUND",
    "has_number",
    "is_question",
    "lines_since",
    "read_lines",
    "still_open",
    "supported",
    "topics",
]
