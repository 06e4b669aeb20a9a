"""What goes into a chunker and what comes out: documents, turns, sessions, chunks.

Invariant of every chunker: ``source.text[chunk.start:chunk.end] == chunk.text``, where the source
is the `Document` or the `Turn` that ``chunk.source_id`` names.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

TokenSpans = Callable[[str], Sequence[tuple[int, int]]]
"""Text -> character spans ``(start, end)`` of its tokens, in order, non-overlapping, end > start.

Characters that belong to no token (white space, mostly) lie between spans.
"""

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts -> unit vectors, shape ``(n, dim)``; what the semantic chunker asks about topic drift."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a document: where its line starts, its level (1 = top) and its bare text."""

    start: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its structure, as a parser hands it over.

    ``title`` is the one that the document states, empty where it states none. ``pages`` is where
    the text of each page starts, ascending; empty for a format without pages. ``tags`` are those
    that the document states, as it writes them.
    """

    source_id: str
    text: str
    title: str = ""
    headings: tuple[Heading, ...] = ()
    uri: str = ""
    at: datetime | None = None
    pages: tuple[int, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a session. ``role`` is user, assistant, system or tool.

    A tool's result has the name of the ``tool``, and whether the call ``failed`` (None: not known).
    """

    turn_id: str
    role: str
    text: str
    speaker: str = ""
    at: datetime | None = None
    tags: tuple[str, ...] = ()
    tool: str = ""
    failed: bool | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """The turns of one conversation, in order."""

    session_id: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of one source, with what a reader needs to understand it out of place.

    ``before`` is the turn before a chat turn ("Anna: where is it?"), never part of the span.
    ``page`` is the page that it starts on, from 1; 0 for a format without pages.
    """

    source_id: str
    ordinal: int
    start: int
    end: int
    text: str
    title: str = ""
    headings: tuple[str, ...] = ()
    speaker: str = ""
    role: str = ""
    at: datetime | None = None
    before: str = ""
    page: int = 0


Chunker = Callable[[Document], list[Chunk]]
