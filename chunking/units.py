"""Split a section into the units that `semantic` packs: paragraphs, sentences, code, tables.

Does not: pack, embed, cut a unit that is too long.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from chunking.cuts import solid, trimmed
from chunking.outline import Section
from chunking.sentences import BLANK_LINE, sentences
from chunking.windows import Tokenised

_KEPT = re.compile(
    r"^[ \t]*(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?^[ \t]*(?P=fence)[`~]*[ \t\r]*$|.*\Z)"
    r"|(?:^[ \t]*\|[^\n]*(?:\n|\Z))+",
    re.MULTILINE | re.DOTALL,
)
"""A fenced code block, closed or up to the end; the rows of a table."""


class Unit(NamedTuple):
    """A span that stays whole while it fits; headings stand in ``text[start:body]``."""

    start: int
    body: int
    end: int


def units(tokens: Tokenised, section: Section, size: int, by_sentence: bool) -> list[Unit]:
    """Return the units of a section, in order; its headings belong to the first.

    Paragraphs over `size` tokens are split into sentences; `by_sentence` splits them all. Code
    blocks and tables are never split here.
    """
    text = tokens.text
    found: list[Unit] = []
    start = section.start
    for body, end, kept in _blocks(text, section.body, section.end):
        if kept or (not by_sentence and tokens.near(start, end) <= size):
            pieces = [(body, end)]
        else:
            pieces = [(body + a, body + b) for a, b in sentences(text[body:end])]
        for a, b in pieces:
            found.append(Unit(start if start < section.body else a, a, b))
            start = section.body
        start = section.body
    if not found:
        end = trimmed(text, section.start, section.end)
        found = [Unit(section.start, end, end)] if end > section.start else []
    return found


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    """Yield ``(start, end, kept)``; `kept` for code and tables."""
    at = start
    for match in _KEPT.finditer(text, start, end):
        yield from _paragraphs(text, at, match.start())
        yield solid(text, match.start()), trimmed(text, match.start(), match.end()), True
        at = match.end()
    yield from _paragraphs(text, at, end)


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
    at = start
    ends = [match.start() for match in BLANK_LINE.finditer(text, start, end)] if start < end else []
    for stop in (*ends, end):
        first, last = solid(text, at), trimmed(text, at, stop)
        if first < last:
            yield first, last, False
        at = max(at, stop)
