"""Take places and memories out of the index, and tell when too much is gone to be believed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from indexing.chains import without
from indexing.index import Changes, Index
from indexing.members import Member
from indexing.mentions import is_over, mentions, put_together
from indexing.merge import plan
from indexing.types import Filter, Memory, Scope
from indexing.write import Vectors, carry_out

MAX_REMOVED = 0.5
"""The share of a feed's documents that may go in one run, unless it is forced."""

FEW = 10
"""A feed of fewer documents is not guarded."""


def is_too_much(gone: int, known: int, max_removed: float = MAX_REMOVED) -> bool:
    """Tell whether so many of the known documents are gone that it looks like a mistake."""
    return known >= FEW and gone > max_removed * known


def remove_sources(index: Index, scope: Scope, ids: Sequence[str]) -> int:
    """Remove sources from the store, then from the catalog, a page at a time.

    A memory that another source says too stays, with the places that are left. Return how many
    memories went.
    """
    removed = 0
    for start in range(0, len(ids), index.batch):
        page = tuple(ids[start : start + index.batch])
        index.catalog.begin(scope, page)
        with index.catalog.writing(scope) as catalog:
            where = Filter(scope, source_ids=page)
            around = {m.id: m for m in index.store.scroll(scope.collection, where)}
            made = plan([], page, around.values(), {}, index.recipe.dedup, index.clock())
            removed += settle(index, scope, made, around)
            catalog.remove(page)
    return removed


def lapse(index: Index, scope: Scope, ids: Collection[str]) -> int:
    """Take the places that have expired from memories of a scope; return how many memories went.

    A memory all of whose places have expired goes. Call it in the tenant's turn.
    """
    now = index.clock()
    where = Filter(scope, ids=tuple(sorted(ids)))
    around = {m.id: m for m in index.store.scroll(scope.collection, where)}
    made = Changes()
    for memory in around.values():
        places = mentions(memory)
        left = [place for place in places if not is_over(place, now)]
        if not left:
            made.delete.append(memory.id)
        elif len(left) < len(places):
            made.put.append(put_together(memory, left))
    return settle(index, scope, made, around)


def settle(
    index: Index,
    scope: Scope,
    made: Changes,
    around: dict[str, Memory],
    vectors: Vectors | None = None,
) -> int:
    """Carry out a plan that deletes, so that nothing names what is gone; return how many went.

    ``vectors`` are those of new texts. Call it in the tenant's turn.
    """
    gone = set(made.delete)
    changed = {memory.id for memory in made.put}
    for memory in _pointing(index, scope, gone):
        if memory.id not in gone | changed:
            made.put.append(memory)
            around[memory.id] = memory
    carry_out(index, scope, made, around, {}, vectors or {})
    return len(gone)


def _pointing(index: Index, scope: Scope, gone: set[str]) -> Iterator[Memory]:
    """Yield the memories that one of these superseded, as they are without it."""
    if not gone:
        return
    where = Filter(scope, successors=tuple(sorted(gone)))
    subjects = {memory.subject for memory in index.store.scroll(scope.collection, where)}
    for subject in sorted(subjects):
        chain = index.store.scroll(scope.collection, Filter(scope, subjects=(subject,)))
        yield from without(chain, gone)


def by_scope(members: Iterable[Member]) -> dict[Scope, list[str]]:
    """Return the ids of members by the scope that they are in."""
    found: defaultdict[Scope, list[str]] = defaultdict(list)
    for member in members:
        found[member.scope].append(member.source_id)
    return found
