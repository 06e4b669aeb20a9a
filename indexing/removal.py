"""Take what is gone out of the index, and tell when too much is gone to be believed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from indexing.members import Member
from indexing.types import Filter, Scope
from indexing.write import Index

MAX_REMOVED = 0.5
"""The share of a feed's documents that may go in one run, unless it is forced."""

FEW = 10
"""A feed of fewer documents is not guarded."""


def is_too_much(gone: int, known: int, max_removed: float = MAX_REMOVED) -> bool:
    """Tell whether so many of the known documents are gone that it looks like a mistake."""
    return known >= FEW and gone > max_removed * known


def remove_sources(index: Index, scope: Scope, ids: Sequence[str]) -> None:
    """Remove sources from the store, then from the catalog, a page at a time."""
    for start in range(0, len(ids), index.batch):
        page = tuple(ids[start : start + index.batch])
        index.catalog.begin(scope, page)
        index.store.delete(scope.collection, Filter(scope, source_ids=page))
        index.catalog.remove(scope, page)


def by_scope(members: Iterable[Member]) -> dict[Scope, list[str]]:
    """Return the ids of members by the scope that they are in."""
    found: defaultdict[Scope, list[str]] = defaultdict(list)
    for member in members:
        found[member.scope].append(member.source_id)
    return found
