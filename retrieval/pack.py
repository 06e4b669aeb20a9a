"""The ranked hits -> those that are shown: the k best, or as many as fit a token budget."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from retrieval.trace import Dropped, Log
from retrieval.types import Hit


def pack(
    hits: Sequence[Hit], k: int | None, budget: int | None, cost: Callable[[Hit], int], log: Log
) -> list[Hit]:
    """Return the hits that are shown, ranks from 1.

    A hit that does not fit the budget is passed over, and a shorter one after it may fit; ``k``
    None is no limit. ``cost`` is in tokens.
    """
    picked: list[Hit] = []
    left = budget
    for hit in hits:
        if k is not None and len(picked) == k:
            break
        if left is not None:
            needed = cost(hit)
            if needed > left:
                detail = f"{needed} tokens, {left} left"
                log.dropped.append(Dropped(hit.memory.id, str(hit.memory.scope), "budget", detail))
                continue
            left -= needed
        picked.append(replace(hit, rank=len(picked) + 1))
    log.stage("pack", len(hits), len(picked))
    return picked
