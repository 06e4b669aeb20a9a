"""Is a probability worth its name? AUROC with a bootstrap over groups, reliability, a logistic fit.

Pure functions over arrays: ``scores`` and ``truth`` have shape ``(n,)``, features ``(n, d)``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bin:
    """The cases whose score is at least ``low`` and below the next bin's: weight, means."""

    low: float
    weight: float
    said: float
    true: float


def auroc(positive: Floats, negative: Floats) -> float:
    """Return how often a positive case scores above a negative one, ties half; nan of none."""
    if not len(positive) or not len(negative):
        return float("nan")
    ordered = np.sort(negative)
    below = np.searchsorted(ordered, positive, "left") + np.searchsorted(ordered, positive, "right")
    return float(below.mean() / 2 / len(negative))


def interval(
    positive: Sequence[tuple[str, float]],
    negative: Sequence[tuple[str, float]],
    resamples: int = 400,
    seed: int = 1,
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the AUROC of ``(group, score)``, whole groups drawn."""
    groups = sorted({group for group, _ in (*positive, *negative)})
    held = [
        {g: np.array([score for group, score in side if group == g]) for g in groups}
        for side in (positive, negative)
    ]
    random = np.random.default_rng(seed)
    found = []
    for _ in range(resamples):
        drawn = [groups[i] for i in random.integers(len(groups), size=len(groups))]
        value = auroc(*(np.concatenate([side[g] for g in drawn]) for side in held))
        if not np.isnan(value):
            found.append(value)
    if not found:
        return float("nan"), float("nan")
    low, high = np.quantile(found, (0.025, 0.975))
    return float(low), float(high)


def reliability(scores: Floats, truth: Floats, weights: Floats, bins: int = 10) -> list[Bin]:
    """Return what was said and what was true in equal bins of the score; empty ones left out."""
    place = np.minimum((scores * bins).astype(int), bins - 1)
    found = []
    for number in range(bins):
        here = place == number
        weight = float(weights[here].sum())
        if weight > 0:
            said = float(np.average(scores[here], weights=weights[here]))
            true = float(np.average(truth[here], weights=weights[here]))
            found.append(Bin(number / bins, weight, said, true))
    return found


def ece(bins: Sequence[Bin]) -> float:
    """Return the expected calibration error: the mean distance of said and true, by weight."""
    total = sum(each.weight for each in bins)
    return sum(each.weight * abs(each.said - each.true) for each in bins) / total if total else 0.0


def logistic(features: Floats, truth: Floats, weights: Floats, ridge: float = 1e-5) -> list[float]:
    """Return the weights of a logistic regression, constant last, by Newton's method.

    ``weights`` are scaled to a mean of 1; ``ridge`` keeps separable cases finite.
    """
    rows = np.hstack([features, np.ones((len(features), 1))])
    scaled = weights / weights.mean()
    found = np.zeros(rows.shape[1])
    penalty = np.diag([*[ridge * len(rows)] * features.shape[1], 0.0])
    for _ in range(100):
        said = 0.5 * (1 + np.tanh(rows @ found / 2))
        slope = rows.T @ (scaled * (truth - said)) - penalty @ found
        curve = (rows * (scaled * said * (1 - said))[:, None]).T @ rows + penalty
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(curve)), slope)
        found += step
        if np.abs(step).max() < 1e-9:
            break
    return [float(value) for value in found]
