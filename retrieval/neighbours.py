"""A hit can bring its neighbours: turns before and after, chunks of its section. `with_neighbours`.

One read a scope, for all hits of it. Neighbours are seen by the question's own filter, so nothing
that is expired, superseded, another's or left out by the caller comes in. What becomes of them is
`passages`.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from indexing.mentions import spread
from indexing.store import VectorStore, matches
from indexing.types import Filter, Memory, Scope, Stretch
from retrieval.passages import Line, NeighbourPolicy, Passage, line_of, passages

FIRST, LAST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
LONGEST = timedelta(days=365_000)


def with_neighbours(
    store: VectorStore,
    hits: Sequence[Memory],
    where: Callable[[Scope], Filter],
    policy: NeighbourPolicy,
    count: Callable[[str], int],
) -> list[Passage | None]:
    """Return the passage of each hit; ``hits`` are whole memories, the best first.

    None where a hit stands alone, or is named by the passage of a better one. Raises `StoreError`.
    """
    places = [_place(hit, where(hit.scope)) for hit in hits]
    wanted: defaultdict[Scope, dict[Stretch, None]] = defaultdict(dict)
    for place in places:
        if place is not None and (line := line_of(place)):
            wanted[place.scope][_stretch(line, place, policy)] = None
    around: defaultdict[Line, list[Memory]] = defaultdict(list)
    for scope, stretches in wanted.items():
        seen = where(scope)
        asked = replace(seen, ids=None, stretches=tuple(stretches))
        for memory in store.scroll(scope.collection, asked):
            for place in _visible(memory, asked):
                if line := line_of(place):
                    around[line].append(place)
    return passages(places, around, policy, count)


def _visible(memory: Memory, where: Filter) -> list[Memory]:
    """Return the places of a memory that was found which the filter lets through by themselves."""
    if not memory.also:
        return [memory]
    return [place for place in spread(memory) if matches(place, where)]


def _place(hit: Memory, where: Filter) -> Memory | None:
    """Return a hit as the first of its places that the question may see."""
    return next((place for place in spread(hit) if matches(place, where)), None)


def _stretch(line: Line, place: Memory, policy: NeighbourPolicy) -> Stretch:
    """Return where a place has its neighbours."""
    if line.kind == "source":
        first = place.ordinal - policy.chunks_before
        return Stretch(line.name, ordinals=(first, place.ordinal + policy.chunks_after + 1))
    if place.at is None:
        return Stretch(conversation_id=line.name)
    edge = min(policy.within, LONGEST) + timedelta.resolution
    start, end = max(place.at, FIRST + edge) - edge, min(place.at, LAST - edge) + edge
    return Stretch(conversation_id=line.name, said=(start, end))
