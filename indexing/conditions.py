"""What a filter asks of the places of a memory, for engines and in Python: the same answer.

A stored memory has its own place's fields at the top and those of the others under ``also``; but
``source_id`` and ``conversation_id`` at the top name those of all, and ``filed`` all tags. A
condition holds where any place meets it.
"""

from dataclasses import dataclass
from datetime import datetime

from indexing.errors import InvalidInput
from indexing.types import Filter, Memory, Mention, Stretch, check_time

TOGETHER = {
    "source_id": "source_id",
    "conversation_id": "conversation_id",
    "tags": "filed",
}
"""Fields of places -> the key at the top that holds those of all."""


@dataclass(frozen=True, slots=True)
class Told:
    """A place has one of ``values`` in a field, or else a number ``low <= number < high``."""

    field: str
    values: tuple[str, ...] | None = None
    low: float | None = None
    high: float | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of a payload that are looked at."""
        if together := TOGETHER.get(self.field):
            return (together,)
        return self.field, f"also[].{self.field}"


def told(where: Filter) -> list[Told]:
    """Return what some place must meet, each by itself. Raises `InvalidInput` for a naive time."""
    asked = [
        Told(field, values)
        for field, values in (("uri", where.uris), ("tags", where.tags))
        if values is not None
    ]
    if where.said_from or where.said_to:
        asked.append(_said(where.said_from, where.said_to))
    return asked


def stretched(stretch: Stretch) -> list[Told]:
    """Return what a memory of a stretch meets, all of it.

    Raises `InvalidInput` for one of no source and no conversation, and for a naive time.
    """
    if not (stretch.source_id or stretch.conversation_id):
        raise InvalidInput("a stretch is of a source or of a conversation")
    asked = [
        Told(field, (name,))
        for field in ("source_id", "conversation_id")
        if (name := getattr(stretch, field))
    ]
    if stretch.ordinals:
        asked.append(Told("ordinal", None, *map(float, stretch.ordinals)))
    if stretch.said:
        asked.append(_said(*stretch.said))
    return asked


def is_told(memory: Memory, where: Filter) -> bool:
    """Tell whether the places of a memory meet what a filter asks of them."""
    if where.source_ids is not None and not set(where.source_ids).intersection(memory.sources):
        return False
    if not all(_meets(memory, one) for one in told(where)):
        return False
    return where.stretches is None or any(
        all(_meets(memory, one) for one in stretched(stretch)) for stretch in where.stretches
    )


def _said(start: datetime | None, end: datetime | None) -> Told:
    for moment in filter(None, (start, end)):
        check_time(moment, "the time that it was said")
    return Told("at", None, start.timestamp() if start else None, end.timestamp() if end else None)


def _meets(memory: Memory, asked: Told) -> bool:
    return any(_has(place, asked) for place in (memory, *memory.also))


def _has(place: Mention, asked: Told) -> bool:
    found = getattr(place, asked.field)
    if asked.values is not None:
        held = found if isinstance(found, tuple) else (found,)
        return not set(asked.values).isdisjoint(held)
    if isinstance(found, datetime):
        found = found.timestamp()
    if found is None:
        return False
    return (asked.low is None or found >= asked.low) and (asked.high is None or found < asked.high)
