"""What the tables of conversations hold of a turn, and how it leaves them: `drop_turns`.

A turn that goes takes along what was kept of it: its lines of the digest and the notes it made.
Does not: append or read turns (`sessions.log`), or know more of a digest's body than its lines.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from indexing.catalog import Catalog
from indexing.session_schema import SESSION_TABLES, calls, digests, notes, state, turns
from indexing.types import Scope

PAGE = 500
"""Keys in one statement: engines limit its parameters."""

TALK = tuple(table for table in SESSION_TABLES if table is not calls)
"""The tables of what was said; what calls cost stays when a session is cleared or has expired."""


def logged(catalog: Catalog, scope: Scope, source_ids: Sequence[str]) -> list[str]:
    """Return which of these sources are turns of a session's log."""
    if scope.collection != "session":
        return []
    found: list[str] = []
    with catalog.database.read() as connection:
        for start in range(0, len(source_ids), PAGE):
            page = source_ids[start : start + PAGE]
            query = select(turns.c.source_id)
            mine = (turns.c.tenant == scope.tenant, turns.c.source_id.in_(page))
            found += connection.execute(query.where(*mine)).scalars()
    return found


def texts(catalog: Catalog, scope: Scope, source_ids: Sequence[str] | None = None) -> Iterator[str]:
    """Yield all that is written of a session, or of these turns of it: what no file may hold."""
    tenant = scope.tenant
    gone: set[int] | None = None
    with catalog.database.read() as connection:
        if source_ids is not None:
            gone = set(_seqs(connection, scope, source_ids))
        for row in connection.execute(select(turns).where(turns.c.tenant == tenant)):
            if gone is None or row.seq in gone:
                yield from (row.text, row.arguments, *_strings(json.loads(row.calls)))
        for row in connection.execute(select(notes).where(notes.c.tenant == tenant)):
            if gone is None or row.seq in gone:
                yield row.value
        for body in connection.execute(select(digests.c.body).where(digests.c.tenant == tenant)):
            for line in json.loads(body[0])["lines"]:
                if gone is None or line["seq"] in gone:
                    yield line["text"]
        if gone is None:
            for body in connection.execute(select(state.c.body).where(state.c.tenant == tenant)):
                yield from _strings(json.loads(body[0]))


def seqs_of(catalog: Catalog, scope: Scope, source_ids: Sequence[str]) -> list[int]:
    """Return the numbers of turns of a session."""
    with catalog.database.read() as connection:
        return list(_seqs(connection, scope, source_ids))


def turn_ids(catalog: Catalog, scope: Scope, source_ids: Sequence[str] | None = None) -> list[str]:
    """Return the ids of the turns of a session, or of these of it."""
    where: list[ColumnElement[bool]] = [turns.c.tenant == scope.tenant]
    found: list[str] = []
    pages = [None] if source_ids is None else [*_pages(source_ids)]
    with catalog.database.read() as connection:
        for page in pages:
            chosen = [] if page is None else [turns.c.source_id.in_(page)]
            found += connection.execute(select(turns.c.turn_id).where(*where, *chosen)).scalars()
    return found


def drop_turns(connection: Connection, scope: Scope, source_ids: Sequence[str]) -> dict[str, int]:
    """Delete turns of a session with all that was kept of them; return rows by table.

    Of a digest ``session_digests`` counts the lines. Call it in the tenant's turn.
    """
    tenant = scope.tenant
    gone: dict[int, str] = {}
    for page in _pages(source_ids):
        mine = (turns.c.tenant == tenant, turns.c.source_id.in_(page))
        gone |= {r.seq: r.text for r in connection.execute(select(turns).where(*mine))}
        connection.execute(delete(turns).where(*mine))
    if not gone:
        return {}
    lines = _strip_digest(connection, tenant, gone)
    dropped = 0
    touched: set[str] = set()
    for seqs in _pages(sorted(gone)):
        mine = (notes.c.tenant == tenant, notes.c.seq.in_(seqs))
        touched.update(connection.execute(select(notes.c.key).where(*mine)).scalars())
        dropped += connection.execute(delete(notes).where(*mine)).rowcount
    for key in touched:
        relink(connection, tenant, key)
    counted = update(state).where(state.c.tenant == tenant)
    connection.execute(counted.values(forgotten=state.c.forgotten + 1))
    return {turns.name: len(gone), digests.name: lines, notes.name: dropped}


def drop_talk(connection: Connection, tenant: str) -> int:
    """Delete all that was said in a session; return how many turns. What calls cost stays."""
    gone = connection.execute(delete(turns).where(turns.c.tenant == tenant)).rowcount
    for table in TALK:
        if table not in (turns, state):
            connection.execute(delete(table).where(table.c.tenant == tenant))
    mine = update(state).where(state.c.tenant == tenant)
    connection.execute(mine.values(body="{}", expires_at=None, forgotten=state.c.forgotten + 1))
    return gone


def relink(connection: Connection, tenant: str, key: str) -> None:
    """Make each note of a name hold until the next one begins."""
    mine = (notes.c.tenant == tenant, notes.c.key == key)
    query = select(notes.c.place, notes.c.began_at).where(*mine)
    rows = connection.execute(query.order_by(notes.c.began_at, notes.c.place)).all()
    for number, row in enumerate(rows, 1):
        until = rows[number].began_at if number < len(rows) else None
        one = update(notes).where(notes.c.tenant == tenant, notes.c.place == row.place)
        connection.execute(one.values(ended_at=until))


def last_written(tenant: ColumnElement[str]) -> Any:
    """Return the query of when a turn was last appended to the log of a tenant."""
    query = select(func.max(turns.c.logged_at)).where(turns.c.tenant == tenant)
    return query.correlate_except(turns).scalar_subquery()


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


def _seqs(connection: Connection, scope: Scope, source_ids: Sequence[str]) -> Iterator[int]:
    for page in _pages(source_ids):
        mine = (turns.c.tenant == scope.tenant, turns.c.source_id.in_(page))
        yield from connection.execute(select(turns.c.seq).where(*mine)).scalars()


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


def _pages(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), PAGE):
        yield items[start : start + PAGE]
