"""What a batch of drafts does to the memories that are there: `plan`, pure.

Each memory is the set of places that say it. The places of the batch's sources are taken away, then
each draft joins the memory that says the same, or becomes one; a memory without places goes. Of
the statements about a subject exactly one holds at any time: see `chains`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from indexing.alike import comparable
from indexing.chains import ended_by, following, holder, holds_at, in_order, inserted
from indexing.dedup import Verdict, decide
from indexing.drafts import Draft, identified
from indexing.index import Dedup, Merge
from indexing.mentions import mention_of, mentions, put_together
from indexing.types import Memory, Mention

Neighbours = Mapping[int, Sequence[tuple[str, float]]]
"""The place of a draft in its batch -> ids of near memories and their cosines."""


@dataclass(slots=True)
class Plan:
    """Memories to be written, ids to be deleted, and where each draft ended up.

    ``repeated`` drafts joined a memory of another source, by the same words; ``merges`` by others.
    """

    put: list[Memory] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)
    homes: list[str] = field(default_factory=list)
    repeated: int = 0
    merges: list[Merge] = field(default_factory=list)


def plan(
    drafts: Sequence[Draft],
    replaced: Iterable[str],
    stored: Iterable[Memory],
    near: Neighbours,
    dedup: Dedup,
    now: datetime,
) -> Plan:
    """Return what has to be done so that the sources ``replaced`` say what the drafts say.

    ``stored`` are the memories of the scope with a source, a key, a subject or a value of the
    drafts, and those of ``near``; more do no harm.
    """
    work = _Work({memory.id: memory for memory in stored}, set(replaced), dedup, now)
    made = Plan()
    for number, draft in enumerate(drafts):
        made.homes.append(work.place(draft, near.get(number, ()), made))
    made.put = [memory for memory in work.results() if memory != work.before.get(memory.id)]
    made.delete = sorted(work.before.keys() - work.now.keys())
    return made


class _Work:
    """The memories as they become, draft by draft."""

    def __init__(
        self, before: dict[str, Memory], replaced: set[str], dedup: Dedup, moment: datetime
    ) -> None:
        self.before = before
        self._dedup = dedup
        self._moment = moment
        self._old: dict[tuple[str, int, int], list[Mention]] = {}
        self._places: dict[str, list[Mention]] = {}
        self.now = dict(before)
        for memory in before.values():
            kept = []
            for place in mentions(memory):
                if place.source_id in replaced:
                    self._old.setdefault(_spot(place), []).append(place)
                else:
                    kept.append(place)
            self._places[memory.id] = kept

    def place(self, draft: Draft, near: Sequence[tuple[str, float]], made: Plan) -> str:
        """Put a draft where it belongs; return the id of its memory."""
        memory = draft.memory
        found = self._same(draft)
        verdict: Verdict | None = None
        if found is None and near:
            found, verdict = self._alike(draft, near)
        if found is not None:
            others = [place for place in self._places[found.id] if not _is_own(place, memory)]
            if verdict and others:
                merge = Merge(memory.source_id, found.id, verdict.score, verdict.reason)
                made.merges.append(merge)
            made.repeated += bool(others)
            self._join(found, draft)
            return found.id
        new = self._new(draft)
        held = self.before.get(new.id)
        if held is not None:
            new = replace(new, pinned=held.pinned)
        self.now[new.id] = new
        self._places[new.id] = []
        self._join(new, draft)
        return new.id

    def results(self) -> Iterator[Memory]:
        """Yield every memory that has places, as it is now; forget those that have none."""
        for name in [name for name in self.now if not self._places[name]]:
            del self.now[name]
        for name, memory in self.now.items():
            yield put_together(memory, self._places[name])

    def _same(self, draft: Draft) -> Memory | None:
        """Return the memory that says what the draft says, None where there is none."""
        memory, said = draft.memory, draft.statement
        if said is None or (said.closes and not self._ends(draft)):
            twins = [m for m in self.now.values() if m.key == memory.key and self._is_live(m)]
            return min(twins, key=lambda m: m.id, default=None)
        chain = self._chain(said.subject)
        for one in (holder(chain, said.since), following(chain, said.since)):
            if one is not None and _says_same(one, memory):
                return one
        repeated = identified(replace(memory, subject=said.subject))
        return next((one for one in chain if one.id == repeated.id), None)

    def _alike(
        self, draft: Draft, near: Sequence[tuple[str, float]]
    ) -> tuple[Memory | None, Verdict | None]:
        """Return the nearest memory that says the same in other words, and the verdict."""
        if draft.statement is not None:
            return None, None
        for name, cosine in near:
            other = self.now.get(name)
            if other is None or not comparable(draft.memory, other) or not self._is_live(other):
                continue
            verdict = decide(draft.memory.text, other.text, cosine, self._dedup.cosine)
            if verdict.merge:
                return other, verdict
        return None, None

    def _new(self, draft: Draft) -> Memory:
        """Return the draft as a memory of its own, in its place among others on its subject."""
        memory, said = draft.memory, draft.statement
        if said is None or (said.closes and not self._ends(draft)):
            alone = replace(memory, value="", closes=False, valid_from=None)
            return identified(alone)
        self._part(said.subject, said.since)
        new = identified(replace(memory, subject=said.subject))
        new, *ended = inserted(self._chain(said.subject), new)
        for other in ended:
            self.now[other.id] = other
        if said.replaces:
            self._replace(new, said.replaces)
        return new

    def _part(self, subject: str, moment: datetime) -> None:
        """Part what was said before a moment and again after it: something comes in between."""
        held = holder(self._chain(subject), moment)
        places = self._places[held.id] if held else []
        later = [place for place in places if _said(place) > moment]
        if held is None or not later:
            return
        again = identified(replace(held, valid_from=min(map(_said, later))))
        earlier = [place for place in places if place not in later]
        if not earlier:  # one place that said it twice
            earlier = [replace(later[0], created_at=held.valid_from)]
        self.now[again.id] = again
        self._places[again.id] = later
        self.now[held.id] = ended_by(held, again)
        self._places[held.id] = earlier

    def _begin(self, memory: Memory, since: datetime) -> None:
        """Let a statement hold from an earlier moment on; what held then ends there."""
        assert memory.valid_from is not None
        if since >= memory.valid_from:
            return
        earlier = self.now[memory.id] = replace(memory, valid_from=since)
        held = holder((m for m in self._chain(memory.subject) if m.id != memory.id), since)
        if held is not None:
            self.now[held.id] = ended_by(held, earlier)

    def _replace(self, new: Memory, value: str) -> None:
        """End what was decided before, under another subject, for what is left now."""
        assert new.valid_from is not None
        family = new.subject.partition(".")[0]
        for other in list(self.now.values()):
            same = other.value == value and other.subject.partition(".")[0] == family
            if not same or other.closes or other.subject == new.subject:
                continue
            if holds_at(other, new.valid_from):
                self.now[other.id] = ended_by(other, new)

    def _ends(self, draft: Draft) -> bool:
        """Tell whether a statement that something is over speaks of what holds."""
        said = draft.statement
        assert said is not None
        held = holder(self._chain(said.subject), said.since)
        return held is not None and held.value == said.value

    def _chain(self, subject: str) -> list[Memory]:
        now = self.now.values()
        return in_order(m for m in now if m.subject == subject and not self._is_expired(m))

    def _is_expired(self, memory: Memory) -> bool:
        return memory.expires_at is not None and memory.expires_at <= self._moment

    def _is_live(self, memory: Memory) -> bool:
        """Tell whether a memory is there for a reader: an expired or ended twin blocks nothing."""
        ended = memory.valid_to is not None and memory.valid_to <= self._moment
        return not self._is_expired(memory) and not ended

    def _join(self, memory: Memory, draft: Draft) -> None:
        """Add the draft's place to a memory; one that was there before stays as it was stored."""
        place = mention_of(draft.memory)
        held = self._places[memory.id]
        before = (old for old in held if _spot(old) == _spot(place))
        for old in (*before, *self._old.get(_spot(place), ())):
            alive = old.expires_at is None or old.expires_at > self._moment
            until = place.expires_at if draft.renews else old.expires_at
            stored = old.created_at if draft.statement is None else place.created_at
            again = replace(place, created_at=stored, expires_at=until)
            if alive and again == replace(old, created_at=stored, expires_at=until):
                place = again
                break
        if memory.pinned:
            place = replace(place, expires_at=None)
        self._places[memory.id] = [*(old for old in held if _spot(old) != _spot(place)), place]
        if memory.subject and draft.statement:
            self._begin(memory, draft.statement.since)


def _says_same(one: Memory, other: Memory) -> bool:
    """Tell whether two statements about one subject give it the same value."""
    if one.closes != other.closes:
        return False
    if one.key == other.key or (one.value and one.value == other.value):
        return True
    return decide(one.text, other.text).merge


def _said(place: Mention) -> datetime:
    """Return when a statement was made, at the latest when it was stored."""
    assert place.created_at is not None
    return min(place.at, place.created_at) if place.at else place.created_at


def _spot(place: Mention) -> tuple[str, int, int]:
    return place.source_id, place.start, place.end


def _is_own(place: Mention, memory: Memory) -> bool:
    return place.source_id == memory.source_id
