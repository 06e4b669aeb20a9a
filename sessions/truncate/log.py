"""Logs: errors with the traces behind them, warnings, the first and the last lines.

A line that was there before, but for its time, is counted at the first one; of lines that differ in
numbers only the first comes first.
"""

from collections import Counter
from collections.abc import Sequence

from sessions.truncate.frames import Mark, marked
from sessions.truncate.levels import ERROR, WARNING, is_logged, level, like, same
from sessions.truncate.plan import Piece, Pieces, Plan, Rank, clipped
from sessions.truncate.text import at_ends
from sessions.truncate.trace import told
from sessions.truncate.wanted import Wanted

ENDS = 2
"""Lines at the start and at the end that come right behind the errors."""

BEHIND = 40
"""Lines behind an error that may belong to it."""


def plan_log(wanted: Wanted) -> Plan:
    """Return the plan of a log."""
    lines = [line for line in wanted.text.splitlines() if line.strip()]
    marks = marked(lines)
    for number in range(1, len(marks)):
        if marks[number] == "more":
            marks[number] = marks[number - 1]
    grades = [level(line) for line in lines]
    inside = _behind_errors(lines, grades)
    times = Counter(map(same, lines))
    seen: set[str] = set()
    pieces: list[Piece] = []
    counts: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        key = same(line)
        rank: Rank | None = _rank(
            grades[number], like(key) in seen, inside[number], marks[number], number, len(lines)
        )
        if worth := wanted.worth(line):
            rank = (0.5, -worth, number)
        repeated = times[key] > 1 and not inside[number]
        library = inside[number] and marks[number] == "library"
        if library or (repeated and key in seen):
            rank = None
        seen |= {key, like(key)}
        pieces.append(Piece(clipped(line), rank, f"  [×{times[key]:,}]" if repeated else ""))
        counts.append((1, int(library)))
    return Pieces(pieces, lambda first, end: told(counts[first:end], lead=""))


def _behind_errors(lines: Sequence[str], grades: Sequence[int]) -> list[bool]:
    """Tell of each line whether it belongs to an error above it: it is no entry by itself."""
    found: list[bool] = []
    error = -BEHIND
    for number, line in enumerate(lines):
        entry = is_logged(line)
        found.append(not entry and number - error < BEHIND)
        if not found[-1] and grades[number] == ERROR:
            error = number
        elif entry:
            error = -BEHIND
    return found


def _rank(grade: int, again: bool, inside: bool, mark: Mark, number: int, total: int) -> Rank:
    """Errors and what is behind them, ends, warnings, then what is like an earlier line."""
    ends = at_ends(number, total)
    if inside:
        return (1.5 if mark in ("own", "error") else 2.5, *ends)
    if grade == ERROR:
        return (3 if again else 0, *ends)
    if min(number, total - 1 - number) < ENDS:
        return (1, *ends)
    if grade == WARNING:
        return (4 if again else 2, *ends)
    return (6 if again else 5, *ends)
