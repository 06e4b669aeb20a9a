"""The sliding window: the first turns always, the last ones, and what is left out between. Pure.

It works on the turns that were read from both ends of a log: a long session is not read whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.groups import Group, groups, in_order, is_torn, unanswered
from sessions.policies import WindowPolicy
from sessions.types import LoggedTurn


@dataclass(frozen=True, slots=True)
class Window:
    """Groups of turns, no turn twice; ``gap`` are the numbers (``seq``) between them."""

    pinned: tuple[Group, ...]
    recent: tuple[Group, ...]
    gap: range

    @property
    def turns(self) -> tuple[LoggedTurn, ...]:
        """All turns, in order."""
        return tuple(turn for group in (*self.pinned, *self.recent) for turn in group)


def window(
    turns: Sequence[LoggedTurn], policy: WindowPolicy, last: Sequence[LoggedTurn] = ()
) -> Window:
    """Return the window over the turns of a session, given whole or by both ends.

    The system turns that a session begins with are pinned too, and do not count. Where turns
    between both ends were not read, a call whose results are among them is left in the gap, and so
    is a result whose call is.
    """
    head, tail = in_order(turns), in_order(last)
    if not head or not tail or tail[0].seq <= head[-1].seq + 1:
        read = groups([*head, *tail])
        pinned = _first(read, policy.pinned)
        recent = _last(read[len(pinned) :], policy)
        return Window(pinned, recent, _gap(pinned, recent, [*head, *tail]))
    pinned = _first(groups(head), policy.pinned)
    if pinned and pinned[-1][-1] is head[-1] and unanswered(pinned[-1]):
        pinned = pinned[:-1]
    recent = _last(_whole(groups(tail)), policy)
    return Window(pinned, recent, _gap(pinned, recent, tail))


def _whole(read: Sequence[Group]) -> Sequence[Group]:
    """Return groups without those at the start that may be the rest of one.

    These are results before the assistant's first turn, and what was said before them.
    """
    start = 0
    for place, group in enumerate(read):
        if group[0].entry.role == "assistant":
            break
        if is_torn(group):
            start = place + 1
    return read[start:]


def _first(read: Sequence[Group], count: int) -> tuple[Group, ...]:
    """Return the groups that hold the first turns, and the system turns before them."""
    held = 0
    for place, group in enumerate(read):
        if held or group[0].entry.role != "system":
            if held >= count:
                return tuple(read[:place])
            held += len(group)
    return tuple(read)


def _last(read: Sequence[Group], policy: WindowPolicy) -> tuple[Group, ...]:
    """Return the groups that hold the last turns."""
    found: list[Group] = []
    held = spent = 0
    for group in reversed(read):
        tokens = sum(turn.tokens for turn in group)
        over = policy.tokens is not None and spent + tokens > policy.tokens
        if held >= policy.last or (over and found):
            break
        found.append(group)
        held, spent = held + len(group), spent + tokens
    return tuple(reversed(found))


def _gap(pinned: Sequence[Group], recent: Sequence[Group], read: Sequence[LoggedTurn]) -> range:
    start = pinned[-1][-1].seq + 1 if pinned else 1
    end = recent[0][0].seq if recent else max((turn.seq for turn in read), default=0) + 1
    return range(start, max(start, end))
