"""Scores -> ranking: pure functions."""

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

T = TypeVar("T")
K = 10
"""k of the reciprocal ranks that `reordered` blends."""
PRIOR = 5
"""Items that the usual spread counts for beside those of the list: two items have no spread of
their own, and how far apart they are says something."""
ODDS, FUSED = 1.9, 0.19
"""The usual spread of a reranker's log-odds, and of fused scores as a share of the highest: medians
over the first 30 candidates of XQuAD-R and LoCoMo."""
_LEAST = 1e-9
"""Distance of a probability from 0 and 1, and the least spread that is levelled."""


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


def combined(
    fused: Sequence[float], scores: Sequence[float | None], weight: float, plain: bool = False
) -> list[tuple[int, float]]:
    """Return the places of the fused order anew, best first, each with its new score.

    The value of a scored item is ``z(fused) + weight * z(logit(score))``, each levelled within the
    scored items (`levelled`); with ``plain`` it is ``z(fused) + weight * score``, which says
    nothing of which of many improbable items is less so. Values are brought back to the scale of
    the fused scores, at least 0. What is not scored follows as it was; ties keep the fused order.

    >>> combined([3.0, 2.0, 0.0], [0.5, 0.5, None], weight=2)
    [(0, 3.0), (1, 2.0), (2, 0.0)]
    >>> [place for place, _ in combined([3.0, 2.9, 0.0], [0.2, 0.9, None], weight=2)]
    [1, 0, 2]
    """
    if len(fused) != len(scores):
        raise ValueError(f"{len(scores)} scores for {len(fused)} items")
    known = [place for place, score in enumerate(scores) if score is not None]
    rest = [(place, fused[place]) for place, score in enumerate(scores) if score is None]
    if not known:
        return rest
    read = np.clip([score for score in scores if score is not None], _LEAST, 1 - _LEAST)
    said = read if plain else levelled(np.log(read / (1 - read)), ODDS)
    before = np.array([fused[place] for place in known])
    usual = FUSED * float(before.max())
    values = levelled(before, usual) + weight * said
    back = before.mean() + spread(before, usual) * values
    order = np.argsort(-values, kind="stable").tolist()
    return [(known[at], max(0.0, float(back[at]))) for at in order] + rest


def levelled(values: ArrayLike, usual: float = 0.0) -> NDArray[np.float64]:
    """Return values less their mean, by their `spread`; zeros where they are all alike.

    >>> levelled([1.0, 3.0]).tolist(), levelled([2.0, 2.0]).tolist()
    ([-1.0, 1.0], [0.0, 0.0])
    >>> levelled([1.0, 3.0], usual=4.0).round(2).tolist()
    [-0.29, 0.29]
    """
    found = np.asarray(values, np.float64)
    if found.size == 0:
        return found
    by = spread(found, usual)
    centred: NDArray[np.float64] = found - found.mean()
    return centred / by if by > _LEAST else np.zeros_like(found)


def spread(values: NDArray[np.float64], usual: float = 0.0) -> float:
    """Return the standard deviation of one or more values; a ``usual`` one counts as that of
    `PRIOR` values more."""
    count = PRIOR if usual > 0 else 0
    return math.sqrt((values.size * values.var() + count * usual**2) / (values.size + count))
