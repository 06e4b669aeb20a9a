"""Which generation of the collections is in force, and which one is being built: `Generations`.

A re-index fills a new generation beside the one that answers. Before the switch writes are held for
the moment of the last comparison: a write that the catalog has acknowledged is then in both. A
catalog works with the generation that it was opened with; after a switch its writes are refused.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from sqlalchemy import Connection, delete, insert, select, update

from indexing.catalog_database import Database
from indexing.catalog_schema import fingerprints, generations, sources
from indexing.errors import SchemaMismatch, StoreLocked

FIRST = ""
"""The generation of a memory that was never re-indexed."""

ACTIVE, BUILDING, RETIRED = "active", "building", "retired"


@dataclass(frozen=True, slots=True)
class Building:
    """A generation that is being built: its name, and what its vectors are made with."""

    name: str
    fingerprint: str
    started_at: datetime
    held_at: float | None


class Generations:
    """The table `generations` of a catalog's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def active(self) -> str:
        """Return the name of the generation in force."""
        with self._database.read() as connection:
            return active_of(connection)

    def building(self) -> Building | None:
        """Return the generation that is being built, None where there is none."""
        with self._database.read() as connection:
            return _building(connection)

    def begin(self, fingerprint: str) -> Building:
        """Return the generation under way for a fingerprint, a new one where there is none.

        Writes that a run held when it was killed are let through again. Raises `StoreLocked` while
        one with another fingerprint is under way.
        """
        with self._database.write(generations.name) as connection:
            found = _building(connection)
            if found is None:
                now = datetime.now(UTC).timestamp()
                values = {"name": uuid4().hex[:8], "fingerprint": fingerprint, "started_at": now}
                connection.execute(
                    insert(generations).values(role=BUILDING, held_at=None, **values)
                )
                found = _building(connection)
            elif found.fingerprint == fingerprint:
                _hold(connection, None)
            assert found is not None
        if found.fingerprint != fingerprint:
            raise StoreLocked(
                "a re-index with other settings is under way: finish it with its settings, or "
                "drop it with: letopis reindex --abort"
            )
        return found

    def hold(self) -> float:
        """Refuse writes to the catalog from now on; return the moment, which `switch` asks for."""
        moment = datetime.now(UTC).timestamp()
        with self._database.write(generations.name) as connection:
            _hold(connection, moment)
        return moment

    def release(self) -> None:
        """Let writes through again."""
        with self._database.write(generations.name) as connection:
            _hold(connection, None)

    def abort(self) -> None:
        """Retire the generation that is being built."""
        with self._database.write(generations.name) as connection:
            where = generations.c.role == BUILDING
            connection.execute(update(generations).where(where).values(role=RETIRED, held_at=None))

    def retired(self) -> list[str]:
        """Return the generations whose collections are still to be dropped."""
        query = select(generations.c.name).where(generations.c.role == RETIRED)
        with self._database.read() as connection:
            return list(connection.execute(query).scalars())

    def forget(self, name: str) -> None:
        """Forget a retired generation: its collections are dropped."""
        with self._database.write(generations.name) as connection:
            mine = (generations.c.role == RETIRED, generations.c.name == name)
            connection.execute(delete(generations).where(*mine))

    def switch(self, claims: dict[str, str], recut: bool, held: float) -> None:
        """Put the new generation in force, with its collections' fingerprints, in one step.

        The one that was in force is retired. With ``recut`` every source counts as changed, so the
        next sync cuts it anew. Raises `StoreLocked` when writes are no longer held as of ``held``:
        another run has taken over, or the generation was dropped.
        """
        with self._database.write(generations.name) as connection:
            found = _building(connection)
            if found is None or found.held_at != held:
                raise StoreLocked(
                    "another re-index took over, or this one was dropped: nothing was switched"
                )
            last = active_of(connection)
            gone = generations.c.role.in_([ACTIVE, BUILDING])
            connection.execute(delete(generations).where(gone))
            now = datetime.now(UTC).timestamp()
            for role, name, text in ((ACTIVE, found.name, found.fingerprint), (RETIRED, last, "")):
                values = {"role": role, "name": name, "fingerprint": text}
                connection.execute(
                    insert(generations).values(started_at=now, held_at=None, **values)
                )
            for collection, text in claims.items():
                where = fingerprints.c.collection == collection
                connection.execute(update(fingerprints).where(where).values(fingerprint=text))
            if recut:
                connection.execute(update(sources).values(content_hash=STALE))


STALE = "stale"
"""The content hash of a source that is to be cut anew: no content has it."""


def active_of(connection: Connection) -> str:
    """Return the name of the generation in force."""
    query = select(generations.c.name).where(generations.c.role == ACTIVE)
    return connection.execute(query).scalar() or FIRST


def check_write(connection: Connection, opened: str) -> None:
    """Raise `SchemaMismatch` after a switch, and `StoreLocked` while writes are held.

    ``opened`` is the generation that the writer works with.
    """
    rows = {row.role: row for row in connection.execute(select(generations))}
    active = rows[ACTIVE].name if ACTIVE in rows else FIRST
    if active != opened:
        raise SchemaMismatch(
            "the memory was re-indexed since it was opened here: open it again, with the "
            "settings that it was re-indexed with"
        )
    if BUILDING in rows and rows[BUILDING].held_at is not None:
        raise StoreLocked(
            "a re-index is about to switch: writes wait until it has. If it was killed, start it "
            "again, or drop it with: letopis reindex --abort"
        )


def _building(connection: Connection) -> Building | None:
    query = select(generations).where(generations.c.role == BUILDING)
    row = connection.execute(query).first()
    if row is None:
        return None
    started = datetime.fromtimestamp(row.started_at, UTC)
    return Building(row.name, row.fingerprint, started, row.held_at)


def _hold(connection: Connection, moment: float | None) -> None:
    where = generations.c.role == BUILDING
    connection.execute(update(generations).where(where).values(held_at=moment))
