"""Scores -> ranking: a pure function."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
K = 10
"""k of the reciprocal ranks that `reordered` blends."""


def reordered(
    fused: Sequence[T], scores: Sequence[float | None], blend: float = 0.0, k: float = K
) -> list[T]:
    """Return the fused order with its scored items first, best first; the rest stays as it was.

    ``blend`` is how much the fused rank counts, 0 (the reranker alone) to 1 (the fused order
    alone): items are sorted by ``(1 - blend) / (k + rank by score) + blend / (k + fused rank)``,
    ranks from 1. Ranks, not scores: a cross-encoder's scores crowd at 0 and at 1. Ties keep the
    fused order.

    >>> reordered("abcd", [0.2, 0.9, 0.2, None])
    ['b', 'a', 'c', 'd']
    """
    if len(scores) != len(fused):
        raise ValueError(f"{len(scores)} scores for {len(fused)} items")
    known = [(i, score) for i, score in enumerate(scores) if score is not None]
    by_score = [i for i, _ in sorted(known, key=lambda pair: -pair[1])]
    value = {
        i: (1 - blend) / (k + rank) + blend / (k + i + 1) for rank, i in enumerate(by_score, 1)
    }
    best = sorted(value, key=lambda i: (-value[i], i))
    rest = [i for i, score in enumerate(scores) if score is None]
    return [fused[i] for i in best + rest]
