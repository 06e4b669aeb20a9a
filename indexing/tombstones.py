"""Tombstones: what was forgotten and may not be written again until lifted. `Tombstones`.

A tombstone is a keyed digest: it blocks an id without naming it. It is put before anything is
deleted and checked inside the transaction of each write, so an ingest that runs meanwhile ends
forgotten too. A user's tombstone blocks the user's own scope and every session of the user,
existing or not. Nothing here deletes anything.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import Connection, delete, insert, select, update

from indexing.catalog_database import Database, in_pages
from indexing.catalog_schema import owner_key, tombstones
from indexing.errors import Forgotten, InvalidInput
from indexing.keyed import Keyed
from indexing.types import Scope

What = Literal["user", "session", "source", "memory"]

Mark = What | Literal["edit", "name"]
"""What a tombstone says. A memory that an edit is about to replace may be written all the same; a
``name`` is another one that a forgotten memory goes by, and blocks as that of a memory does."""

BESIDE: tuple[Mark, ...] = ("source", "name")
"""What forgetting memories blocks beside them."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """What was forgotten, as a digest, since when; ``receipt`` is None until that is done."""

    key: str
    what: Mark
    created_at: datetime
    receipt: int | None = None


@dataclass(frozen=True, slots=True)
class Blocked:
    """Which part of a write is forgotten: all of it, by its user or session, or only these ids."""

    by: Literal["", "user", "session"] = ""
    source_ids: frozenset[str] = frozenset()
    memory_ids: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.by or self.source_ids or self.memory_ids)

    def refuse(self) -> None:
        """Raise `Forgotten` where anything is blocked."""
        if self.by:
            raise Forgotten(self.by)
        if self.source_ids:
            raise Forgotten("source")
        if self.memory_ids:
            raise Forgotten("memory")


FREE = Blocked()


def owner_lock(scope: Scope) -> str:
    """Return the name of the lock between the writes of an owner and the tombstones on them.

    A write takes it ``shared``, from its check to its commit: a tombstone then waits for the writes
    that did not see it, and what they wrote is found when the rest is deleted.
    """
    return f"owner {owner_key(scope.user_id)}"


class Tombstones:
    """The table `tombstones` of a catalog's database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.keyed = Keyed(database)

    def digest(self, *parts: str) -> str:
        """Return the keyed digest of framed parts (`Keyed`)."""
        return self.keyed.digest(*parts)

    def put(
        self,
        what: Mark,
        scope: Scope,
        ids: Sequence[str] = (),
        *,
        now: datetime,
        connection: Connection | None = None,
    ) -> list[str]:
        """Block a user, a session, or sources or memories of a scope by id; return the keys.

        Waits for the owner's writes under way. With a ``connection`` that waiting is the caller's:
        its transaction writes `owner_lock`. What is blocked already stays as it was.
        """
        with self._open(scope, connection) as writing:
            keys = self._named(writing, what, scope, ids)
            known = {key for key, _ in _found(writing, keys)}
            row = {"what": what, "created_at": now.timestamp()}
            rows = [{"key": key, **row} for key in keys if key not in known]
            if rows:
                writing.execute(insert(tombstones), rows)
        return keys

    def check(
        self,
        connection: Connection,
        scope: Scope,
        source_ids: Iterable[str] = (),
        memory_ids: Iterable[str] = (),
    ) -> Blocked:
        """Tell what of a write is blocked, inside the write's own transaction."""
        if connection.execute(select(tombstones.c.key).limit(1)).first() is None:
            return FREE
        user = self._key(connection, "user", scope) if scope.user_id else ""
        session = self._key(connection, "session", scope) if scope.session_id else ""
        sources = {self._key(connection, "source", scope, name): name for name in source_ids}
        memories = {self._key(connection, "memory", scope, name): name for name in memory_ids}
        asked = [key for key in (user, session, *sources, *memories) if key]
        found = {key for key, _ in _found(connection, asked)}
        return Blocked(
            "user" if user in found else "session" if session in found else "",
            frozenset(name for key, name in sources.items() if key in found),
            frozenset(name for key, name in memories.items() if key in found),
        )

    def edited(
        self, connection: Connection, scope: Scope, memory_ids: Sequence[str]
    ) -> frozenset[str]:
        """Return which of these memories an edit was about to replace."""
        keys = {self._key(connection, "edit", scope, name): name for name in memory_ids}
        return frozenset(keys[key] for key, _ in _found(connection, list(keys)))

    def close(
        self, keys: Sequence[str], receipt: int, connection: Connection | None = None
    ) -> None:
        """Note the receipt of what these tombstones stand for: it is forgotten now."""
        with self._open(None, connection) as writing:
            for page in in_pages(keys):
                mine = tombstones.c.key.in_(page)
                writing.execute(update(tombstones).where(mine).values(receipt=receipt))

    def lift(
        self,
        what: Mark,
        scope: Scope,
        ids: Sequence[str] = (),
        *,
        connection: Connection | None = None,
    ) -> int:
        """Let exactly this be written again; return how many tombstones there were.

        With the last memory of a receipt go the tombstones of the turns that went with them, and of
        their other names.
        """
        with self._open(scope, connection) as writing:
            found = [key for key, _ in _found(writing, self._named(writing, what, scope, ids))]
            receipts = _receipts(writing, found) if what == "memory" else set()
            for page in in_pages(found):
                writing.execute(delete(tombstones).where(tombstones.c.key.in_(page)))
            for receipt in receipts - _receipts_of_memories(writing, receipts):
                of_it = (tombstones.c.receipt == receipt, tombstones.c.what.in_(BESIDE))
                writing.execute(delete(tombstones).where(*of_it))
        return len(found)

    def all(self) -> list[Tombstone]:
        """Return all tombstones, oldest first."""
        query = select(tombstones).order_by(tombstones.c.created_at, tombstones.c.key)
        with self._database.read() as connection:
            return [
                Tombstone(r.key, r.what, datetime.fromtimestamp(r.created_at, UTC), r.receipt)
                for r in connection.execute(query)
            ]

    def _named(
        self, connection: Connection, what: Mark, scope: Scope, ids: Sequence[str]
    ) -> list[str]:
        """Return the keys of a selector. Raises `InvalidInput` for one that names nothing."""
        whole = what in ("user", "session")
        if whole == bool(ids):
            raise InvalidInput(f"forgetting a {what} takes {'no' if whole else 'some'} ids")
        if (what == "user" and not scope.user_id) or (what == "session" and not scope.session_id):
            raise InvalidInput(f"the scope {scope.collection} has no {what}")
        return list(dict.fromkeys(self._key(connection, what, scope, i) for i in ids or ("",)))

    def _key(self, connection: Connection, what: Mark, scope: Scope, name: str = "") -> str:
        if what == "user":
            return self.keyed.digest(what, scope.user_id, connection=connection)
        if what == "session":
            parts = (scope.user_id, scope.session_id)
            return self.keyed.digest(what, *parts, connection=connection)
        kind = "memory" if what == "name" else what
        return self.keyed.digest(kind, scope.tenant, name, connection=connection)

    @contextmanager
    def _open(self, scope: Scope | None, connection: Connection | None) -> Iterator[Connection]:
        if connection is not None:
            yield connection
            return
        with self._database.write(*([owner_lock(scope)] if scope else [])) as writing:
            yield writing


def _found(connection: Connection, keys: Sequence[str]) -> list[tuple[str, str]]:
    """Return key and kind of those that there is a tombstone of."""
    query = select(tombstones.c.key, tombstones.c.what)
    return [
        (row.key, row.what)
        for page in in_pages(keys)
        for row in connection.execute(query.where(tombstones.c.key.in_(page)))
    ]


def _receipts(connection: Connection, keys: Sequence[str]) -> set[int]:
    """Return the receipts of these tombstones."""
    query = select(tombstones.c.receipt).where(tombstones.c.receipt.is_not(None)).distinct()
    return {
        receipt
        for page in in_pages(keys)
        for receipt in connection.execute(query.where(tombstones.c.key.in_(page))).scalars()
    }


def _receipts_of_memories(connection: Connection, receipts: set[int]) -> set[int]:
    """Return those of the receipts that a memory has a tombstone of."""
    query = select(tombstones.c.receipt).where(tombstones.c.what == "memory")
    mine = query.where(tombstones.c.receipt.in_(sorted(receipts)))
    return set(connection.execute(mine).scalars()) if receipts else set()
