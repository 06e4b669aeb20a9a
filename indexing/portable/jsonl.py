"""A person's memories <-> JSONL: a header line, then one line a memory, in one order, then what is
logged and kept of sessions (`talk`).

What ``dump`` writes ``load`` reads back field for field, and a second dump is the same to the byte.
Does not: keep vectors, nor name the ids that another user's copies of the memories get.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from pydantic import ValidationError

from indexing.chat import reasons
from indexing.errors import InvalidInput, LetopisError
from indexing.portable.record import (
    FORMAT,
    TALK_VERSION,
    VERSION,
    HeaderLine,
    MemoryLine,
    fields_of,
    mention_of,
    place_of,
)
from indexing.portable.strict import check_value, parse
from indexing.portable.talk import Record, line_fields, record_of, record_order
from indexing.portable.types import Header, ScopeCount
from indexing.types import Memory, Scope, check_id, check_time, session_scope, user_scope

_EPOCH = datetime.min.replace(tzinfo=UTC)

_LINE_ENDS = {ord(end): f"\\u{ord(end):04x}" for end in "\x85\u2028\u2029"}
"""What some readers take for the end of a line, though JSON does not."""


def header_of(
    user_id: str, memories: Iterable[Memory], exported_at: datetime, records: int = 0
) -> Header:
    """Return the header of these memories, and of so many records of sessions.

    Raises `InvalidInput` for a memory that is not this user's: of another, or of all.
    """
    check_id(user_id, "user id")
    check_time(exported_at, "exported_at")
    counts: Counter[Scope] = Counter()
    for memory in memories:
        if memory.scope.collection == "global" or memory.scope.user_id != user_id:
            raise InvalidInput(f"memory {memory.id} is not one of the user's who is exported")
        counts[memory.scope] += 1
    scopes = [
        ScopeCount(scope.collection, scope.session_id, count)
        for scope, count in counts.items()
        if scope.collection != "global"
    ]
    order = sorted(scopes, key=lambda scope: (scope.collection, scope.session_id))
    return Header(user_id, exported_at, tuple(order), records)


def dump(
    memories: Iterable[Memory], header: Header, records: Iterable[Record] = ()
) -> Iterator[str]:
    """Yield the lines of an export, each with its line feed: header, memories, records of sessions.

    They are ordered by collection, session, ``created_at`` and id, records by session, kind and
    number. Raises `InvalidInput` where the header is not that of the memories and records, an id
    comes twice, or a line is one that ``load`` would refuse.
    """
    ordered, talk = sorted(memories, key=_order), sorted(records, key=record_order)
    if header_of(header.user_id, ordered, header.exported_at, len(talk)) != header:
        raise InvalidInput("the header of an export does not count its memories")
    yield _line(_header_fields(header))
    before: set[str] = set()
    for memory in ordered:
        fields = fields_of(memory)
        try:
            check_value(fields)
            MemoryLine.model_validate(fields)
            _check_new(memory.id, before)
        except (ValidationError, InvalidInput) as error:
            raise InvalidInput(f"memory {memory.id}: {_reason(error)}") from error
        yield _line(fields)
    for record in talk:
        fields = line_fields(record)
        try:
            check_value(fields)
            record_of(fields)
        except (ValidationError, InvalidInput) as error:
            raise InvalidInput(f"a {record.kind} of a session: {_reason(error)}") from error
        yield _line(fields)


def check(lines: Iterable[str]) -> Header:
    """Read an export to its end and return its header: to be called before anything is written.

    Raises `InvalidInput` as ``load`` does.
    """
    numbered = enumerate(lines, 1)
    header = _header(numbered)
    for _ in _items(numbered, header, header.user_id):
        pass
    return header


def load(lines: Iterable[str], user_id: str = "") -> Iterator[Memory]:
    """Yield the memories of an export as those of ``user_id``; empty: of the user in its header.

    Each has the id that it had when it was exported, also where it becomes another user's. Raises
    `InvalidInput` that names the line and the reason: another format or version, what is not JSON,
    a wrong, missing or unknown field, a time without a zone, an id that comes twice, a file that
    was cut short. The last is told only at the end: ``check`` the file first.
    """
    numbered = enumerate(lines, 1)
    header = _header(numbered)
    for item in _items(numbered, header, check_id(user_id or header.user_id, "user id")):
        if isinstance(item, Memory):
            yield item


def load_records(lines: Iterable[str]) -> Iterator[Record]:
    """Yield what an export holds of the logs of sessions; raises `InvalidInput` as ``load``."""
    numbered = enumerate(lines, 1)
    header = _header(numbered)
    for item in _items(numbered, header, header.user_id):
        if isinstance(item, Record):
            yield item


def _header(numbered: Iterator[tuple[int, str]]) -> Header:
    number, raw = next(numbered, (1, ""))
    try:
        fields = _parsed(raw)
        if not isinstance(fields, dict) or fields.get("format") != FORMAT:
            raise InvalidInput(f'not an export of memories: no "format": "{FORMAT}"')
        if fields.get("version") not in (VERSION, TALK_VERSION):
            known = f"{VERSION} or {TALK_VERSION}"
            raise InvalidInput(f"not version {known}, which this release reads")
        line = HeaderLine.model_validate(fields)
    except (ValidationError, InvalidInput) as error:
        raise InvalidInput(f"line {number}: {_reason(error)}") from error
    scopes = [ScopeCount(s.collection, s.session_id or "", s.memories) for s in line.scopes]
    return Header(line.user_id, line.exported_at, tuple(scopes), line.records)


def _items(
    numbered: Iterator[tuple[int, str]], header: Header, user_id: str
) -> Iterator[Memory | Record]:
    left = Counter({(s.collection, s.session_id): s.memories for s in header.scopes})
    before: set[str] = set()
    records = 0
    for number, raw in numbered:
        item: Memory | Record
        try:
            value = _parsed(raw)
            if isinstance(value, dict) and "record" in value:
                item, records = record_of(value), records + 1
                if records > header.records:
                    raise InvalidInput("more records of sessions than the header counts")
            else:
                line = MemoryLine.model_validate(value)
                _check_new(line.id, before)
                scope = line.collection, line.session_id or ""
                left[scope] -= 1
                if left[scope] < 0:
                    raise InvalidInput("more memories of this scope than the header counts")
                item = _memory(line, user_id)
        except (ValidationError, LetopisError) as error:
            raise InvalidInput(f"line {number}: {_reason(error)}") from error
        yield item
    if missing := left.total():
        total = f"{header.memories:,} memories"
        raise InvalidInput(f"cut short: {missing:,} of the {total} that line 1 counts are missing")
    if missing := header.records - records:
        total = f"{header.records:,} records"
        raise InvalidInput(f"cut short: {missing:,} of the {total} that line 1 counts are missing")


def _parsed(raw: str) -> object:
    value = parse(raw)
    check_value(value)
    return value


def _check_new(id: str, before: set[str]) -> None:
    if id in before:
        raise InvalidInput("id: there is an earlier memory with this id")
    before.add(id)


def _memory(line: MemoryLine, user_id: str) -> Memory:
    session = line.session_id
    return Memory(
        id=line.id,
        scope=user_scope(user_id) if session is None else session_scope(user_id, session),
        kind=line.kind,
        key=line.key,
        also=tuple(mention_of(place) for place in line.also),
        subject=line.subject,
        value=line.value,
        closes=line.closes,
        valid_from=line.valid_from,
        valid_to=line.valid_to,
        superseded_by=line.superseded_by or "",
        pinned=line.pinned,
        **place_of(line),
    )


def _header_fields(header: Header) -> dict[str, object]:
    scopes = [
        {"collection": s.collection, "session_id": s.session_id, "memories": s.memories}
        for s in header.scopes
    ]
    return {
        "format": FORMAT,
        "version": TALK_VERSION if header.records else VERSION,
        "user_id": header.user_id,
        "exported_at": header.exported_at.isoformat(),
        "memories": header.memories,
        **({"records": header.records} if header.records else {}),
        "scopes": [{k: v for k, v in scope.items() if v != ""} for scope in scopes],
    }


def _line(fields: dict[str, object]) -> str:
    return json.dumps(fields, ensure_ascii=False).translate(_LINE_ENDS) + "\n"


def _order(memory: Memory) -> tuple[str, str, datetime, str]:
    scope = memory.scope
    return scope.collection, scope.session_id, memory.created_at or _EPOCH, memory.id


def _reason(error: ValidationError | LetopisError) -> str:
    return reasons(error) if isinstance(error, ValidationError) else str(error)
