"""Turns as JSONL, one a line, ours: `parse_jsonl` reads what `dump_jsonl` writes, and what people
write by hand or with the fields of a chat export."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from indexing.chat import FAILED, Tags, aware, reasons, zone_of
from indexing.errors import InvalidInput, LetopisError
from indexing.portable.strict import check_value, parse
from indexing.types import check_id
from sessions.log_rows import check_entry
from sessions.messages import read_message
from sessions.types import Entry


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number from 1, and its turn or why there is none.

    ``user_id`` and ``session_id`` are those that the line names, empty where it names none.
    """

    number: int
    entry: Entry | None = None
    error: str = ""
    user_id: str = ""
    session_id: str = ""


def _name(value: Any) -> Any:
    if value is None:
        return ""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _status(value: Any) -> Any:
    """Read how a call ended as logs write it."""
    said = str(value or "").strip().lower()
    if said in FAILED:
        return "error"
    return "ok" if said in ("ok", "success", "succeeded", "completed", "done") else said


Name = Annotated[str, BeforeValidator(_name)]


class _Beside(BaseModel, extra="ignore"):
    """What a line says beside the message itself."""

    turn_id: Name = Field("", validation_alias=AliasChoices("turn_id", "id", "message_id"))
    user_id: Name = ""
    session_id: Name = Field(
        "", validation_alias=AliasChoices("session_id", "session", "conversation_id")
    )
    at: datetime | None = Field(
        None, validation_alias=AliasChoices("at", "time", "timestamp", "created_at", "date")
    )
    speaker: Name = Field("", validation_alias=AliasChoices("speaker", "name"))
    tool: Name = Field("", validation_alias=AliasChoices("tool", "tool_name", "name"))
    arguments: Any = ""
    status: Annotated[Literal["", "ok", "error"], BeforeValidator(_status)] = ""
    cost: float | None = Field(None, ge=0, allow_inf_nan=False)
    tags: Tags = ()


def parse_jsonl(text: str, timezone: str = "") -> Iterator[Line]:
    """Yield one `Line` per non-blank line, good or bad: nothing is lost silently.

    A line is an object with a ``role`` and the ``content`` (or ``text``) of a message, and may say
    ``at``, ``turn_id``, ``status``, ``cost``, ``tags``, ``user_id`` and ``session_id``. A time
    without a zone is read in ``timezone``. Raises `ConfigError` for one that is none.
    """
    zone = zone_of(timezone)
    for number, raw in enumerate(text.split("\n"), 1):
        if not raw.strip():
            continue
        try:
            value = parse(raw)
            check_value(value)
            if not isinstance(value, Mapping):
                raise InvalidInput("not a JSON object")
            beside = _Beside.model_validate(value)
            entry = _entry(value, beside, aware(beside.at, zone) if beside.at else None)
            check_entry(entry)
            for name in ("user_id", "session_id"):
                if getattr(beside, name):
                    check_id(getattr(beside, name), name.replace("_", " "))
        except ValidationError as error:
            yield Line(number, error=reasons(error))
        except LetopisError as error:
            yield Line(number, error=str(error))
        else:
            yield Line(number, entry, "", beside.user_id, beside.session_id)


def dump_jsonl(entries: Iterable[Entry]) -> Iterator[str]:
    """Yield turns as lines of JSON; fields that say nothing are left out."""
    for entry in entries:
        calls = [
            {"id": call.call_id, "function": {"name": call.tool, "arguments": call.arguments}}
            for call in entry.calls
        ]
        fields = {
            "role": entry.role,
            "content": entry.text,
            "turn_id": entry.turn_id,
            "speaker": entry.speaker,
            "at": entry.at.isoformat() if entry.at else "",
            "tool_calls": calls,
            "tool_call_id": entry.call_id,
            "tool": entry.tool,
            "arguments": entry.arguments,
            "status": entry.status,
            "cost": entry.cost,
            "tags": list(entry.tags),
        }
        said = {n: v for n, v in fields.items() if v not in ("", None, []) or n == "content"}
        yield json.dumps(said, ensure_ascii=False) + "\n"


def _entry(value: Mapping[str, Any], beside: _Beside, at: datetime | None) -> Entry:
    """Return the turn of a line: the message, and what the line says of it."""
    content = next((value[name] for name in ("content", "text", "message") if name in value), None)
    plain = {name: value[name] for name in ("role", "type", "tool_calls") if name in value}
    said = read_message({**plain, "content": content, "id": None})
    is_tool = said.role == "tool"
    given = beside.arguments
    if not isinstance(given, str):
        given = json.dumps(given, ensure_ascii=False)
    called = value.get("tool_call_id", value.get("call_id"))
    if called is not None and not isinstance(called, str):
        raise InvalidInput("tool_call_id: not a text")
    return Entry(
        said.role,
        said.text,
        beside.turn_id,
        beside.speaker if not is_tool or "speaker" in value else "",
        at,
        said.calls,
        (called or "") if is_tool else "",
        beside.tool if is_tool else "",
        given if is_tool else "",
        beside.status if is_tool else "",
        beside.cost,
        beside.tags,
    )
