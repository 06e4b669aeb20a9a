"""The SQL catalog: which sources are indexed, dead letters, fingerprints.

It holds ids, hashes, times, names of tools and reasons, never the text of a memory. The order of
every write is vectors first, row last: a crash in between costs a repeated upsert of equal ids,
never a memory.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime

from sqlalchemy import Connection, Select, delete, func, insert, select, update

from indexing.catalog_database import Database, in_pages
from indexing.catalog_migrations import migrate
from indexing.catalog_rows import (
    About,
    DeadLetter,
    SourceRow,
    Writing,
    note_scope,
    pages,
    source_values,
)
from indexing.catalog_schema import (
    dead_letters,
    fingerprints,
    generations,
    owner_key,
    scopes,
    sources,
)
from indexing.errors import StoreLocked
from indexing.generations import Generations, active_of, check_write
from indexing.hashing import digest
from indexing.tombstones import Blocked, Tombstones, owner_lock
from indexing.types import Scope

HELD = 0.05
"""Seconds between looks whether a re-index has switched."""


class Catalog:
    """Tables of one deployment. ``url`` is a SQLAlchemy URL of SQLite or PostgreSQL."""

    def __init__(self, url: str, busy_timeout: float = 10.0) -> None:
        self._database = Database(url, busy_timeout)
        self._busy_timeout = busy_timeout
        self.tombstones = Tombstones(self._database)
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
            for keys in pages(source_ids):
                page = query if keys is None else query.where(sources.c.key.in_(keys))
                for row in connection.execute(page):
                    rows[row.source_id] = SourceRow(
                        row.source_id,
                        row.content_hash,
                        row.chunks,
                        row.conversation_id,
                        row.said_at,
                        About(
                            row.kind,
                            row.role,
                            row.tool,
                            None if row.failed is None else bool(row.failed),
                            row.added_at,
                        ),
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

        Sources that were forgotten are left out. If the run dies in between, no later one takes the
        sources for unchanged, and one that finds them gone knows that there may be points of them.
        """
        names = list(dict.fromkeys(source_ids))
        if not names:
            return
        with self._writing(scope) as connection:
            blocked = self.tombstones.check(connection, scope, names)
            if blocked.by:
                blocked.refuse()
            names = [name for name in names if name not in blocked.source_ids]
            note_scope(connection, scope)
            for some in in_pages(names):
                page = {digest(name): name for name in some}
                mine = (sources.c.tenant == scope.tenant, sources.c.key.in_(page))
                connection.execute(update(sources).where(*mine).values(content_hash=""))
                known = set(connection.execute(select(sources.c.key).where(*mine)).scalars())
                rows = [SourceRow(name, "", 0) for key, name in page.items() if key not in known]
                if rows:
                    connection.execute(insert(sources), [source_values(scope, row) for row in rows])

    def blocked(self, scope: Scope, source_ids: Sequence[str] = ()) -> Blocked:
        """Tell what may not be written now, of a scope or of these sources, since it was forgotten.

        A look ahead, to spare work: `Writing.blocked` decides.
        """
        with self._database.read() as connection:
            return self.tombstones.check(connection, scope, source_ids)

    def commit(self, scope: Scope, rows: Sequence[SourceRow], former: Sequence[str] = ()) -> None:
        """Record sources as indexed, in one transaction; see `Writing.commit`."""
        if rows:
            with self.writing(scope) as writing:
                writing.commit(rows, former)

    def recount(self, scope: Scope, chunks: Mapping[str, int]) -> None:
        """Correct how many memories sources have: source id -> number. Unknown ids are ignored.

        What is in none any more has expired or was forgotten: it counts as nothing.
        """
        own = sources.c.tenant == scope.tenant
        with self._database.write(scope.tenant) as connection:
            for source_id, number in chunks.items():
                where = (own, sources.c.key == digest(source_id))
                gone = {} if number else {"kind": ""}
                connection.execute(update(sources).where(*where).values(chunks=number, **gone))

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
            yield Writing(connection, scope, self.tombstones)

    @contextmanager
    def _writing(self, scope: Scope) -> Iterator[Connection]:
        """Open a transaction that acknowledges a write; while a re-index switches, wait."""
        deadline = time.monotonic() + self._busy_timeout
        with ExitStack() as transaction:
            while True:
                shared = [generations.name, owner_lock(scope)]
                writing = self._database.write(scope.tenant, shared=shared)
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
        """Put failed sources into the dead-letter table; a repeated failure counts attempts.

        What was forgotten is left out.
        """
        now = datetime.now(UTC).timestamp()
        names = [letter.scope.tenant for letter in letters]
        owners = sorted({owner_lock(letter.scope) for letter in letters})
        with self._database.write(*names, shared=owners) as connection:
            for letter in letters:
                if self.tombstones.check(connection, letter.scope, [letter.path]):
                    continue
                note_scope(connection, letter.scope)
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
            for page in in_pages(gone):
                connection.execute(delete(dead_letters).where(own, dead_letters.c.key.in_(page)))
        return len(gone)


def _fingerprint_of(collection: str) -> Select[str]:
    table = fingerprints.c
    return select(table.fingerprint).where(table.collection == collection)
