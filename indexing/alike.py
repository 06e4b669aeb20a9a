"""Which memories may stand for each other, which of two stays, and what becomes of it. Pure."""

from dataclasses import replace
from datetime import UTC, datetime

from indexing.dedup import exact_key
from indexing.mentions import mentions, put_together, said, spot
from indexing.rebuild import name_of
from indexing.types import Memory

EVENTS = ("turn", "tool_result", "digest")
"""Kinds that tell what happened: the same words at another time are another event."""

_LATEST = datetime.max.replace(tzinfo=UTC)


def comparable(one: Memory, other: Memory) -> bool:
    """Tell whether one memory may stand for both where their texts say the same.

    They are of one kind, under one title and headings, and not about two subjects.
    """
    if one.kind != other.kind or one.kind in EVENTS or _heading(one) != _heading(other):
        return False
    both = one.subject and other.subject
    return not both or (one.subject, one.closes) == (other.subject, other.closes)


def by_age(one: Memory, other: Memory) -> tuple[Memory, Memory]:
    """Return the one that stays, then the one that joins it, whatever their order was.

    A statement about a subject stays, since it has its place among others; then what is pinned,
    then what was said first.
    """
    first, second = sorted((one, other), key=_rank)
    return first, second


def joined(kept: Memory, merged: Memory) -> Memory:
    """Return the one that stays with the places of both; pinned, if one was, without an end."""
    places = {(spot(place), said(place)): place for place in (*mentions(merged), *mentions(kept))}
    pinned = kept.pinned or merged.pinned
    lasting = (replace(p, expires_at=None) if pinned else p for p in places.values())
    return replace(put_together(kept, lasting), pinned=pinned)


def _heading(memory: Memory) -> tuple[str, ...]:
    """Return what a memory stands under; the name of a file is no title."""
    stated = "" if memory.title == name_of(memory) else memory.title
    return tuple(exact_key(text) or text.strip() for text in (stated, *memory.headings))


def _rank(memory: Memory) -> tuple[bool, bool, datetime, str]:
    said = memory.at or memory.created_at or _LATEST
    return not memory.subject, not memory.pinned, said, memory.id
