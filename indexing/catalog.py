"""The SQL catalog: which sources are indexed, dead letters, fingerprints.

It holds ids, hashes, times and reasons, never the text of a memory. The order of every write is
vectors first, row last: a crash in between costs a repeated upsert of equal ids, never a memory.
"""

import hashlib
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from indexing.catalog_database import Database
from indexing.catalog_schema import (
    conversations,
    dead_letters,
    fingerprints,
    generations,
    migrate,
    owner_key,
    scopes,
    sources,
)
from indexing.errors import StoreLocked
from indexing.generations import Generations, active_of, check_write
from indexing.types import Scope

HELD = 0.05
"""Seconds between looks whether a re-index has switched."""

PAGE = 500
"""Keys in one statement: engines limit its parameters."""


def digest(*parts: str) -> str:
    """Return the SHA-256 of framed parts, hex: ``("a", "bc")`` and ``("ab", "c")`` differ."""
    framed = b"".join(len(p.encode()).to_bytes(8, "big") + p.encode() for p in parts)
    return hashlib.sha256(framed).hexdigest()


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


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A source or record that could not be indexed: where it is and why, never its text."""

    scope: Scope
    path: str
    place: str
    reason: str
    attempts: int = 1
    failed_at: float = 0.0


class Catalog:
    """Tables of one deployment. ``url`` is a SQLAlchemy URL of SQLite or PostgreSQL."""

    def __init__(self, url: str, busy_timeout: float = 10.0) -> None:
        self._database = Database(url, busy_timeout)
        self._busy_timeout = busy_timeout
        with ExitStack() as undo:
            undo.callback(self.close)
            with self._database.write("schema") as connection:
                migrate(connection)
                self.generation = active_of(connection)
            undo.pop_all()

    @property
    def database(self) -> Database:
        """The database, for the tables that have a class of their own (`members`)."""
        return self._database

    @property
    def generations(self) -> Generations:
        """Which generation of the collections is in force."""
        return Generations(self._database)

    def close(self) -> None:
        """Close the pooled connections."""
        self._database.close()

    def fingerprint(self, collection: str) -> str | None:
        """Return what the collection was built with, as far as this catalog knows."""
        with self._database.read() as connection:
            return connection.execute(_fingerprint_of(collection)).scalar()

    def claim(self, collection: str, fingerprint: str) -> str:
        """Return what the collection was built with; a new one takes the given fingerprint."""
        with self._database.write(f"collection {collection}") as connection:
            stored = connection.execute(_fingerprint_of(collection)).scalar()
            if stored is None:
                row = {"collection": collection, "fingerprint": fingerprint}
                connection.execute(insert(fingerprints).values(row))
        return fingerprint if stored is None else stored

    def sources(
        self, scope: Scope, source_ids: Sequence[str] | None = None
    ) -> dict[str, SourceRow]:
        """Return the rows of a scope, or of the given ids only, by source id."""
        query = select(sources).where(sources.c.tenant == scope.tenant)
        rows: dict[str, SourceRow] = {}
        with self._database.read() as connection:
            for keys in _pages(source_ids):
                page = query if keys is None else query.where(sources.c.key.in_(keys))
                for row in connection.execute(page):
                    rows[row.source_id] = SourceRow(
                        row.source_id,
                        row.content_hash,
                        row.chunks,
                        row.conversation_id,
                        row.said_at,
                    )
        return rows

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many sources, chunks and tenants each collection has."""
        columns = sources.c
        query = select(
            columns.collection,
            func.count(),
            func.coalesce(func.sum(columns.chunks), 0),
            func.count(columns.tenant.distinct()),
        )
        begun = (columns.content_hash == "") & (columns.chunks == 0)
        query = query.where(~begun).group_by(columns.collection)
        with self._database.read() as connection:
            return {
                name: {"sources": total, "memories": chunks, "tenants": tenants}
                for name, total, chunks, tenants in connection.execute(query)
            }

    def begin(self, scope: Scope, source_ids: Sequence[str]) -> None:
        """Note that points of these sources are about to change: until `commit` or `remove` their
        rows hold no content hash.

        If the run dies in between, no later one takes the sources for unchanged, and one that finds
        them gone knows that there may be points of them.
        """
        names = list(dict.fromkeys(source_ids))
        if not names:
            return
        with self._writing(scope) as connection:
            _note_scope(connection, scope)
            for start in range(0, len(names), PAGE):
                page = {digest(name): name for name in names[start : start + PAGE]}
                mine = (sources.c.tenant == scope.tenant, sources.c.key.in_(page))
                connection.execute(update(sources).where(*mine).values(content_hash=""))
                known = set(connection.execute(select(sources.c.key).where(*mine)).scalars())
                rows = [SourceRow(name, "", 0) for key, name in page.items() if key not in known]
                if rows:
                    connection.execute(
                        insert(sources), [_source_values(scope, row) for row in rows]
                    )

    def commit(self, scope: Scope, rows: Sequence[SourceRow], former: Sequence[str] = ()) -> None:
        """Record sources as indexed, in one transaction; see `Writing.commit`."""
        if rows:
            with self.writing(scope) as writing:
                writing.commit(rows, former)

    def recount(self, scope: Scope, chunks: Mapping[str, int]) -> None:
        """Correct how many memories sources have: source id -> number. Unknown ids are ignored."""
        own = sources.c.tenant == scope.tenant
        with self._database.write(scope.tenant) as connection:
            for source_id, number in chunks.items():
                where = (own, sources.c.key == digest(source_id))
                connection.execute(update(sources).where(*where).values(chunks=number))

    def remove(self, scope: Scope, source_ids: Sequence[str]) -> None:
        """Drop the rows of sources."""
        with self.writing(scope) as writing:
            writing.remove(source_ids)

    @contextmanager
    def writing(self, scope: Scope) -> Iterator["Writing"]:
        """Take the tenant's turn: no other process writes or forgets what the tenant has meanwhile.

        What is done in the turn is committed at its end. Other catalog calls that write wait, so
        make none inside.
        """
        with self._writing(scope) as connection:
            yield Writing(connection, scope)

    @contextmanager
    def _writing(self, scope: Scope) -> Iterator[Connection]:
        """Open a transaction that acknowledges a write; while a re-index switches, wait."""
        deadline = time.monotonic() + self._busy_timeout
        with ExitStack() as transaction:
            while True:
                writing = self._database.write(scope.tenant, shared=[generations.name])
                connection = transaction.enter_context(writing)
                try:
                    check_write(connection, self.generation)
                    break
                except StoreLocked:
                    if time.monotonic() > deadline:
                        raise
                transaction.close()
                time.sleep(HELD)
            yield connection

    def scopes(self, user_id: str) -> list[Scope]:
        """Return every scope of a user that anything was ever written to: own, then sessions."""
        table = scopes.c
        query = select(table.collection, table.user_id, table.session_id)
        query = query.where(table.owner == owner_key(user_id), table.user_id == user_id)
        with self._database.read() as connection:
            found = [Scope(*row) for row in connection.execute(query)]
        return sorted(found, key=lambda scope: (scope.collection != "user", scope.session_id))

    def bury(self, letters: Sequence[DeadLetter]) -> None:
        """Put failed sources into the dead-letter table; a repeated failure counts attempts."""
        now = datetime.now(UTC).timestamp()
        with self._database.write(*(letter.scope.tenant for letter in letters)) as connection:
            for letter in letters:
                key = digest(letter.path, letter.place)
                where = (dead_letters.c.tenant == letter.scope.tenant, dead_letters.c.key == key)
                attempts = connection.execute(
                    select(dead_letters.c.attempts).where(*where)
                ).scalar()
                if attempts is not None:
                    connection.execute(
                        update(dead_letters)
                        .where(*where)
                        .values(attempts=attempts + 1, reason=letter.reason, failed_at=now)
                    )
                    continue
                connection.execute(
                    insert(dead_letters).values(
                        tenant=letter.scope.tenant,
                        key=key,
                        collection=letter.scope.collection,
                        user_id=letter.scope.user_id,
                        session_id=letter.scope.session_id,
                        path=letter.path,
                        place=letter.place,
                        reason=letter.reason,
                        attempts=1,
                        failed_at=now,
                    )
                )

    def dead(self, scope: Scope | None = None) -> list[DeadLetter]:
        """Return the dead letters of a scope, or of all scopes, oldest first."""
        query = select(dead_letters).order_by(dead_letters.c.failed_at, dead_letters.c.key)
        if scope is not None:
            query = query.where(dead_letters.c.tenant == scope.tenant)
        with self._database.read() as connection:
            return [
                DeadLetter(
                    Scope(r.collection, r.user_id, r.session_id),
                    r.path,
                    r.place,
                    r.reason,
                    r.attempts,
                    r.failed_at,
                )
                for r in connection.execute(query)
            ]

    def revive(self, scope: Scope, path: str, keep: Sequence[str] = ()) -> int:
        """Clear the dead letters of a path whose places are not in ``keep``; return how many."""
        own = dead_letters.c.tenant == scope.tenant
        kept = {digest(path, place) for place in keep}
        with self._database.write(scope.tenant) as connection:
            query = select(dead_letters.c.key).where(own, dead_letters.c.path == path)
            gone = [key for key in connection.execute(query).scalars() if key not in kept]
            for start in range(0, len(gone), PAGE):
                page = gone[start : start + PAGE]
                connection.execute(delete(dead_letters).where(own, dead_letters.c.key.in_(page)))
        return len(gone)


