"""The statements about one subject in the order in which they began to hold. Pure.

Each holds until the next one begins. Whatever order they arrive in, the chain is the same: a late
arrival takes its place in the middle and ends nothing that began after it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

from indexing.types import Memory

_EARLIEST = datetime.min.replace(tzinfo=UTC)


def in_order(memories: Iterable[Memory]) -> list[Memory]:
    """Return statements by when they began to hold, of one moment those stored first first."""
    return sorted(memories, key=lambda m: (_since(m), m.created_at or _EARLIEST, m.id))


def holds_at(memory: Memory, moment: datetime) -> bool:
    """Tell whether a statement holds at a moment."""
    return _since(memory) <= moment and (memory.valid_to is None or moment < memory.valid_to)


def holder(chain: Iterable[Memory], moment: datetime) -> Memory | None:
    """Return the statement that holds at a moment, None where there is none."""
    return next((m for m in reversed(in_order(chain)) if holds_at(m, moment)), None)


def following(chain: Iterable[Memory], moment: datetime) -> Memory | None:
    """Return the first statement that begins after a moment."""
    return next((memory for memory in in_order(chain) if _since(memory) > moment), None)


def inserted(chain: Iterable[Memory], new: Memory) -> list[Memory]:
    """Return the new statement in its place of the chain, then the one that it ends, if any.

    It holds until the next one begins; where nothing follows it takes over the end of the one
    before it: what was closed without a successor stays closed.
    """
    since = _since(new)
    others = [memory for memory in chain if memory.id != new.id]
    before = [m for m in in_order(others) if _since(m) <= since]
    last = before[-1] if before else None
    after = following(others, since)
    ended = last is not None and last.valid_to is not None and last.valid_to > since
    until = _since(after) if after else last.valid_to if last and ended else None
    placed = replace(new, valid_to=until, superseded_by=after.id if after else "")
    if last is None or (last.valid_to is not None and last.valid_to <= since):
        return [placed]
    return [placed, ended_by(last, placed)]


def ended_by(memory: Memory, new: Memory) -> Memory:
    """Return a statement that ends where the new one begins."""
    return replace(memory, valid_to=new.valid_from, superseded_by=new.id)


def without(chain: Iterable[Memory], gone: set[str]) -> Iterator[Memory]:
    """Yield the statements that change when some of the chain are deleted.

    What was ended stays ended: an address does not come back because a later one was deleted. It is
    then said to be ended by the next that is left.
    """
    left = [memory for memory in in_order(chain) if memory.id not in gone]
    for memory in left:
        if memory.superseded_by in gone:
            after = following(left, _since(memory))
            yield replace(memory, superseded_by=after.id if after else "")


def repaired(chain: Iterable[Memory]) -> Iterator[Memory]:
    """Yield the statements that overlap the next one, ended where it begins: after a crash."""
    line = in_order(chain)
    for memory, after in pairwise(line):
        if memory.valid_to is None or memory.valid_to > _since(after):
            yield ended_by(memory, after)


def _since(memory: Memory) -> datetime:
    return memory.valid_from or memory.created_at or _EARLIEST
