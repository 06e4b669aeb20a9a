"""Records -> documents: lines of JSONL and rows of a query, each good or with its own reason.

A record has an ``id`` and a ``text``, and may have a ``title``, a time ``at``, a ``uri``, ``tags``
and a ``user_id``. What a record names a user for becomes that user's.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, ValidationError, field_validator

from chunking.types import Document
from indexing.chat import Tags, aware, reasons, zone_of
from indexing.errors import LetopisError
from indexing.feeds.types import Entry, Failure, Feed, Item, Offer
from indexing.hashing import digest
from indexing.members import Member
from indexing.types import GLOBAL, Scope, check_id, user_scope


class DocumentRecord(BaseModel, extra="ignore"):
    """One document, under the names that exports use."""

    id: str
    text: str = Field(validation_alias=AliasChoices("text", "content", "body"))
    title: str = ""
    at: datetime | None = Field(
        None, validation_alias=AliasChoices("at", "time", "timestamp", "updated_at", "created_at")
    )
    uri: str = Field("", validation_alias=AliasChoices("uri", "url"))
    user_id: str = ""
    tags: Tags = ()

    @field_validator("id", "title", "uri", "user_id", mode="before")
    @classmethod
    def _to_text(cls, value: Any) -> Any:
        if value is None:
            return ""
        return value if isinstance(value, str) else str(value)

    @field_validator("id", "text")
    @classmethod
    def _not_empty(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("empty")
        return value


@dataclass(frozen=True, slots=True)
class Reader:
    """How records are read: a time without a zone is in ``timezone``, an error where it is empty.

    ``prefix`` is what ids begin with; empty: the id of the entry.
    """

    timezone: str = ""
    prefix: str = ""


def record_offers(
    feed: Feed,
    entry: Entry,
    records: Iterable[tuple[str, str | Mapping[str, Any]]],
    reader: Reader,
) -> Iterator[Offer]:
    """Yield one offer a record; ``records`` are places and JSON lines or mappings.

    An id that was there before within one scope is refused. Raises `ConfigError` for an unknown
    ``timezone``.
    """
    zone = zone_of(reader.timezone)
    prefix = reader.prefix or entry.id
    default = feed.scope or GLOBAL
    nowhere = Member(default, entry.id, "", entry.uri)
    seen: set[tuple[str, str]] = set()
    for place, given in records:
        made: Any = None
        try:
            made = json.loads(given) if isinstance(given, str) else given
            record = DocumentRecord.model_validate(made)
            scope = _owner(record.user_id, feed.scope)
            at = aware(record.at, zone) if record.at else None
            "".join((record.id, record.text, record.title, record.uri)).encode()
        except (ValueError, RecursionError, LetopisError) as error:
            known = made.get("id") if isinstance(made, Mapping) else None
            name = "" if known is None else f"{prefix}#{known}"
            yield Failure(nowhere, _reason(error), place, name, lost=not name)
            continue
        name = f"{prefix}#{record.id}"
        if (scope.tenant, name) in seen:
            yield Failure(nowhere, "id: there is an earlier record with this id", place, name)
            continue
        seen.add((scope.tenant, name))
        uri = record.uri or f"{entry.uri}#{record.id}"
        moment = at.isoformat() if at else ""
        tags = sorted({*record.tags, *feed.tags})
        content = digest(record.text, record.title, moment, feed.chunker, *tags)
        document = Document(name, record.text, record.title, uri=uri, at=at, tags=record.tags)
        yield Item(Member(scope, name, entry.id, uri, "", content), partial(_given, document))


def _reason(error: Exception) -> str:
    """Say what is wrong with a record, without repeating its text."""
    if isinstance(error, ValidationError):
        return reasons(error)
    if isinstance(error, UnicodeEncodeError):
        return "not valid Unicode (a lone surrogate)"
    return str(error) if isinstance(error, LetopisError) else f"not JSON: {error}"


def _given(document: Document) -> Document:
    return document


def _owner(user_id: str, scope: Scope | None) -> Scope:
    """Return whose a record is. Raises `LetopisError` for a bad id or another user's."""
    if scope is None:
        return user_scope(check_id(user_id, "user id")) if user_id else GLOBAL
    if user_id and user_id != scope.user_id:
        raise LetopisError("user_id: the record belongs to another user than the one named")
    return scope
