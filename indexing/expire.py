"""Remove what has expired from the collections: `sweep`.

Expired memories are invisible the moment they expire, by a filter in every query; the sweep only
takes them from the disk. Of a memory that several sources say the places go that have expired. A
source's row stays in the catalog, with fewer memories: a file that has not changed does not bring
back what has expired. The log of a session goes as a whole, its life after the last turn; what its
model calls cost stays.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime

from sqlalchemy import select

from indexing.index import Index
from indexing.removal import lapse
from indexing.session_rows import TALK, drop_talk
from indexing.session_schema import state
from indexing.types import COLLECTIONS, Collection, Filter, Memory, Scope

Progress = Callable[[str, int, int], None]
"""Called with a collection, how many collections are done and how many there are."""


@dataclass(frozen=True, slots=True)
class SweepReport:
    """How many memories left each collection, and how many sessions lost their log."""

    removed: dict[Collection, int] = field(default_factory=dict)
    sessions: int = 0

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
        touched, report.removed[collection] = _sweep(index, collection, now)
        if touched:
            index.store.vacuum(collection)
    sessions = _sweep_logs(index, now)
    return replace(report, sessions=sessions)


def _sweep_logs(index: Index, now: datetime) -> int:
    """Delete what was said in sessions whose life is over; return how many there were."""
    over = state.c.expires_at <= now.timestamp()
    with index.catalog.database.read() as connection:
        found = list(connection.execute(select(state.c.tenant).where(over)).scalars())
    for tenant in found:
        with index.catalog.database.write(tenant) as connection:
            mine = select(state.c.tenant).where(state.c.tenant == tenant, over)
            if connection.execute(mine).first():  # it was not written to since
                drop_talk(connection, tenant)
    if found:
        index.catalog.database.purge([table.name for table in TALK])
    return len(found)


def _sweep(index: Index, collection: Collection, now: datetime) -> tuple[bool, int]:
    """Return whether anything of a collection has expired, and how many memories went."""
    found = _by_scope(index.store.expired(collection, now))
    for scope, held in _by_scope(index.store.lapsed(collection, now)).items():
        found.setdefault(scope, {}).update(held)
    removed = 0
    for scope, held in found.items():
        with index.catalog.writing(scope):
            removed += lapse(index, scope, held.keys())
        sources = sorted({source for names in held.values() for source in names})
        index.catalog.recount(scope, {name: _count(index, scope, name) for name in sources})
    return bool(found), removed


def _by_scope(memories: Iterable[Memory]) -> dict[Scope, dict[str, tuple[str, ...]]]:
    """Return the sources of memories, by scope and id."""
    found: dict[Scope, dict[str, tuple[str, ...]]] = {}
    for memory in memories:
        found.setdefault(memory.scope, {})[memory.id] = memory.sources
    return found


def _count(index: Index, scope: Scope, source_id: str) -> int:
    return index.store.count(scope.collection, Filter(scope, source_ids=(source_id,)))
