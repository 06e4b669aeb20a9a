import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.normalise import (
    NORMALISERS,
    Normaliser,
    bounds,
    min_max,
    three_sigma,
    width,
    z_score,
)

EVERY = {**NORMALISERS, "bounds": bounds(0.0), "width": width(0.1, 0.01)}
lists = st.lists(st.floats(0, 1000, width=32), max_size=30)


def test_min_max_spelled_out() -> None:
    assert min_max([10.0, 7.0, 2.0]) == [1.0, (7 - 2) / (10 - 2), 0.0]


def test_z_score_is_moved_to_zero() -> None:
    """Mean 5, deviation 3: z is 1 and -1, moved by the least one's."""
    assert z_score([8.0, 2.0]) == [(8 - 2) / 3, 0.0]


def test_three_sigma_spelled_out() -> None:
    """Mean 5, deviation 3: from 5 - 9 to 5 + 9."""
    assert three_sigma([8.0, 2.0]) == pytest.approx([(8 + 4) / 18, (2 + 4) / 18])


def test_bounds_need_only_the_best() -> None:
    assert bounds(0)([8.0, 6.0, 2.0]) == [1.0, 0.75, 0.25]
    assert bounds(0)([8.0, 6.0]) == [1.0, 0.75]
    assert bounds(0.5)([0.9, 0.7, 0.4]) == pytest.approx([1.0, 0.5, 0.0])
    assert bounds(0)([0.0, 0.0]) == [0.0, 0.0]


def test_width_keeps_differences() -> None:
    assert width(0.25)([0.875, 0.75]) == [0.5, 0.0]
    assert width(0.25, 0.125)([0.875, 0.75]) == [1.0, 0.5]
    close, far = width(0.1)([0.81, 0.80]), width(0.1)([0.9, 0.8])
    assert close[0] == pytest.approx(0.1)
    assert far[0] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("name", "each"), [("min-max", 1.0), ("z-score", 1.0), ("three-sigma", 0.5), ("bounds", 1.0)]
)
def test_equal_scores_are_worth_something(name: str, each: float) -> None:
    assert EVERY[name]([3.0]) == [each]
    assert EVERY[name]([3.0, 3.0]) == [each, each]


@given(lists, st.sampled_from(list(EVERY.values())))
def test_finite_not_negative_and_in_the_same_order(found: list[float], norm: Normaliser) -> None:
    made = norm(found)
    assert len(made) == len(found)
    assert all(math.isfinite(value) and value >= 0 for value in made)
    pairs = sorted(zip(found, made, strict=True))
    assert [value for _, value in pairs] == sorted(value for _, value in pairs)


@given(lists, st.sampled_from(["min-max", "z-score", "three-sigma"]), st.floats(0.5, 4))
def test_these_do_not_know_the_scale(found: list[float], name: str, scale: float) -> None:
    spread = max(found, default=0) - min(found, default=0)
    if 0 < spread < 0.01:
        return  # too few digits left to compare
    moved = [scale * score + 7 for score in found]
    assert EVERY[name](moved) == pytest.approx(EVERY[name](found), abs=1e-3)
