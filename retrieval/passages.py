"""A hit and what stands around it -> a passage: windows, token limits, merging, text. Pure.

What stands around is read from the store by `neighbours`. Never across a scope, a source or a
conversation.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from indexing.types import Kind, Memory, Scope
from retrieval.talk import in_order, said

TALK: tuple[Kind, ...] = ("turn", "tool_result")


@dataclass(frozen=True, slots=True)
class NeighbourPolicy:
    """What a hit brings along: so many turns of its conversation, or chunks of its document.

    With ``section`` only chunks under the same headings count, so with large numbers the section
    that a hit is from. ``tokens`` is how long what one hit brings may be, itself included; turns
    further away than ``within`` are no neighbours.
    """

    turns_before: int = 1
    turns_after: int = 1
    chunks_before: int = 1
    chunks_after: int = 1
    section: bool = True
    tokens: int = 512
    within: timedelta = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one document or conversation around the ``hits`` in it (ids, best first).

    ``memories`` are its parts in reading order, each as the place that stands here. Of a document
    ``text`` is ``source.text[start:end]``, but for the kind of white space between chunks; of talk
    it is a line for each turn, and ``start`` and ``end`` are 0. ``truncated`` says that the token
    limit left something out: the farthest first, never a hit.
    """

    text: str
    start: int
    end: int
    memories: tuple[Memory, ...]
    hits: tuple[str, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """What neighbours are looked for in: one document or conversation of a scope."""

    scope: Scope
    kind: Literal["source", "conversation"]
    name: str


@dataclass(slots=True)
class _Window:
    """Parts of a line, ``first`` to ``last``, and which hits, by rank, they are around."""

    first: int
    last: int
    ranks: list[int]
    truncated: bool


def line_of(place: Memory) -> Line | None:
    """Return the line that a place stands in; None for what stands alone, such as a fact."""
    if place.kind == "document":
        return Line(place.scope, "source", place.source_id)
    if place.kind in TALK and place.conversation_id:
        return Line(place.scope, "conversation", place.conversation_id)
    return None


def passages(
    hits: Sequence[Memory | None],
    around: Mapping[Line, Sequence[Memory]],
    policy: NeighbourPolicy,
    count: Callable[[str], int],
) -> list[Passage | None]:
    """Return the passage of each hit, best hits first; ``around`` are the places of their lines.

    None where a hit stands alone, and for a hit that is in the passage of a better one: passages
    that overlap or touch are one, which holds what each of its hits may bring.
    """
    ranks: defaultdict[Line, list[tuple[int, Memory]]] = defaultdict(list)
    for rank, hit in enumerate(hits):
        if hit is not None and (line := line_of(hit)):
            ranks[line].append((rank, hit))
    found: list[Passage | None] = [None] * len(hits)
    for line, held in ranks.items():
        own = [hit for _, hit in held]
        parts = _parts(line, [*own, *around.get(line, ())])
        places = {_spot(part): number for number, part in enumerate(parts)}
        windows = [_window(parts, places[_spot(hit)], rank, policy, count) for rank, hit in held]
        for window in _merged(windows, parts, policy):
            best, *_ = window.ranks
            if window.first < window.last or window.truncated:
                names = [hit.id for rank, hit in held if rank in window.ranks]
                found[best] = _passage(parts[window.first : window.last + 1], names, window)
    return found


def text_of(parts: Sequence[Memory]) -> str:
    """Return the text that chunks of one document are spans of, what they share once.

    What lies between two is white space of a known length: a space, or line feeds.
    """
    text, end = "", parts[0].start
    for part in parts:
        gap = part.start - end
        if gap > 0:
            text += " " if gap == 1 else "\n" * gap
        text += part.text[max(0, -gap) :]
        end = max(end, part.end)
    return text


def _parts(line: Line, places: Sequence[Memory]) -> list[Memory]:
    """Return the parts of a line in reading order, each place once."""
    once = list({_spot(place): place for place in places}.values())
    if line.kind == "source":
        return sorted(once, key=lambda place: (place.ordinal, place.start))
    return in_order(once)


def _window(
    parts: Sequence[Memory],
    at: int,
    rank: int,
    policy: NeighbourPolicy,
    count: Callable[[str], int],
) -> _Window:
    """Take in what is around a part, the nearest first, while the limit allows."""
    window = _Window(at, at, [rank], False)
    left = policy.tokens - count(_shown(parts[at]))
    sides = {-1: at, 1: at}
    while sides:
        for side, edge in list(sides.items()):
            near = edge + side
            if not _is_near(parts, at, near, side, policy):
                del sides[side]
                continue
            needed = count(_added(parts, edge, near))
            if needed > left:
                window.truncated = True
                del sides[side]
                continue
            left -= needed
            sides[side] = near
            window.first, window.last = min(window.first, near), max(window.last, near)
    return window


def _is_near(
    parts: Sequence[Memory], at: int, near: int, side: int, policy: NeighbourPolicy
) -> bool:
    """Tell whether a part belongs to what another one may bring; the one between them does."""
    if not 0 <= near < len(parts):
        return False
    hit, other = parts[at], parts[near]
    if not _is_next(parts[near - max(side, 0)], parts[near - min(side, 0)], policy):
        return False
    if hit.kind == "document":
        chunks = policy.chunks_before if side < 0 else policy.chunks_after
        return abs(other.ordinal - hit.ordinal) <= chunks
    if hit.at and other.at and abs(other.at - hit.at) > policy.within:
        return False
    turns = policy.turns_before if side < 0 else policy.turns_after
    between = parts[min(at, near) : max(at, near) + 1]
    return len({part.source_id for part in between}) - 1 <= turns


def _is_next(one: Memory, two: Memory, policy: NeighbourPolicy) -> bool:
    """Tell whether nothing is missing between two parts that follow each other."""
    if one.kind != "document":
        return one.source_id != two.source_id or two.ordinal - one.ordinal == 1
    together = not policy.section or one.headings == two.headings
    return together and two.ordinal - one.ordinal == 1


def _merged(
    windows: Sequence[_Window], parts: Sequence[Memory], policy: NeighbourPolicy
) -> list[_Window]:
    """Return windows that neither overlap nor touch."""
    merged: list[_Window] = []
    for window in sorted(windows, key=lambda one: one.first):
        last = merged[-1] if merged else None
        joins = last is not None and (
            window.first <= last.last
            or (
                window.first == last.last + 1
                and _is_next(parts[last.last], parts[window.first], policy)
            )
        )
        if last is None or not joins:
            merged.append(window)
            continue
        last.last = max(last.last, window.last)
        last.ranks = sorted({*last.ranks, *window.ranks})
        last.truncated |= window.truncated
    return merged


def _passage(parts: Sequence[Memory], hits: Sequence[str], window: _Window) -> Passage:
    names = tuple(dict.fromkeys(hits))
    if parts[0].kind != "document":
        return Passage(_talk(parts), 0, 0, tuple(parts), names, window.truncated)
    end = max(part.end for part in parts)
    return Passage(text_of(parts), parts[0].start, end, tuple(parts), names, window.truncated)


def _talk(parts: Sequence[Memory]) -> str:
    """Return a line for each turn; of one in several parts what they share once."""
    turns: dict[str, list[Memory]] = {}
    for part in parts:
        turns.setdefault(part.source_id, []).append(part)
    return "\n".join(said(turn[0], text_of(turn)) for turn in turns.values())


def _added(parts: Sequence[Memory], edge: int, near: int) -> str:
    """Return what a part adds to the window whose edge is beside it."""
    inner, outer = parts[edge], parts[near]
    if inner.source_id != outer.source_id:
        return _shown(outer)
    if near > edge:
        return outer.text[max(0, inner.end - outer.start) :]
    return outer.text[: max(0, inner.start - outer.start)]


def _shown(part: Memory) -> str:
    return part.text if part.kind == "document" else said(part, part.text)


def _spot(place: Memory) -> tuple[str, int, int]:
    return place.source_id, place.ordinal, place.start
