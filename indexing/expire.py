"""Remove what has expired from the collections: `sweep`.

Expired memories are invisible the moment they expire, by a filter in every query; the sweep only
takes them from the disk. A source's row stays in the catalog, with fewer memories: a file that has
not changed does not bring back what has expired.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from indexing.types import COLLECTIONS, Collection, Filter, Scope
from indexing.write import Index

Progress = Callable[[str, int, int], None]
"""Called with a collection, how many collections are done and how many there are."""


@dataclass(frozen=True, slots=True)
class SweepReport:
    """How many memories left each collection."""

    removed: dict[Collection, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """The memories removed from all collections."""
        return sum(self.removed.values())


def sweep(index: Index, progress: Progress | None = None) -> SweepReport:
    """Delete what has expired by the clock of the index, of every tenant, and rewrite the files.

    Interrupted, it can simply be run again. Raises `StoreError`.
    """
    now = index.clock()
    report = SweepReport()
    for number, collection in enumerate(COLLECTIONS):
        if progress:
            progress(collection, number, len(COLLECTIONS))
        touched: dict[Scope, set[str]] = {}
        for memory in index.store.expired(collection, now):
            touched.setdefault(memory.scope, set()).add(memory.source_id)
        report.removed[collection] = index.store.expire(collection, now)
        for scope, source_ids in touched.items():
            left = {name: _count(index, scope, name) for name in sorted(source_ids)}
            index.catalog.recount(scope, left)
        if report.removed[collection]:
            index.store.vacuum(collection)
    return report


def _count(index: Index, scope: Scope, source_id: str) -> int:
    return index.store.count(scope.collection, Filter(scope, source_ids=(source_id,)))
