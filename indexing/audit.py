"""The audit log: who changed, forgot, imported or exported what, and when. `Audit`.

Scopes and memories are named by keyed digests, so an event says nothing of what was deleted;
whoever knows the ids finds its events. The text of a memory is never part of an event.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from sqlalchemy import Connection, Row, insert, select, update

from indexing.catalog_database import Database
from indexing.catalog_schema import events
from indexing.errors import InvalidInput
from indexing.keyed import Keyed
from indexing.types import Scope

Action = Literal["edit", "pin", "unpin", "delete", "forget", "lift", "import", "export"]

PERSON = "(the person)"
"""The actor of an event that somebody asked for who acts on memories of their own."""


@dataclass(frozen=True, slots=True)
class Event:
    """One change: ``scope`` and ``memory`` are keyed digests, ``memory`` is empty for a scope's.

    ``actor`` is an operator's name, or `PERSON`; ``receipt`` the number of a forgetting's receipt.
    """

    number: int
    at: datetime
    actor: str
    action: Action
    scope: str
    memory: str = ""
    receipt: int | None = None


def named(actor: str, scope: Scope) -> str:
    """Return how an actor is written down: somebody's own id is not, `PERSON` stands for it."""
    return PERSON if actor and actor in (scope.user_id, scope.session_id) else actor


class Audit:
    """The table `events` of a catalog's database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._keyed = Keyed(database)

    def note(
        self,
        action: Action,
        scope: Scope,
        memory_id: str = "",
        *,
        actor: str,
        now: datetime,
        receipt: int | None = None,
        connection: Connection | None = None,
    ) -> None:
        """Add an event, in the caller's transaction where one is given: both stand or neither."""
        if connection is None:
            with self._database.write() as writing:
                self._insert(writing, action, scope, memory_id, actor, now, receipt)
        else:
            self._insert(connection, action, scope, memory_id, actor, now, receipt)

    def events(
        self, limit: int = 100, offset: int = 0, *, scope: Scope | None = None
    ) -> list[Event]:
        """Return a page of the events of a scope, or of all scopes, the newest first."""
        if limit < 1 or offset < 0:
            raise InvalidInput(f"a page of {limit} events from {offset}")
        query = select(events).order_by(events.c.number.desc()).limit(limit).offset(offset)
        if scope is not None:
            query = query.where(events.c.scope == self._keyed.scope(scope))
        with self._database.read() as connection:
            return [_event(row) for row in connection.execute(query)]

    def disown(self, connection: Connection, user_id: str) -> int:
        """Put `PERSON` for a forgotten user who acted on what belongs to others; return how often.

        Reads the whole log: it has no index by actor.
        """
        mine = events.c.actor == user_id
        return connection.execute(update(events).where(mine).values(actor=PERSON)).rowcount

    def _insert(
        self,
        connection: Connection,
        action: Action,
        scope: Scope,
        memory_id: str,
        actor: str,
        now: datetime,
        receipt: int | None,
    ) -> None:
        memory = self._keyed.memory(memory_id, connection) if memory_id else ""
        row = {
            "at": now.timestamp(),
            "actor": named(actor, scope),
            "action": action,
            "scope": self._keyed.scope(scope, connection),
            "memory": memory,
            "receipt": receipt,
        }
        connection.execute(insert(events).values(row))


def _event(row: Row[Any]) -> Event:
    at = datetime.fromtimestamp(row.at, UTC)
    return Event(row.number, at, row.actor, row.action, row.scope, row.memory, row.receipt)
