"""mem0: what ``get_all`` answers, of the platform and of the library, as of its first releases.

An item has an ``id``, its text under ``memory`` (``text`` or ``data`` in older ones), a user and
times. ``updated_at`` is when the text was last written, so that is ``at``. Does not: read graphs
(``relations``), categories or metadata: they are counted as left out.
"""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from pydantic import AliasChoices, Field

from indexing.errors import InvalidInput
from indexing.portable.items import ForeignItem, Name, moment
from indexing.portable.types import Foreign
from indexing.types import check_id

_DERIVED = frozenset({"hash", "score", "text_lemmatized", "structured_attributes", "object"})
"""Fields that are made from others, or say how an answer was found."""

_LAST_DAY = date.max - timedelta(days=1)


class _Item(ForeignItem):
    id: Name = ""
    text: str = Field(validation_alias=AliasChoices("memory", "data", "text", "content"))
    user_id: Name = Field("", validation_alias=AliasChoices("user_id", "userId"))
    agent_id: Name = Field("", validation_alias=AliasChoices("agent_id", "agentId"))
    run_id: Name = Field("", validation_alias=AliasChoices("run_id", "runId"))
    actor_id: Name = Field("", validation_alias=AliasChoices("actor_id", "actorId"))
    role: Name = ""
    created_at: Name = Field("", validation_alias=AliasChoices("created_at", "createdAt"))
    updated_at: Name = Field("", validation_alias=AliasChoices("updated_at", "updatedAt"))
    expires: Name = Field("", validation_alias=AliasChoices("expiration_date", "expirationDate"))


def read_item(place: str, fields: object, user_id: str, zone: ZoneInfo | None) -> Foreign:
    """Return an item as one of ``user_id``; empty: of the user that it names.

    Raises `ValidationError` and `InvalidInput` for what is missing or of a wrong type,
    `InvalidId`, and `SourceError` for a time without a zone where ``zone`` is None.
    """
    item = _Item.model_validate(fields)
    if not item.text.strip():
        raise InvalidInput("memory: empty")
    if user_id and item.user_id not in ("", user_id):
        raise InvalidInput("user_id: the item is of another user than the one named")
    if not (user_id or item.user_id):
        raise InvalidInput("user_id: the item names no user, and none was named")
    if item.run_id:
        check_id(item.run_id, "run_id")
    return Foreign(
        system="mem0",
        id=item.id,
        place=place,
        text=item.text,
        user_id=user_id or check_id(item.user_id, "user_id"),
        session_id=item.run_id,
        agent_id=item.agent_id,
        speaker=item.actor_id,
        role=item.role,
        at=moment(item.updated_at, "updated_at", zone)
        or moment(item.created_at, "created_at", zone),
        expires_at=_end(item.expires),
        left_out=item.unread(_DERIVED | {"relations"}),
    )


def relations_of(fields: dict[str, object]) -> int:
    """Return how many relations of a graph an item or an answer has: none of them is imported."""
    relations = fields.get("relations")
    return len(relations) if isinstance(relations, list) else 0


def notes_on(answer: dict[str, object], count: int) -> list[str]:
    """Return what shows that an answer is not all there is; ``count`` is what it holds."""
    notes = ["this is one page of several: `next` is set"] if answer.get("next") else []
    stated = [n for n in (answer.get("count"), answer.get("total")) if type(n) is int]
    if stated and max(stated) > count:
        notes.append(f"the file counts {max(stated):,} memories and holds {count:,}")
    return notes


def _end(value: str) -> datetime | None:
    """Return when an item expires: after the day that is named, in UTC.

    >>> _end("2030-01-31")
    datetime.datetime(2030, 2, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if len(value) == len("2030-01-31"):
        try:
            day = min(date.fromisoformat(value), _LAST_DAY)
        except ValueError as error:
            raise InvalidInput("expiration_date: not a date such as 2030-01-31") from error
        return datetime.combine(day + timedelta(days=1), time(), UTC)
    return moment(value, "expiration_date", ZoneInfo("UTC"))
