"""The contract of a vector store, and its payload format. Adapters: `edge`, `server`.

A store holds up to three collections (global, user, session). Every call names one tenant through
its `Filter`; the adapter puts the tenant, expiry and kind conditions inside each engine query.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, Protocol
from uuid import UUID

from indexing.errors import InvalidInput
from indexing.types import (
    Branch,
    Collection,
    Filter,
    Memory,
    Point,
    Scope,
    Scored,
    SparseVector,
    Vector,
    VectorNames,
)

Payload = dict[str, Any]

DENSE = "dense"
SPARSE = "sparse"


class VectorStore(Protocol):
    """What the write and the read side need of an engine. Implementations are thread-safe."""

    concurrent: bool
    """Whether collections are better asked at once. Not the embedded engine: one query of it
    already uses every core."""

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

    def get(self, collection: Collection, where: Filter, limit: int) -> list[Memory]:
        """Return up to ``limit`` memories that match, in id order."""

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

    def expire(self, collection: Collection, now: datetime) -> int:
        """Delete what has expired by then, of all tenants; return how many. Durable on return.

        One call of the engine tests and deletes: a memory whose life was just renewed stays.
        """

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
    }
    return {key: list(values) for key, values in wanted.items() if values is not None}


def idf_corpus(where: Filter) -> Filter:
    """Return the filter of all that the tenant has: what term frequencies are counted over."""
    return replace(where, kinds=None, source_ids=None, ids=None, langs=None)


def narrowed(where: Filter, branch: Branch) -> Filter:
    """Return the filter of one branch: the call's, and the branch's language."""
    return where if branch.lang is None else replace(where, langs=(branch.lang,))


def matches(memory: Memory, where: Filter) -> bool:
    """Whether a memory that was read by its id passes the filter: the engine's rule in Python."""
    if memory.scope.tenant != where.scope.tenant:
        return False
    if where.now and memory.expires_at and memory.expires_at <= where.now:
        return False
    allowed = (
        (where.kinds, memory.kind),
        (where.source_ids, memory.source_id),
        (where.langs, memory.lang),
        (where.ids, memory.id),
    )
    return all(values is None or value in values for values, value in allowed)


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
        texts = (memory.text, memory.before, memory.title, memory.uri, memory.speaker)
        try:
            "".join((*texts, *memory.headings)).encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(f"memory {memory.id} is not valid Unicode: {error}") from error


def check_uuid(id: str) -> None:
    """Raise `InvalidInput` unless the id is a UUID in its usual form."""
    try:
        usual = str(UUID(id))
    except ValueError:
        usual = ""
    if usual != id:
        raise InvalidInput(f"a memory id is a lower-case UUID with hyphens, not {id!r}")


def to_payload(memory: Memory) -> Payload:
    """Flatten a memory into the stored payload; empty fields are left out, times are UTC."""
    payload: Payload = {
        "tenant": memory.scope.tenant,
        "kind": memory.kind,
        "text": memory.text,
        "source_id": memory.source_id,
        "start": memory.start,
        "end": memory.end,
        "ordinal": memory.ordinal,
        "user_id": memory.scope.user_id,
        "session_id": memory.scope.session_id,
        "uri": memory.uri,
        "title": memory.title,
        "headings": list(memory.headings),
        "page": memory.page or None,
        "speaker": memory.speaker,
        "role": memory.role,
        "before": memory.before,
        "conversation_id": memory.conversation_id,
        "turn_id": memory.turn_id,
        "embed_hash": memory.embed_hash,
        "terms": memory.terms,
        "lang": memory.lang,
        "at": to_epoch(memory.at),
        "at_offset": _offset(memory.at),
        "created_at": to_epoch(memory.created_at),
        "expires_at": to_epoch(memory.expires_at),
    }
    return {key: value for key, value in payload.items() if value not in ("", None, [])}


def from_payload(collection: Collection, id: str, payload: Payload) -> Memory:
    """Rebuild the memory from its payload; the inverse of `to_payload` to the microsecond."""
    return Memory(
        id=id,
        scope=_scope(collection, payload.get("user_id", ""), payload.get("session_id", "")),
        kind=payload["kind"],
        text=payload.get("text", ""),
        source_id=payload.get("source_id", ""),
        start=payload["start"],
        end=payload["end"],
        ordinal=payload["ordinal"],
        uri=payload.get("uri", ""),
        title=payload.get("title", ""),
        headings=tuple(payload.get("headings", ())),
        page=payload.get("page", 0),
        speaker=payload.get("speaker", ""),
        role=payload.get("role", ""),
        before=payload.get("before", ""),
        conversation_id=payload.get("conversation_id", ""),
        turn_id=payload.get("turn_id", ""),
        embed_hash=payload.get("embed_hash", ""),
        terms=payload.get("terms", ""),
        lang=payload.get("lang", ""),
        at=_zoned(from_epoch(payload.get("at")), payload.get("at_offset", 0)),
        created_at=from_epoch(payload.get("created_at")),
        expires_at=from_epoch(payload.get("expires_at")),
    )


@lru_cache(maxsize=1024)
def _scope(collection: Collection, user_id: str, session_id: str) -> Scope:
    """Make a scope once: checking its ids is half the cost of rebuilding a memory."""
    return Scope(collection, user_id, session_id)


def _offset(moment: datetime | None) -> float | None:
    """Return the seconds that a time's own zone is ahead of UTC; None for UTC itself."""
    ahead = moment.utcoffset() if moment else None
    return ahead.total_seconds() or None if ahead else None


def _zoned(moment: datetime | None, ahead: float) -> datetime | None:
    zone = timezone(timedelta(seconds=ahead)) if ahead else UTC
    return moment.astimezone(zone) if moment else None


def to_epoch(moment: datetime | None) -> float | None:
    """Return seconds since the epoch."""
    return None if moment is None else moment.timestamp()


def from_epoch(seconds: float | None) -> datetime | None:
    """Return the UTC time of seconds since the epoch."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
