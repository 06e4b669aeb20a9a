"""The logs of a user's sessions out of the catalog and into one: `read_talk`, `restore_talk`.

A log that is not there comes back as it was. Where the session has turns already, those of the file
that it lacks are appended; its digest stays. What turns say is no memory: those come by their own
lines, and are not made anew here.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Table, func, insert, select, update

from chunking.types import Session, Turn
from indexing.catalog import Catalog
from indexing.catalog_rows import note_scope
from indexing.catalog_schema import scopes as scopes_table
from indexing.chat import reasons
from indexing.errors import InvalidInput
from indexing.hashing import digest as hashed
from indexing.index import Index
from indexing.payload import from_epoch
from indexing.portable import Record
from indexing.portable.talk import Kind, record_of
from indexing.session_rows import open_session, relink
from indexing.session_schema import calls, digests, notes, state, turns
from indexing.transfer.types import TalkReport
from indexing.turns import turn_source
from indexing.types import Scope, session_scope

TURN = (
    *("seq", "turn_id", "name", "role", "text", "speaker", "at", "call_id", "tool", "arguments"),
    *("call_key", "status", "cost", "tokens", "digest", "content"),
)
NOTE = ("name", "value", "kind", "seq", "at")
CALL = (
    *("key", "model", "tokens_in", "tokens_out", "cached_tokens", "tool_calls", "cost", "cache"),
)
"""Columns that a file has as they are."""

DIGEST = ("started_at", "ended_at", "topics", "lines", "summary")
"""What a file has of a digest's body."""


def read_talk(catalog: Catalog, scopes: Iterable[Scope], now: datetime) -> list[Record]:
    """Return what is logged and kept of these sessions and is not over."""
    sessions = [scope for scope in scopes if scope.collection == "session"]
    with catalog.database.read() as connection:
        return [one for scope in sessions for one in _records(connection, scope, now)]


def _records(connection: Connection, scope: Scope, now: datetime) -> Iterator[Record]:
    def rows(table: Table) -> Sequence[Any]:
        return connection.execute(select(table).where(table.c.tenant == scope.tenant)).all()

    def record(kind: Kind, /, **fields: Any) -> Record:
        filled = {name: value for name, value in fields.items() if value is not None}
        try:
            return record_of({"record": kind, "session_id": scope.session_id, **filled})
        except ValidationError as error:
            raise InvalidInput(f"a {kind} of a session: {reasons(error)}") from error

    for row in rows(calls):
        yield record("call", **_columns(row, CALL), called_at=_moment(row.called_at))
    kept = rows(state)
    if any(row.expires_at is not None and row.expires_at <= now.timestamp() for row in kept):
        return
    own = scopes_table.c
    closed = connection.execute(select(own.closed_at).where(own.tenant == scope.tenant)).scalar()
    for row in kept:
        yield record(
            "state",
            last_seq=row.last_seq,
            expires_at=_moment(row.expires_at),
            closed_at=_moment(closed),
            body=json.loads(row.body),
        )
    for row in rows(turns):
        values = _columns(row, TURN)
        values |= {"calls": json.loads(row.calls), "tags": json.loads(row.tags)}
        yield record("turn", **values, logged_at=_moment(row.logged_at))
    for row in rows(digests):
        body = json.loads(row.body)
        values = {name: body[name] for name in DIGEST if name in body}
        values["lines"] = [{n: v for n, v in line.items() if v} for line in body["lines"]]
        values |= {"number": row.number, "through": row.through, "made_at": _moment(row.made_at)}
        yield record("digest", **values)
    for row in sorted(rows(notes), key=lambda row: row.place):
        if row.expires_at is None or row.expires_at > now.timestamp():
            yield record("note", **_columns(row, NOTE), expires_at=_moment(row.expires_at))


def _columns(row: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}


def restore_talk(
    index: Index, user_id: str, records: Iterable[Record], *, dry_run: bool = False
) -> TalkReport:
    """Make the records of an export those of a user's sessions.

    Raises `Forgotten` for a session that may not be stored, `StoreError`.
    """
    sessions: defaultdict[str, list[Record]] = defaultdict(list)
    for record in records:
        sessions[record.session_id].append(record)
    done = TalkReport(sum(map(len, sessions.values())))
    for session_id, held in sessions.items():
        _Restoring(index, session_scope(user_id, session_id), done, dry_run).run(held)
    return done


