"""The statements about one subject in the order in which they began to hold. Pure.

Which of them holds at a time follows from when each was told: a value holds from its first telling
until another one is told, or until it is said to be over; told again in between it goes on. So the
chain is the same whatever order the tellings arrive in, and one that a crash left with overlaps is
put right by making it again. What was ended stays ended when that which ended it is gone.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from indexing.dedup import decide
from indexing.drafts import identified
from indexing.mentions import mentions, said
from indexing.types import Memory, Mention

_EARLIEST = datetime.min.replace(tzinfo=UTC)

Held = tuple[Memory, Sequence[Mention]]
"""A statement with those of its places that count."""


@dataclass(slots=True)
class Run:
    """A statement as it becomes: all tellings of one value without another in between.

    ``end`` is when it stops, ``by`` what ends it: a run, or the id of a memory outside the chain.
    """

    memory: Memory
    start: datetime
    told: list[Memory]
    places: list[Mention] = field(default_factory=list)
    end: datetime | None = None
    by: "Run | str" = ""


@dataclass(frozen=True, slots=True)
class _Telling:
    """One time that a statement was made; ``end`` is where what it belonged to stays ended."""

    at: datetime
    rank: int
    memory: Memory
    place: Mention | None
    end: datetime | None
    is_new: bool


def in_order(memories: Iterable[Memory]) -> list[Memory]:
    """Return statements by when they began to hold; of one moment the one that stands is last."""
    return sorted(memories, key=_order)


def holds_at(memory: Memory, moment: datetime) -> bool:
    """Tell whether a statement holds at a moment."""
    return _since(memory) <= moment and (memory.valid_to is None or moment < memory.valid_to)


def ended_by(memory: Memory, new: Memory) -> Memory:
    """Return a statement that ends where the new one begins."""
    return replace(memory, valid_to=new.valid_from, superseded_by=new.id)


def linked(chain: Iterable[Held], new: Sequence[Held] = ()) -> list[Run]:
    """Return the statements of a chain, with new ones, as they follow from when each was told.

    Those without a place left are dropped; what they ended stays ended.
    """
    line = sorted(chain, key=lambda held: _order(held[0]))
    runs: list[Run] = []
    over: list[Run] = []
    for telling in _tellings(line, new):
        last = runs[-1] if runs else None
        if telling.memory.closes:
            _close(telling, last, over, runs)
        elif last and _goes_on(last, telling):
            _add(last, telling)
        else:
            run = _begin(telling)
            if last and (last.end is None or telling.at < last.end):
                if telling.is_new and last.end and (run.end is None or last.end < run.end):
                    run.end, run.by = last.end, last.by
                last.end, last.by = run.start, run
            for closed in over:
                if closed.end is None or closed.end > run.start:
                    closed.end, closed.by = run.start, run
            runs.append(run)
    ids = {memory.id for memory, _ in line}
    return _named([*runs, *over], ids)


def without(chain: Iterable[Memory], gone: set[str]) -> Iterator[Memory]:
    """Yield the statements that name one of those that are gone, as they are without them.

    What was ended stays ended: an address does not come back because a later one was deleted. It is
    then said to be ended by the next that is left.
    """
    left = [memory for memory in in_order(chain) if memory.id not in gone]
    for memory in left:
        if memory.superseded_by in gone:
            after = following(left, _since(memory))
            yield replace(memory, superseded_by=after.id if after else "")


def following(chain: Iterable[Memory], moment: datetime) -> Memory | None:
    """Return the first value that begins after a moment."""
    later = (m for m in in_order(chain) if _since(m) > moment and not m.closes)
    return next(later, None)


def _tellings(line: Sequence[Held], new: Sequence[Held]) -> list[_Telling]:
    """Return every telling, in order; at one moment that of a new value comes last."""
    found: list[_Telling] = []
    for rank, (memory, places) in enumerate(line):
        since = _since(memory)
        later = [other for other, _ in line[rank + 1 :]]
        end = None if _is_explained(memory, later) else memory.valid_to
        tell = partial(_Telling, rank=rank, memory=memory, end=end, is_new=False)
        found.append(tell(since, place=None))
        for place in places:
            moment = max(since, said(place))
            found.append(tell(since if end and moment >= end else moment, place=place))
    for memory, places in new:
        others = [other for other, _ in (*line, *new) if other is not memory]
        end = None if _is_explained(memory, others) else memory.valid_to
        for place in places:
            moment = said(place)
            same = (t.rank for t in found if t.at == moment and _says_same(t.memory, memory))
            rank = min(same, default=len(found))
            found.append(_Telling(moment, rank, memory, place, end, is_new=True))
    return sorted(found, key=lambda telling: (telling.at, telling.rank))


def _is_explained(memory: Memory, later: Iterable[Memory]) -> bool:
    """Tell whether a statement has no end, or ends where another one of the chain begins."""
    if memory.valid_to is None:
        return True
    ends = (m for m in later if not m.closes or (m.value == memory.value and not memory.closes))
    return any(_since(other) == memory.valid_to for other in ends)


def _close(telling: _Telling, last: Run | None, over: list[Run], runs: list[Run]) -> None:
    """Say that a value is over: it ends, if it is what holds."""
    same = (run for run in reversed(over) if _goes_on(run, telling))
    run = next(same, None)
    if run is None:
        run = _begin(telling)
        over.append(run)
    else:
        _add(run, telling)
    holds = last is not None and (last.end is None or telling.at < last.end)
    if last is not None and holds and last.memory.value == telling.memory.value:
        last.end, last.by = telling.at, run


def _goes_on(run: Run, telling: _Telling) -> bool:
    """Tell whether a telling says again what a run says, before it ended."""
    open_ = run.end is None or telling.at < run.end or telling.at == run.start
    return open_ and _says_same(run.memory, telling.memory, near=telling.is_new or _is_new(run))


def _is_new(run: Run) -> bool:
    return not run.memory.id


def _begin(telling: _Telling) -> Run:
    run = Run(telling.memory, telling.at, [])
    _add(run, telling)
    return run


def _add(run: Run, telling: _Telling) -> None:
    run.told.append(telling.memory)
    if telling.place:
        run.places.append(telling.place)
    if telling.end and (run.end is None or telling.end < run.end):
        run.end, run.by = telling.end, telling.memory.superseded_by


def _named(runs: Iterable[Run], before: set[str]) -> list[Run]:
    """Return the runs that have places, each with its id, its interval and what ended it."""
    kept = sorted((run for run in runs if run.places), key=lambda run: run.start)
    for run in kept:
        pinned = any(memory.pinned for memory in run.told)
        run.memory = identified(replace(run.memory, valid_from=run.start, pinned=pinned))
    for number, run in enumerate(kept):
        by = run.by.memory.id if isinstance(run.by, Run) and run.by.places else run.by
        if isinstance(by, Run) or (by in before and by not in {r.memory.id for r in kept}):
            later = (r for r in kept[number + 1 :] if not r.memory.closes)
            after = next(later, None)
            by = after.memory.id if after else ""
        run.memory = replace(run.memory, valid_to=run.end, superseded_by=by if run.end else "")
    return kept


def _says_same(one: Memory, other: Memory, near: bool = True) -> bool:
    """Tell whether two statements about one subject give it the same value."""
    if one.closes != other.closes:
        return False
    if one is other or one.key == other.key or (one.value and one.value == other.value):
        return True
    return near and decide(one.text, other.text).merge


def _since(memory: Memory) -> datetime:
    return memory.valid_from or memory.created_at or _EARLIEST


def _order(memory: Memory) -> tuple[datetime, bool, bool, datetime, str]:
    """Return the key of the order: of one moment, what ended in it, the value, what is over."""
    since = _since(memory)
    lasts = memory.valid_to != since
    stored = min((p.created_at for p in mentions(memory) if p.created_at), default=_EARLIEST)
    return since, lasts, lasts and memory.closes, stored, memory.id
