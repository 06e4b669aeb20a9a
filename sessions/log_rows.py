"""A turn of the log as a row of its table, and back; its name, its hash, what is the same call."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, get_args

from sqlalchemy import Connection, Row, bindparam, select

from chunking.types import Turn
from indexing.errors import InvalidInput
from indexing.hashing import digest
from indexing.session_schema import turns
from indexing.tags import tags_of
from indexing.types import check_id, check_time, is_unicode
from sessions.costs import MESSAGE
from sessions.types import CountTokens, Entry, LoggedTurn, Role, ToolCall

ROLES = frozenset(get_args(Role))


def check_entry(entry: Entry) -> None:
    """Raise `InvalidInput` (or `InvalidId`) for an entry that no log can take."""
    if entry.role not in ROLES:
        raise InvalidInput(f"role: must be one of {', '.join(get_args(Role))}")
    if not entry.text.strip() and entry.role != "tool" and not entry.calls:
        raise InvalidInput(f"text: a turn of the {entry.role} is empty")
    if entry.calls and entry.role != "assistant":
        raise InvalidInput("calls: only a turn of the assistant asks for calls")
    if entry.status not in ("", "ok", "error"):
        raise InvalidInput("status: must be ok or error")
    if entry.turn_id:
        check_id(entry.turn_id, "turn id")
    if entry.at:
        check_time(entry.at, "at")
    tags_of(entry.tags)
    said = (entry.text, entry.speaker, entry.call_id, entry.tool, entry.arguments)
    asked = (text for call in entry.calls for text in (call.call_id, call.tool, call.arguments))
    if not is_unicode("".join((*said, *asked))):
        raise InvalidInput("not valid Unicode (a lone surrogate)")


def same_call(tool: str, arguments: str | Mapping[str, Any]) -> str:
    """Return what equal calls have in common: the tool, and the arguments as canonical JSON.

    The order of keys and the white space between values do not count, letters of either case do.

    >>> same_call("search", '{"q": "Tver", "n": 3}') == same_call("search", {"n": 3, "q": "Tver"})
    True
    """
    value: object = arguments
    if isinstance(arguments, str):
        try:
            value = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            return digest(tool, " ".join(arguments.split()))
    try:
        plain = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("the arguments of a call are no JSON") from error
    return digest(tool, plain)


def content_of(entry: Entry) -> str:
    """Return the hash of what a turn says: not of when, of its cost or its tags.

    An answer is to a call: which tool that was and with what is not part of it.
    """
    asked = [text for c in entry.calls for text in (c.call_id, c.tool, c.arguments)]
    return digest(entry.role, entry.text, entry.speaker, *_answer(entry), *asked)


def derived_name(entry: Entry) -> str:
    """Name a turn that has no id by what it says, and when, where that is told."""
    when = entry.at.isoformat() if entry.at else ""
    return digest(content_of(entry), when)[:16]


def numbered(name: str, number: int) -> str:
    """Return the id of the turn that says for the n-th time what has this name."""
    return name if number == 1 else f"{name}-{number}"


def _answer(entry: Entry) -> tuple[str, ...]:
    asked = ("", "") if entry.call_id else (entry.tool, entry.arguments)
    return entry.call_id, *asked, entry.status


def tokens_of(entry: Entry, count: CountTokens) -> int:
    """Return what the message of a turn costs, in tokens."""
    asked = sum(count(call.tool) + count(call.arguments) for call in entry.calls)
    return count(entry.text) + asked + MESSAGE


def row_of(entry: Entry, seq: int, count: CountTokens) -> dict[str, Any]:
    """Return the columns of an entry that has its id and its time."""
    if entry.at is None:
        raise InvalidInput("a turn of the log has no time")
    asked = [asdict(call) for call in entry.calls]
    return {
        "seq": seq,
        "turn_id": entry.turn_id,
        "content": content_of(entry),
        "role": entry.role,
        "text": entry.text,
        "speaker": entry.speaker,
        "at": entry.at.isoformat(),
        "said_at": entry.at.timestamp(),
        "calls": json.dumps(asked, ensure_ascii=False),
        "call_id": entry.call_id,
        "tool": entry.tool,
        "arguments": entry.arguments,
        "call_key": same_call(entry.tool, entry.arguments) if entry.role == "tool" else "",
        "status": entry.status,
        "cost": entry.cost,
        "tags": json.dumps(list(tags_of(entry.tags)), ensure_ascii=False),
        "tokens": tokens_of(entry, count),
    }


TURN = tuple(
    column
    for column in turns.c
    if column.name
    not in ("tenant", "source_id", "name", "content", "said_at", "logged_at", "call_key", "indexed")
)
"""The columns that a turn is made of."""


_SAID = (
    select(turns.c.text)
    .where(
        turns.c.tenant == bindparam("tenant"),
        turns.c.seq < bindparam("seq"),
        turns.c.role == "user",
    )
    .order_by(turns.c.seq.desc())
    .limit(1)
)


def turn_of(row: Row[Any]) -> LoggedTurn:
    """Return a row as the turn that it holds."""
    entry = Entry(
        row.role,
        row.text,
        row.turn_id,
        row.speaker,
        datetime.fromisoformat(row.at),
        tuple(ToolCall(**call) for call in _list(row.calls)),
        row.call_id,
        row.tool,
        row.arguments,
        row.status,
        row.cost,
        tuple(_list(row.tags)),
    )
    return LoggedTurn(row.seq, entry, row.tokens, row.digest)


def _list(text: str) -> list[Any]:
    """Read a JSON list; most are empty."""
    return [] if text == "[]" else json.loads(text)


def user_before(connection: Connection, tenant: str, seq: int) -> str:
    """Return what the user said last before a turn of a session, empty for nothing."""
    return connection.execute(_SAID, {"tenant": tenant, "seq": seq}).scalar() or ""


def searchable(entry: Entry, text: str) -> Turn:
    """Return a turn as it is indexed, with the text that is to be found of it."""
    failed = entry.status == "error" if entry.role == "tool" and entry.status else None
    tool = entry.tool if entry.role == "tool" else ""
    return Turn(entry.turn_id, entry.role, text, entry.speaker, entry.at, entry.tags, tool, failed)
