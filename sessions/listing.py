"""The sessions that have a log: whose they are, from when until when, open or closed."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Row, Select, case, func, select

from indexing.catalog import Catalog
from indexing.catalog_schema import owner_key, scopes
from indexing.index import Index
from indexing.payload import from_epoch
from indexing.session_rows import is_over
from indexing.session_schema import turns
from indexing.types import user_scope


@dataclass(frozen=True, slots=True)
class LoggedSession:
    """A session: when its first and last turn were said, and when one was last appended.

    ``undigested`` turns are in no digest. ``closed_at`` is None while it is open.
    """

    session_id: str
    started_at: datetime
    last_at: datetime
    written_at: datetime
    turns: int
    undigested: int
    closed_at: datetime | None = None


def sessions_of(index: Index, user_id: str) -> list[LoggedSession]:
    """Return the sessions of a user that have a log and are not over, the oldest first."""
    user_id = user_scope(user_id).user_id
    mine = (scopes.c.owner == owner_key(user_id), scopes.c.user_id == user_id)
    query = _sessions(index.clock(), *mine)
    with index.catalog.database.read() as connection:
        found = [_session(row) for row in connection.execute(query)]
    return sorted(found, key=lambda one: (one.started_at, one.session_id))


def idle_sessions(catalog: Catalog, now: datetime, before: datetime) -> list[tuple[str, str]]:
    """Return user and session id of the open sessions that nothing was appended to since."""
    query = _sessions(now, scopes.c.closed_at.is_(None))
    query = query.having(func.max(turns.c.logged_at) < before.timestamp())
    with catalog.database.read() as connection:
        return [(row.user_id, row.session_id) for row in connection.execute(query)]


def _sessions(now: datetime, *where: ColumnElement[bool]) -> Select[tuple[str]]:
    own = (scopes.c.tenant, scopes.c.user_id, scopes.c.session_id, scopes.c.closed_at)
    return (
        select(
            *own,
            func.min(turns.c.said_at).label("started"),
            func.max(turns.c.said_at).label("last"),
            func.max(turns.c.logged_at).label("written"),
            func.count().label("turns"),
            func.sum(case((turns.c.digest == 0, 1), else_=0)).label("undigested"),
        )
        .join(turns, turns.c.tenant == scopes.c.tenant)
        .where(~is_over(scopes.c.tenant, now), *where)
        .group_by(*own)
    )


def _session(row: Row[tuple[str]]) -> LoggedSession:
    started, last, written = (
        datetime.fromtimestamp(at, UTC) for at in (row.started, row.last, row.written)
    )
    return LoggedSession(
        row.session_id,
        started,
        last,
        written,
        row.turns,
        row.undigested,
        from_epoch(row.closed_at),
    )