class _Restoring:
    """The records of one session on their way."""

    def __init__(self, index: Index, scope: Scope, done: TalkReport, dry_run: bool) -> None:
        self._index, self._scope = index, scope
        self._done, self._dry_run = done, dry_run
        self._seqs: dict[int, int] = {}
        self._gone: set[int] = set()
        self._is_new = True
        self._last = 0

    def run(self, records: Sequence[Record]) -> None:
        """Write the records that are not there, in the tenant's turn."""
        of: defaultdict[str, list[Record]] = defaultdict(list)
        for record in records:
            of[record.kind].append(record)
        now = self._index.clock()
        until = [record.fields["expires_at"] for record in of["state"]]
        is_over = any(_seconds(end) <= now.timestamp() for end in until if end)
        with self._index.catalog.writing(self._scope) as writing:
            self._connection = writing.connection
            ids = [self._source(record) for record in of["turn"]]
            blocked = writing.blocked(ids).source_ids
            if not self._dry_run:
                note_scope(self._connection, self._scope)
            for record in of["call"]:
                self._call(record)
            if is_over:
                self._done.expired += len(records) - len(of["call"])
                return
            self._state(of["state"], now)
            self._turns(of["turn"], ids, blocked)
            for record in of["digest"]:
                self._digest(record)
            self._notes(of["note"])

    def _source(self, record: Record) -> str:
        named = Turn(record.fields["turn_id"], "user", "")
        return turn_source(Session(self._scope.session_id, ()), named)

    def _state(self, found: Sequence[Record], now: datetime) -> None:
        """Add the state where the session has none."""
        if not self._dry_run:
            open_session(self._connection, self._scope, now)
        mine = state.c.tenant == self._scope.tenant
        row = self._connection.execute(select(state).where(mine)).first()
        self._last = row.last_seq if row else 0
        self._is_new = not self._last
        for record in found:
            if row is not None and (row.last_seq or row.body != "{}"):
                self._done.unchanged += 1
                continue
            self._done.new += 1
            self._last = record.fields["last_seq"]
            body = json.dumps(record.fields["body"], ensure_ascii=False)
            until = _seconds(record.fields["expires_at"])
            self._write(update(state).where(mine).values(body=body, expires_at=until))
            closed = _seconds(record.fields["closed_at"])
            own = scopes_table.c.tenant == self._scope.tenant
            self._write(update(scopes_table).where(own).values(closed_at=closed))

    def _turns(self, found: Sequence[Record], ids: Sequence[str], blocked: frozenset[str]) -> None:
        mine = turns.c.tenant == self._scope.tenant
        query = select(turns.c.source_id, turns.c.seq).where(mine)
        held = {row.source_id: row.seq for row in self._connection.execute(query)}
        pairs = sorted(zip(found, ids, strict=True), key=lambda pair: int(pair[0].fields["seq"]))
        for record, source_id in pairs:
            seq = record.fields["seq"]
            if source_id in blocked:
                self._gone.add(seq)
                self._done.forgotten += 1
            elif source_id in held:
                self._seqs[seq] = held[source_id]
                self._done.unchanged += 1
            else:
                self._seqs[seq] = held[source_id] = seq if self._is_new else self._last + 1
                self._last = max(self._last, held[source_id])
                self._done.new += 1
                self._write(insert(turns).values(self._turn(record, source_id, held[source_id])))
        last = update(state).where(state.c.tenant == self._scope.tenant)
        self._write(last.values(last_seq=self._last))

    def _turn(self, record: Record, source_id: str, seq: int) -> dict[str, Any]:
        fields = record.fields
        values = {name: fields[name] for name in TURN} | {"seq": seq}
        return values | {
            "tenant": self._scope.tenant,
            "source_id": source_id,
            "said_at": _seconds(fields["at"]),
            "logged_at": _seconds(fields["logged_at"]),
            "calls": json.dumps(fields["calls"], ensure_ascii=False),
            "tags": json.dumps(fields["tags"], ensure_ascii=False),
            "digest": fields["digest"] if self._is_new else 0,
            "indexed": 1,
        }

    def _digest(self, record: Record) -> None:
        """Add the digest where the log is new: a digest speaks of turns by their numbers."""
        if not self._is_new:
            self._done.unchanged += 1
            return
        fields = dict(record.fields)
        made = _seconds(fields.pop("made_at"))
        left = [line for line in fields["lines"] if line["seq"] not in self._gone]
        if len(left) < len(fields["lines"]) or self._gone:
            fields |= {"lines": left, "topics": [], "summary": ""}
        body = {**fields, "session_id": self._scope.session_id, "user_id": self._scope.user_id}
        values = {
            "tenant": self._scope.tenant,
            "number": fields["number"],
            "through": fields["through"],
            "made_at": made,
            "body": json.dumps(body, ensure_ascii=False),
        }
        self._done.new += 1
        self._write(digests.delete().where(digests.c.tenant == self._scope.tenant))
        self._write(insert(digests).values(values))

    def _notes(self, found: Sequence[Record]) -> None:
        mine = notes.c.tenant == self._scope.tenant
        query = select(notes.c.key, notes.c.value, notes.c.seq).where(mine)
        held = {tuple(row) for row in self._connection.execute(query)}
        place = self._connection.execute(select(func.max(notes.c.place)).where(mine)).scalar() or 0
        for record in found:
            fields = record.fields
            if fields["seq"] in self._gone:
                self._done.forgotten += 1
                continue
            seq = self._seqs.get(fields["seq"], 0)
            key = hashed(fields["name"])
            if (key, fields["value"], seq) in held:
                self._done.unchanged += 1
                continue
            place += 1
            values = {name: fields[name] for name in NOTE} | {"seq": seq, "key": key}
            values |= {"tenant": self._scope.tenant, "place": place}
            values |= {"began_at": _seconds(fields["at"])}
            self._done.new += 1
            until = _seconds(fields["expires_at"])
            self._write(insert(notes).values(**values, expires_at=until))
            if not self._dry_run:
                relink(self._connection, self._scope.tenant, key)

    def _call(self, record: Record) -> None:
        """Add a call of a model that is not there."""
        values = {name: record.fields[name] for name in CALL}
        values |= {"tenant": self._scope.tenant}
        values |= {"called_at": _seconds(record.fields["called_at"])}
        mine = (calls.c.tenant == self._scope.tenant, calls.c.key == values["key"])
        if self._connection.execute(select(calls.c.key).where(*mine)).first():
            self._done.unchanged += 1
            return
        self._done.new += 1
        self._write(insert(calls).values(values))

    def _write(self, statement: Any) -> None:
        if not self._dry_run:
            self._connection.execute(statement)


def _moment(seconds: float | None) -> str | None:
    moment = from_epoch(seconds)
    return moment.isoformat() if moment else None


def _seconds(moment: str | None) -> Any:
    return None if moment is None else datetime.fromisoformat(moment).timestamp()
