"""The randomisation test, against the exact one."""

from itertools import product

import numpy as np
import pytest

from evals.significance import chance_of


def test_it_comes_near_the_exact_test() -> None:
    one, two = [0.9, 0.8, 0.4, 0.7, 0.6, 0.5], [0.5, 0.7, 0.5, 0.3, 0.4, 0.5]
    difference = np.array(one) - np.array(two)
    sums = [abs(np.dot(signs, difference)) for signs in product((-1, 1), repeat=6)]
    exact = np.mean([each >= abs(difference.sum()) - 1e-12 for each in sums])
    assert chance_of(one, two) == pytest.approx(exact, abs=0.02)
    assert chance_of(two, one) == chance_of(one, two)


def test_equal_runs_differ_by_chance_alone() -> None:
    assert chance_of([0.3, 0.4, 0.5], [0.3, 0.4, 0.5]) == 1
    assert chance_of([1.0] * 20, [0.0] * 20) == pytest.approx(0, abs=1e-3)
    assert 0 < chance_of([1.0] * 20, [0.0] * 20, rounds=1500) <= 1 / 1501 + 1e-9
