"""One page of a PDF -> its lines with their places; the lines of a ruled table become its rows."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from indexing.formats.pdf_table import Box, Grid, find_grids

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

MOST_PATHS = 5_000
"""Drawn lines of a page above which it is a drawing, not a table."""
KEPT = 0.95
"""Share of a table's letters that its cells must hold, or it stays as lines."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, its upper and lower edge in points; or, with no text, a table's rows."""

    text: str
    top: float
    bottom: float
    table: tuple[tuple[str, ...], ...] | None = None

    @property
    def height(self) -> float:
        """Height of its letters in points."""
        return self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Page:
    """What a page shows."""

    lines: tuple[Line, ...]
    has_image: bool


def read_page(page: "PdfPage") -> Page:
    """Read a page and close it."""
    from pypdfium2 import raw

    text = page.get_textpage()
    boxes: list[Box] = []
    has_image = False
    for drawn in page.get_objects(max_depth=3):
        if drawn.type == raw.FPDF_PAGEOBJ_IMAGE:
            has_image = True
        elif drawn.type == raw.FPDF_PAGEOBJ_PATH and len(boxes) <= MOST_PATHS:
            boxes.append(Box(*drawn.get_bounds()))
    grids = find_grids(boxes) if len(boxes) <= MOST_PATHS else []
    lines = _with_tables(text, _lines(text), grids)
    text.close()
    page.close()
    return Page(tuple(lines), has_image)


def _lines(text: "PdfTextPage") -> list[tuple[Line, float]]:
    """Return the lines in reading order, each with the left edge of its first letter."""
    from pypdfium2 import raw

    found: list[tuple[Line, float]] = []
    start = 0
    box = raw.FS_RECTF()
    for line in text.get_text_range(errors="replace").split("\r\n"):
        if line.strip():
            lead = start + len(line) - len(line.lstrip())
            at = raw.FPDFText_GetCharIndexFromTextIndex(text.raw, lead)
            raw.FPDFText_GetLooseCharBox(text.raw, at, ctypes.byref(box))
            top, bottom = max(box.top, box.bottom), min(box.top, box.bottom)
            found.append((Line(line.strip(), top, bottom), box.left))
        start += len(line) + 2
    return found


def _with_tables(
    text: "PdfTextPage", lines: Sequence[tuple[Line, float]], grids: Sequence[Grid]
) -> list[Line]:
    """Put the rows of each ruled table in place of the lines inside it."""
    inside: dict[int, list[Line]] = {}
    for line, left in lines:
        for number, grid in enumerate(grids):
            if grid.holds(left + 1, (line.top + line.bottom) / 2):
                inside.setdefault(number, []).append(line)
                break
    rows = {number: _rows(text, grids[number]) for number in inside}
    kept = {
        id(line): number
        for number, held in inside.items()
        if _letters(rows[number]) >= KEPT * sum(len("".join(line.text.split())) for line in held)
        for line in held
    }
    found: list[Line] = []
    done: set[int] = set()
    for line, _ in lines:
        number = kept.get(id(line), -1)
        if number < 0:
            found.append(line)
        elif number not in done:
            done.add(number)
            found.append(Line("", line.top, line.bottom, rows[number]))
    return found


def _rows(text: "PdfTextPage", grid: Grid) -> tuple[tuple[str, ...], ...]:
    def cell(box: Box) -> str:
        return str(text.get_text_bounded(*box, errors="replace")).replace("\ufffe", "")

    return tuple(tuple(cell(box) if box else "" for box in row) for row in grid.cells)


def _letters(rows: Sequence[Sequence[str]]) -> int:
    return sum(len("".join(cell.split())) for row in rows for cell in row)
