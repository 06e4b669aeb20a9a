"""What a file says, put beside what is there: `join`, pure.

What says the same becomes one memory with the places of both. Statements about one subject become
one chain, by when each was told: `chains`. What is there keeps its place, its words and its state.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from indexing.alike import joined
from indexing.mentions import is_over, mentions, said, spot
from indexing.transfer.travel import Ids, bare, chained, pointed
from indexing.types import Memory, Mention


@dataclass(slots=True)
class Joined:
    """Memories to be written, ids to be deleted, and where each memory of the file went.

    ``moved`` are ids of memories that were there and go by another one now.
    """

    put: list[Memory] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)
    homes: Ids = field(default_factory=dict)
    moved: Ids = field(default_factory=dict)


def join(
    unit: Sequence[Memory],
    told: Collection[str],
    stored: Iterable[Memory],
    now: datetime,
) -> Joined:
    """Return what has to be done so that what is stored also says what ``unit`` says.

    ``unit`` are memories of a scope as `as_told` returns them; one that names its successor comes
    with it. ``told`` are the ids of all that the file says of the scope: they do not stand for
    others of it. ``stored`` are all memories of the scope with an id, key, subject or source of
    the unit, with all about the same subjects.
    """
    work = _Work({memory.id: memory for memory in stored}, told, now)
    for memory in unit:
        work.place(memory)
    return work.result()


def units(told: Sequence[Memory]) -> list[list[Memory]]:
    """Return the memories in groups that are joined together: those of a subject, and whatever
    one of them was superseded by."""
    groups = {memory.id: [memory] for memory in told}
    first: dict[str, str] = {}
    for memory in told:
        others = [first.setdefault(memory.subject, memory.id)] if memory.subject else []
        others += [memory.superseded_by] if memory.superseded_by in groups else []
        for other in others:
            one, two = groups[memory.id], groups[other]
            if one is not two:
                one += two
                groups |= dict.fromkeys((m.id for m in two), one)
    return list({id(group): group for group in groups.values()}.values())


class _Work:
    """The memories of a scope as they become."""

    def __init__(
        self, stored: Mapping[str, Memory], told: Collection[str], moment: datetime
    ) -> None:
        self._before = stored
        self._moment = moment
        self._now = dict(stored)
        self._lines: defaultdict[str, list[Memory]] = defaultdict(list)
        self._homes: Ids = {}
        self._others = [memory for memory in stored.values() if memory.id not in told]
        self._by_place = {_place(place): m for m in self._others for place in mentions(m)}
        self._by_key: defaultdict[str, list[Memory]] = defaultdict(list)
        for memory in self._others:
            if self._is_live(memory):
                self._by_key[memory.key].append(memory)

    def place(self, memory: Memory) -> None:
        """Put a memory of the file where it belongs; a statement waits for all of its subject."""
        if memory.subject:
            self._lines[memory.subject].append(memory)
            for twin in self._by_key[memory.key]:
                if not twin.subject and twin.id in self._now:
                    del self._now[twin.id]
                    self._lines[memory.subject].append(_about(twin, memory))
            return
        home = self._home(memory)
        if home is not None and home.subject:
            self._lines[home.subject].append(_about(memory, home))
            return
        self._homes[memory.id] = home.id if home else memory.id
        self._now[self._homes[memory.id]] = _both(home, memory) if home else memory

    def result(self) -> Joined:
        """Make the chains, and return what is other than it was."""
        moved: Ids = {}
        for subject, line in self._lines.items():
            chain = [m for m in self._now.values() if m.subject == subject and self._counts(m)]
            for memory in chain:
                del self._now[memory.id]
            told = _as_there(line, chain)
            made, homes = chained([*map(self._counted, chain), *told])
            homes |= {memory.id: homes[one.id] for memory, one in zip(line, told, strict=True)}
            moved |= homes
            self._now |= {memory.id: memory for memory in made}
            self._homes |= {memory.id: homes[memory.id] for memory in line}
        after = pointed(self._now.values(), moved | self._homes)
        changed = [m for m in after if not self._is_as_before(m)]
        gone = sorted(self._before.keys() - self._now.keys())
        return Joined(changed, gone, self._homes, {name: moved[name] for name in gone})

    def _home(self, memory: Memory) -> Memory | None:
        """Return what says the same already: by its id, by a place, by its words."""
        if memory.id in self._now:
            return self._now[memory.id]
        shared = (self._by_place.get(_place(place)) for place in mentions(memory))
        twins = sorted(self._by_key[memory.key], key=lambda m: (m.subject, m.id))
        found = (m for m in (*shared, *twins) if m is not None and m.kind == memory.kind)
        home = next(found, None)
        return self._now.get(home.id) if home else None

    def _is_as_before(self, memory: Memory) -> bool:
        """Tell whether a memory is what it was; places that have expired are left to the sweep."""
        held = self._before.get(memory.id)
        return held is not None and (_equal(memory, held) or _equal(memory, self._counted(held)))

    def _is_live(self, memory: Memory) -> bool:
        ended = memory.valid_to is not None and memory.valid_to <= self._moment
        return self._counts(memory) and not ended

    def _counts(self, memory: Memory) -> bool:
        return any(not is_over(place, self._moment) for place in mentions(memory))

    def _counted(self, memory: Memory) -> Memory:
        """Return a memory that counts, without the places that have expired."""
        also = tuple(place for place in memory.also if not is_over(place, self._moment))
        return memory if also == memory.also else replace(memory, also=also)


def _both(home: Memory, memory: Memory) -> Memory:
    """Return a memory with the places of another one; of one place what is there counts."""
    made = joined(home, memory)
    return home if _equal(made, home) else made


def _about(memory: Memory, told: Memory) -> Memory:
    """Return a memory about nothing as a statement about a subject."""
    since = min(map(said, mentions(memory)))
    about = replace(memory, subject=told.subject, value=told.value, closes=told.closes)
    return replace(about, valid_from=since, valid_to=None, superseded_by="")


def _as_there(line: Sequence[Memory], chain: Sequence[Memory]) -> list[Memory]:
    """Return statements by the names that a chain has for them.

    What is there keeps the name of its first words, also when the place that said them has expired;
    a file names it by one that is left. What gave way in the moment in which it was said stays so.
    """
    there = {_statement(memory): memory for memory in chain if memory.value}
    made = []
    for memory in line:
        twin = there.get(_statement(memory), memory)
        named = replace(memory, id=twin.id, key=twin.key)
        if twin.valid_to == twin.valid_from:
            named = replace(named, valid_to=twin.valid_to, superseded_by=twin.superseded_by)
        made.append(named)
    return pointed(made, {old.id: new.id for old, new in zip(line, made, strict=True)})


def _statement(memory: Memory) -> tuple[datetime | None, str, bool]:
    """Return what tells a statement from others about its subject: since when it says what."""
    return memory.valid_from, memory.value, memory.closes


def _place(place: Mention) -> tuple[tuple[str, int], str]:
    return spot(place), place.text


def _equal(one: Memory, other: Memory) -> bool:
    return bare(one) == bare(other)
