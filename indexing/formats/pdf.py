"""PDF -> document, through PDFium: text by page, headings by bookmark or by size, ruled tables.

Does not: recognise letters in a picture. A file that is mostly scanned pages is refused and says
so.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from chunking.types import Document
from indexing.errors import SourceError
from indexing.formats.extra import needs
from indexing.formats.pdf_page import Line, Page, read_page
from indexing.formats.writer import Writer
from indexing.limits import Limits

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

LARGER = 1.2
"""A line is a heading by size when it is so much higher than the most usual line."""
LONGEST_HEADING = 200
MOST_HEADINGS = 0.3
"""Above this share of all letters, size tells nothing about headings."""
GAP = 0.6
"""White space between two lines, in heights of a line, from which a paragraph starts."""

_HYPHEN = re.compile(r"\ufffe(\S?)")
_UNREADABLE = re.compile(r"[\ue000-\uf8ff\ufffd\x00-\x08\x0e-\x1f]")
_NO_TITLE = re.compile(
    r"untitled|без имени|\(anonymous\)|\(unspecified\)|microsoft (word|powerpoint|excel) - .*"
    r"|.*\.(docx?|pptx?|xlsx?|rtf|odt|pdf|indd|tex|html?)",
    re.I,
)
_SCANNED = "scanned pages, it needs OCR first"

Place = tuple[int, int]
"""A line: number of the page, number of the line, both from 0."""


def parse_pdf(data: bytes, limits: Limits) -> Document:
    """Read the text layer of a PDF."""
    with needs("PDF"):
        from pypdfium2 import PdfDocument, PdfiumError
    try:
        document = PdfDocument(data)
    except PdfiumError as error:
        if "password" in str(error).lower():
            raise SourceError("encrypted: it asks for a password; save it without one") from error
        raise SourceError("damaged PDF: it cannot be opened") from error
    try:
        limits.check_pages(len(document))
        pages = []
        for number in range(len(document)):
            pages.append(read_page(document[number]))
            limits.check_unpacked(sum(len(line.text) for line in pages[-1].lines))
        marks = list(_bookmarks(document))
        stated = document.get_metadata_value("Title").strip()
    except PdfiumError as error:
        raise SourceError("damaged PDF: a page cannot be read") from error
    finally:
        document.close()
    _check_text(pages)
    headings = _by_bookmark(pages, marks) or _by_size(pages)
    return _write(pages, headings, limits, "" if _NO_TITLE.fullmatch(stated) else stated)


def _check_text(pages: Sequence[Page]) -> None:
    scanned = sum(not page.lines and page.has_image for page in pages)
    if scanned * 2 > len(pages):
        raise SourceError(
            f"no text: {_SCANNED}"
            if scanned == len(pages)
            else f"{scanned} of {len(pages)} pages have no text: {_SCANNED}"
        )
    text = "".join(line.text for page in pages for line in page.lines)
    if not text:
        raise SourceError("no text in it")
    if len(_UNREADABLE.findall(text)) * 3 > len(text):
        raise SourceError("its fonts do not tell which letters they draw, it needs OCR first")


def _bookmarks(document: "PdfDocument") -> Iterator[tuple[int, int, str]]:
    """Yield page (from 0), level (from 1) and title of each bookmark that leads to a page."""
    for mark in document.get_toc(max_depth=6):
        target = mark.get_dest()
        page = target.get_index() if target else None
        if page is not None:
            yield page, mark.level + 1, mark.get_title()


def _by_bookmark(pages: Sequence[Page], marks: Sequence[tuple[int, int, str]]) -> dict[Place, int]:
    """Return the level of each line that a bookmark names."""
    found: dict[Place, int] = {}
    for number, level, title in marks:
        name = _letters(title)
        lines = pages[number].lines if 0 <= number < len(pages) else ()
        for at, line in enumerate(lines):
            if name and (number, at) not in found and _letters(line.text) == name:
                found[number, at] = level
                break
    return found


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text).casefold()


def _by_size(pages: Sequence[Page]) -> dict[Place, int]:
    """Return the level of each line that is larger than most; the largest have level 1."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[round(line.height)] += len(line.text)
    usual = sizes.most_common(1)[0][0]
    large = {
        (number, at): round(line.height)
        for number, page in enumerate(pages)
        for at, line in enumerate(page.lines)
        if line.height >= usual * LARGER
        and len(line.text) <= LONGEST_HEADING
        and line.table is None
        and any(map(str.isalpha, line.text))
    }
    letters = sum(len(pages[number].lines[at].text) for number, at in large)
    if letters > MOST_HEADINGS * sizes.total():
        return {}
    ranks = {size: rank for rank, size in enumerate(sorted(set(large.values()), reverse=True), 1)}
    return {place: ranks[size] for place, size in large.items()}


def _write(
    pages: Sequence[Page], headings: dict[Place, int], limits: Limits, title: str
) -> Document:
    writer = Writer(limits)
    for number, page in enumerate(pages):
        writer.page()
        block: list[str] = []
        before: Line | None = None
        for at, line in enumerate(page.lines):
            level = headings.get((number, at))
            if level or line.table is not None or (before and _apart(before, line)):
                _flush(writer, block)
            if line.table is not None:
                writer.table(line.table)
            elif level:
                writer.heading(level, _joined(line.text))
            else:
                block.append(line.text)
            before = line
        _flush(writer, block)
    return writer.document(title)


def _apart(before: Line, line: Line) -> bool:
    gap = before.bottom - line.top
    return gap > GAP * line.height or gap < -3 * line.height  # a gap, or the next column


def _flush(writer: Writer, block: list[str]) -> None:
    writer.paragraph(_joined("\n".join(block)))
    block.clear()


def _joined(text: str) -> str:
    """Join words that were cut at the end of a line; a hyphen before a capital stays."""
    return _HYPHEN.sub(lambda found: ("" if found[1].islower() else "-") + found[1], text)
