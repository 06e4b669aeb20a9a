"""The catalog's tables of conversations: turns, digest, notes, model calls and state of a session.

Unlike the other tables they hold text. Each row belongs to the tenant of a session's scope, and
what is kept of a turn names its ``seq``, so that it goes with the turn (`session_rows`).
"""

from typing import Any

from sqlalchemy import Column, Float, Index, Integer, String, Table

from indexing.catalog_schema import Exact, metadata, partial_index


def _table(name: str, *parts: Column[Any] | Index) -> Table:
    """Return a table whose rows belong to a tenant."""
    return Table(name, metadata, Column("tenant", String(32), primary_key=True), *parts)


turns = _table(
    "session_turns",
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("source_id", String(64), nullable=False),
    Column("turn_id", Exact, nullable=False),
    Column("name", String(32), nullable=False),
    Column("content", String(64), nullable=False),
    Column("role", String(16), nullable=False),
    Column("text", Exact, nullable=False),
    Column("speaker", Exact, nullable=False),
    Column("at", String(40), nullable=False),
    Column("said_at", Float, nullable=False),
    Column("logged_at", Float, nullable=False),
    Column("calls", Exact, nullable=False),
    Column("call_id", Exact, nullable=False),
    Column("tool", Exact, nullable=False),
    Column("arguments", Exact, nullable=False),
    Column("call_key", String(64), nullable=False),
    Column("status", String(8), nullable=False),
    Column("cost", Float),
    Column("tags", Exact, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("digest", Integer, nullable=False),
    Column("indexed", Integer, nullable=False),
    Index("session_turns_by_source", "tenant", "source_id", unique=True),
    Index("session_turns_by_name", "tenant", "name"),
    Index("session_turns_by_call", "tenant", "call_key"),
)
"""``source_id`` is what the turn is called as a source of memories. ``name`` is of a turn that came
without an id: those that say the same have one. ``content`` is the hash of what it says, ``at`` its
time as it was given, ``call_key`` what equal calls of a tool have in common. ``digest`` is the
number of the digest that took it up; ``indexed`` is 0 until it can be searched for."""

partial_index("session_turns_waiting", turns.c.tenant, turns.c.indexed == 0)
"""Finds what a killed append has not indexed."""

digests = _table(
    "session_digests",
    Column("number", Integer, nullable=False),
    Column("through", Integer, nullable=False),
    Column("made_at", Float, nullable=False),
    Column("body", Exact, nullable=False),
)

notes = _table(
    "session_notes",
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("key", String(64), nullable=False),
    Column("name", Exact, nullable=False),
    Column("value", Exact, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("seq", Integer, nullable=False),
    Column("at", String(40), nullable=False),
    Column("began_at", Float, nullable=False),
    Column("ended_at", Float),
    Column("expires_at", Float),
    Index("session_notes_by_key", "tenant", "key"),
)
"""A note holds from ``began_at`` until ``ended_at``; of one name one holds at a time."""

calls = _table(
    "session_calls",
    Column("key", String(64), primary_key=True),
    Column("called_at", Float, nullable=False, index=True),
    Column("model", Exact, nullable=False),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("cached_tokens", Integer, nullable=False),
    Column("tool_calls", Integer, nullable=False),
    Column("cost", Float, nullable=False),
    Column("cache", String(32), nullable=False),
)

state = _table(
    "session_state",
    Column("last_seq", Integer, nullable=False),
    Column("forgotten", Integer, nullable=False),
    Column("expires_at", Float, index=True),
    Column("body", Exact, nullable=False),
)
"""``last_seq`` is the highest that was given: none is given twice. ``forgotten`` counts how often
turns were forgotten; ``expires_at`` is when all of the session is over unless it is written to."""

SESSION_TABLES = (turns, digests, notes, calls, state)
