"""The contract of a vector store, and what its filters mean. Adapters: `edge`, `server`.

A store holds up to three collections (global, user, session). Every call names one tenant through
its `Filter`; the adapter puts the tenant, expiry and kind conditions inside each engine query.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Protocol

from indexing.conditions import is_told
from indexing.errors import InvalidInput
from indexing.types import (
    Branch,
    Collection,
    Filter,
    Memory,
    Point,
    Scored,
    SparseVector,
    Vector,
    VectorNames,
)

DENSE = "dense"
SPARSE = "sparse"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
OWN = ".own"
"""Ends the name of a view that leaves the turn before out: ``dense.own``, ``sparse.own``."""


def base(name: str) -> str:
    """Return which kind of vector a view is: ``dense`` or ``sparse``."""
    return name.removesuffix(OWN)


def vector_names(dimension: int, views: bool = False) -> VectorNames:
    """Return the vectors of a collection; with ``views`` each also without the turn before."""
    if not views:
        return VectorNames({DENSE: dimension}, (SPARSE,))
    return VectorNames({DENSE: dimension, DENSE + OWN: dimension}, (SPARSE, SPARSE + OWN))


class VectorStore(Protocol):
    """What the write and the read side need of an engine. Implementations are thread-safe."""

    concurrent: bool
    """Whether collections are better asked at once. Not the embedded engine: a small collection
    is asked faster than a thread is woken, and a big one is asked by every core."""

    residue: str
    """What `vacuum` cannot promise of the bytes of what was deleted; empty: they are gone."""

    def open_collection(
        self, collection: Collection, names: VectorNames, fingerprint: str = ""
    ) -> str:
        """Create the collection with its vectors and payload indexes if it is not there yet.

        Return the fingerprint that is kept with it: a new collection takes the given one, an
        older one answers with its own, which the caller compares.
        """

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        """Write points, replacing equal ids. Durable when it returns."""

    def search(
        self, collection: Collection, branches: Sequence[Branch], where: Filter
    ) -> list[list[Scored]]:
        """Answer all branches in one batched engine query: one ranked list per branch, in order.

        Lists hold ids and scores; `get` reads the memories that are wanted.

        IDF of sparse branches is taken over the tenant's own memories.
        """

    def get(
        self, collection: Collection, where: Filter, limit: int, after: str = ""
    ) -> list[Memory]:
        """Return up to ``limit`` memories that match, in id order, behind the id ``after``."""

    def scroll(self, collection: Collection, where: Filter) -> Iterator[Memory]:
        """Yield every memory that matches, page by page."""

    def vectors(self, collection: Collection, where: Filter) -> dict[str, dict[str, Vector]]:
        """Return id -> dense vector name -> vector of what matches ``where.ids``."""

    def count(self, collection: Collection, where: Filter) -> int:
        """Return the exact number of memories that match."""

    def delete(self, collection: Collection, where: Filter) -> int:
        """Delete all that match, whatever their number; return how many. Durable on return."""

    def everything(self, collection: Collection) -> Iterator[Memory]:
        """Yield the memories of all tenants in id order, for upkeep: never for an answer."""

    def expired(self, collection: Collection, now: datetime) -> Iterator[Memory]:
        """Yield what has expired by then, of all tenants, in id order."""

    def lapsed(self, collection: Collection, now: datetime) -> Iterator[Memory]:
        """Yield the memories, of all tenants, of which one of several places has expired by then,
        in id order."""

    def drop(self, collection: Collection) -> None:
        """Remove the collection with all that is in it; one that is not there is fine."""

    def vacuum(self, collection: Collection) -> None:
        """Rewrite files so that no byte of what was deleted stays in them; blocks while it runs.

        A server does it by itself. Call it after `delete` when the text must be gone from disk.
        """

    def close(self) -> None:
        """Flush and let go of files, locks and connections. Calling it twice is fine."""


def check_call(
    collection: Collection, where: Filter, branches: Sequence[Branch] = ()
) -> Mapping[str, list[str]]:
    """Return the exact-match conditions of a call: payload key -> allowed values, tenant first.

    Raises `InvalidInput` for a scope of another collection, an id that is no UUID or a limit
    below 1.
    """
    if where.scope.collection != collection:
        raise InvalidInput(f"the scope {where.scope} is not in the collection {collection!r}")
    for memory_id in where.ids or ():
        check_uuid(memory_id)
    for branch in branches:
        if branch.limit < 1:
            raise InvalidInput(f"the limit of branch {branch.name!r} is {branch.limit}")
    wanted = {
        "tenant": [where.scope.tenant],
        "kind": where.kinds,
        "source_id": where.source_ids,
        "lang": where.langs,
        "key": where.keys,
        "subject": where.subjects,
        "value": where.values,
        "superseded_by": where.successors,
    }
    return {key: list(values) for key, values in wanted.items() if values is not None}


def check_page(limit: int, after: str) -> None:
    """Raise `InvalidInput` for a page that holds nothing, or one after what is no id."""
    if limit < 1:
        raise InvalidInput(f"the limit is {limit}")
    if after:
        check_uuid(after)


def idf_corpus(where: Filter) -> Filter:
    """Return the filter of all that the tenant has: what term frequencies are counted over."""
    return Filter(where.scope, where.now, as_of=where.as_of, superseded=where.superseded)


def narrowed(where: Filter, branch: Branch) -> Filter:
    """Return the filter of one branch: the call's, and the branch's language."""
    return where if branch.lang is None else replace(where, langs=(branch.lang,))


def matches(memory: Memory, where: Filter) -> bool:
    """Whether a memory that was read by its id passes the filter: the engine's rule in Python."""
    if memory.scope.tenant != where.scope.tenant:
        return False
    until = {"expires_at": memory.expires_at, "valid_to": memory.valid_to}
    if any((ended := until[key]) and ended <= time for key, time in ends(where)):
        return False
    if where.as_of and memory.since and memory.since > where.as_of:
        return False
    allowed = (
        (where.kinds, memory.kind),
        (where.langs, memory.lang),
        (where.ids, memory.id),
        (where.keys, memory.key),
        (where.subjects, memory.subject),
        (where.values, memory.value),
        (where.successors, memory.superseded_by),
    )
    return all(values is None or value in values for values, value in allowed) and is_told(
        memory, where
    )


