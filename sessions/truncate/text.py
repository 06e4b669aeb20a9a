"""Plain text: its first and last lines, and those that the query asks about.

Text of few lines is cut at its sentences; a line without sentences at its words.
"""

from chunking.sentences import sentences
from sessions.truncate.plan import Piece, Pieces, Plan, clipped, counted
from sessions.truncate.wanted import Wanted

MANY_LINES = 12
"""From here on a text is taken as lines, not as sentences."""

STEP = 200
"""Characters of a sentence that is cut inside."""

TAIL = 3
"""Every third of the pieces that are kept is one of the last."""


def plan_text(wanted: Wanted) -> Plan:
    """Return the plan of a text of no known kind."""
    lines = [line for line in wanted.text.splitlines() if line.strip()]
    if len(lines) >= MANY_LINES:
        texts, glue = [clipped(line) for line in lines], "\n"
    else:
        texts, glue = _stretches(wanted.text), " "
    what = "line" if glue == "\n" else "part"
    pieces = [
        Piece(text, (-wanted.worth(text), *at_ends(number, len(texts))), divisible=glue == " ")
        for number, text in enumerate(texts)
    ]
    return Pieces(pieces, lambda first, end: f"… {counted(end - first, what)} …", glue)


def at_ends(number: int, total: int) -> tuple[int, int]:
    """Return the rank of an item: both ends come first, the start twice as fast as the end.

    >>> [n for _, n in sorted((at_ends(n, 6), n) for n in range(6))]
    [0, 1, 5, 2, 3, 4]
    """
    from_start = number + number // (TAIL - 1)
    from_end = (total - 1 - number) * TAIL + TAIL - 1
    return min(from_start, from_end), number


def _stretches(text: str) -> list[str]:
    """Return sentences, long ones in steps of whole words."""
    found = []
    for start, end in sentences(text):
        while end - start > STEP:
            space = text.rfind(" ", start + STEP // 2, start + STEP)
            stop = space if space > 0 else start + STEP
            found.append(text[start:stop])
            start = stop + (space > 0)
        found.append(text[start:end])
    return found
