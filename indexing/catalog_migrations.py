"""The catalog's migrations, numbered: what makes its tables and views, and those of old releases.

A migration that a release has had is not changed: what is new comes in a later one.
"""

import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from sqlalchemy import Connection, insert, inspect, select, union, update
from sqlalchemy.schema import CreateColumn

from indexing.catalog_schema import (
    DIGEST_KEY,
    conversations,
    dead_letters,
    deployment,
    events,
    fingerprints,
    generations,
    members,
    metadata,
    owner_key,
    receipts,
    scopes,
    sources,
    tombstones,
    unfinished,
    versions,
)
from indexing.catalog_views import CALL_VIEWS, VIEWS
from indexing.errors import StoreError
from indexing.session_schema import SESSION_TABLES


def _create_tables(connection: Connection) -> None:
    first = [fingerprints, sources, dead_letters]
    metadata.create_all(connection, [versions, *first])


def _create_members(connection: Connection) -> None:
    members.create(connection, checkfirst=True)


def _create_conversations(connection: Connection) -> None:
    conversations.create(connection, checkfirst=True)
    _add_columns(connection, "conversation_id", "said_at")


def _add_columns(connection: Connection, *names: str) -> None:
    """Add the columns to `sources` that a catalog of an earlier release lacks."""
    present = {column["name"] for column in inspect(connection).get_columns(sources.name)}
    for name in names:
        if name not in present:
            definition = CreateColumn(sources.c[name]).compile(dialect=connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {sources.name} ADD COLUMN {definition}")


def _create_generations(connection: Connection) -> None:
    generations.create(connection, checkfirst=True)


def _create_forgetting(connection: Connection) -> None:
    """Add what forgetting needs, a secret, and the scopes that the other tables name.

    `sources` has the tenant only: a scope that no other table names is not listed until its next
    write, and is found by asking the vector store.
    """
    made = [scopes, deployment, tombstones, receipts, events]
    metadata.create_all(connection, made)
    if (
        connection.execute(select(deployment).where(deployment.c.name == DIGEST_KEY)).first()
        is None
    ):
        row = {"name": DIGEST_KEY, "value": secrets.token_hex(32)}
        connection.execute(insert(deployment).values(row))
    known = set(connection.execute(select(scopes.c.tenant)).scalars())
    now = datetime.now(UTC).timestamp()
    names = ("tenant", "collection", "user_id", "session_id")
    named = union(
        *(select(*(table.c[n] for n in names)) for table in (members, dead_letters, conversations))
    )
    rows = [
        {**row, "owner": owner_key(row["user_id"]), "created_at": now}
        for row in connection.execute(named).mappings()
        if row["tenant"] not in known
    ]
    if rows:
        connection.execute(insert(scopes), rows)


def _index_unfinished(connection: Connection) -> None:
    unfinished.create(connection, checkfirst=True)


def _describe_sources(connection: Connection) -> None:
    """Add what sources count as, and the views that show it.

    Of rows that are there the kind is filled in where the id or a document tells it; whether a
    turn is a tool's, and whose, is filled in when its export is read again.
    """
    _add_columns(connection, "kind", "role", "tool", "added_at", "failed")
    unknown = update(sources).where(sources.c.kind == "", sources.c.conversation_id == "")
    added = {"added_at": sources.c.indexed_at}
    for kind in ("fact", "digest", "procedure"):
        told = sources.c.source_id.like(f"{kind}:{'_' * 32}")
        connection.execute(unknown.where(told).values(kind=kind, **added))
    connection.execute(unknown.where(sources.c.chunks > 0).values(kind="document", **added))
    _create_views(connection, VIEWS)


def _create_views(connection: Connection, views: Mapping[str, str]) -> None:
    for name, query in views.items():
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {name}")
        connection.exec_driver_sql(f"CREATE VIEW {name} AS {query}")


def _create_sessions(connection: Connection) -> None:
    """Add the tables of conversations and their views; live data of a notebook is no call."""
    metadata.create_all(connection, SESSION_TABLES)
    calls = "letopis_tool_calls"
    _create_views(connection, {calls: VIEWS[calls], **CALL_VIEWS})


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    _create_tables,
    _create_members,
    _create_conversations,
    _create_generations,
    _create_forgetting,
    _index_unfinished,
    _describe_sources,
    _create_sessions,
)
"""Numbered from 1, each applied once, in order, inside one transaction."""


def migrate(connection: Connection) -> None:
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