def ends(where: Filter) -> list[tuple[str, datetime]]:
    """Return the payload keys of ends that hide a memory, each with the time from which it does."""
    hidden = [("expires_at", where.now)]
    if not where.superseded:
        hidden.append(("valid_to", where.as_of or where.now))
    return [(key, time) for key, time in hidden if time is not None]


def starts(where: Filter) -> list[tuple[str, datetime]]:
    """Return the payload keys of starts that hide a memory, each with the time up to which."""
    return [] if where.as_of is None else [("since", where.as_of)]


def is_empty(branch: Branch) -> bool:
    """Whether it is a sparse query of no terms: nothing can match it."""
    return isinstance(branch.vector, SparseVector) and not branch.vector.indices


def check_points(collection: Collection, points: Sequence[Point]) -> None:
    """Raise `InvalidInput` for a point of another collection, a bad id or undecodable text."""
    for point in points:
        memory = point.memory
        if memory.scope.collection != collection:
            raise InvalidInput(f"memory {memory.id} of {memory.scope} goes to {collection!r}")
        check_uuid(memory.id)
        texts = [memory.subject]
        for place in (memory, *memory.also):
            texts += (place.text, place.before, place.title, place.uri, place.speaker)
            texts += (*place.headings, *place.tags)
        try:
            "".join(texts).encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(f"memory {memory.id} is not valid Unicode: {error}") from error


def check_uuid(id: str) -> None:
    """Raise `InvalidInput` unless the id is a UUID in its usual form."""
    if not _UUID.fullmatch(id):
        raise InvalidInput(f"a memory id is a lower-case UUID with hyphens, not {id!r}")
