"""Maximal marginal relevance: the next hit is relevant, and unlike those that are there already.

Carbonell and Goldstein (1998), doi:10.1145/290941.291025:
``argmax lambda * relevance - (1 - lambda) * max similarity to what is chosen``. Relevance is the
fused score over the best one's, so it is 0 to 1; similarity is the cosine of the dense vectors,
0 where that is below 0.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from indexing.types import Vector


def mmr(
    ranking: Sequence[tuple[str, float]],
    vectors: Mapping[str, Vector],
    lambda_: float,
    k: int | None = None,
) -> list[tuple[str, float]]:
    """Return the first ``k`` of ``(id, score)`` in their new order, scores as they were.

    ``ranking`` is best first, scores at least 0; ``vectors`` are unit vectors, and an id without
    one is like nothing else. ``lambda_`` is from 1 (relevance only: the order stays) to 0
    (difference only, after the best). Of equal candidates the better ranked goes first.
    """
    count = len(ranking) if k is None else min(k, len(ranking))
    if count == 0:
        return []
    best = max(score for _, score in ranking)
    relevance = np.array([score / best if best > 0 else 0.0 for _, score in ranking])
    rows = _rows(ranking, vectors)
    nearest = np.zeros(len(ranking))
    left = np.ones(len(ranking), bool)
    chosen: list[tuple[str, float]] = []
    while len(chosen) < count:
        value = lambda_ * relevance - (1 - lambda_) * nearest
        at = int(np.argmax(np.where(left, value, -np.inf)))
        chosen.append(ranking[at])
        left[at] = False
        nearest = np.maximum(nearest, rows @ rows[at])
    return chosen


def _rows(ranking: Sequence[tuple[str, float]], vectors: Mapping[str, Vector]) -> Vector:
    """Return the vectors as rows in the order of the ranking, zeros where there is none."""
    size = max((len(vector) for vector in vectors.values()), default=1)
    rows = np.zeros((len(ranking), size), np.float32)
    for at, (name, _) in enumerate(ranking):
        if name in vectors:
            rows[at] = vectors[name]
    return rows
