"""Scores of one list -> comparable numbers: pure functions, by name in `NORMALISERS`.

A normaliser sees the scores of one list and nothing else: what the engine returned, up to its
limit, above its threshold. So most results depend on how long the list is; `bounds` does not, since
it needs the best score only. What a list lacks counts 0 there, as if it stood at the list's end:
`min_max`, `z_score` and `width` give (nearly) 0 to the last, so a memory that just missed a list
loses nothing by it. Equal scores never divide by zero.
"""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean, pstdev

Normaliser = Callable[[Sequence[float]], list[float]]
"""Scores of a list, in any order -> the same number of normalised ones, in that order."""


def min_max(scores: Sequence[float]) -> list[float]:
    """Return ``(score - least) / (best - least)``; 1 each where all are equal.

    >>> min_max([4.0, 3.0, 2.0])
    [1.0, 0.5, 0.0]
    """
    if not scores:
        return []
    least, reach = min(scores), max(scores) - min(scores)
    return [(score - least) / reach if reach > 0 else 1.0 for score in scores]


def z_score(scores: Sequence[float]) -> list[float]:
    """Return ``(score - least) / sd``: z-scores, moved so that the last is 0; 1 each where equal.

    ``sd`` is the list's own (population) standard deviation. Unmoved z-scores of the lower half are
    negative: being found would count less than not being found.

    >>> z_score([3.0, 1.0])
    [2.0, 0.0]
    """
    spread = pstdev(scores) if scores else 0.0
    least = min(scores, default=0.0)
    return [(score - least) / spread if spread > 0 else 1.0 for score in scores]


def three_sigma(scores: Sequence[float]) -> list[float]:
    """Return ``clip((score - (mean - 3 sd)) / (6 sd), 0, 1)``; 0.5 each where all are equal.

    >>> three_sigma([3.0, 1.0])
    [0.6666666666666666, 0.3333333333333333]
    """
    if not scores:
        return []
    mean, spread = fmean(scores), pstdev(scores)
    if not spread > 0:
        return [0.5] * len(scores)
    return [min(1.0, max(0.0, (score - mean) / (6 * spread) + 0.5)) for score in scores]


def bounds(floor: float) -> Normaliser:
    """Return ``(score - floor) / (best - floor)``, 0 below the floor: the score's own lower bound.

    BM25's is 0. Known as theoretical min-max (Bruch, Gai, Ingber 2023).

    >>> bounds(0)([8.0, 6.0])
    [1.0, 0.75]
    """
    return partial(_bounds, floor)


def _bounds(floor: float, scores: Sequence[float]) -> list[float]:
    reach = max(scores, default=floor) - floor
    return [max(0.0, score - floor) / reach if reach > 0 else 0.0 for score in scores]


def width(step: float, margin: float = 0.0) -> Normaliser:
    """Return ``(score - least + margin) / step``: differences keep their size from query to query.

    Cosines of one model mean the same for every question: a list whose scores lie close together
    says little, and is not stretched until it says a lot. ``step`` is the difference that counts 1;
    what is not in the list is taken to lie ``margin`` below its end.

    >>> width(0.25, 0.125)([0.875, 0.75])
    [1.0, 0.5]
    """
    return partial(_width, step, margin)


def _width(step: float, margin: float, scores: Sequence[float]) -> list[float]:
    least = min(scores, default=0.0)
    return [(score - least + margin) / step for score in scores]


NORMALISERS: dict[str, Normaliser] = {
    "min-max": min_max,
    "z-score": z_score,
    "three-sigma": three_sigma,
}
