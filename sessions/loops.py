"""Calls of tools that were made before: the earlier result, and how often in a row.

An agent that searches for the same thing again has its answer already; one that does so over and
over is in a loop. Equal calls have the same tool and the same arguments (`log_rows.same_call`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sessions.log import TurnLog
from sessions.log_rows import same_call
from sessions.types import LoggedTurn

__all__ = ["EarlierResult", "find_tool_result", "repeats", "same_call"]

BACK = 200
"""Turns that are looked through for calls in a row."""


@dataclass(frozen=True, slots=True)
class EarlierResult:
    """The last successful result of a call: the turn that has it, since when, and how old it is.

    ``times`` is how often the session has a result of this call, failures included.
    """

    turn: LoggedTurn
    at: datetime
    age: timedelta
    times: int


def find_tool_result(
    log: TurnLog,
    user_id: str,
    session_id: str,
    tool: str,
    arguments: str | Mapping[str, Any],
    max_age: timedelta | None = None,
) -> EarlierResult | None:
    """Return the last successful result of the same call in a session, None where there is none.

    One that is older than ``max_age`` is none: the world may have changed since. Raises
    `InvalidInput` for arguments that are no JSON, `StoreError`.
    """
    found = log.answers(user_id, session_id, same_call(tool, arguments))
    good = [turn for turn in found if turn.entry.status != "error"]
    if not good or good[-1].entry.at is None:
        return None
    last, at = good[-1], good[-1].entry.at
    age = max(log.index.clock() - at, timedelta(0))
    if max_age is not None and age > max_age:
        return None
    return EarlierResult(last, at, age, len(found))


def repeats(
    log: TurnLog,
    user_id: str,
    session_id: str,
    tool: str,
    arguments: str | Mapping[str, Any],
) -> int:
    """Return how often in a row the same call was made until now, since the user's last turn."""
    key, count = same_call(tool, arguments), 0
    for made in _calls(log.read(user_id, session_id, last=BACK)):
        if made != key:
            break
        count += 1
    return count


def _calls(turns: list[LoggedTurn]) -> Iterator[str]:
    """Yield the keys of the calls since the last turn of the user, the last one first.

    A call and the result that answers it are one.
    """
    answered: set[str] = set()
    for turn in reversed(turns):
        entry = turn.entry
        if entry.role == "user":
            return
        if entry.role == "tool":
            answered.add(entry.call_id)
            yield same_call(entry.tool, entry.arguments)
        for call in reversed(entry.calls):
            if call.call_id not in answered:
                yield same_call(call.tool, call.arguments)
