"""Scores -> ranking, with the arithmetic spelled out."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.rerank.order import combined, reordered

LEVEL = [(value - 2) / math.sqrt((2 + 5 * (0.19 * 3) ** 2) / 8) for value in (3, 2, 1)]
"""3, 2 and 1 levelled: a usual spread of 0.19 times the highest counts as five values more."""

SCORES = st.lists(st.none() | st.sampled_from([0.0, 0.1, 0.5, 0.5, 0.9, 1.0]), max_size=20)


def test_the_scored_come_first_by_score_and_the_rest_stays() -> None:
    assert reordered("abcde", [0.2, 0.9, 0.5, None, None]) == ["b", "c", "a", "d", "e"]
    assert reordered("abc", [None, None, None]) == ["a", "b", "c"]
    assert reordered("", []) == []


def test_a_blend_is_a_sum_of_reciprocal_ranks() -> None:
    # by score: c 1, b 2, a 3; fused: a 1, b 2, c 3; k = 1, blend 0.75
    # a: .25/4 + .75/2 = .4375    b: .25/3 + .75/3 = .3333    c: .25/2 + .75/4 = .3125
    assert reordered("abc", [0.1, 0.2, 0.3], blend=0.75, k=1) == ["a", "b", "c"]
    # blend 0.5: a and c .5/4 + .5/2 = .375 each, b .3333: the tie keeps the fused order
    assert reordered("abc", [0.1, 0.2, 0.3], blend=0.5, k=1) == ["a", "c", "b"]
    # blend 0.25: a .75/4 + .25/2 = .3125    b .3333    c .75/2 + .25/4 = .4375
    assert reordered("abc", [0.1, 0.2, 0.3], blend=0.25, k=1) == ["c", "b", "a"]


def test_as_many_scores_as_items() -> None:
    with pytest.raises(ValueError, match="1 scores for 2 items"):
        reordered("ab", [0.5])


@given(SCORES, st.sampled_from([0.0, 0.3, 1.0]))
def test_every_item_appears_once_and_the_unscored_are_last(
    scores: list[float | None], blend: float
) -> None:
    ranked = reordered(range(len(scores)), scores, blend)
    assert sorted(ranked) == list(range(len(scores)))
    known = sum(score is not None for score in scores)
    assert ranked[known:] == [i for i, score in enumerate(scores) if score is None]


@given(SCORES)
def test_ties_keep_the_fused_order(scores: list[float | None]) -> None:
    ranked = reordered(range(len(scores)), scores)
    for score in set(scores):
        tied = [i for i in ranked if scores[i] == score]
        assert tied == sorted(tied)


@given(SCORES)
def test_the_ends_of_the_blend(scores: list[float | None]) -> None:
    places = range(len(scores))
    known = [i for i in places if scores[i] is not None]
    assert reordered(places, scores, blend=1.0)[: len(known)] == known
    by_score = [scores[i] or 0.0 for i in reordered(places, scores)[: len(known)]]
    assert by_score == sorted(by_score, reverse=True)


def test_both_scores_are_added_as_z_scores_and_the_rest_follows() -> None:
    fused, scores = [3.0, 2.0, 1.0, 0.5], [0.1, 0.5, 0.9, None]
    odds = [math.log(p / (1 - p)) for p in (0.1, 0.5, 0.9)]
    level = LEVEL
    spread = math.sqrt((sum(value**2 for value in odds) + 5 * 1.9**2) / 8)
    for weight in (0.5, 0.99, 1.01, 2.0):
        values = [own + weight * odd / spread for own, odd in zip(level, odds, strict=True)]
        wanted = sorted(range(3), key=lambda place: -values[place])
        found = combined(fused, scores, weight)
        assert [place for place, _ in found] == [*wanted, 3]
        usual = math.sqrt((2 + 5 * (0.19 * 3) ** 2) / 8)
        on_scale = [max(0.0, 2 + usual * values[place]) for place in wanted]
        assert [score for _, score in found] == pytest.approx([*on_scale, 0.5])


def test_a_plain_score_is_added_as_it_is() -> None:
    fused, scores = [3.0, 2.0, 1.0, 0.5], [0.1, 0.5, 0.9, None]
    level = LEVEL
    for weight in (1.0, 2.9, 3.2):
        values = [own + weight * p for own, p in zip(level, (0.1, 0.5, 0.9), strict=True)]
        wanted = sorted(range(3), key=lambda place: -values[place])
        found = combined(fused, scores, weight, plain=True)
        assert [place for place, _ in found] == [*wanted, 3]
    low = [1e-6, 1e-3, 0.01]
    assert [place for place, _ in combined(fused[:3], low, 3.0, plain=True)] == [0, 1, 2]
    assert [place for place, _ in combined(fused[:3], low, 3.0)] == [2, 1, 0]


def test_of_two_items_the_much_likelier_one_comes_first() -> None:
    close = [0.33, 0.48][::-1]
    assert [place for place, _ in combined(close, [0.005, 0.464], 1.0)] == [1, 0]
    assert [place for place, _ in combined(close, [0.4, 0.464], 1.0)] == [0, 1]


def test_equal_scores_leave_the_fused_ones_and_a_tie_is_decided() -> None:
    for fused in ([1.0, 0.5], [0.9, 0.4, 0.1], [2.0]):
        found = combined(fused, [0.3] * len(fused), 1.0)
        assert [place for place, _ in found] == list(range(len(fused)))
        assert [score for _, score in found] == pytest.approx(fused)
    (first, high), (_, low) = combined([1.0, 1.0], [0.1, 0.9], 1.0)
    assert first == 1
    assert high > low + 0.1


def test_certain_scores_and_equal_ones_keep_ties_in_the_fused_order() -> None:
    def places(fused: list[float], scores: list[float | None], weight: float) -> list[int]:
        return [place for place, _ in combined(fused, scores, weight)]

    assert places([1.0, 1.0, 1.0], [1.0, 0.0, 1.0], 1.0) == [0, 2, 1]
    assert combined([0.2, 0.1], [None, None], 1.0) == [(0, 0.2), (1, 0.1)]
    assert places([0.2, 0.1], [0.7, 0.7], 5.0) == [0, 1]
    assert combined([], [], 1.0) == []
    with pytest.raises(ValueError, match="2 scores for 1 items"):
        combined([1.0], [0.1, 0.2], 1.0)
