"""Conversations of the indexed turns, and which of them are over: `close_idle`.

A conversation is what turns with one session id in one scope make. It is closed when nothing was
said for a while, and open again as soon as a turn is added, changed or removed: whoever digests
closed conversations sees each state once. The catalog knows the turns: no store is read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Row, and_, delete, exists, func, select, update

from indexing.catalog import Catalog
from indexing.catalog_schema import conversations, sources
from indexing.types import Scope

Progress = Callable[[str, int, int], None]
"""Called with what is being done, how many conversations are done and how many are known."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: whose, between which times, of how many turns, and when it was closed.

    ``started_at`` and ``last_at`` are when its first and last turn were said, None where no turn
    has a time; ``closed_at`` is None while it is open.
    """

    scope: Scope
    conversation_id: str
    started_at: datetime | None
    last_at: datetime | None
    turns: int
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ClosingReport:
    """How many conversations there are, were closed now, are still open, and are gone."""

    seen: int = 0
    closed: int = 0
    open: int = 0
    gone: int = 0


def read_conversations(catalog: Catalog, scope: Scope | None = None) -> list[Conversation]:
    """Return the conversations of a scope, or of all scopes, the earliest first."""
    found = [_conversation(row) for row in _rows(catalog, scope)]
    return sorted(found, key=lambda one: (_seconds(one.started_at), one.conversation_id))


def close_idle(
    catalog: Catalog, now: datetime, idle: timedelta, progress: Progress | None = None
) -> ClosingReport:
    """Close the conversations in which nothing was said since ``idle`` before ``now``.

    One whose turns have no time is closed as soon as it is seen. What has no turns any more is
    forgotten. Interrupted, it can simply be run again. Raises `StoreError`.
    """
    rows = _rows(catalog, None)
    closed = still_open = 0
    for number, row in enumerate(rows):
        if progress:
            progress("conversations", number, len(rows))
        one = _conversation(row)
        if one.closed_at is not None:
            continue
        if one.last_at is not None and now - one.last_at < idle:
            still_open += 1
            continue
        _close(catalog, row, now)
        closed += 1
    return ClosingReport(len(rows), closed, still_open, _forget_empty(catalog))


def _rows(catalog: Catalog, scope: Scope | None) -> list[Row[Any]]:
    """Return each conversation's row with what its turns are now."""
    talk, turn = conversations.c, sources.c
    query = (
        select(
            turn.tenant,
            turn.conversation_id,
            func.count().label("turns"),
            func.min(turn.said_at).label("first"),
            func.max(turn.said_at).label("last"),
            func.max(turn.indexed_at).label("written"),
        )
        .where(turn.conversation_id != "")
        .group_by(turn.tenant, turn.conversation_id)
    )
    if scope is not None:
        query = query.where(turn.tenant == scope.tenant)
    now = query.subquery()
    same = and_(now.c.tenant == talk.tenant, now.c.conversation_id == talk.conversation_id)
    wanted = [column for column in now.c if column.name not in talk]
    with catalog.database.read() as connection:
        return list(connection.execute(select(conversations, *wanted).join(now, same)))


def _conversation(row: Row[Any]) -> Conversation:
    is_closed = (row.closed_turns, row.closed_written) == (row.turns, row.written)
    return Conversation(
        Scope(row.collection, row.user_id, row.session_id),
        row.conversation_id,
        _moment(row.first),
        _moment(row.last),
        row.turns,
        _moment(row.closed_at) if is_closed else None,
    )


def _close(catalog: Catalog, row: Row[Any], now: datetime) -> None:
    """Record the state in which it is closed: another state means that it is open again."""
    where = (conversations.c.tenant == row.tenant, conversations.c.key == row.key)
    state = {"closed_at": now.timestamp(), "closed_turns": row.turns, "closed_written": row.written}
    with catalog.database.write(row.tenant) as connection:
        connection.execute(update(conversations).where(*where).values(state))


def _forget_empty(catalog: Catalog) -> int:
    talk, turn = conversations.c, sources.c
    same = and_(turn.tenant == talk.tenant, turn.conversation_id == talk.conversation_id)
    with catalog.database.write("conversations") as connection:
        gone = connection.execute(delete(conversations).where(~exists().where(same)))
    return int(gone.rowcount)


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0
