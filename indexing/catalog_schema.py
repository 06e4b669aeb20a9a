"""The catalog's tables and their numbered migrations, the same on SQLite and on PostgreSQL.

Ids, paths and reasons are `Exact`: they come back as they went in, whatever characters they hold.
Everything that is looked up by is a digest, so no index meets a long text.
"""

import hashlib
import secrets
from collections.abc import Callable
from datetime import UTC, datetime

from sqlalchemy import (
    Column,
    Connection,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    insert,
    inspect,
    select,
    union,
    update,
)
from sqlalchemy.schema import CreateColumn

from indexing.catalog_views import VIEWS
from indexing.errors import StoreError

ESCAPE, NUL = "\u241b", "\u2400"
"""Control pictures that stand for the escape and for NUL, which PostgreSQL refuses in a text."""


class Exact(TypeDecorator[str]):
    """A text of any characters: NUL is stored as ``␛␀`` and ``␛`` as ``␛␛``.

    Only a lone surrogate, which no encoding has, comes back as its escape (``\\udcff``).
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Escape on the way in, also in comparisons."""
        if not value:
            return value
        valid = value.encode(errors="backslashreplace").decode()
        return valid.replace(ESCAPE, ESCAPE * 2).replace("\0", ESCAPE + NUL)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """Undo it on the way out."""
        if not value or ESCAPE not in value:
            return value
        parts = value.split(ESCAPE * 2)
        return ESCAPE.join(part.replace(ESCAPE + NUL, "\0") for part in parts)


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
    Column("source_id", Exact, nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("indexed_at", Float, nullable=False),
    Column("conversation_id", Exact, nullable=False, server_default=""),
    Column("said_at", Float),
    Column("kind", String(16), nullable=False, server_default=""),
    Column("role", String(16), nullable=False, server_default=""),
    Column("tool", Exact, nullable=False, server_default=""),
    Column("added_at", Float),
    Column("failed", Integer),
)

unfinished = Index(
    "sources_unfinished",
    sources.c.tenant,
    sqlite_where=sources.c.content_hash == "",
    postgresql_where=sources.c.content_hash == "",
)
"""Finds at every start what a killed write left: few rows, however many there are."""

dead_letters = Table(
    "dead_letters",
    metadata,
    Column("tenant", String(32), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("collection", String(64), nullable=False),
    Column("user_id", Exact, nullable=False),
    Column("session_id", Exact, nullable=False),
    Column("path", Exact, nullable=False),
    Column("place", Exact, nullable=False),
    Column("reason", Exact, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("failed_at", Float, nullable=False),
)

members = Table(
    "members",
    metadata,
    Column("feed", String(64), primary_key=True),
    Column("tenant", String(32), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("collection", String(64), nullable=False),
    Column("user_id", Exact, nullable=False),
    Column("session_id", Exact, nullable=False),
    Column("source_id", Exact, nullable=False),
    Column("parent", Exact, nullable=False),
    Column("uri", Exact, nullable=False),
    Column("stamp", Exact, nullable=False),
    Column("content", String(64), nullable=False),
    Column("turns", Integer, nullable=False),
    Index("members_by_source", "tenant", "key"),
)

conversations = Table(
    "conversations",
    metadata,
    Column("tenant", String(32), primary_key=True),
    Column("key", String(64), primary_key=True),
    Column("collection", String(64), nullable=False),
    Column("user_id", Exact, nullable=False),
    Column("session_id", Exact, nullable=False),
    Column("conversation_id", Exact, nullable=False),
    Column("closed_at", Float),
    Column("closed_turns", Integer, nullable=False),
    Column("closed_written", Float),
)

generations = Table(
    "generations",
    metadata,
    Column("role", String(16), primary_key=True),
    Column("name", String(16), primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("started_at", Float, nullable=False),
    Column("held_at", Float),
)

scopes = Table(
    "scopes",
    metadata,
    Column("tenant", String(32), primary_key=True),
    Column("owner", String(64), nullable=False, index=True),
    Column("collection", String(64), nullable=False),
    Column("user_id", Exact, nullable=False),
    Column("session_id", Exact, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("closed_at", Float),
)

deployment = Table(
    "deployment",
    metadata,
    Column("name", String(64), primary_key=True),
    Column("value", Text, nullable=False),
)

tombstones = Table(
    "tombstones",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("what", String(16), nullable=False),
    Column("created_at", Float, nullable=False),
    Column("receipt", Integer),
)

receipts = Table(
    "receipts",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("body", Text, nullable=False),
    Column("hash", String(64), nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("actor", Exact, nullable=False),
    Column("action", String(16), nullable=False),
    Column("scope", String(64), nullable=False, index=True),
    Column("memory", String(64), nullable=False),
    Column("receipt", Integer),
    sqlite_autoincrement=True,
)

DIGEST_KEY = "secret"
"""The row of `deployment` that keys the digests of what was forgotten."""


def owner_key(user_id: str) -> str:
    """Return what the scopes of a user are found by: hex SHA-256, empty for nobody's."""
    return hashlib.sha256(user_id.encode()).hexdigest() if user_id else ""


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
    for name, query in VIEWS.items():
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {name}")
        connection.exec_driver_sql(f"CREATE VIEW {name} AS {query}")


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (
    _create_tables,
    _create_members,
    _create_conversations,
    _create_generations,
    _create_forgetting,
    _index_unfinished,
    _describe_sources,
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
