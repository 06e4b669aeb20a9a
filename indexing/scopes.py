"""The scopes that anything was ever written to: how all sessions of a user are found. `Scopes`.

A row is put in the transaction of the scope's first write and dropped when the scope is forgotten.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from indexing.catalog_database import Database
from indexing.catalog_schema import owner_key, scopes
from indexing.types import Scope


class Scopes:
    """The table `scopes` of a catalog's database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, connection: Connection, scope: Scope, now: datetime) -> None:
        """Add a scope that is not known yet, inside a transaction that writes its tenant."""
        mine = scopes.c.tenant == scope.tenant
        if connection.execute(select(scopes.c.tenant).where(mine)).first() is None:
            connection.execute(
                insert(scopes).values(
                    tenant=scope.tenant,
                    owner=owner_key(scope.user_id),
                    collection=scope.collection,
                    user_id=scope.user_id,
                    session_id=scope.session_id,
                    created_at=now.timestamp(),
                )
            )

    def of_user(self, user_id: str, connection: Connection | None = None) -> list[Scope]:
        """Return a user's own scope and sessions, oldest first, as far as they were written to."""
        query = select(scopes).where(scopes.c.owner == owner_key(user_id))
        query = query.order_by(scopes.c.created_at, scopes.c.tenant)
        if connection is not None:
            return [_scope(row) for row in connection.execute(query)]
        with self._database.read() as reading:
            return [_scope(row) for row in reading.execute(query)]

    def all(self) -> list[Scope]:
        """Return every scope, oldest first."""
        query = select(scopes).order_by(scopes.c.created_at, scopes.c.tenant)
        with self._database.read() as connection:
            return [_scope(row) for row in connection.execute(query)]

    def drop(self, connection: Connection, gone: Sequence[Scope]) -> int:
        """Drop the rows of forgotten scopes, inside a transaction; return how many there were."""
        statement = delete(scopes)
        return sum(
            connection.execute(statement.where(scopes.c.tenant == scope.tenant)).rowcount
            for scope in gone
        )


def _scope(row: Row[Any]) -> Scope:
    return Scope(row.collection, row.user_id, row.session_id)
