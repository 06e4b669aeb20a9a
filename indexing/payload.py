"""A memory as a store keeps it: flat, without empty fields, times as seconds since the epoch."""

from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any

from indexing.types import Collection, Memory, Mention, Scope

Payload = dict[str, Any]


def to_payload(memory: Memory) -> Payload:
    """Flatten a memory into the stored payload; empty fields are left out, times are UTC."""
    sources = list(memory.sources)
    talks = list(dict.fromkeys(place.conversation_id for place in (memory, *memory.also)))
    lapses = [place.expires_at for place in memory.also if place.expires_at]
    payload: Payload = {
        "tenant": memory.scope.tenant,
        "kind": memory.kind,
        **_place_payload(memory),
        "source_id": sources if len(sources) > 1 else memory.source_id,
        "conversation_id": talks if len(talks) > 1 else memory.conversation_id,
        "user_id": memory.scope.user_id,
        "session_id": memory.scope.session_id,
        "terms": memory.terms,
        "lang": memory.lang,
        "key": memory.key,
        "also": [_filled({**_place_payload(m), "source_id": m.source_id}) for m in memory.also],
        "filed": list(memory.all_tags),
        "lapses_at": to_epoch(min(lapses, default=None)),
        "subject": memory.subject,
        "value": memory.value,
        "closes": memory.closes or None,
        "since": to_epoch(memory.since),
        "valid_from": to_epoch(memory.valid_from),
        "valid_to": to_epoch(memory.valid_to),
        "superseded_by": memory.superseded_by,
        "pinned": memory.pinned or None,
    }
    return _filled(payload)


def _place_payload(place: Mention) -> Payload:
    return {
        "text": place.text,
        "start": place.start,
        "end": place.end,
        "ordinal": place.ordinal,
        "uri": place.uri,
        "title": place.title,
        "headings": list(place.headings),
        "page": place.page or None,
        "speaker": place.speaker,
        "role": place.role,
        "before": place.before,
        "conversation_id": place.conversation_id,
        "turn_id": place.turn_id,
        "embed_hash": place.embed_hash,
        "at": to_epoch(place.at),
        "at_offset": _offset(place.at),
        "created_at": to_epoch(place.created_at),
        "expires_at": to_epoch(place.expires_at),
        "tags": list(place.tags),
    }


def _filled(payload: Payload) -> Payload:
    return {key: value for key, value in payload.items() if value not in ("", None, [])}


def from_payload(collection: Collection, id: str, payload: Payload) -> Memory:
    """Rebuild the memory from its payload; the inverse of `to_payload` to the microsecond."""
    return Memory(
        id=id,
        scope=_scope(collection, payload.get("user_id", ""), payload.get("session_id", "")),
        kind=payload["kind"],
        **_place(payload),
        terms=payload.get("terms", ""),
        lang=payload.get("lang", ""),
        key=payload.get("key", ""),
        also=tuple(Mention(**_place(place)) for place in payload.get("also", ())),
        subject=payload.get("subject", ""),
        value=payload.get("value", ""),
        closes=payload.get("closes", False),
        valid_from=from_epoch(payload.get("valid_from")),
        valid_to=from_epoch(payload.get("valid_to")),
        superseded_by=payload.get("superseded_by", ""),
        pinned=payload.get("pinned", False),
    )


def _place(payload: Payload) -> Payload:
    return {
        "source_id": _own(payload.get("source_id", "")),
        "text": payload.get("text", ""),
        "start": payload["start"],
        "end": payload["end"],
        "ordinal": payload["ordinal"],
        "uri": payload.get("uri", ""),
        "title": payload.get("title", ""),
        "headings": tuple(payload.get("headings", ())),
        "page": payload.get("page", 0),
        "speaker": payload.get("speaker", ""),
        "role": payload.get("role", ""),
        "before": payload.get("before", ""),
        "conversation_id": _own(payload.get("conversation_id", "")),
        "turn_id": payload.get("turn_id", ""),
        "embed_hash": payload.get("embed_hash", ""),
        "at": _zoned(from_epoch(payload.get("at")), payload.get("at_offset", 0)),
        "created_at": from_epoch(payload.get("created_at")),
        "expires_at": from_epoch(payload.get("expires_at")),
        "tags": tuple(payload.get("tags", ())),
    }


def _own(value: str | list[str]) -> str:
    """Return the value of the memory's own place, of a field that may name those of all."""
    return value if isinstance(value, str) else value[0]


@lru_cache(maxsize=1024)
def _scope(collection: Collection, user_id: str, session_id: str) -> Scope:
    """Make a scope once: checking its ids is half the cost of rebuilding a memory."""
    return Scope(collection, user_id, session_id)


def _offset(moment: datetime | None) -> float | None:
    """Return the seconds that a time's own zone is ahead of UTC; None for UTC itself."""
    ahead = moment.utcoffset() if moment else None
    return ahead.total_seconds() or None if ahead else None


def _zoned(moment: datetime | None, ahead: float) -> datetime | None:
    zone = timezone(timedelta(seconds=ahead)) if ahead else UTC
    return moment.astimezone(zone) if moment else None


def to_epoch(moment: datetime | None) -> float | None:
    """Return seconds since the epoch."""
    return None if moment is None else moment.timestamp()


def from_epoch(seconds: float | None) -> datetime | None:
    """Return the UTC time of seconds since the epoch."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
