"""Lines of an export that are no memories: what is logged and kept of a session. `Record`.

A line names its kind in ``record`` and its session; the other fields are columns of the tables of
`indexing.session_schema`. They follow the memories, and only a file that has some says version 2.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Self, get_args

from pydantic import Field, model_validator

from indexing.errors import InvalidInput
from indexing.portable.record import Count, ExactId, Moment, Said, StrictLine, Tags

Kind = Literal["state", "turn", "digest", "note", "call"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""In the order in which the records of a session stand: what others name comes first."""

Amount = Field(0.0, ge=0, allow_inf_nan=False)


@dataclass(frozen=True, slots=True)
class Record:
    """What one line says of a session; times among the ``fields`` are texts as in the file."""

    kind: Kind
    session_id: str
    fields: Mapping[str, Any]


class _RecordLine(StrictLine):
    record: str
    session_id: ExactId


class StateLine(_RecordLine):
    """What a session is about: ``body`` is that of `sessions.state`."""

    record: Literal["state"]
    last_seq: Count
    expires_at: Moment | None = None
    closed_at: Moment | None = None
    body: dict[str, Any] = Field(default_factory=dict)


class CalledLine(StrictLine):
    """A call that a turn asks for."""

    call_id: str = ""
    tool: str = ""
    arguments: str = ""


class TurnLine(_RecordLine):
    """A turn of the log, whole."""

    record: Literal["turn"]
    seq: Count
    turn_id: ExactId
    name: str = Field("", max_length=32)
    content: str = Field(max_length=64)
    role: Literal["user", "assistant", "system", "tool"]
    text: str = ""
    speaker: str = ""
    at: Moment
    logged_at: Moment
    calls: list[CalledLine] = Field(default_factory=list)
    call_id: str = ""
    tool: str = ""
    arguments: str = ""
    call_key: str = Field("", max_length=64)
    status: Literal["", "ok", "error"] = ""
    cost: float | None = Field(None, ge=0, allow_inf_nan=False)
    tags: Tags = Field(default_factory=list)
    tokens: Count
    digest: Count = 0

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.name and not re.fullmatch(rf"{re.escape(self.name)}(-\d+)?", self.turn_id):
            raise ValueError("the id of a turn is not its name with a number")
        return self


class SaidLine(StrictLine):
    """A line of a digest."""

    kind: str
    text: Said
    seq: Count
    role: Literal["user", "assistant", "system", "tool"]
    at: Moment | None = None
    of: str = ""
    weight: float = Amount


class DigestLine(_RecordLine):
    """The digest in force."""

    record: Literal["digest"]
    number: Count
    through: Count
    made_at: Moment
    started_at: Moment | None = None
    ended_at: Moment | None = None
    topics: list[str] = Field(default_factory=list)
    lines: list[SaidLine] = Field(default_factory=list)
    summary: str = ""


class NoteLine(_RecordLine):
    """A critical fact, one that does not hold any more as well."""

    record: Literal["note"]
    name: Said
    value: Said
    kind: str = Field(max_length=16)
    seq: Count = 0
    at: Moment
    expires_at: Moment | None = None


class CallLine(_RecordLine):
    """A call of a model; ``key`` tells it from others."""

    record: Literal["call"]
    key: str = Field(min_length=1, max_length=64)
    called_at: Moment
    model: str = ""
    tokens_in: Count = 0
    tokens_out: Count = 0
    cached_tokens: Count = 0
    tool_calls: Count = 0
    cost: float = Amount
    cache: str = Field("", max_length=32)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if max(self.tokens_in, self.tokens_out, self.cached_tokens, self.tool_calls) >= 2**31:
            raise ValueError("a number of tokens or calls is too large")
        return self


LINES: Mapping[Kind, type[_RecordLine]] = {
    "state": StateLine,
    "turn": TurnLine,
    "digest": DigestLine,
    "note": NoteLine,
    "call": CallLine,
}


def record_of(value: Mapping[str, Any]) -> Record:
    """Return the record that a line holds. Raises `ValidationError` or `InvalidInput`."""
    kind = next((kind for kind in KINDS if kind == value.get("record")), None)
    if kind is None:
        raise InvalidInput(f"record: must be one of {', '.join(KINDS)}")
    line = LINES[kind].model_validate(value)
    fields = line.model_dump(exclude={"record", "session_id"})
    return Record(kind, line.session_id, {name: _plain(v) for name, v in fields.items()})


def _plain(value: Any) -> Any:
    """Return a value with its times as texts, in the zone that they were given in."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list) else value


def line_fields(record: Record) -> dict[str, Any]:
    """Return a record as the fields of its line; empty ones are left out."""
    return {"record": record.kind, "session_id": record.session_id, **_filled(record.fields)}


def _filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    lists = {
        name: [_filled(part) if isinstance(part, dict) else part for part in value]
        for name, value in fields.items()
        if isinstance(value, list)
    }
    return {n: v for n, v in {**fields, **lists}.items() if v not in ("", None, [], {})}


def record_order(record: Record) -> tuple[str, int, int, str]:
    """Return the place of a record among those of a user."""
    number = record.fields.get("seq", 0) if record.kind == "turn" else 0
    name = str(record.fields.get("key", "")) if record.kind == "call" else ""
    return record.session_id, KINDS.index(record.kind), number, name
