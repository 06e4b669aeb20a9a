"""What several scopes know becomes one hit: the most specific scope's, with all their sources."""

from collections.abc import Sequence
from dataclasses import replace

from retrieval.trace import Dropped
from retrieval.types import Hit

SPECIFIC = {"global": 0, "user": 1, "session": 2}


def collapse(hits: Sequence[Hit]) -> tuple[list[Hit], list[Dropped]]:
    """Return one hit for every statement, in order, and the copies that were dropped.

    Two memories of one `Memory.key` say the same. The one of the most specific scope stands for
    all, at the place and with the score of the best of them.
    """
    best: dict[str, Hit] = {}
    dropped: list[Dropped] = []
    for hit in hits:
        name = hit.memory.key or hit.memory.id
        there = best.get(name)
        if there is None:
            best[name] = hit
            continue
        kept, other = there.memory, hit.memory
        if SPECIFIC[other.scope.collection] > SPECIFIC[kept.scope.collection]:
            kept, other = other, kept
        best[name] = replace(there, memory=kept, also=(*there.also, other, *hit.also))
        dropped.append(Dropped(other.id, str(other.scope), "duplicate", kept.id))
    return list(best.values()), dropped
