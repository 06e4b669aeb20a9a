"""The ranked hits -> those that are shown: the k best, or as many as fit a token budget."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from retrieval.trace import Dropped, Log
from retrieval.types import Hit


def pack(
    hits: Sequence[Hit], k: int | None, budget: int | None, cost: Callable[[Hit], int], log: Log
) -> list[Hit]:
    """Return the hits that are shown, ranks from 1.

    A hit whose passage does not fit the budget is shown without it. One that does not fit even so
    is passed over, and a shorter one after it may fit; ``k`` None is no limit. ``cost`` is in
    tokens.
    """
    picked: list[Hit] = []
    left, bare = budget, 0
    for hit in hits:
        if k is not None and len(picked) == k:
            break
        if left is not None:
            needed = cost(hit)
            if needed > left and hit.passage:
                without = replace(hit, passage=None)
                if (least := cost(without)) <= left:
                    hit, needed, bare = without, least, bare + 1
            if needed > left:
                detail = f"{needed} tokens, {left} left"
                log.dropped.append(Dropped(hit.memory.id, str(hit.memory.scope), "budget", detail))
                continue
            left -= needed
        rank = len(picked) + 1
        picked.append(hit if hit.rank == rank else replace(hit, rank=rank))
    note = f"{bare} without what stands around, for the budget" if bare else ""
    log.stage("pack", len(hits), len(picked), note)
    return picked
