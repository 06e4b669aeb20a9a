"""News: title, dateline and first paragraph, which say what has happened; and what is asked for."""

import re

from sessions.truncate.article import prose
from sessions.truncate.plan import Plan
from sessions.truncate.wanted import Wanted

SHORT = 160
"""A paragraph of fewer characters that does not end like a sentence is a title or a dateline."""

_PARAGRAPH = re.compile(r"\S[^\n]*(?:\n(?![ \t]*\n)[^\n]*)*")
_LINE = re.compile(r"[^\n]+")
_ENDS = re.compile(r"[.!?…][\"'»”)]*\s*\Z")


def plan_news(wanted: Wanted) -> Plan:
    """Return the plan of a news item."""
    return prose(wanted, lead_end(wanted.text))


def lead_end(text: str) -> int:
    """Return where the first paragraph ends, titles and datelines above it apart."""
    end = 0
    for match in _PARAGRAPH.finditer(text):
        end = match.end()
        paragraph = match[0].rstrip()
        last = paragraph.rsplit("\n", 1)[-1]
        if len(paragraph) >= SHORT or (_ENDS.search(last) and " " in last):
            return _first_line(text, match.start(), end)
    return end


def _first_line(text: str, start: int, end: int) -> int:
    """Return the end of the first long line that is a sentence, else of the paragraph."""
    for match in _LINE.finditer(text, start, end):
        if len(match[0]) >= SHORT and _ENDS.search(match[0]):
            return match.end()
    return end
