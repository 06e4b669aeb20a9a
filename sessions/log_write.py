"""One append to a session's log, in one transaction: ids, numbers, rows. `write_turns`."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from sqlalchemy import Connection, insert, select, update

from chunking.types import Session
from indexing.catalog_rows import Writing
from indexing.catalog_schema import scopes
from indexing.errors import TurnConflict
from indexing.index import Index
from indexing.session_rows import open_session, turns_called
from indexing.session_schema import state, turns
from indexing.turns import turn_source
from indexing.types import Scope
from sessions.log_rows import content_of, derived_name, numbered, row_of, searchable, turn_of
from sessions.types import CountTokens, Entry, LoggedTurn, ToolCall

CALLS = 100
"""Turns with calls among which that of a result is looked for."""


@dataclass(frozen=True, slots=True)
class Appended:
    """The turns that were given, as they are in the log now, in the order in which they were given.

    ``new`` of them were added and ``known`` were there; ``forgotten`` may not be stored.
    """

    turns: tuple[LoggedTurn, ...]
    new: int
    known: int
    forgotten: int = 0


def write_turns(
    index: Index, scope: Scope, entries: Sequence[Entry], count: CountTokens, *, whole: bool
) -> Appended:
    """Add those of the entries that are not there; see `TurnLog.append`."""
    now = index.clock()
    with index.catalog.writing(scope) as writing:
        writing.blocked()
        last = _open(writing.connection, scope, now, _life(index, scope)) if entries else 0
        names = _Names(writing, scope, whole=whole)
        named = [replace(entry, turn_id=entry.turn_id or names.of(entry)) for entry in entries]
        ids = [source_of(scope, entry.turn_id) for entry in named]
        blocked = writing.blocked(ids).source_ids
        held = _held(writing.connection, scope, ids)
        found: list[LoggedTurn] = []
        rows = []
        calls = _Calls(writing.connection, scope)
        for entry, given, source_id in zip(named, entries, ids, strict=True):
            calls.note(entry)
            if source_id in blocked:
                continue
            if source_id in held:
                turn, content = held[source_id]
                if content != content_of(entry):
                    raise TurnConflict(
                        f"the session has another turn with the id of turn {len(found) + 1}"
                    )
            else:
                last += 1
                content = content_of(entry)
                entry = calls.filled(replace(entry, at=entry.at or now))
                row = row_of(entry, last, count) | {
                    "tenant": scope.tenant,
                    "source_id": source_id,
                    "name": "" if given.turn_id else names.name(given),
                    "logged_at": now.timestamp(),
                    "digest": 0,
                    "indexed": 0,
                }
                rows.append(row)
                turn = LoggedTurn(last, entry, row["tokens"])
                held[source_id] = turn, content
            found.append(turn)
        if rows:
            writing.connection.execute(insert(turns), rows)
            mine = state.c.tenant == scope.tenant
            writing.connection.execute(update(state).where(mine).values(last_seq=last))
    forgotten = len(entries) - len(found)
    return Appended(tuple(found), len(rows), len(found) - len(rows), forgotten)


def source_of(scope: Scope, turn_id: str) -> str:
    """Return what a turn of a session is called as a source of memories."""
    named = Entry("user", "", turn_id)
    return turn_source(Session(scope.session_id, ()), searchable(named, ""))


def _open(connection: Connection, scope: Scope, now: datetime, life: timedelta | None) -> int:
    """Make a session one that goes on now; return the last number that it has given."""
    last = open_session(connection, scope, now)
    own = scopes.c.tenant == scope.tenant
    connection.execute(update(scopes).where(own).values(closed_at=None))
    mine = state.c.tenant == scope.tenant
    until = (now + life).timestamp() if life else None
    connection.execute(update(state).where(mine).values(expires_at=until))
    return last


def _life(index: Index, scope: Scope) -> timedelta | None:
    """Return how long a log lives after it was last written to: as its longest-lived memory."""
    lives = [index.recipe.life(kind, scope) for kind in ("turn", "tool_result")]
    known = [life for life in lives if life]
    return max(known) if len(known) == len(lives) else None


def _held(
    connection: Connection, scope: Scope, ids: Sequence[str]
) -> dict[str, tuple[LoggedTurn, str]]:
    """Return the turns that are there, with the hash of what they say, by source id."""
    found = turns_called(connection, scope, ids)
    return {row.source_id: (turn_of(row), row.content) for row in found}


class _Names:
    """Gives ids to turns that have none, inside the transaction that appends them."""

    def __init__(self, writing: Writing, scope: Scope, *, whole: bool) -> None:
        self._writing = writing
        self._scope = scope
        self._whole = whole
        self._said: Counter[str] = Counter()

    def name(self, entry: Entry) -> str:
        """Return what all turns that say this have in common."""
        return derived_name(entry)

    def of(self, entry: Entry) -> str:
        """Return the id of the next turn that says this."""
        name = self.name(entry)
        if self._whole or entry.at:
            self._said[name] += 1
            return numbered(name, self._said[name])
        if name not in self._said:
            self._said[name] = max(self._numbers(name), default=0)
        while True:  # the number of one that was forgotten is not given again
            self._said[name] += 1
            turn_id = numbered(name, self._said[name])
            if not self._writing.blocked([source_of(self._scope, turn_id)]).source_ids:
                return turn_id

    def _numbers(self, name: str) -> Iterator[int]:
        mine = (turns.c.tenant == self._scope.tenant, turns.c.name == name)
        query = select(turns.c.turn_id).where(*mine)
        for turn_id in self._writing.connection.execute(query).scalars():
            yield int(turn_id.partition("-")[2] or 1)


class _Calls:
    """The calls that results answer: of the turns that are appended, and of the log."""

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope
        self._made: dict[str, ToolCall] = {}
        self._is_read = False

    def note(self, entry: Entry) -> None:
        """Take the calls of a turn in."""
        self._made |= {call.call_id: call for call in entry.calls}

    def filled(self, entry: Entry) -> Entry:
        """Return a result with the tool and the arguments of its call, where it says none."""
        if entry.role != "tool" or not entry.call_id or (entry.tool and entry.arguments):
            return entry
        if entry.call_id not in self._made and not self._is_read:
            self._read()
        call = self._made.get(entry.call_id)
        if call is None:
            return entry
        return replace(
            entry, tool=entry.tool or call.tool, arguments=entry.arguments or call.arguments
        )

    def _read(self) -> None:
        self._is_read = True
        mine = (turns.c.tenant == self._scope.tenant, turns.c.role == "assistant")
        query = select(turns.c.calls).where(*mine, turns.c.calls != "[]")
        query = query.order_by(turns.c.seq.desc()).limit(CALLS)
        for text in self._connection.execute(query).scalars():
            for values in json.loads(text):
                call = ToolCall(**values)
                self._made.setdefault(call.call_id, call)
