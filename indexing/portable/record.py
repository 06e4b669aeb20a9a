"""The lines of our format, field by field: what a header and a memory may say, and nothing else.

Field names are those of `Memory`. Left out are the vectors and what a recipe makes of the text
(``terms``, ``lang``, ``embed_hash``): whoever imports makes them anew, by its own recipe.
"""

from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from indexing.errors import LetopisError
from indexing.tags import tags_of
from indexing.types import Kind, Memory, Mention, check_id, check_time

FORMAT = "letopis-memories"
VERSION = 1
"""Of a file of memories alone, which every release reads."""

TALK_VERSION = 2
"""Of one that also holds logs of sessions (`talk`)."""

MAX_NUMBER = 2**53 - 1
"""The largest whole number that every JSON reader keeps exactly."""


def _moment(value: object) -> datetime:
    moment = None
    with suppress(ValueError):
        moment = datetime.fromisoformat(value) if isinstance(value, str) and "T" in value else None
    if moment is None:
        raise ValueError("not a time such as 2024-05-17T09:30:00+03:00")
    try:
        check_time(moment, "the time")
    except LetopisError as error:
        raise ValueError(str(error)) from error
    return moment


def _uuid(value: str) -> str:
    try:
        usual = str(UUID(value))
    except ValueError:
        usual = ""
    if usual != value:
        raise ValueError("not a lower-case UUID with hyphens")
    return value


def _said(value: str) -> str:
    if not value.strip():
        raise ValueError("empty")
    return value


def _exact_id(value: str) -> str:
    try:
        return check_id(value, "the id")
    except LetopisError as error:
        raise ValueError(str(error)) from error


def _tags(value: list[str]) -> list[str]:
    try:
        return list(tags_of(value))
    except LetopisError as error:
        raise ValueError(str(error)) from error


Moment = Annotated[datetime, BeforeValidator(_moment)]
MemoryId = Annotated[str, AfterValidator(_uuid)]
Said = Annotated[str, AfterValidator(_said)]
ExactId = Annotated[str, AfterValidator(_exact_id)]
Tags = Annotated[list[str], AfterValidator(_tags)]
Count = Annotated[int, Field(ge=0, le=MAX_NUMBER)]


class StrictLine(BaseModel):
    """Fields of the types that are declared, and no others."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class ScopeLine(StrictLine):
    """How many memories a scope has in the file."""

    collection: Literal["user", "session"]
    session_id: ExactId | None = None
    memories: Count

    @model_validator(mode="after")
    def _session(self) -> Self:
        if (self.collection == "session") != (self.session_id is not None):
            raise ValueError("a session has a session_id, and only a session has one")
        return self


class HeaderLine(StrictLine):
    """The first line."""

    format: Literal["letopis-memories"]
    version: Literal[1, 2]
    user_id: ExactId
    exported_at: Moment
    memories: Count
    records: Count = 0
    scopes: list[ScopeLine]

    @model_validator(mode="after")
    def _sum(self) -> Self:
        if sum(scope.memories for scope in self.scopes) != self.memories:
            raise ValueError("the counts of the scopes do not add up to that of the memories")
        if self.records and self.version == VERSION:
            raise ValueError("a file of version 1 has no records of sessions")
        names = {(scope.collection, scope.session_id) for scope in self.scopes}
        if len(names) < len(self.scopes):
            raise ValueError("a scope is counted twice")
        return self


class PlaceLine(StrictLine):
    """A place that says it: a span of a source."""

    text: Said
    at: Moment | None = None
    created_at: Moment | None = None
    expires_at: Moment | None = None
    source_id: Said
    uri: str = ""
    title: str = ""
    headings: list[str] = []
    page: Count = 0
    start: Count = 0
    end: Count = 0
    ordinal: Count = 0
    speaker: str = ""
    role: str = ""
    before: str = ""
    conversation_id: str = ""
    turn_id: str = ""
    tags: Tags = []

    @model_validator(mode="after")
    def _span(self) -> Self:
        if self.end < self.start:
            raise ValueError("end is before start")
        return self


class MemoryLine(PlaceLine):
    """A memory: its own place, what it says, and its other places."""

    id: MemoryId
    collection: Literal["user", "session"]
    session_id: ExactId | None = None
    kind: Kind
    pinned: bool = False
    key: str = ""
    subject: str = ""
    value: str = ""
    closes: bool = False
    valid_from: Moment | None = None
    valid_to: Moment | None = None
    superseded_by: MemoryId | None = None
    also: list[PlaceLine] = []

    @model_validator(mode="after")
    def _history(self) -> Self:
        if (self.collection == "session") != (self.session_id is not None):
            raise ValueError("a session has a session_id, and only a session has one")
        if self.superseded_by == self.id:
            raise ValueError("superseded_by: a memory does not supersede itself")
        if self.valid_from and self.valid_to and self.valid_to < self.valid_from:
            raise ValueError("valid_to is before valid_from")
        return self


_ORDER = (
    *("id", "collection", "session_id", "kind", "text", "at", "created_at", "expires_at"),
    *("pinned", "subject", "value", "closes", "valid_from", "valid_to", "superseded_by"),
    *("source_id", "uri", "title", "headings", "page", "start", "end", "ordinal"),
    *("speaker", "role", "before", "conversation_id", "turn_id", "tags", "key", "also"),
)
"""The fields of a line as a person reads them: what, when, about what, from where."""

PLACE_FIELDS = tuple(name for name in _ORDER if name in PlaceLine.model_fields)
MEMORY_FIELDS = _ORDER


def fields_of(memory: Memory) -> dict[str, object]:
    """Return a memory as the fields of its line, in order; empty ones are left out."""
    known = {"collection": memory.scope.collection, "session_id": memory.scope.session_id}
    made = {name: _plain(known.get(name, getattr(memory, name, ""))) for name in MEMORY_FIELDS}
    made["also"] = [_filled({n: _plain(getattr(p, n)) for n in PLACE_FIELDS}) for p in memory.also]
    return _filled(made)


def place_of(line: PlaceLine) -> dict[str, Any]:
    """Return the fields of a line's place, as `Memory` and `Mention` take them."""
    made = {name: getattr(line, name) for name in PLACE_FIELDS}
    return {**made, "headings": tuple(line.headings), "tags": tuple(line.tags)}


def mention_of(line: PlaceLine) -> Mention:
    """Return another place of a memory."""
    return Mention(**place_of(line))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else value


def _filled(fields: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in fields.items() if value or name == "text"}
