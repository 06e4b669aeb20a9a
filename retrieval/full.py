"""Small corpora: when all that a caller may see fits the token budget, it is handed over whole.

No vector is made and nothing is ranked, so nothing can be missed. What is there is read in the
order a person would: the widest scope first, documents from their beginning, talk as it was said.
"""

from collections.abc import Callable, Sequence

from indexing.store import VectorStore
from indexing.types import Filter, Memory, Scope
from retrieval.talk import said

SAMPLE = 32
"""Memories of a scope that say whether reading the rest is worth it."""

Count = Callable[[str], int]
"""Text -> its tokens."""


def everything(
    store: VectorStore,
    scopes: Sequence[Scope],
    where: Callable[[Scope], Filter],
    budget: int,
    count: Count,
    most: int | None = None,
) -> list[Memory] | None:
    """Return all memories of the scopes in reading order, None when they do not fit the budget.

    None too where one scope alone has more than ``most``: none of a scope says the same as another.
    Costs one count a scope when there are many. Raises `StoreError`.
    """
    sizes = {scope: store.count(scope.collection, where(scope)) for scope in scopes}
    if sum(sizes.values()) > budget:  # every memory has a token at least
        return None
    if most is not None and max(sizes.values(), default=0) > most:
        return None
    left, found = budget, []
    for scope, size in sizes.items():
        after = ""
        while size:
            page = store.get(scope.collection, where(scope), SAMPLE, after)
            left -= sum(count(said(memory, memory.text)) for memory in page)
            if left < 0:
                return None
            found += page
            if len(page) < SAMPLE:
                break
            after = page[-1].id
    return sorted(found, key=_place)


_SCOPES = {"global": 0, "user": 1, "session": 2}


def _place(memory: Memory) -> tuple[int, bool, str, float, str, int, str]:
    """Sort by scope, then documents by name and place, then all else by time."""
    document = memory.kind == "document"
    said = memory.valid_from or memory.at or memory.created_at
    when = 0.0 if document or said is None else said.timestamp()
    name = (memory.uri or memory.source_id) if document else ""
    at = memory.start if document else memory.ordinal
    return (
        _SCOPES[memory.scope.collection],
        not document,
        name,
        when,
        memory.source_id,
        at,
        memory.id,
    )
