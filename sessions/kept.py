"""What is kept of a session's turns in the catalog: its digest, its critical facts (notes).

Every line and note names the turn that says it, and goes with it. Does not: make any of them.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update

from indexing.catalog_rows import note_scope
from indexing.chat import reasons
from indexing.errors import InvalidInput, StoreError
from indexing.hashing import digest as hashed
from indexing.index import Index
from indexing.payload import from_epoch, to_epoch
from indexing.session_rows import is_over, last_given, open_session, relink
from indexing.session_schema import digests, notes, state, turns
from indexing.types import check_time, session_scope
from sessions.types import Digest, Note

_DIGEST = TypeAdapter(Digest)


def read_digest(index: Index, user_id: str, session_id: str) -> Digest | None:
    """Return the digest of a session in force, None where there is none. Raises `StoreError`."""
    tenant = session_scope(user_id, session_id).tenant
    mine = (digests.c.tenant == tenant, ~is_over(tenant, index.clock()))
    query = select(digests.c.body).where(*mine)
    with index.catalog.database.read() as connection:
        body = connection.execute(query).scalar()
    return None if body is None else digest_of(body)


def write_digest(index: Index, digest: Digest, forgotten: int | None = None) -> bool:
    """Store a digest and mark the turns that it took up; False: it is out of date, make it anew.

    That is so when it does not follow the one in force by its number, or when turns were forgotten
    since `TurnLog.forgotten` gave the number ``forgotten``: read that before the turns are read.
    Raises `InvalidInput`, `Forgotten`, `StoreError`.
    """
    scope = session_scope(digest.user_id, digest.session_id)
    tenant = scope.tenant
    for moment in (digest.started_at, digest.ended_at, *(line.at for line in digest.lines)):
        if moment:
            check_time(moment, "a time of a digest")
    with index.catalog.writing(scope) as writing:
        writing.blocked()
        connection = writing.connection
        mine = digests.c.tenant == tenant
        number = connection.execute(select(digests.c.number).where(mine)).scalar() or 0
        if digest.number != number + 1:
            return False
        if forgotten is not None and forgotten != _forgettings(connection, tenant):
            return False
        note_scope(connection, scope)
        connection.execute(delete(digests).where(mine))
        row = {
            "tenant": tenant,
            "number": digest.number,
            "through": digest.through,
            "made_at": index.clock().timestamp(),
            "body": _DIGEST.dump_json(digest).decode(),
        }
        connection.execute(insert(digests).values(row))
        fresh = (turns.c.tenant == tenant, turns.c.seq <= digest.through, turns.c.digest == 0)
        connection.execute(update(turns).where(*fresh).values(digest=digest.number))
    return True


def read_notes(
    index: Index, user_id: str, session_id: str, as_of: datetime | None = None
) -> tuple[Note, ...]:
    """Return the notes of a session that hold now, or held then, in the order of their names'
    first appearance. Raises `InvalidInput` for a time without a zone."""
    tenant = session_scope(user_id, session_id).tenant
    if as_of:
        check_time(as_of, "as_of")
    moment = (as_of or index.clock()).timestamp()
    since = func.min(notes.c.place).over(partition_by=notes.c.key)
    found = select(notes, since.label("since")).where(notes.c.tenant == tenant).subquery()
    query = select(found).where(
        found.c.began_at <= moment if as_of else found.c.ended_at.is_(None),
        or_(found.c.ended_at.is_(None), found.c.ended_at > moment),
        or_(found.c.expires_at.is_(None), found.c.expires_at > moment),
        ~is_over(tenant, index.clock()),
    )
    with index.catalog.database.read() as connection:
        return tuple(note_of(row) for row in connection.execute(query.order_by(found.c.since)))


def note_history(index: Index, user_id: str, session_id: str, name: str) -> tuple[Note, ...]:
    """Return all values that a note had and that were not forgotten, in the order they held."""
    tenant = session_scope(user_id, session_id).tenant
    over = is_over(tenant, index.clock())
    mine = (notes.c.tenant == tenant, notes.c.key == hashed(name), ~over)
    query = select(notes).where(*mine).order_by(notes.c.began_at, notes.c.place)
    with index.catalog.database.read() as connection:
        return tuple(note_of(row) for row in connection.execute(query))


def put_note(index: Index, user_id: str, session_id: str, note: Note) -> None:
    """Store a note: of its name it holds from its time on; see `put_notes`."""
    put_notes(index, user_id, session_id, [note])


def put_notes(index: Index, user_id: str, session_id: str, given: Sequence[Note]) -> None:
    """Store notes, all or none; the values that they supersede stay in the history.

    A note holds from ``at``, or else from now, until a later one of exactly its name begins. What
    a turn says that was forgotten meanwhile is left out. Raises `InvalidInput` for an empty name or
    value, a naive time or a turn that the session never had, `Forgotten`, `StoreError`.
    """
    scope = session_scope(user_id, session_id)
    for note in given:
        if not note.name.strip() or not note.value.strip():
            raise InvalidInput("a note has a name and a value")
        for moment in filter(None, (note.at, note.expires_at)):
            check_time(moment, f"the time of the note {note.name[:40]!r}")
    with index.catalog.writing(scope) as writing:
        writing.blocked()
        open_session(writing.connection, scope, index.clock())
        for note in given:
            if note.seq and not _is_there(writing.connection, scope.tenant, note.seq):
                continue
            _put(writing.connection, scope.tenant, note, index.clock())


def drop_note(index: Index, user_id: str, session_id: str, name: str) -> bool:
    """Delete a note with its history; tell whether there was any."""
    scope = session_scope(user_id, session_id)
    with index.catalog.writing(scope) as writing:
        mine = (notes.c.tenant == scope.tenant, notes.c.key == hashed(name))
        return bool(writing.connection.execute(delete(notes).where(*mine)).rowcount)


def _put(connection: Connection, tenant: str, note: Note, now: datetime) -> None:
    """Add a row, or change the one that has the same value from the same turn."""
    key = hashed(note.name)
    values = {
        "kind": note.kind,
        "at": (note.at or now).isoformat(),
        "began_at": (note.at or now).timestamp(),
        "expires_at": to_epoch(note.expires_at),
    }
    mine = (notes.c.tenant == tenant, notes.c.key == key)
    same = select(notes.c.place).where(*mine, notes.c.value == note.value, notes.c.seq == note.seq)
    place = connection.execute(same.order_by(notes.c.place.desc()).limit(1)).scalar()
    if place is not None and (note.seq or _holds(connection, tenant, place)):
        row = update(notes).where(notes.c.tenant == tenant, notes.c.place == place)
        connection.execute(row.values(**values))
    else:
        last = select(func.max(notes.c.place)).where(notes.c.tenant == tenant)
        values |= {"place": (connection.execute(last).scalar() or 0) + 1, "seq": note.seq}
        named = {"tenant": tenant, "key": key, "name": note.name, "value": note.value}
        connection.execute(insert(notes).values(**named, **values))
    relink(connection, tenant, key)


def _holds(connection: Connection, tenant: str, place: int) -> bool:
    query = select(notes.c.ended_at).where(notes.c.tenant == tenant, notes.c.place == place)
    return connection.execute(query).scalar_one() is None


def _is_there(connection: Connection, tenant: str, seq: int) -> bool:
    """Tell whether a turn was not forgotten. Raises `InvalidInput` for one that never was."""
    query = select(turns.c.seq).where(turns.c.tenant == tenant, turns.c.seq == seq)
    if connection.execute(query).first():
        return True
    if seq < 0 or seq > last_given(connection, tenant):
        raise InvalidInput(f"the session has no turn {seq} that a note could be from")
    return False


def _forgettings(connection: Connection, tenant: str) -> int:
    query = select(state.c.forgotten).where(state.c.tenant == tenant)
    return connection.execute(query).scalar() or 0


def digest_of(body: str) -> Digest:
    """Return a digest as it is stored. Raises `StoreError`."""
    try:
        return _DIGEST.validate_json(body)
    except ValidationError as error:
        raise StoreError(f"the digest of a session cannot be read: {reasons(error)}") from error


def note_of(row: Row[Any]) -> Note:
    """Return a row as the note that it holds."""
    at = datetime.fromisoformat(row.at)
    return Note(row.name, row.value, row.kind, row.seq, at, from_epoch(row.expires_at))