class Writing:
    """A tenant's turn to write: rows that change in the transaction of `Catalog.writing`."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self.connection = connection
        self._scope = scope

    def commit(self, rows: Sequence[SourceRow], former: Sequence[str] = ()) -> None:
        """Record sources as indexed, replacing earlier rows.

        The rows of ``former`` ids, of sources that were renamed, go. A document is its own path:
        its dead letter goes too.
        """
        connection, scope = self.connection, self._scope
        if not rows:
            return
        self.remove([*(row.source_id for row in rows), *former])
        connection.execute(insert(sources), [_source_values(scope, row) for row in rows])
        _note_conversations(connection, scope, {row.conversation_id for row in rows} - {""})
        for start in range(0, len(rows), PAGE):
            keys = [digest(row.source_id, "") for row in rows[start : start + PAGE]]
            mine = (dead_letters.c.tenant == scope.tenant, dead_letters.c.key.in_(keys))
            connection.execute(delete(dead_letters).where(*mine))

    def remove(self, source_ids: Sequence[str]) -> None:
        """Drop the rows of sources."""
        for keys in _pages(source_ids):
            own = sources.c.tenant == self._scope.tenant
            self.connection.execute(delete(sources).where(own, sources.c.key.in_(keys or [])))


def _source_values(scope: Scope, row: SourceRow) -> dict[str, Any]:
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
    }


def _fingerprint_of(collection: str) -> Select[str]:
    table = fingerprints.c
    return select(table.fingerprint).where(table.collection == collection)


def _pages(source_ids: Sequence[str] | None) -> Iterator[list[str] | None]:
    """Yield key pages that fit a statement's parameter limit; one None for "no list given"."""
    if source_ids is None:
        yield None
        return
    for start in range(0, len(source_ids), PAGE):
        yield [digest(source_id) for source_id in source_ids[start : start + PAGE]]


def _note_scope(connection: Connection, scope: Scope) -> None:
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


def _note_conversations(connection: Connection, scope: Scope, ids: Collection[str]) -> None:
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
