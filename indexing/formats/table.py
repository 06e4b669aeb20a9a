"""Rows of a table -> a line a row that stays clear wherever a chunk is cut.

``Code: BX-1; Price: 10``: every value stands beside the name of its column, and the row's own name
comes first. Does not: read any format; readers hand over cells as text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

SAMPLE = 50
"""Rows that are looked at before it is decided whether the first is a header."""

LONGEST_NUMBER = 40
"""Characters, with its unit."""

_NUMBER = re.compile(
    r"[-+−(]?[^\w\s]{0,2}\d[\d\s.,:/%'’-]*[)%]?\s*(?:[^\W\d]{0,4}\.?|[^\w\s]{0,2})"
)
_YEAR = re.compile(r"(19|20)\d\d(\s*(г|год|year)\.?)?")

Row = Sequence[str]


def row_lines(rows: Iterable[Row], header: bool | None = None) -> Iterator[str]:
    """Yield a line for each row that has a value.

    ``header`` tells whether the first row names the columns; None: look at the rows. A title above
    the table, a row of one cell, is a line of its own. Without a header a row of two is
    ``name: value`` and a longer one ``a | b | c``. A lone header is written like that too.

    >>> list(row_lines([("Код", "Цена"), ("BX-1", "10"), ("BX-2", "")]))
    ['Код: BX-1; Цена: 10', 'Код: BX-2']
    >>> list(row_lines([("Заказчик", "ООО «Вега»"), ("Договор", "17/2")]))
    ['Заказчик: ООО «Вега»', 'Договор: 17/2']
    """
    full = (clean for row in rows if any(clean := [" ".join(cell.split()) for cell in row]))
    first = list(islice(full, SAMPLE))
    if any(_filled(row) > 1 for row in first):
        while _filled(first[0]) == 1:
            yield next(filter(None, first.pop(0)))
    if header is None:
        header = _is_header(first)
    if not header or len(first) < 2:
        yield from (_bare(row) for row in chain(first, full))
        return
    names = first[0]
    yield from (_named(names, row) for row in chain(first[1:], full))


def looks_named(rows: Sequence[Row]) -> bool:
    """Tell whether no cell of the first row is a number; a year is a name."""
    return bool(rows) and all(not _number(cell) for cell in rows[0])


def _is_header(rows: Sequence[Row]) -> bool:
    """A header names every column but perhaps the first; one of two has numbers below it."""
    if len(rows) < 2 or not looks_named(rows) or not all(rows[0][1:]):
        return False
    width = max(map(len, rows))
    if len(rows[0]) < 2 or len(rows[0]) < width:
        return False
    if width > 2:
        return len(set(rows[0])) == len(rows[0])
    below = [row[1] for row in rows[1:] if len(row) > 1 and row[1]]
    return not rows[0][0] or (len(below) > 1 and all(map(_number, below)))


def _number(cell: str) -> bool:
    if len(cell) > LONGEST_NUMBER or _YEAR.fullmatch(cell):
        return False
    return bool(_NUMBER.fullmatch(cell))


def _filled(row: Row) -> int:
    return sum(map(bool, row))


def _named(names: Row, row: Row) -> str:
    pairs = zip(names, row, strict=False)
    named = [f"{name}: {value}" if name else value for name, value in pairs if value]
    return "; ".join([*named, *filter(None, row[len(names) :])])


def _bare(row: Row) -> str:
    values = [value for value in row if value]
    return ": ".join(values) if len(row) == 2 else " | ".join(values)
