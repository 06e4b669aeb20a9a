"""What is older counts less: a multiplier of the score by the half-life of a memory's kind.

``0.5 ** (age / half-life)``: exponential decay, as in time-weighted retrieval (Li and Croft 2003,
doi:10.1145/956863.956951). Off unless a kind has a half-life; a document does not age by being
read, it is replaced when its file changes.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from indexing.types import Kind, Memory


def decay(memory: Memory, now: datetime, half_lives: Mapping[Kind, timedelta]) -> float:
    """Return the multiplier of a memory's score, 0 to 1.

    Its age is from when it was last said (the ``at`` of its places), else from when it began to
    hold, else from when it was stored; without any of these, with an age below 0, or with a kind
    that has no half-life, it is 1. What is pinned does not age.
    """
    life = half_lives.get(memory.kind)
    said = [at for at in (memory.at, *(place.at for place in memory.also)) if at is not None]
    since = max(said, default=None) or memory.valid_from or memory.created_at
    if life is None or since is None or memory.pinned:
        return 1.0
    return float(0.5 ** max(0.0, (now - since) / life))


def aged(
    ranked: Sequence[tuple[Memory, float]], now: datetime, half_lives: Mapping[Kind, timedelta]
) -> list[tuple[Memory, float]]:
    """Return memories with their scores times `decay`, best first; equal ones stay in their order.

    Scores are at least 0.
    """
    if not half_lives:
        return list(ranked)
    scored = [(memory, score * decay(memory, now, half_lives)) for memory, score in ranked]
    return sorted(scored, key=lambda pair: -pair[1])
