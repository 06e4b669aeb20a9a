"""What the tables of conversations hold of a turn, and how it leaves them: `drop_turns`.

Whoever writes to a session opens it first: `open_session`. A turn that goes takes along what was
kept of it: its lines of the digest and the notes it made. Does not: append or read turns
(`sessions.log`), or know more of a digest's body than its lines and its summary.
"""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    delete,
    exists,
    insert,
    select,
    update,
)

from indexing.catalog import Catalog
from indexing.catalog_database import in_pages
from indexing.catalog_rows import note_scope
from indexing.session_schema import SESSION_TABLES, calls, digests, notes, state, turns
from indexing.types import Scope

TALK = tuple(table for table in SESSION_TABLES if table is not calls)
"""The tables of what was said; what calls cost stays when a session is cleared or has expired."""


def is_over(tenant: str | ColumnElement[str], now: datetime) -> ColumnElement[bool]:
    """Return the condition that the life of a session's log is over."""
    return exists().where(state.c.tenant == tenant, state.c.expires_at <= now.timestamp())


def open_session(connection: Connection, scope: Scope, now: datetime) -> int:
    """Make a session one that can be written to; return the last number that its log has given.

    What it held before is gone if its life was over: it was seen by nobody any more.
    """
    note_scope(connection, scope)
    query = select(state.c.last_seq, state.c.expires_at).where(state.c.tenant == scope.tenant)
    row = connection.execute(query).first()
    if row is None:
        new = {"tenant": scope.tenant, "last_seq": 0, "forgotten": 0, "body": "{}"}
        connection.execute(insert(state).values(new))
        return 0
    if row.expires_at is not None and row.expires_at <= now.timestamp():
        drop_talk(connection, scope.tenant)
    return int(row.last_seq)


def last_given(connection: Connection, tenant: str) -> int:
    """Return the highest number that a turn of a session was given, 0 for none."""
    query = select(state.c.last_seq).where(state.c.tenant == tenant)
    return connection.execute(query).scalar() or 0


def turns_called(
    connection: Connection,
    scope: Scope,
    source_ids: Sequence[str] | None,
    *columns: Column[Any],
) -> Iterator[Row[Any]]:
    """Yield the turns of a session that are these sources, or all: whole, or some columns."""
    query = select(*(columns or (turns,))).where(turns.c.tenant == scope.tenant)
    if source_ids is None:
        yield from connection.execute(query)
        return
    for page in in_pages(source_ids):
        yield from connection.execute(query.where(turns.c.source_id.in_(page)))


def logged(catalog: Catalog, scope: Scope, source_ids: Sequence[str]) -> dict[str, int]:
    """Return which of these sources are turns of a session's log, with their numbers there."""
    if scope.collection != "session":
        return {}
    columns = (turns.c.source_id, turns.c.seq)
    with catalog.database.read() as connection:
        found = turns_called(connection, scope, source_ids, *columns)
        return {row.source_id: row.seq for row in found}


def texts(catalog: Catalog, scope: Scope, source_ids: Sequence[str] | None = None) -> Iterator[str]:
    """Yield all that is written of a session, or of these turns of it: what no file may hold."""
    whole, gone = source_ids is None, set[int]()
    with catalog.database.read() as connection:
        for row in turns_called(connection, scope, source_ids):
            gone.add(row.seq)
            yield from (row.text, row.arguments, *_strings(json.loads(row.calls)))
        for row in connection.execute(select(notes).where(notes.c.tenant == scope.tenant)):
            if whole or row.seq in gone:
                yield row.value
        for row in connection.execute(select(digests).where(digests.c.tenant == scope.tenant)):
            body = json.loads(row.body)
            yield from (line["text"] for line in body["lines"] if whole or line["seq"] in gone)
            if whole or min(gone, default=row.through + 1) <= row.through:
                yield body.get("summary", "")
        if whole:
            mine = select(state.c.body).where(state.c.tenant == scope.tenant)
            for text in connection.execute(mine).scalars():
                yield from _strings(json.loads(text))


