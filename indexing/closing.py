"""A session that is over: its own memories leave every answer. `close_session`.

Archived ones are kept as what held until then: ``as_of``, `history` and an export still show them.
Cleared ones are deleted, and the log of its turns with them; what its model calls cost is kept.
What a conversation left in the user's own memory is not touched. A session that is written to again
is open again, with what is written from then on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal, get_args

from sqlalchemy import delete, func, select, update

from indexing.catalog_schema import conversations, scopes, sources
from indexing.errors import InvalidInput
from indexing.index import Changes, Index
from indexing.removal import settle
from indexing.session_rows import TALK, drop_talk, last_given
from indexing.types import Filter, Scope, session_scope

Ending = Literal["archive", "clear"]
"""What happens to the memories of a session that is closed."""


@dataclass(frozen=True, slots=True)
class Closed:
    """How many sessions were closed, and how many memories were archived or cleared."""

    sessions: int = 0
    archived: int = 0
    cleared: int = 0

    def add(self, other: "Closed") -> "Closed":
        """Return the sum of both."""
        return Closed(
            self.sessions + other.sessions,
            self.archived + other.archived,
            self.cleared + other.cleared,
        )


def close_session(
    index: Index, user_id: str, session_id: str, ending: Ending, last_seq: int | None = None
) -> Closed:
    """Archive or clear the memories of one session; durable when it returns.

    With ``last_seq``, the last number that its log had given when the caller looked, it stays open
    where turns came since: none is closed then. Closing it again is fine. Raises `InvalidInput` for
    another ending, `StoreError`.
    """
    return _close_all(index, [session_scope(user_id, session_id)], ending, last_seq)


def close_idle_sessions(index: Index, idle: timedelta, ending: Ending) -> Closed:
    """Close the sessions to which nothing was written since ``idle`` before now."""
    return _close_all(index, list(_idle(index, (index.clock() - idle).timestamp())), ending)


def _close_all(
    index: Index, closing: Sequence[Scope], ending: Ending, last_seq: int | None = None
) -> Closed:
    if ending not in get_args(Ending):
        raise InvalidInput(f"a session is closed by {' or '.join(get_args(Ending))}, not {ending}")
    done, unlogged = Closed(), 0
    for scope in closing:
        closed, rows = _close(index, scope, ending, last_seq)
        done, unlogged = done.add(closed), unlogged + rows
    if unlogged:
        index.catalog.database.purge([table.name for table in TALK])
    return done


def _close(index: Index, scope: Scope, ending: Ending, last_seq: int | None) -> tuple[Closed, int]:
    """Close one session; return also how many rows its log lost."""
    now, rows = index.clock(), 0
    with index.catalog.writing(scope) as turn:
        if last_seq is not None and last_given(turn.connection, scope.tenant) > last_seq:
            return Closed(), 0
        held = {m.id: m for m in index.store.scroll(scope.collection, Filter(scope))}
        if ending == "clear":
            made = Changes(delete=list(held))
            for table in (sources, conversations):
                turn.connection.execute(delete(table).where(table.c.tenant == scope.tenant))
            rows = drop_talk(turn.connection, scope.tenant)
        else:
            made = Changes(put=[replace(m, valid_to=now) for m in held.values() if not m.valid_to])
        settle(index, scope, made, held)
        mark = update(scopes).where(scopes.c.tenant == scope.tenant)
        turn.connection.execute(mark.values(closed_at=now.timestamp()))
    if made.delete:
        index.store.vacuum(scope.collection)
    return Closed(1, len(made.put), len(made.delete)), rows


def _idle(index: Index, moment: float) -> Iterator[Scope]:
    """Yield the open sessions to which nothing was written since a moment."""
    last = func.max(sources.c.indexed_at)
    query = (
        select(scopes.c.user_id, scopes.c.session_id, scopes.c.closed_at, last)
        .join(sources, sources.c.tenant == scopes.c.tenant)
        .where(scopes.c.collection == "session")
        .group_by(scopes.c.tenant, scopes.c.user_id, scopes.c.session_id, scopes.c.closed_at)
        .having(last < moment)
    )
    with index.catalog.database.read() as connection:
        rows = list(connection.execute(query))
    for user_id, session_id, closed_at, written in rows:
        if closed_at is None or closed_at < written:
            yield session_scope(user_id, session_id)
