"""Rows of the catalog's tables, and a tenant's turn to write them: `Writing`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Connection, delete, insert, select, update

from indexing.catalog_database import in_pages
from indexing.catalog_schema import conversations, dead_letters, owner_key, scopes, sources
from indexing.hashing import digest
from indexing.tombstones import Blocked, Tombstones
from indexing.types import Kind, Mention, Scope


@dataclass(frozen=True, slots=True)
class About:
    """What a source counts as, for questions about the memory itself.

    ``kind`` is empty where it is not known. A turn has its role; a tool's result the name of the
    tool, and whether the call ``failed`` (None: not known). ``added_at`` is when a document was
    first indexed or a statement was told, in seconds since the epoch.
    """

    kind: Kind | Literal[""] = ""
    role: str = ""
    tool: str = ""
    failed: bool | None = None
    added_at: float | None = None


@dataclass(frozen=True, slots=True)
class SourceRow:
    """An indexed source: what it held when it was last written.

    A turn of a chat has its conversation and when it was said, in seconds since the epoch.
    """

    source_id: str
    content_hash: str
    chunks: int
    conversation_id: str = ""
    said_at: float | None = None
    about: About = field(default=About(), compare=False)


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A source or record that could not be indexed: where it is and why, never its text."""

    scope: Scope
    path: str
    place: str
    reason: str
    attempts: int = 1
    failed_at: float = 0.0


class Writing:
    """A tenant's turn to write: rows that change in the transaction of `Catalog.writing`."""

    def __init__(self, connection: Connection, scope: Scope, tombstones: Tombstones) -> None:
        self.connection = connection
        self._scope = scope
        self._tombstones = tombstones

    def blocked(self, source_ids: Iterable[str] = (), memory_ids: Iterable[str] = ()) -> Blocked:
        """Tell which of these were forgotten. Raises `Forgotten` when the whole scope was."""
        found = self._tombstones.check(self.connection, self._scope, source_ids, memory_ids)
        if found.by:
            found.refuse()
        return found

    def edited(self, memory_ids: Sequence[str]) -> frozenset[str]:
        """Return which of these memories an edit was about to replace when it was killed."""
        return self._tombstones.edited(self.connection, self._scope, memory_ids)

    def lift(self, memory_ids: Sequence[str], what: Literal["memory", "edit"] = "memory") -> None:
        """Let memories be written again, or note that their edit is done."""
        if memory_ids:
            self._tombstones.lift(what, self._scope, memory_ids, connection=self.connection)

    def commit(self, rows: Sequence[SourceRow], former: Sequence[str] = ()) -> None:
        """Record sources as indexed, replacing earlier rows.

        The rows of ``former`` ids, of sources that were renamed, go. A document is its own path:
        its dead letter goes too.
        """
        connection, scope = self.connection, self._scope
        if not rows:
            return
        since = self._added([row.source_id for row in rows])
        self.remove([*(row.source_id for row in rows), *former])
        written = [source_values(scope, row) for row in rows]
        connection.execute(insert(sources), [w | since.get(w["key"], {}) for w in written])
        note_conversations(connection, scope, {row.conversation_id for row in rows} - {""})
        for page in in_pages(rows):
            keys = [digest(row.source_id, "") for row in page]
            mine = (dead_letters.c.tenant == scope.tenant, dead_letters.c.key.in_(keys))
            connection.execute(delete(dead_letters).where(*mine))

    def describe(self, rows: Mapping[str, About]) -> None:
        """Say what sources count as, by source id; the rest of their rows stays as it is."""
        own = sources.c.tenant == self._scope.tenant
        for source_id, about in rows.items():
            where = (own, sources.c.key == digest(source_id))
            values = about_values(about)
            del values["added_at"]
            self.connection.execute(update(sources).where(*where).values(values))

    def _added(self, source_ids: Sequence[str]) -> dict[str, dict[str, float]]:
        """Return since when sources are there, by key, as a column of their rows."""
        table = sources.c
        query = select(table.key, table.added_at)
        query = query.where(table.tenant == self._scope.tenant, table.added_at.is_not(None))
        return {
            key: {"added_at": added_at}
            for keys in pages(source_ids)
            for key, added_at in self.connection.execute(query.where(table.key.in_(keys or [])))
        }

    def remove(self, source_ids: Sequence[str]) -> None:
        """Drop the rows of sources."""
        for keys in pages(source_ids):
            own = sources.c.tenant == self._scope.tenant
            self.connection.execute(delete(sources).where(own, sources.c.key.in_(keys or [])))


def source_values(scope: Scope, row: SourceRow) -> dict[str, Any]:
    """Return the columns of a source's row."""
    return {
        "tenant": scope.tenant,
        "key": digest(row.source_id),
        "collection": scope.collection,
        "source_id": row.source_id,
        "content_hash": row.content_hash,
        "chunks": row.chunks,
        "indexed_at": datetime.now(UTC).timestamp(),
        "conversation_id": row.conversation_id,
        "said_at": row.said_at,
        **about_values(row.about),
    }


def about_values(about: About) -> dict[str, Any]:
    """Return the columns of a source's row that say what it counts as."""
    return {
        "kind": about.kind,
        "role": about.role,
        "tool": about.tool,
        "added_at": about.added_at,
        "failed": None if about.failed is None else int(about.failed),
    }


def about_place(kind: Kind, place: Mention) -> About:
    """Return what the source of a stored place counts as; whether a call failed is not stored."""
    when = place.created_at if kind == "document" else place.at or place.created_at
    return About(
        kind,
        place.role,
        place.speaker if kind == "tool_result" else "",
        added_at=when.timestamp() if when else None,
    )


def pages(source_ids: Sequence[str] | None) -> Iterator[list[str] | None]:
    """Yield key pages that fit a statement's parameter limit; one None for "no list given"."""
    if source_ids is None:
        yield None
        return
    for page in in_pages(source_ids):
        yield [digest(source_id) for source_id in page]


def note_scope(connection: Connection, scope: Scope) -> None:
    """Add a scope that is not known yet."""
    query = select(scopes.c.tenant).where(scopes.c.tenant == scope.tenant)
    if connection.execute(query).first() is None:
        row = {
            "tenant": scope.tenant,
            "owner": owner_key(scope.user_id),
            "collection": scope.collection,
            "user_id": scope.user_id,
            "session_id": scope.session_id,
            "created_at": datetime.now(UTC).timestamp(),
        }
        connection.execute(insert(scopes).values(row))


def note_conversations(connection: Connection, scope: Scope, ids: Collection[str]) -> None:
    """Add the conversations that are not known yet."""
    named = {digest(conversation_id): conversation_id for conversation_id in sorted(ids)}
    if not named:
        return
    table = conversations.c
    query = select(table.key).where(table.tenant == scope.tenant, table.key.in_(named))
    known = set(connection.execute(query).scalars())
    rows = [
        {
            "tenant": scope.tenant,
            "key": key,
            "collection": scope.collection,
            "user_id": scope.user_id,
            "session_id": scope.session_id,
            "conversation_id": conversation_id,
            "closed_turns": 0,
        }
        for key, conversation_id in named.items()
        if key not in known
    ]
    if rows:
        connection.execute(insert(conversations), rows)
