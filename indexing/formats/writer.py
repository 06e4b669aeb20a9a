"""Puts the text of a document together: paragraphs, headings, pages, tables, documents inside.

Keeps what a chunk needs to be understood: where each heading and each page starts.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from chunking.types import Document, Heading
from indexing.errors import SourceError
from indexing.formats.table import row_lines
from indexing.limits import Limits

BREAK = "\n\n"
DEEPEST = 6

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ud800-\udfff]")
"""Control characters and halves of surrogate pairs: no text of any document."""


class Writer:
    """A document while it is read. Blocks are separated by a blank line."""

    def __init__(self, limits: Limits) -> None:
        self.headings: list[Heading] = []
        self._limits = limits
        self._parts: list[str] = []
        self._length = 0
        self._pages: list[int] = []
        self._blank = 0

    def page(self) -> None:
        """Start a page; it begins where the next text does."""
        self._blank += 1

    def paragraph(self, text: str) -> int:
        """Add a block of text, if there is any; return where it starts."""
        text = _UNPRINTABLE.sub("", text).strip()
        if not text:
            return self._length
        start = self._length + (len(BREAK) if self._parts else 0)
        self._pages += [start] * self._blank
        self._blank = 0
        self._parts.append(text)
        self._length = start + len(text)
        self._limits.check_unpacked(self._length)
        return start

    def heading(self, level: int, text: str) -> None:
        """Add a heading as one line of the text; an empty one is none."""
        name = " ".join(_UNPRINTABLE.sub("", text).split())
        if name:
            start = self.paragraph(name)
            self.headings.append(Heading(start, min(max(level, 1), DEEPEST), name))

    def table(self, rows: Iterable[Sequence[str]], header: bool | None = None) -> None:
        """Add a table, a block a row; see `table.row_lines`."""
        for line in row_lines(rows, header):
            self.paragraph(line)

    def embed(self, document: Document, deeper: int = 0) -> None:
        """Add the text of another document, its headings ``deeper`` levels down."""
        if not document.text.strip():
            return
        start = self.paragraph(document.text)
        lead = len(document.text) - len(document.text.lstrip())
        self.headings += [
            Heading(start + head.start - lead, min(head.level + deeper, DEEPEST), head.text)
            for head in document.headings
        ]

    def document(self, title: str = "", at: datetime | None = None, empty: str = "") -> Document:
        """Return the document; without a title it is called by its first heading.

        Raises `SourceError` with the reason ``empty`` where no text was added.
        """
        text = BREAK.join(self._parts)
        if not text:
            raise SourceError(empty or "no text in it")
        named = " ".join(_UNPRINTABLE.sub("", title).split())
        if not named and self.headings:
            named = self.headings[0].text
        pages = (*self._pages, *([len(text)] * self._blank if self._pages else ()))
        return Document("", text, named, tuple(self.headings), at=at, pages=pages)
