"""The SQL catalog: which sources are indexed, dead letters, fingerprints.

It holds ids, hashes, times and reasons, never the text of a memory. The order of every write is
vectors first, row last: a crash in between costs a repeated upsert of equal ids, never a memory.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    select,
    update,
)
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from indexing.errors import StoreError, StoreLocked, StoreUnavailable
from indexing.types import Scope

PAGE = 500
"""Keys in one statement: engines limit its parameters."""

metadata = MetaData()

versions = Table("schema_version", metadata, Column("version", Integer, primary_key=True))

fingerprints = Table(
    "fingerprints",
    metadata,
    Column("collection", String(64), primary_key=True),
    Column("fingerprint", Text, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("tenant", String(32), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("collection", String(64), nullable=False),
    Column("source_id", Text, nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("indexed_at", Float, nullable=False),
)

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("tenant", String(32), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("collection", String(64), nullable=False),
    Column("user_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("place", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("failed_at", Float, nullable=False),
)


def _create_tables(connection: Connection) -> None:
    metadata.create_all(connection)


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_create_tables,)
"""Numbered from 1, each applied once, in order, inside one transaction."""


def digest(*parts: str) -> str:
    """Return the SHA-256 of framed parts, hex: ``("a", "bc")`` and ``("ab", "c")`` differ."""
    framed = b"".join(len(p.encode()).to_bytes(8, "big") + p.encode() for p in parts)
    return hashlib.sha256(framed).hexdigest()


@dataclass(frozen=True, slots=True)
class SourceRow:
    """An indexed source: what it held when it was last written."""

    source_id: str
    content_hash: str
    chunks: int


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
    """Tables of one deployment. ``url`` is any SQLAlchemy URL; SQLite runs in WAL mode."""

    def __init__(self, url: str, busy_timeout: float = 10.0) -> None:
        self._engine = _engine(url, busy_timeout)
        with self._write() as connection:
            _migrate(connection)

    def close(self) -> None:
        """Close the pooled connections."""
        self._engine.dispose()

    def claim(self, collection: str, fingerprint: str) -> str:
        """Return what the collection was built with; a new one takes the given fingerprint."""
        table = fingerprints
        query = select(table.c.fingerprint).where(table.c.collection == collection)
        with self._write() as connection:
            stored = connection.execute(query).scalar()
            if stored is None:
                row = {"collection": collection, "fingerprint": fingerprint}
                connection.execute(insert(table).values(row))
        return fingerprint if stored is None else str(stored)

    def sources(
        self, scope: Scope, source_ids: Sequence[str] | None = None
    ) -> dict[str, SourceRow]:
        """Return the rows of a scope, or of the given ids only, by source id."""
        query = select(sources).where(sources.c.tenant == scope.tenant)
        rows: dict[str, SourceRow] = {}
        with self._read() as connection:
            for keys in _pages(source_ids):
                page = query if keys is None else query.where(sources.c.key.in_(keys))
                for row in connection.execute(page):
                    rows[row.source_id] = SourceRow(row.source_id, row.content_hash, row.chunks)
        return rows

    def counts(self) -> dict[str, dict[str, int]]:
        """Return how many sources, chunks and tenants each collection has."""
        columns = sources.c
        query = select(
            columns.collection,
            func.count(),
            func.coalesce(func.sum(columns.chunks), 0),
            func.count(columns.tenant.distinct()),
        ).group_by(columns.collection)
        with self._read() as connection:
            return {
                name: {"sources": total, "memories": chunks, "tenants": tenants}
                for name, total, chunks, tenants in connection.execute(query)
            }

    def commit(self, scope: Scope, rows: Sequence[SourceRow], former: Sequence[str] = ()) -> None:
        """Record sources as indexed, in one transaction, replacing earlier rows.

        The rows of ``former`` ids, of sources that were renamed, go. A document is its own path:
        its dead letter goes with the same transaction.
        """
        now = datetime.now(UTC).timestamp()
        values = [
            {
                "tenant": scope.tenant,
                "key": digest(row.source_id),
                "collection": scope.collection,
                "source_id": row.source_id,
                "content_hash": row.content_hash,
                "chunks": row.chunks,
                "indexed_at": now,
            }
            for row in rows
        ]
        if not values:
            return
        with self._write() as connection:
            _drop_sources(connection, scope, [*(row.source_id for row in rows), *former])
            connection.execute(insert(sources), values)
            for start in range(0, len(rows), PAGE):
                keys = [digest(row.source_id, "") for row in rows[start : start + PAGE]]
                mine = (dead_letters.c.tenant == scope.tenant, dead_letters.c.key.in_(keys))
                connection.execute(delete(dead_letters).where(*mine))

    def remove(self, scope: Scope, source_ids: Sequence[str]) -> None:
        """Drop the rows of sources."""
        with self._write() as connection:
            _drop_sources(connection, scope, source_ids)

    def bury(self, letters: Sequence[DeadLetter]) -> None:
        """Put failed sources into the dead-letter table; a repeated failure counts attempts."""
        now = datetime.now(UTC).timestamp()
        with self._write() as connection:
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
        query = select(dead_letters).order_by(dead_letters.c.failed_at)
        if scope is not None:
            query = query.where(dead_letters.c.tenant == scope.tenant)
        with self._read() as connection:
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
        with self._write() as connection:
            query = select(dead_letters.c.key).where(own, dead_letters.c.path == path)
            gone = [key for key in connection.execute(query).scalars() if key not in kept]
            for start in range(0, len(gone), PAGE):
                page = gone[start : start + PAGE]
                connection.execute(delete(dead_letters).where(own, dead_letters.c.key.in_(page)))
        return len(gone)

    @contextmanager
    def _transaction(self, write: bool) -> Iterator[Connection]:
        """Open a transaction; map the vendor's errors to the project's."""
        engine = self._engine.execution_options(letopis_write=write)
        where = self._engine.url.render_as_string(hide_password=True)
        try:
            with engine.begin() as connection:
                yield connection
        except OperationalError as error:
            reason = str(error.orig)
            if "locked" in reason:
                raise StoreLocked(f"the catalog {where} is locked by another process") from error
            raise StoreUnavailable(f"the catalog {where} failed: {reason}") from error
        except SQLAlchemyError as error:
            raise StoreError(f"the catalog {where} failed: {error}") from error

    def _read(self) -> AbstractContextManager[Connection]:
        return self._transaction(write=False)

    def _write(self) -> AbstractContextManager[Connection]:
        return self._transaction(write=True)


def _pages(source_ids: Sequence[str] | None) -> Iterator[list[str] | None]:
    """Yield key pages that fit a statement's parameter limit; one None for "no list given"."""
    if source_ids is None:
        yield None
        return
    for start in range(0, len(source_ids), PAGE):
        yield [digest(source_id) for source_id in source_ids[start : start + PAGE]]


