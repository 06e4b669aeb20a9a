"""What a batch of drafts does to the memories that are there: `plan`, pure.

Each memory is the set of places that say it. The places of the batch's sources are taken away, then
each draft joins the memory that says the same, or becomes one; a memory without places goes. Of
the statements about a subject exactly one holds at any time: see `chains`.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from indexing.alike import comparable
from indexing.chains import Held, Run, ended_by, holds_at, in_order, linked
from indexing.dedup import Verdict, decide
from indexing.drafts import Draft, identified
from indexing.index import Changes, Dedup, Merge, Statement
from indexing.mentions import (
    again,
    is_live,
    is_over,
    mention_of,
    mentions,
    noted,
    put_together,
    said,
    spot,
)
from indexing.types import Memory, Mention

Neighbours = Mapping[int, Sequence[tuple[str, float]]]
"""The place of a draft in its batch -> ids of near memories and their cosines."""


def plan(
    drafts: Sequence[Draft],
    replaced: Iterable[str],
    stored: Iterable[Memory],
    near: Neighbours,
    dedup: Dedup,
    now: datetime,
) -> Changes:
    """Return what has to be done so that the sources ``replaced`` say what the drafts say.

    ``stored`` are the memories of the scope with a source, a key, a subject or a value of the
    drafts, and those of ``near``; more do no harm.
    """
    work = _Work({memory.id: memory for memory in stored}, set(replaced), dedup, now)
    made = Changes()
    for number, draft in enumerate(drafts):
        made.homes.append(work.place(draft, near.get(number, ()), made))
    return work.plan(made)


def mended(
    stored: Iterable[Memory],
    subjects: Iterable[str],
    begun: Collection[str],
    dedup: Dedup,
    now: datetime,
) -> Changes:
    """Return what has to be done so that the statements about these subjects follow each other.

    ``stored`` are all statements about them; what the sources ``begun`` say was told last, by a
    write that was killed.
    """
    work = _Work({memory.id: memory for memory in stored}, set(), dedup, now)
    for subject in subjects:
        work.link_again(subject, begun)
    return work.plan(Changes())


class _Work:
    """The memories as they become, draft by draft."""

    def __init__(
        self, before: dict[str, Memory], replaced: set[str], dedup: Dedup, moment: datetime
    ) -> None:
        self.before = before
        self._dedup = dedup
        self._moment = moment
        self._old: dict[tuple[str, int], list[Mention]] = {}
        self._places: dict[str, list[Mention]] = {}
        self.now: dict[str, Memory] = {}
        self._named: defaultdict[tuple[str, ...], dict[str, None]] = defaultdict(dict)
        for memory in before.values():
            kept = []
            for place in mentions(memory):
                if place.source_id in replaced:
                    self._old.setdefault(spot(place), []).append(place)
                else:
                    kept.append(place)
            self._set(memory, kept)

    def _set(self, memory: Memory, places: list[Mention]) -> None:
        """Let a memory be there with these places, to be found by all that it is looked up by."""
        self.now[memory.id] = memory
        self._places[memory.id] = places
        names = [("key", memory.key), ("subject", memory.subject), ("value", memory.value)]
        for name in (*names, *(("told", place.source_id, place.text) for place in places)):
            self._named[name][memory.id] = None

    def _called(self, *name: str) -> list[Memory]:
        """Return the memories that are, or once were, found by a name: whoever asks checks."""
        return [self.now[one] for one in self._named.get(name, ()) if one in self.now]

    def place(self, draft: Draft, near: Sequence[tuple[str, float]], made: Changes) -> str:
        """Put a draft where it belongs; return the id of its memory."""
        if draft.statement:
            return self._state(draft, draft.statement, made)
        found, verdict = self._same(draft.memory), None
        if found is None:
            found, verdict = self._alike(draft.memory, near)
        if found is None:
            found = self._new(draft.memory)
        others = [place for place in self._places[found.id] if not _is_own(place, draft.memory)]
        if verdict and others:
            merge = Merge(draft.memory.source_id, found.id, verdict.score, verdict.reason)
            made.merges.append(merge)
        if found.subject:
            since = said(mention_of(draft.memory))
            told = Statement(found.subject, found.value, since, found.closes)
            return self._state(draft, told, made)
        made.repeated += bool(others)
        self._join(found, draft)
        return found.id

    def plan(self, made: Changes) -> Changes:
        """Return what is other than it was."""
        results = {memory.id: memory for memory in self._results()}
        made.put = [m for m in results.values() if m != self.before.get(m.id)]
        made.held = {name: results[name] for name in made.homes if name in results}
        made.delete = sorted(self.before.keys() - self.now.keys())
        return made

    def _results(self) -> Iterator[Memory]:
        """Yield every memory that has places, as it is now; forget those that have none."""
        for name in [name for name in self.now if not self._places[name]]:
            del self.now[name]
        for name, memory in self.now.items():
            yield put_together(memory, self._places[name])

    def _same(self, memory: Memory) -> Memory | None:
        """Return the memory that says the same in the same words, None where there is none.

        What was told before may be a place of one that says it in other words.
        """
        twins = [m for m in self._called("key", memory.key) if self._is_live(m)]
        if not twins:
            told = self._called("told", memory.source_id, memory.text)
            twins = [m for m in told if self._has(m, memory) and self._is_live(m)]
        return min(twins, key=lambda m: (m.subject, m.id), default=None)

    def _has(self, memory: Memory, told: Memory) -> bool:
        """Tell whether what is told is a place of the memory already."""
        own = told.source_id, told.text
        return any((place.source_id, place.text) == own for place in self._places[memory.id])

    def _alike(
        self, memory: Memory, near: Sequence[tuple[str, float]]
    ) -> tuple[Memory | None, Verdict | None]:
        """Return the nearest memory that says the same in other words, and the verdict."""
        for name, cosine in near:
            other = self.now.get(name)
            if other is None or not comparable(memory, other) or not self._is_live(other):
                continue
            verdict = decide(memory.text, other.text, cosine, self._dedup.cosine)
            if verdict.merge:
                return other, verdict
        return None, None

    def _new(self, memory: Memory) -> Memory:
        """Return a new memory; one that had ended begins again with what is left of it."""
        new = identified(memory)
        held = self.now.get(new.id)
        if held is None:
            self._set(new, [])
        else:
            self._set(replace(new, pinned=held.pinned), self._counted(held))
        return self.now[new.id]

    def _state(self, draft: Draft, told: Statement, made: Changes) -> str:
        """Put a statement in its place among the others on its subject; return its memory's id.

        What said the same words about no subject becomes a part of it.
        """
        memory = replace(
            draft.memory,
            subject=told.subject,
            value=told.value,
            closes=told.closes,
            valid_from=told.since,
        )
        mine = mention_of(memory)
        new: list[Held] = [(memory, [mine])]
        for twin in self._called("key", memory.key):
            if not twin.subject and self._is_live(twin):
                new.append((_about(twin, told), self._counted(twin)))
                self._drop(twin)
        runs = self.link(told.subject, new)
        home = next(run for run in runs if any(one is memory for one in run.told))
        places = noted(home.places, mine)
        if home.memory.pinned:
            places = [replace(place, expires_at=None) for place in places]
        rest = [p for p in self._places[home.memory.id] if spot(p) not in set(map(spot, places))]
        self._set(home.memory, [*places, *rest])
        made.repeated += any(not _is_own(place, memory) for place in places)
        self._decide(self.now[home.memory.id], told.replaces)
        return home.memory.id

    def link(self, subject: str, new: Sequence[Held] = ()) -> list[Run]:
        """Make the chain of a subject anew; what has expired is no part of it."""
        old = self._chain(subject)
        runs = linked([(memory, self._counted(memory)) for memory in old], new)
        lapsed = [(memory, self._places[memory.id]) for memory in old]
        for memory in old:
            self._drop(memory)
        for run in runs:
            self._set(run.memory, noted(run.places))
        for memory, places in lapsed:
            home = next((run for run in runs if any(one is memory for one in run.told)), None)
            if home is not None:
                held = self._places[home.memory.id]
                spots = set(map(spot, held))
                held += [p for p in places if is_over(p, self._moment) and spot(p) not in spots]
        return runs

    def link_again(self, subject: str, begun: Collection[str]) -> None:
        """Make the chain of a subject anew; what these sources say was told last."""
        new: list[Held] = []
        for memory in self._chain(subject):
            mine = [place for place in self._counted(memory) if place.source_id in begun]
            left = [place for place in self._places[memory.id] if place not in mine]
            if mine:
                new.append((memory, mine))
                self._places[memory.id] = left
            if not left:
                self._drop(memory)
        self.link(subject, new)

    def _chain(self, subject: str) -> list[Memory]:
        """Return the statements about a subject that have not expired."""
        called = self._called("subject", subject)
        return [m for m in called if m.subject == subject and not is_over(m, self._moment)]

    def _drop(self, memory: Memory) -> None:
        del self.now[memory.id], self._places[memory.id]

    def _decide(self, new: Memory, leaves: str) -> None:
        """End what was decided before, under another subject, for what is left now; and the
        decision itself, where a later one leaves what it was for."""
        if not leaves or new.valid_from is None:
            return
        for other in self._called("value", leaves):
            is_left = other.value == leaves and new.subject in leaving(other.subject, leaves)
            if is_left and not other.closes and holds_at(other, new.valid_from):
                self.now[other.id] = ended_by(other, new)
        later = [m for about in leaving(new.subject, new.value) for m in self._chain(about)]
        for other in in_order(m for m in later if m.subject != new.subject and not m.closes):
            if other.valid_from and holds_at(new, other.valid_from):
                self.now[new.id] = ended_by(new, other)
                return

    def _counted(self, memory: Memory) -> list[Mention]:
        """Return the places of a memory that have not expired."""
        return [place for place in self._places[memory.id] if not is_over(place, self._moment)]

    def _is_live(self, memory: Memory) -> bool:
        """Tell whether a memory is there for a reader: an expired or ended twin blocks nothing."""
        return is_live(memory, self._moment)

    def _join(self, memory: Memory, draft: Draft) -> None:
        """Add the draft's place to a memory; one that was there before stays as it was stored."""
        place = mention_of(draft.memory)
        held = self._places[memory.id]
        before = (old for old in held if spot(old) == spot(place))
        for old in (*before, *self._old.get(spot(place), ())):
            until = place.expires_at if draft.renews else old.expires_at
            if is_over(old, self._moment):
                continue
            if draft.told:
                place = replace(again(old, place), expires_at=until)
                break
            as_stored = replace(place, created_at=old.created_at, expires_at=until)
            if as_stored == replace(old, expires_at=until):
                place = as_stored
                break
        if memory.pinned:
            place = replace(place, expires_at=None)
        kept = [old for old in held if spot(old) != spot(place)]
        self._set(self.now[memory.id], [*kept, place])


def leaving(subject: str, value: str) -> tuple[str, str]:
    """Return the subjects under which it is decided to leave what a decision was for."""
    family, _, topic = subject.partition(".")
    _, _, about = topic.partition(":")
    return f"{family}.{value}", f"{family}.{value}:{about}"


def _about(memory: Memory, told: Statement) -> Memory:
    """Return a memory about nothing as a statement about a subject."""
    return replace(memory, subject=told.subject, value=told.value, closes=told.closes)


def _is_own(place: Mention, memory: Memory) -> bool:
    return place.source_id == memory.source_id