def turn_ids(catalog: Catalog, scope: Scope, source_ids: Sequence[str] | None = None) -> list[str]:
    """Return the ids of the turns of a session, or of these of it."""
    with catalog.database.read() as connection:
        return [row.turn_id for row in turns_called(connection, scope, source_ids, turns.c.turn_id)]


def drop_turns(connection: Connection, scope: Scope, source_ids: Sequence[str]) -> dict[str, int]:
    """Delete turns of a session with all that was kept of them; return rows by table.

    Of a digest ``session_digests`` counts the lines. Call it in the tenant's turn.
    """
    tenant = scope.tenant
    said = turns_called(connection, scope, source_ids, turns.c.seq, turns.c.text)
    gone = {row.seq: row.text for row in said}
    if not gone:
        return {}
    lines = _strip_digest(connection, tenant, gone)
    dropped = 0
    touched: set[str] = set()
    for seqs in in_pages(sorted(gone)):
        connection.execute(delete(turns).where(turns.c.tenant == tenant, turns.c.seq.in_(seqs)))
        mine = (notes.c.tenant == tenant, notes.c.seq.in_(seqs))
        touched.update(connection.execute(select(notes.c.key).where(*mine)).scalars())
        dropped += connection.execute(delete(notes).where(*mine)).rowcount
    for key in touched:
        relink(connection, tenant, key)
    counted = update(state).where(state.c.tenant == tenant)
    connection.execute(counted.values(forgotten=state.c.forgotten + 1))
    return {turns.name: len(gone), digests.name: lines, notes.name: dropped}


def drop_talk(connection: Connection, tenant: str) -> int:
    """Delete all that was said in a session; return how many rows. What calls cost stays."""
    rows = [delete(table).where(table.c.tenant == tenant) for table in TALK if table is not state]
    mine = update(state).where(state.c.tenant == tenant)
    emptied = mine.values(body="{}", expires_at=None, forgotten=state.c.forgotten + 1)
    return sum(connection.execute(change).rowcount for change in (*rows, emptied))


def relink(connection: Connection, tenant: str, key: str) -> None:
    """Make each note of a name hold until the next one begins."""
    mine = (notes.c.tenant == tenant, notes.c.key == key)
    query = select(notes.c.place, notes.c.began_at).where(*mine)
    rows = connection.execute(query.order_by(notes.c.began_at, notes.c.place)).all()
    for number, row in enumerate(rows, 1):
        until = rows[number].began_at if number < len(rows) else None
        one = update(notes).where(notes.c.tenant == tenant, notes.c.place == row.place)
        connection.execute(one.values(ended_at=until))


def _strip_digest(connection: Connection, tenant: str, gone: dict[int, str]) -> int:
    """Take the lines of turns out of a digest, with what was made of them; return how many."""
    where = digests.c.tenant == tenant
    row = connection.execute(select(digests).where(where)).first()
    if row is None:
        return 0
    body = json.loads(row.body)
    left = [line for line in body["lines"] if not _is_of(line, gone)]
    if len(left) == len(body["lines"]) and min(gone) > row.through:
        return 0
    said = " ".join(line["text"] for line in left).casefold()
    topics = [topic for topic in body.get("topics", ()) if topic.casefold() in said]
    stripped = {**body, "lines": left, "topics": topics, "summary": ""}
    text = json.dumps(stripped, ensure_ascii=False)
    connection.execute(update(digests).where(where).values(body=text))
    return len(body["lines"]) - len(left)


def _is_of(line: dict[str, Any], gone: dict[int, str]) -> bool:
    """Tell whether a line is from one of these turns, or is about what one of them says."""
    about = line.get("of", "")
    return line["seq"] in gone or (bool(about) and any(about in text for text in gone.values()))


def _strings(value: Any) -> Iterator[str]:
    """Yield the texts inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)
