"""The turns of a conversation in the order in which they were said: `in_order`. Pure.

Turns have times and no numbers. Where several share a time, as in logs that note the minute or the
day, each is put behind the one that it was stored with as "the turn before".
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from indexing.types import Memory

END = 24
"""Characters by which a turn is known again as the turn before another."""

_DIGITS = re.compile(r"(\d+)")

Turn = Sequence[Memory]
"""The parts of one turn, in order."""


def said(part: Memory, text: str) -> str:
    """Return a text with who said it."""
    who = part.speaker or part.role
    return f"{who}: {text}" if who else text


def in_order(parts: Iterable[Memory]) -> list[Memory]:
    """Return the parts of a conversation's turns in the order in which they were said.

    Turns that do not say when come last.
    """
    turns: defaultdict[str, list[Memory]] = defaultdict(list)
    for part in sorted(parts, key=lambda part: (part.ordinal, part.start)):
        turns[part.source_id].append(part)
    ordered = sorted(turns.values(), key=_key)
    groups = (list(group) for _, group in groupby(ordered, key=_time))
    return [part for group in groups for turn in _chained(group) for part in turn]


def _time(turn: Turn) -> float:
    at = turn[0].at
    return at.timestamp() if at else float("inf")


def _key(turn: Turn) -> tuple[float, list[tuple[int, int, str]], str]:
    """Sort by time, then by the turn's id with its numbers as numbers: "D1:2" before "D1:10"."""
    split = _DIGITS.split(turn[0].turn_id)
    named = [(0, int(p), "") if p.isdecimal() else (1, 0, p) for p in split]
    return _time(turn), named, turn[0].source_id


def _chained(turns: Sequence[Turn]) -> list[Turn]:
    """Return turns of one time, each behind the one that was before it, as far as that is told.

    A turn leads from the end of the turn before to its own end, so the order is a path that takes
    each turn once (Hierholzer's algorithm): also where several said the same, as "ok".
    """
    if len(turns) == 1:
        return list(turns)
    leaving: defaultdict[str, list[int]] = defaultdict(list)
    ends = [said(turn[-1], turn[-1].text.rstrip())[-END:] for turn in turns]
    for number, turn in enumerate(turns):
        leaving[turn[0].before[-END:]].append(number)
    starts = [key for key in leaving if key not in set(ends)]
    circles = [turn[0].before[-END:] for turn in turns]
    found = [number for key in (*starts, *circles) for number in _path(key, leaving, ends)]
    return [turns[number] for number in found]


def _path(key: str, leaving: Mapping[str, list[int]], ends: Sequence[str]) -> list[int]:
    """Take what leads away from an end, and from where that leads to; return it in order."""
    found: list[int] = []
    way: list[tuple[str, int | None]] = [(key, None)]
    while way:
        place, number = way[-1]
        if left := leaving.get(place):
            taken = left.pop()
            way.append((ends[taken], taken))
            continue
        way.pop()
        if number is not None:
            found.append(number)
    return found[::-1]
