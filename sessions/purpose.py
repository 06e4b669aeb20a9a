"""What a turn is for, where it does not say it: the words before it and its call. Pure.

A tool's result is cut by what it was fetched for, not by what is asked now: the same bytes in every
context. Where it answers the present question, that question stands before it.
"""

import json
from collections.abc import Iterator, Sequence

from sessions.types import Entry, LoggedTurn

LONGEST = 1000
"""Characters of a text that are looked at."""


def said_before(turns: Sequence[LoggedTurn], before: str = "") -> dict[int, str]:
    """Return by the number of each turn what the user said last before it.

    ``before`` is what was said before all of these turns, which are in order.
    """
    found: dict[int, str] = {}
    for turn in turns:
        found[turn.seq] = before
        if turn.entry.role == "user":
            before = turn.entry.text
    return found


def purpose(entry: Entry, said: str) -> str:
    """Return what to look for in a turn; empty for what people write themselves.

    >>> purpose(Entry("tool", "…", arguments='{"city": "Oslo", "days": [3]}'), "And the weather?")
    'And the weather? Oslo 3'
    """
    if entry.role != "tool":
        return said[:LONGEST] if entry.role == "assistant" else ""
    return " ".join(filter(None, (said[:LONGEST], _given(entry.arguments)[:LONGEST])))


def _given(arguments: str) -> str:
    """Return the values of a call's arguments, without their names."""
    try:
        return " ".join(_values(json.loads(arguments)))
    except (ValueError, RecursionError):
        return arguments


def _values(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _values(one)
    elif isinstance(value, list):
        for one in value:
            yield from _values(one)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
