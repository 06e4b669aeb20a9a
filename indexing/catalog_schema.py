"""The catalog's tables, the same on SQLite and on PostgreSQL; `catalog_migrations` makes them.

Ids, paths and reasons are `Exact`: they come back as they went in, whatever characters they hold.
Everything that is looked up by is a digest, so no index meets a long text.
"""

import hashlib

from sqlalchemy import (
    Column,
    ColumnElement,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
)

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


def partial_index(name: str, column: Column[str], where: ColumnElement[bool]) -> Index:
    """Return an index of the rows that are ``where``: few, however many the table has."""
    return Index(name, column, sqlite_where=where, postgresql_where=where)


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

unfinished = partial_index("sources_unfinished", sources.c.tenant, sources.c.content_hash == "")
"""Finds at every start what a killed write left."""

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
