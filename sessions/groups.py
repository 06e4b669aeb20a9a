"""Turns -> groups that belong together, and groups -> messages that a client accepts. Pure.

An assistant's calls and the tools' answers are one group, with whatever was said in between. The
rules of OpenAI's messages hold in what `messages_of` returns: every call is answered right behind
it, and no answer is without its call.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sessions.types import Entry, LoggedTurn, Message, ToolCall

Group = tuple[LoggedTurn, ...]
"""Turns that follow each other and are shown together or not at all."""

NO_RESULT = "[no result was logged]"
"""The content that stands for the answer of a call that has none."""

AsMessage = Callable[[Entry], Message]


@dataclass(slots=True)
class _Calls:
    """Which turn answers which call: both by their places in a sequence of turns."""

    asked_by: dict[int, int] = field(default_factory=dict)
    call_of: dict[int, str] = field(default_factory=dict)


def groups(turns: Sequence[LoggedTurn]) -> list[Group]:
    """Return turns in the order of their log, cut where no call is open.

    A call that nobody answers holds nothing together.

    >>> call = Entry("assistant", "", calls=(ToolCall("c1", "search"),))
    >>> said = [Entry("user", "Hi"), call, Entry("tool", "3 found", call_id="c1")]
    >>> [len(group) for group in groups([LoggedTurn(n, e, 1) for n, e in enumerate(said, 1)])]
    [1, 2]
    """
    ordered = in_order(turns)
    ends = list(range(len(ordered)))
    for answer, asked in _matched(ordered).asked_by.items():
        ends[asked] = max(ends[asked], answer)
    found, start, end = [], 0, 0
    for place in range(len(ordered)):
        end = max(end, ends[place])
        if place == end:
            found.append(tuple(ordered[start : place + 1]))
            start = end = place + 1
    return found


def in_order(turns: Sequence[LoggedTurn]) -> list[LoggedTurn]:
    """Return turns by their numbers, each once."""
    return sorted({turn.seq: turn for turn in turns}.values(), key=lambda turn: turn.seq)


def is_torn(group: Group) -> bool:
    """Tell whether a group is an answer whose call is not in what was read."""
    return group[0].entry.role == "tool"


def unanswered(group: Group) -> bool:
    """Tell whether a group has a call whose answer is not in it."""
    return sum(len(turn.entry.calls) for turn in group) > len(_matched(group).asked_by)


def asked(turns: Sequence[LoggedTurn], question: str) -> LoggedTurn | None:
    """Return the turn that asks the question, where it is the last word; None where it is new.

    Calls and results may follow it: what is done for it.
    """
    for turn in reversed(turns):
        entry = turn.entry
        if entry.role == "user":
            return turn if entry.text.strip() == question.strip() else None
        if entry.role != "tool" and not entry.calls:
            return None
    return None


def messages_of(group: Group, as_message: AsMessage) -> list[Message]:
    """Return the messages of a group: answers right behind their calls, in the order of the calls.

    A call without an answer gets `NO_RESULT`; an answer without its call gets a call with the
    tool and the arguments that the log has of it.
    """
    matched = _matched(group)
    found: list[Message] = []
    for place, turn in enumerate(group):
        if place in matched.asked_by:
            continue
        entry = turn.entry
        if entry.role == "tool":
            name = entry.call_id or f"turn-{turn.seq}"
            calls = (ToolCall(name, entry.tool or "tool", entry.arguments or "{}"),)
            found.append(as_message(Entry("assistant", "", calls=calls)))
            found.append(as_message(replace(entry, call_id=name)))
            continue
        found.append(as_message(entry))
        answers = {
            matched.call_of[answer]: group[answer].entry
            for answer, asked in matched.asked_by.items()
            if asked == place
        }
        for call in entry.calls:
            answer = answers.get(call.call_id) or Entry("tool", NO_RESULT, tool=call.tool)
            found.append(as_message(replace(answer, call_id=call.call_id)))
    return found


def _matched(turns: Sequence[LoggedTurn]) -> _Calls:
    """Find the call that each tool's turn answers: the latest that is open and has its id.

    Some clients number the calls of each turn anew, so an id alone names none. A result that came
    without an id answers the oldest open call of its tool.
    """
    open_calls: dict[str, tuple[int, str]] = {}
    found = _Calls()
    for place, turn in enumerate(turns):
        entry = turn.entry
        for call in entry.calls:
            open_calls.pop(call.call_id, None)
            open_calls[call.call_id] = (place, call.tool)
        if entry.role != "tool":
            continue
        name = entry.call_id
        if not name:
            same = (call for call, (_, tool) in open_calls.items() if tool == entry.tool)
            name = next(same, "")
        if name in open_calls:
            found.asked_by[place], _ = open_calls.pop(name)
            found.call_of[place] = name
    return found
