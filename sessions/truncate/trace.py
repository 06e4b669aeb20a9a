"""Stack traces: the errors with their messages, the chain of causes and the user's own frames.

Library frames go, each run of them with a count. Where all frames are a library's, the one next to
the error stays.
"""

import re
from collections.abc import Sequence

from sessions.truncate.frames import PYTHON, Mark, marked
from sessions.truncate.plan import Piece, Pieces, Plan, Rank, clipped, counted
from sessions.truncate.text import at_ends
from sessions.truncate.wanted import Wanted

MESSAGE = 3
"""Lines behind an error that belong to its message."""

FARTHEST = 60
"""Lines between a frame and its error that are looked at."""


_CONNECTS = re.compile(
    r"\s*(?:Traceback \(most|During handling of|The above exception was|goroutine \d+ \[)"
)
"""Lines between errors that say nothing about them."""


def plan_trace(wanted: Wanted) -> Plan:
    """Return the plan of a text with stack traces."""
    lines = wanted.text.splitlines()
    marks = marked(lines)
    pieces: list[Piece] = []
    counts: list[tuple[int, int]] = []
    for first, end in blocks(lines, marks):
        text = "\n".join(clipped(line) for line in lines[first:end])
        pieces.append(Piece(text, _rank(lines, marks, first, bool(wanted.worth(text)))))
        counts.append((end - first, int(marks[first] == "library")))
    if not any(mark == "own" for mark in marks):
        _keep_nearest(lines, marks, pieces)

    def gap(first: int, end: int) -> str:
        return told(counts[first:end])

    return Pieces(pieces, gap)


def told(counts: Sequence[tuple[int, int]], lead: str = "    ") -> str:
    """Return what stands for blocks of so many lines, library frames counted apart."""
    frames = sum(library for _, library in counts)
    others = sum(number for number, library in counts if not library)
    parts = [counted(frames, "library frame")] if frames else []
    if others:
        parts.append(counted(others, "line"))
    return f"{lead}… {', '.join(parts)}"


def blocks(lines: Sequence[str], marks: Sequence[Mark]) -> list[tuple[int, int]]:
    """Return the spans of lines that are kept or left out together: a frame with its source."""
    starts = [number for number, mark in enumerate(marks) if mark != "more" or not number]
    return list(zip(starts, [*starts[1:], len(lines)], strict=True))


def _rank(lines: Sequence[str], marks: Sequence[Mark], number: int, asked: bool) -> Rank | None:
    """Errors first, the first and the last before those between; then own frames near an error."""
    mark, total = marks[number], len(lines)
    if mark == "error":
        return (0.5 if _CONNECTS.match(lines[number]) else 0, *at_ends(number, total))
    if mark == "own":
        return (1, _distance(lines, marks, number), number)
    if mark == "library":
        return None
    message = "error" in marks[max(0, number - MESSAGE) : number]
    return (2 - asked - message / 2, *at_ends(number, total))


def _distance(lines: Sequence[str], marks: Sequence[Mark], number: int) -> int:
    """Return how many own frames stand between a frame and its error, to the farthest looked at.

    Python's error is below its frames, that of the others above.
    """
    step = 1 if PYTHON.match(lines[number]) else -1
    between = 0
    for place in range(number + step, number + step * FARTHEST, step):
        if not 0 <= place < len(marks) or marks[place] == "error":
            break
        between += marks[place] == "own"
    return between


def _keep_nearest(lines: Sequence[str], marks: Sequence[Mark], pieces: list[Piece]) -> None:
    """Let the first and the last library frame be kept."""
    found = [
        number
        for number, (first, _) in enumerate(blocks(lines, marks))
        if marks[first] == "library"
    ]
    for number in {*found[:1], *found[-1:]}:
        pieces[number] = Piece(pieces[number].text, (1, number))