def _drop_sources(connection: Connection, scope: Scope, source_ids: Sequence[str]) -> None:
    for keys in _pages(source_ids):
        connection.execute(
            delete(sources).where(sources.c.tenant == scope.tenant, sources.c.key.in_(keys or []))
        )


def _engine(url: str, busy_timeout: float) -> Engine:
    try:
        engine = create_engine(url)
    except (SQLAlchemyError, ImportError) as error:  # the URL may hold a password: not shown
        raise StoreError(f"the catalog URL cannot be used: {error}") from error
    if engine.dialect.name == "sqlite":

        @event.listens_for(engine, "connect")
        def _pragmas(connection: sqlite3.Connection, _: object) -> None:
            connection.isolation_level = None  # transactions are opened below, not by the driver
            cursor = connection.cursor()
            cursor.execute(f"PRAGMA busy_timeout = {int(busy_timeout * 1000)}")
            cursor.execute("PRAGMA journal_mode = WAL")
            cursor.execute("PRAGMA synchronous = FULL")
            cursor.execute("PRAGMA secure_delete = ON")
            cursor.close()

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            # A write takes its lock at once: upgrading a read lock fails without waiting.
            write = connection.get_execution_options().get("letopis_write")
            connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    return engine


def _migrate(connection: Connection) -> None:
    """Apply the migrations that the schema has not seen. Raises when the schema is newer."""
    current = 0
    if inspect(connection).has_table(versions.name):
        current = len(connection.execute(select(versions.c.version)).all())
    if current > len(MIGRATIONS):
        raise StoreError(
            f"the catalog has schema version {current}, this release knows {len(MIGRATIONS)}: "
            "upgrade letopis"
        )
    for number, migration in enumerate(MIGRATIONS[current:], current + 1):
        migration(connection)
        connection.execute(insert(versions).values(version=number))
