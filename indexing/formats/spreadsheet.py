"""XLSX, XLSB, XLS, ODS -> documents: a sheet is a page and a heading, a row a line with names.

Values are those that the program stored; a formula that was never calculated has none.
"""

import io
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from chunking.types import Document
from indexing.errors import SourceError
from indexing.formats.container import PROPERTIES, Container
from indexing.formats.extra import needs
from indexing.formats.writer import Writer
from indexing.limits import Limits

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

Value = int | float | str | bool | time | date | datetime | timedelta


def parse_spreadsheet(data: bytes, limits: Limits) -> Document:
    """Read every sheet, hidden ones too."""
    title = ""
    if data.startswith(b"PK"):
        title = Container(data, limits).title(PROPERTIES)
    with needs("XLSX"):
        from python_calamine import CalamineError, CalamineWorkbook, PasswordError
    writer = Writer(limits)
    filled = False
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(data))
        limits.check_pages(len(book.sheet_names), "sheets")
        for name in book.sheet_names:
            rows = _rows(book.get_sheet_by_name(name))
            writer.page()
            if any(map(any, rows)):
                filled = True
                writer.heading(1, name)
                writer.table(rows)
    except PasswordError as error:
        raise SourceError("encrypted: it asks for a password; save it without one") from error
    except CalamineError as error:
        raise SourceError(f"damaged workbook ({type(error).__name__})") from error
    if not filled:
        raise SourceError("no text in it")
    return writer.document(title)


def _rows(sheet: "CalamineSheet") -> list[list[str]]:
    """Return the cells as text; one merged over rows is in each of them, for its rows' sake."""
    rows = [[_text(value) for value in row] for row in sheet.to_python(skip_empty_area=False)]
    for (top, left), (bottom, _) in sheet.merged_cell_ranges or ():
        for row in rows[top + 1 : bottom + 1]:
            row[left] = row[left] or rows[top][left]
    return _without_margin(rows)


def _without_margin(rows: Sequence[list[str]]) -> list[list[str]]:
    """Drop the columns to the left and right of every value."""
    used = [[i for i, cell in enumerate(row) if cell] for row in rows]
    left = min((columns[0] for columns in used if columns), default=0)
    right = max((columns[-1] for columns in used if columns), default=-1)
    return [row[left : right + 1] for row in rows]


def _text(value: Value) -> str:
    """Write a value as a person would: no ".0", and no midnight.

    >>> _text(10.0), _text(datetime(2026, 5, 8)), _text(0.125)
    ('10', '2026-05-08', '0.125')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, datetime):
        return value.isoformat(" ").removesuffix(" 00:00:00")
    return str(value)
