"""Near duplicates among what is stored: `find_duplicates`, and `merge_duplicates` for every night.

The write path compares what is new with its nearest; this finds what came past it: texts that were
stored before near duplicates were looked for, under another setting, or by two writers at once. Of
two that say the same one stays and the other's places become its own; nothing else is changed. Each
merge is complete in itself, so a pass may be stopped at any time.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, islice

import numpy as np

from indexing.alike import by_age, comparable, joined
from indexing.candidates import candidates
from indexing.dedup import decide
from indexing.index import Changes, Index
from indexing.removal import settle
from indexing.store import DENSE
from indexing.types import COLLECTIONS, Collection, Filter, Kind, Memory, Scope, Vector

Progress = Callable[[str, int, int], None]
"""Called with a collection, how many memories are compared and how many there are."""


@dataclass(frozen=True, slots=True)
class Duplicate:
    """``kept`` stands for ``merged``, both as they were before.

    The texts and the reason, which quotes them, are for their owner, not for logs.
    """

    kept: Memory
    merged: Memory
    score: float
    reason: str


@dataclass(slots=True)
class DuplicateCounts:
    """How many memories were compared, and how many of each collection joined another one."""

    compared: int = 0
    merged: dict[Collection, int] = field(default_factory=lambda: dict.fromkeys(COLLECTIONS, 0))

    @property
    def total(self) -> int:
        """The memories of all collections that joined another one."""
        return sum(self.merged.values())


@dataclass(slots=True)
class DuplicatesReport:
    """What was merged into what; ``counts`` hold no text."""

    counts: DuplicateCounts = field(default_factory=DuplicateCounts)
    pairs: list[Duplicate] = field(default_factory=list)


def find_duplicates(index: Index, scope: Scope, kind: Kind) -> Iterator[Duplicate]:
    """Yield the pairs of a scope that may be merged; a memory may be in several."""
    pairs = candidates(index, scope, kind)
    while page := list(islice(pairs, index.batch)):
        held = _read(index, scope, {name for pair in page for name in pair})
        for one, other in page:
            if one in held and other in held and (found := _judged(index, held[one], held[other])):
                yield found


def merge_duplicates(
    index: Index,
    progress: Progress | None = None,
    dry_run: bool = False,
    scopes: Iterable[Scope] | None = None,
) -> DuplicatesReport:
    """Merge the near duplicates of these scopes, or of all; return what was merged into what.

    Where several say the same, each joins the one that stays only if the two may be merged
    themselves. A dry run writes nothing. Interrupted, it can simply be run again. Raises
    `StoreError`.
    """
    report = DuplicatesReport()
    counts = report.counts
    sizes = _sizes(index, scopes)
    for (scope, kind), size in sizes.items():
        if progress:
            progress(scope.collection, counts.compared, sizes.total())
        for found in _merge_all(index, scope, kind, dry_run):
            counts.merged[scope.collection] += 1
            report.pairs.append(found)
        counts.compared += size
    return report


def _sizes(index: Index, scopes: Iterable[Scope] | None) -> Counter[tuple[Scope, Kind]]:
    """Return how many memories there are of each scope and kind that has two or more."""
    store = index.store
    if scopes is None:
        walks = [store.everything(collection) for collection in COLLECTIONS]
    else:
        walks = [store.scroll(scope.collection, Filter(scope)) for scope in dict.fromkeys(scopes)]
    wanted = index.recipe.dedup.kinds
    found = Counter((m.scope, m.kind) for m in chain.from_iterable(walks) if m.kind in wanted)
    return Counter({unit: size for unit, size in found.items() if size > 1})


def _merge_all(index: Index, scope: Scope, kind: Kind, dry_run: bool) -> Iterator[Duplicate]:
    """Yield what joined what, as it is done."""
    home: dict[str, str] = {}

    def stays(name: str) -> str:
        while name in home:
            name = home[name]
        return name

    for pair in find_duplicates(index, scope, kind):
        names = {stays(pair.kept.id), stays(pair.merged.id)}
        if len(names) == 2 and (done := _merge(index, scope, names, dry_run)):
            home[done.merged.id] = done.kept.id
            yield done


def _merge(index: Index, scope: Scope, names: set[str], dry_run: bool) -> Duplicate | None:
    """Merge two memories in the tenant's turn, if they still may be; return what was done."""
    if dry_run:
        return _look(index, scope, names)
    with index.catalog.writing(scope):
        found = _look(index, scope, names)
        if found is None:
            return None
        kept, merged = found.kept, found.merged
        where = Filter(scope, successors=(merged.id,))
        ended = [m for m in index.store.scroll(scope.collection, where) if m.id != kept.id]
        moved = [replace(memory, superseded_by=kept.id) for memory in ended]
        around = {memory.id: memory for memory in (*ended, kept, merged)}
        settle(index, scope, Changes([joined(kept, merged), *moved], [merged.id]), around)
    shared = set(kept.sources).intersection(merged.sources)
    index.catalog.recount(scope, {name: _count(index, scope, name) for name in sorted(shared)})
    return found


def _look(index: Index, scope: Scope, names: set[str]) -> Duplicate | None:
    """Read two memories anew and decide."""
    held = list(_read(index, scope, names).values())
    return _judged(index, *held) if len(held) == 2 else None


Held = tuple[Memory, Vector]


def _read(index: Index, scope: Scope, names: set[str]) -> dict[str, Held]:
    """Return the memories that a reader sees now, with their vectors."""
    ids = tuple(sorted(names))
    seen = Filter(scope, now=index.clock(), ids=ids)
    memories = index.store.get(scope.collection, seen, len(ids))
    vectors = index.store.vectors(scope.collection, seen)
    return {m.id: (m, vectors[m.id][DENSE]) for m in memories if m.id in vectors}


def _judged(index: Index, one: Held, other: Held) -> Duplicate | None:
    """Return the pair where one may stand for both."""
    kept, merged = by_age(one[0], other[0])
    if merged.pinned or not comparable(kept, merged):
        return None
    cosine = float(np.dot(one[1], other[1]))
    verdict = decide(kept.text, merged.text, cosine, index.recipe.dedup.cosine)
    return Duplicate(kept, merged, verdict.score, verdict.reason) if verdict.merge else None


def _count(index: Index, scope: Scope, source_id: str) -> int:
    return index.store.count(scope.collection, Filter(scope, source_ids=(source_id,)))
