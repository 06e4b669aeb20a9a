"""Read a document's headings: the path at a position, the sections between, a chunk's own path.

Does not: find headings in a text; a parser hands them over.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from chunking.cuts import solid
from chunking.types import Chunk, Document, Heading

Path = tuple[str, ...]

_LINE = re.compile(r"[^\r\n]*(?:(?:\r\n|\r|\n)[ \t]*(?:=+|-+)[ \t]*(?=[\r\n]|\Z))?")
"""A heading's line, with the underline that Markdown may put under it."""


@dataclass(frozen=True, slots=True)
class Section:
    """From one heading to the next: where it starts, where its text starts, where it ends.

    ``level`` is 0 before the first heading. ``body >= end`` where there is no text.
    """

    start: int
    body: int
    end: int
    level: int
    path: Path


def paths(headings: Iterable[Heading]) -> list[tuple[Heading, Path]]:
    """Return the headings in order, each with the path that ends in it.

    >>> [path for _, path in paths([Heading(0, 1, "A"), Heading(9, 3, "B"), Heading(20, 2, "C")])]
    [('A',), ('A', 'B'), ('A', 'C')]
    """
    found: list[tuple[Heading, Path]] = []
    open_: list[Heading] = []
    for heading in sorted(headings, key=lambda heading: heading.start):
        while open_ and open_[-1].level >= heading.level:
            open_.pop()
        open_.append(heading)
        found.append((heading, tuple(each.text for each in open_)))
    return found


def path_at(document: Document) -> Callable[[int], Path]:
    """Return a function: position -> texts of the headings above it, outermost first."""
    found = paths(document.headings)
    starts = [heading.start for heading, _ in found]
    by_index: list[Path] = [(), *(path for _, path in found)]
    return lambda at: by_index[bisect_right(starts, at)]


def sections(document: Document) -> list[Section]:
    """Return the sections, in order; together they are the whole text.

    A heading without text joins the deeper one that follows: "Chapter 1" stays with "1.1".
    """
    text = document.text
    marks = [pair for pair in paths(document.headings) if 0 <= pair[0].start < len(text)]
    ends = [*(heading.start for heading, _ in marks), len(text)]
    first = solid(text, 0)
    found = [Section(first, first, ends[0], 0, ())] if first < ends[0] else []
    for (heading, path), end in zip(marks, ends[1:], strict=True):
        line = _LINE.match(text, heading.start, end)
        body = solid(text, line.end() if line else end)
        start = solid(text, heading.start)
        if found and found[-1].body >= found[-1].end and found[-1].level < heading.level:
            start = found.pop().start
        found.append(Section(start, body, end, heading.level, path))
    return found


def document_chunk(document: Document, ordinal: int, span: tuple[int, int], path: Path) -> Chunk:
    """Make a chunk of a document from its span and heading path."""
    start, end = span
    return Chunk(
        source_id=document.source_id,
        ordinal=ordinal,
        start=start,
        end=end,
        text=document.text[start:end],
        title=document.title,
        headings=path,
        at=document.at,
        page=bisect_right(document.pages, start),
    )
