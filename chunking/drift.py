"""Find where the topic of a text drifts, from the vectors of its units.

Does not: embed, count tokens, cut.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

GROUP = 3
"""Units compared on each side of a boundary."""
FEWEST = 4
"""Boundaries that a document needs before its distribution says anything."""

Array = npt.NDArray[Any]


def topic_cuts(vectors: Array, lengths: Sequence[int], drift: float) -> list[list[int]]:
    """Return, for each section, the units before which the topic changes.

    ``vectors`` is [units, dim], ``lengths`` the number of units of each section. At every boundary
    inside a section s = cosine(mean of up to `GROUP` units before, mean of up to `GROUP` after). A
    boundary is a cut where s < mean(s) - drift * std(s), both over the document, and neither
    neighbouring boundary of the section has a lower s. Fewer than `FEWEST` boundaries: no cut.
    """
    edges = np.cumsum([0, *lengths])
    rows = [_similarities(vectors[a:b]) for a, b in pairwise(edges)]
    all_ = np.concatenate(rows) if rows else np.zeros(0)
    if len(all_) < FEWEST:
        return [[] for _ in lengths]
    threshold = all_.mean() - drift * all_.std() - 1e-6
    return [_valleys(row, float(threshold)) for row in rows]


def _similarities(vectors: Array) -> Array:
    """Return the cosine at each boundary: element i lies between units i and i + 1."""
    count = len(vectors)
    if count < 2:
        return np.zeros(0)
    sums = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0)])
    at = np.arange(1, count)
    before = sums[at] - sums[np.maximum(at - GROUP, 0)]
    after = sums[np.minimum(at + GROUP, count)] - sums[at]
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    found: Array = (before * after).sum(axis=1) / np.maximum(norms, 1e-12)
    return found


def _valleys(row: Array, threshold: float) -> list[int]:
    if not len(row):
        return []
    padded = np.concatenate([[np.inf], row, [np.inf]])
    low = (row < threshold) & (row <= padded[:-2]) & (row <= padded[2:])
    cuts: list[int] = (np.flatnonzero(low) + 1).tolist()
    return cuts
