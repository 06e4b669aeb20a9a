"""Tables: the header, rows from both ends, and a line about all rows: their number, and the least
and the most of each column of numbers. CSV, TSV, Markdown, psql, MySQL and box drawings.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexing.errors import SourceError
from indexing.formats.delimited import SAMPLE, find_separator
from sessions.truncate.plan import Piece, Pieces, Plan, clipped, counted
from sessions.truncate.text import at_ends
from sessions.truncate.wanted import Wanted

COLUMNS = 8
"""Columns of numbers that are told about."""

MOST_NUMBERS = 0.9
"""The share of a column's values that are numbers where it is one of numbers."""

_BAR = re.compile(r"[|│║┃]")
_RULE = re.compile(r"[\s|+:=\-\u2500-\u257f]+\Z")
_NUMBER = re.compile(
    r"[-+−]?\d+(?:[  ,]\d{3})*(?:[.,]\d+)?\s?[%₽$€£]?\Z|[-+]?\d+(?:\.\d+)?[eE][-+]?\d+\Z"
)


@dataclass(frozen=True, slots=True)
class Rows:
    """The lines of a table: where it has its header (-1: none), rows and rules, and the cells."""

    lines: Sequence[str]
    header: int
    rows: Sequence[int]
    cells: Sequence[Sequence[str]]
    names: Sequence[str]


def plan_table(wanted: Wanted) -> Plan:
    """Return the plan of a table; lines around it are kept like its first rows."""
    lines = [line for line in wanted.text.splitlines() if line.strip()]
    table = read_rows(lines)
    rows = {number: place for place, number in enumerate(table.rows)}
    pieces = []
    for number, line in enumerate(lines):
        rank: tuple[float, ...]
        if number not in rows:
            beside = not table.rows or number < table.rows[0] or number > table.rows[-1]
            near = number <= table.header + 1
            rank = (0, number) if near else (2 if beside else 8, number)
        else:
            place = rows[number]
            is_end = place in (0, len(rows) - 1)
            worth = 0 if is_end else wanted.worth(line)
            rank = (0.5 if is_end else 1 if worth else 3, -worth, *at_ends(place, len(rows)))
        pieces.append(Piece(clipped(line), rank))

    def gap(first: int, end: int) -> str:
        left = sum(number in rows for number in range(first, end))
        return f"… {counted(left, 'row')}" if left else ""

    return Pieces(pieces, gap, tail=_about(table))


def read_rows(lines: Sequence[str]) -> Rows:
    """Return the rows of a table: drawn with bars where most of its lines have them, else CSV."""
    rules = {number for number, line in enumerate(lines) if _RULE.match(line)}
    barred = [n for n, line in enumerate(lines) if n not in rules and _BAR.search(line)]
    if rules and len(barred) * 2 > len(lines) - len(rules):
        cells = {number: _bar_cells(lines[number]) for number in barred}
    else:
        cells = _delimited(lines)
    width = _usual(list(map(len, cells.values())))
    cells = {number: row for number, row in cells.items() if len(row) == width > 1}
    numbers = list(cells)
    header = numbers[0] if numbers and not any(map(_is_number, cells[numbers[0]])) else -1
    body = [number for number in numbers if number != header]
    names = cells[header] if header >= 0 else []
    return Rows(lines, header, body, [cells[number] for number in body], names)


def _usual(widths: Sequence[int]) -> int:
    return max(set(widths), key=lambda width: (widths.count(width), width), default=0)


def _bar_cells(line: str) -> list[str]:
    return [cell.strip() for cell in _BAR.split(line.strip().strip("|│║┃"))]


def _delimited(lines: Sequence[str]) -> dict[int, list[str]]:
    """Return the cells of each line that is a row by itself; quoted line ends are none."""
    try:
        separator = find_separator("\n".join(lines)[:SAMPLE])
    except SourceError:
        separator = ""
    found: dict[int, list[str]] = {}
    for number, line in enumerate(lines):
        try:
            found[number] = [cell.strip() for cell in next(csv.reader([line], delimiter=separator))]
        except (csv.Error, StopIteration, TypeError):
            continue
    return found


def _is_number(cell: str) -> bool:
    return len(cell) < 40 and bool(_NUMBER.match(cell))


def _about(table: Rows) -> str:
    """Return the line about all rows: ``[1,200 rows; price 10 to 990.5]``."""
    told = [counted(len(table.rows), "row"), *list(_columns(table))[:COLUMNS]]
    return f"[{'; '.join(told)}]" if table.rows else ""


def _columns(table: Rows) -> Iterator[str]:
    """Yield the least and the most of each column of numbers, as they are spelled."""
    for place, name in enumerate(table.names):
        cells = [row[place] for row in table.cells if row[place]]
        numbers = [cell for cell in cells if _is_number(cell)]
        if name and len(numbers) > 1 and len(numbers) >= MOST_NUMBERS * len(cells):
            ordered = sorted(numbers, key=_value)
            yield f"{clipped(name, 40)} {ordered[0]} to {ordered[-1]}"


def _value(cell: str) -> float:
    bare = re.sub(r"[\s%₽$€£]", "", cell).replace("−", "-")
    if re.search(r",\d{3}(?:\D|\Z)", bare) or "." in bare:
        bare = bare.replace(",", "")
    return float(bare.replace(",", "."))
