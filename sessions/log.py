"""The turns of sessions, each with its full text, in the order of their appending: `TurnLog`.

A turn is durable before it is indexed; what was appended and not indexed, since the process was
killed, is indexed by the next append or by `TurnLog.pending`. A turn is known by its session and
id: appended again it changes nothing. Turns of one session get their numbers one after the other,
whichever thread or process appends them. Forgetting takes turns away (`indexing.session_rows`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Select, func, select, update

from chunking.types import Session
from indexing.catalog_schema import owner_key, scopes
from indexing.errors import InvalidInput, LetopisError
from indexing.index import Index
from indexing.payload import from_epoch
from indexing.session_rows import is_over
from indexing.session_schema import state, turns
from indexing.turns import ingest_session
from indexing.types import Scope, session_scope
from sessions.listing import LoggedSession, idle_sessions, sessions_of
from sessions.log_rows import check_entry, searchable, turn_of, user_before
from sessions.log_write import Appended, write_turns
from sessions.purpose import purpose, said_before
from sessions.small_talk import is_small_talk
from sessions.types import CountTokens, Entry, LoggedTurn

__all__ = ["Appended", "Indexing", "LoggedSession", "TurnLog", "head"]

AROUND = 50
"""Turns in which one is looked for that says something, before those that are indexed."""


def head(text: str, query: str = "", limit: int = 500) -> str:
    """Return the beginning of a text, up to the end of a word, whatever is looked for in it.

    >>> head("three short words", limit=12)
    'three short'
    """
    if len(text) <= limit:
        return text
    end = max(text.rfind(mark, 0, limit + 1) for mark in " \n\t")
    return text[: end if end > 0 else limit].rstrip()


@dataclass(frozen=True, slots=True)
class Indexing:
    """What of a turn can be searched for: of a tool's result of more characters what is left of it.

    ``shorten`` takes the result and what it was fetched for (`purpose`). Small talk, instructions
    (``system``) and calls without a text are in the log alone.
    """

    result_chars: int = 500
    shorten: Callable[[str, str], str] = head

    def text(self, entry: Entry, said: str = "") -> str:
        """Return what is indexed of a turn, empty for nothing; ``said`` is the user's word before.

        It is the same whenever a turn is indexed again.
        """
        if entry.role == "system":
            return ""
        if entry.role == "tool":
            if len(entry.text) <= self.result_chars:
                return entry.text
            return self.shorten(entry.text, purpose(entry, said))
        return "" if is_small_talk(entry.text) else entry.text


class TurnLog:
    """The log of one deployment; any number of threads and processes may have one."""

    def __init__(self, index: Index, count: CountTokens, indexing: Indexing | None = None) -> None:
        self.index = index
        self.count_tokens = count
        self.indexing = indexing or Indexing()

    def append(
        self, user_id: str, session_id: str, entries: Sequence[Entry], *, whole: bool = False
    ) -> Appended:
        """Add turns to a session and make them searchable; durable when it returns.

        All of them or none. A turn without an id is named by what it says and when; without a time
        it is a new one however often it is said, unless the entries are the ``whole`` conversation
        from its start: then what is there already is known. A closed session is open again.
        Raises `InvalidInput`, `InvalidId`, `TurnConflict`, `Forgotten` for a session that may not
        be stored, `StoreError`, `ModelError`.
        """
        scope = session_scope(user_id, session_id)
        for number, entry in enumerate(entries, 1):
            try:
                check_entry(entry)
            except LetopisError as error:
                raise InvalidInput(f"turn {number}: {error}") from error
        done = write_turns(self.index, scope, entries, self.count_tokens, whole=whole)
        self._index(scope)
        return done

    def read(
        self,
        user_id: str,
        session_id: str,
        after: int = 0,
        through: int | None = None,
        last: int | None = None,
    ) -> list[LoggedTurn]:
        """Return the turns with ``after < seq <= through`` in order, or the ``last`` of them."""
        query = self._turns(user_id, session_id, after, through)
        if last is None:
            return self._read(query.order_by(turns.c.seq))
        return self._read(query.order_by(turns.c.seq.desc()).limit(max(0, last)))[::-1]

    def first(self, user_id: str, session_id: str, n: int) -> list[LoggedTurn]:
        """Return the first n turns."""
        query = self._turns(user_id, session_id)
        return self._read(query.order_by(turns.c.seq).limit(max(0, n)))

    def turn(self, user_id: str, session_id: str, turn_id: str) -> LoggedTurn | None:
        """Return the turn of an id, None where the session has none."""
        query = self._turns(user_id, session_id)
        return next(iter(self._read(query.where(turns.c.turn_id == turn_id))), None)

    def turns(self, user_id: str, session_id: str, seqs: Sequence[int]) -> list[LoggedTurn]:
        """Return the turns of these numbers that are there, in order."""
        query = self._turns(user_id, session_id).order_by(turns.c.seq)
        return self._read(query.where(turns.c.seq.in_(sorted(set(seqs)))))

    def answers(self, user_id: str, session_id: str, call_key: str) -> list[LoggedTurn]:
        """Return the results of calls of this key (`log_rows.same_call`), in order."""
        query = self._turns(user_id, session_id).order_by(turns.c.seq)
        return self._read(query.where(turns.c.call_key == call_key))

    def count(
        self, user_id: str, session_id: str, after: int = 0, through: int | None = None
    ) -> int:
        """Return how many turns there are with ``after < seq <= through``."""
        return self._number(func.count(), user_id, session_id, after, through)

    def tokens(
        self, user_id: str, session_id: str, after: int = 0, through: int | None = None
    ) -> int:
        """Return what the messages of the turns with ``after < seq <= through`` cost, in tokens."""
        total = func.coalesce(func.sum(turns.c.tokens), 0)
        return self._number(total, user_id, session_id, after, through)

    def last_seq(self, user_id: str, session_id: str) -> int:
        """Return the highest number that a turn of the session was given, 0 for none."""
        return self._state(user_id, session_id, "last_seq")

    def forgotten(self, user_id: str, session_id: str) -> int:
        """Return how often turns of the session were forgotten; for `kept.write_digest`."""
        return self._state(user_id, session_id, "forgotten")

    def written_at(self, user_id: str, session_id: str) -> datetime | None:
        """Return when a turn was last appended to the session, None where it has none."""
        where = self._those(user_id, session_id, 0, None)
        with self.index.catalog.database.read() as connection:
            last = connection.execute(select(func.max(turns.c.logged_at)).where(*where)).scalar()
        return from_epoch(last)

    def sessions(self, user_id: str) -> list[LoggedSession]:
        """Return the sessions of a user that have a log, the oldest first."""
        return sessions_of(self.index, user_id)

    def idle(self, before: datetime) -> list[tuple[str, str]]:
        """Return user and session id of the open sessions that nothing was appended to since."""
        return idle_sessions(self.index.catalog, self.index.clock(), before)

    def pending(self, user_id: str | None = None, session_id: str | None = None) -> int:
        """Index what a killed append left, everywhere or of a user or a session; return how many.

        Raises `StoreError`, `ModelError`.
        """
        columns = (scopes.c.collection, scopes.c.user_id, scopes.c.session_id)
        query = select(*columns).join(turns, turns.c.tenant == scopes.c.tenant).distinct()
        query = query.where(turns.c.indexed == 0)
        if user_id is not None:
            query = query.where(scopes.c.owner == owner_key(user_id))
        if session_id is not None:
            query = query.where(scopes.c.session_id == session_id)
        with self.index.catalog.database.read() as connection:
            waiting = [Scope(*row) for row in connection.execute(query)]
        return sum(self._index(scope) for scope in waiting)

    def _index(self, scope: Scope) -> int:
        """Index the turns of a session that are not yet; return how many."""
        mine = turns.c.tenant == scope.tenant
        with self.index.catalog.database.read() as connection:
            query = select(turns.c.seq).where(mine, turns.c.indexed == 0)
            fresh = sorted(connection.execute(query).scalars())
        if not fresh:
            return 0
        query = select(turns).where(mine, turns.c.seq >= fresh[0]).order_by(turns.c.seq)
        before = self._before(mine, fresh[0])
        around = [*([before] if before else ()), *self._read(query)]
        with self.index.catalog.database.read() as connection:
            said = user_before(connection, scope.tenant, around[0].seq)
        asked = said_before(around, said)
        told = [searchable(t.entry, self.indexing.text(t.entry, asked[t.seq])) for t in around]
        ingest_session(self.index, scope, Session(scope.session_id, tuple(told)))
        with self.index.catalog.database.write(scope.tenant) as connection:
            done = (mine, turns.c.seq.between(fresh[0], fresh[-1]), turns.c.indexed == 0)
            connection.execute(update(turns).where(*done).values(indexed=1))
        return len(fresh)

    def _before(self, mine: ColumnElement[bool], seq: int) -> LoggedTurn | None:
        """Return the last turn before a number that says something."""
        query = select(turns).where(mine, turns.c.seq < seq).order_by(turns.c.seq.desc())
        held = self._read(query.limit(AROUND))
        return next((turn for turn in held if self.indexing.text(turn.entry).strip()), None)

    def _turns(
        self, user_id: str, session_id: str, after: int = 0, through: int | None = None
    ) -> Select[tuple[int]]:
        return select(turns).where(*self._those(user_id, session_id, after, through))

    def _those(
        self, user_id: str, session_id: str, after: int, through: int | None
    ) -> list[ColumnElement[bool]]:
        """Return the conditions of the turns of a session that is not over by its life."""
        tenant = session_scope(user_id, session_id).tenant
        over = is_over(tenant, self.index.clock())
        found = [turns.c.tenant == tenant, turns.c.seq > after, ~over]
        return found if through is None else [*found, turns.c.seq <= through]

    def _read(self, query: Select[tuple[int]]) -> list[LoggedTurn]:
        with self.index.catalog.database.read() as connection:
            return [turn_of(row) for row in connection.execute(query)]

    def _number(
        self,
        what: ColumnElement[int],
        user_id: str,
        session_id: str,
        after: int,
        through: int | None,
    ) -> int:
        where = self._those(user_id, session_id, after, through)
        with self.index.catalog.database.read() as connection:
            return connection.execute(select(what).select_from(turns).where(*where)).scalar_one()

    def _state(self, user_id: str, session_id: str, column: str) -> int:
        tenant = session_scope(user_id, session_id).tenant
        with self.index.catalog.database.read() as connection:
            query = select(state.c[column]).where(state.c.tenant == tenant)
            return connection.execute(query).scalar() or 0
