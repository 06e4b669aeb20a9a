"""Lines drawn on a page -> grids: where the cells of ruled tables are.

Pure geometry in points, y upwards. Does not: find tables that are only white space.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

THIN = 2.5
"""A box of at most this width is a drawn line."""
NEAR = 3.0
"""Lines this close touch, or are one."""
MOST_CELLS = 20_000


class Box(NamedTuple):
    """A rectangle; also a drawn line, which is a thin one."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class Grid:
    """The cells of a table, row by row from the top; None where a cell to the left reaches over."""

    box: Box
    cells: tuple[tuple[Box | None, ...], ...]

    def holds(self, x: float, y: float) -> bool:
        """Tell whether a point is in the table."""
        return self.box.left <= x <= self.box.right and self.box.bottom <= y <= self.box.top


def find_grids(boxes: Iterable[Box]) -> list[Grid]:
    """Return the tables that drawn lines and boxes make: at least two rows and two columns."""
    lines = list(dict.fromkeys(line for box in boxes for line in _edges(box)))
    grids = (_grid(group) for group in _connected(lines))
    return [grid for grid in grids if grid is not None]


def _edges(box: Box) -> list[Box]:
    """Return a drawn line as it is, and a rectangle as its four sides."""
    wide, high = box.right - box.left, box.top - box.bottom
    if min(wide, high) <= THIN:
        return [box] if max(wide, high) > THIN else []
    left, bottom, right, top = box
    return [
        Box(left, bottom, right, bottom),
        Box(left, top, right, top),
        Box(left, bottom, left, top),
        Box(right, bottom, right, top),
    ]


def _connected(lines: Sequence[Box]) -> list[list[Box]]:
    """Group the lines that touch each other; a sweep from left to right."""
    group = list(range(len(lines)))

    def root(i: int) -> int:
        while group[i] != i:
            group[i] = group[group[i]]
            i = group[i]
        return i

    order = sorted(range(len(lines)), key=lambda i: lines[i].left)
    open_: list[int] = []
    for i in order:
        line = lines[i]
        open_ = [j for j in open_ if lines[j].right + NEAR >= line.left]
        for j in open_:
            if lines[j].bottom - NEAR <= line.top and line.bottom - NEAR <= lines[j].top:
                group[root(j)] = root(i)
        open_.append(i)
    found: dict[int, list[Box]] = {}
    for i, line in enumerate(lines):
        found.setdefault(root(i), []).append(line)
    return list(found.values())


def _grid(lines: Sequence[Box]) -> Grid | None:
    upright = [line for line in lines if line.right - line.left <= THIN]
    flat = [line for line in lines if line.top - line.bottom <= THIN]
    xs = _merged((line.left + line.right) / 2 for line in upright)
    ys = _merged((line.bottom + line.top) / 2 for line in flat)[::-1]
    if len(xs) < 3 or len(ys) < 3 or len(xs) * len(ys) > MOST_CELLS:
        return None
    cells = tuple(_row(xs, upright, top, bottom) for top, bottom in pairwise(ys))
    return Grid(Box(xs[0], ys[-1], xs[-1], ys[0]), cells)


def _merged(values: Iterable[float]) -> list[float]:
    """Return positions in order, those that are near each other once."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > NEAR:
            found.append(value)
    return found


def _row(
    xs: Sequence[float], upright: Sequence[Box], top: float, bottom: float
) -> tuple[Box | None, ...]:
    """Return the cells of a row; a cell ends where a line is drawn beside it."""
    middle = (top + bottom) / 2
    drawn = [
        any(
            abs((line.left + line.right) / 2 - x) <= NEAR and line.bottom <= middle <= line.top
            for line in upright
        )
        for x in xs
    ]
    ends = [i for i in range(1, len(xs)) if drawn[i] or i == len(xs) - 1]
    row: list[Box | None] = [None] * (len(xs) - 1)
    start = 0
    for end in ends:
        row[start] = Box(xs[start], bottom, xs[end], top)
        start = end
    return tuple(row)
