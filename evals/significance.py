"""Is a difference of two runs more than chance, and how large is it? Tests on pairs.

Randomisation: where two systems are alike, which of the two gave a question's value is a coin's
throw (Smucker, Allan and Carterette 2007, doi:10.1145/1321440.1321528). Interval: the bootstrap.
"""

from collections.abc import Sequence

import numpy as np

ROUNDS = 10_000
_AT_ONCE = 1000


def chance_of(
    one: Sequence[float], two: Sequence[float], rounds: int = ROUNDS, seed: int = 1
) -> float:
    """Return how often swapping within pairs gives a difference at least this large, 0 to 1.

    >>> chance_of([1.0] * 12, [0.0] * 12) < 0.01, chance_of([0.5, 0.2], [0.5, 0.2])
    (True, 1.0)
    """
    difference = np.asarray(one) - np.asarray(two)
    least = abs(difference.sum()) - 1e-12
    numbers = np.random.default_rng(seed)
    seen = 0
    for start in range(0, rounds, _AT_ONCE):
        signs = numbers.choice((-1.0, 1.0), size=(min(_AT_ONCE, rounds - start), len(difference)))
        seen += int((np.abs(signs @ difference) >= least).sum())
    return (seen + 1) / (rounds + 1)


def interval(
    one: Sequence[float], two: Sequence[float], rounds: int = ROUNDS, seed: int = 1
) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean difference of pairs, ``one`` less ``two``.

    >>> interval([1.0] * 12, [0.5] * 12)
    (0.5, 0.5)
    """
    difference = np.asarray(one) - np.asarray(two)
    numbers = np.random.default_rng(seed)
    means: list[float] = []
    for start in range(0, rounds, _AT_ONCE):
        size = (min(_AT_ONCE, rounds - start), len(difference))
        means += difference[numbers.integers(0, len(difference), size)].mean(axis=1).tolist()
    low, high = np.quantile(means, (0.025, 0.975)).tolist()
    return low, high
