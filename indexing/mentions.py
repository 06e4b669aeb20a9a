"""The places that say what a memory says: taken apart, put together, taken away. Pure.

A memory is the place that lives longest, of those the one said first; the others are its ``also``.
"""

from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import UTC, datetime

from indexing.types import Memory, Mention

_FIELDS = tuple(field.name for field in fields(Mention))
_EARLIEST = datetime.min.replace(tzinfo=UTC)
_LATEST = datetime.max.replace(tzinfo=UTC)


def mention_of(memory: Memory) -> Mention:
    """Return the memory's own place."""
    return Mention(**{name: getattr(memory, name) for name in _FIELDS})


def mentions(memory: Memory) -> tuple[Mention, ...]:
    """Return all places of a memory, its own first."""
    return (mention_of(memory), *memory.also)


def as_memory(memory: Memory, mention: Mention) -> Memory:
    """Return the memory as if this were its only place."""
    return replace(memory, also=(), **{name: getattr(mention, name) for name in _FIELDS})


def spread(memory: Memory) -> list[Memory]:
    """Return the memory once for each place, as if that were its only one."""
    return [as_memory(memory, mention) for mention in mentions(memory)]


def put_together(memory: Memory, places: Iterable[Mention]) -> Memory:
    """Return the memory with these places, at least one, and no others.

    What a recipe makes of its text (``terms``, ``lang``) stays as it was: whoever changes which
    place comes first makes it anew.
    """
    first, *others = sorted(places, key=_order)
    return replace(as_memory(memory, first), also=tuple(others))


def spot(place: Mention) -> tuple[str, int]:
    """Return where in its source a place begins: told again in another spelling it is the same."""
    return place.source_id, place.start


def said(place: Mention) -> datetime:
    """Return when a place said it, in UTC: at the latest when it was stored."""
    stored = (place.created_at or _EARLIEST).astimezone(UTC)
    return min(place.at.astimezone(UTC), stored) if place.at else stored


def again(old: Mention, told: Mention) -> Mention:
    """Return a place that is told again: it lives as long as it now says, with the tags of both."""
    tags = tuple(sorted({*old.tags, *told.tags}))
    return replace(old, expires_at=told.expires_at, tags=tags)


def is_over(place: Mention, now: datetime) -> bool:
    """Tell whether a place has expired; a memory has when its own place has."""
    return place.expires_at is not None and place.expires_at <= now


def is_live(memory: Memory, now: datetime) -> bool:
    """Tell whether a reader sees a memory: it has neither expired nor ended."""
    return not is_over(memory, now) and (memory.valid_to is None or memory.valid_to > now)


def noted(places: Iterable[Mention], renewed: Mention | None = None) -> list[Mention]:
    """Return the places of a statement: of one that tells it again the first and the last time.

    One that is told again, ``renewed``, lives as long as it now says, in the words that it had and
    under the tags of both.
    """
    by_spot: dict[tuple[str, int], dict[datetime, Mention]] = {}
    for place in places:
        times = by_spot.setdefault(spot(place), {})
        times.setdefault(said(place), place)
    found: list[Mention] = []
    for where, times in by_spot.items():
        ends = [times[moment] for moment in sorted({min(times), max(times)})]
        if renewed and spot(renewed) == where:
            ends = [again(place, renewed) for place in ends]
        found += ends
    return found


def _order(place: Mention) -> tuple[float, float, str, int, str]:
    until, said = place.expires_at or _LATEST, place.at or place.created_at or _LATEST
    return -until.timestamp(), said.timestamp(), place.source_id, place.start, place.text
