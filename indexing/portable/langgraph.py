"""LangGraph Store: items with a namespace, a key and a value, as the API and its table give them.

``Item.dict()``, the answer of ``/store/items/search``, and rows of the PostgreSQL table ``store``.
The text is what the value says; see `rendering`. Does not: guess a user from a namespace.
"""

from collections.abc import Collection
from zoneinfo import ZoneInfo

from pydantic import AliasChoices, Field

from indexing.errors import InvalidInput
from indexing.portable.items import ForeignItem, Name, moment
from indexing.portable.rendering import text_of
from indexing.portable.types import Foreign

_DERIVED = frozenset({"score", "ttl_minutes", "ttl"})
"""Fields that say how an answer was found, or what ``expires_at`` was made from."""

Labels = tuple[str, ...]

MAX_LISTED = 10


class _Item(ForeignItem):
    namespace: object = Field(validation_alias=AliasChoices("namespace", "prefix"))
    key: Name
    value: dict[str, object]
    created_at: Name = Field("", validation_alias=AliasChoices("created_at", "createdAt"))
    updated_at: Name = Field("", validation_alias=AliasChoices("updated_at", "updatedAt"))
    expires_at: Name = Field("", validation_alias=AliasChoices("expires_at", "expiresAt"))


def read_item(place: str, fields: object, user_id: str, zone: ZoneInfo | None) -> Foreign:
    """Return an item as one of ``user_id``.

    Raises `ValidationError` and `InvalidInput` for what is missing or of a wrong type, and
    `SourceError` for a time without a zone where ``zone`` is None.
    """
    item = _Item.model_validate(fields)
    if not item.key:
        raise InvalidInput("key: empty")
    text, unread = text_of(item.value)
    return Foreign(
        system="langgraph",
        id="/".join(_escaped(part) for part in (*labels(item.namespace), item.key)),
        place=place,
        text=text,
        user_id=user_id,
        at=moment(item.updated_at, "updated_at", zone)
        or moment(item.created_at, "created_at", zone),
        expires_at=moment(item.expires_at, "expires_at", zone),
        left_out=(*item.unread(_DERIVED), *unread),
    )


def labels(namespace: object) -> Labels:
    """Return the labels of a namespace, written as a list or dotted. Raises `InvalidInput`.

    >>> labels("memories.u1") == labels(["memories", "u1"])
    True
    """
    parts = namespace.split(".") if isinstance(namespace, str) else namespace
    if not isinstance(parts, list) or not parts:
        raise InvalidInput("namespace: neither a list of labels nor a dotted text")
    if not all(isinstance(part, str) and part for part in parts):
        raise InvalidInput("namespace: a label is empty or no text")
    return tuple(parts)


def labels_in(fields: object) -> Labels | None:
    """Return an item's namespace, None where it has none that can be read."""
    if not isinstance(fields, dict):
        return None
    try:
        return labels(fields.get("namespace", fields.get("prefix")))
    except InvalidInput:
        return None


def check_one(found: Collection[Labels]) -> None:
    """Raise `InvalidInput` for items of several namespaces: they may be several people's."""
    if len(found) > 1:
        listed = ", ".join(sorted(".".join(one) for one in found)[:MAX_LISTED])
        more = f" and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
        raise InvalidInput(
            f"the items are of {len(found)} namespaces, maybe of several people; "
            f"name those that are the user's: {listed}{more}"
        )


def within(found: Labels, chosen: Collection[Labels]) -> bool:
    """Whether a namespace is one of the chosen or below one; ``u1`` is not below ``u``."""
    return any(found[: len(one)] == one for one in chosen)


def _escaped(part: str) -> str:
    return part.replace("%", "%25").replace("/", "%2F")
