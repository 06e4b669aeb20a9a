import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indexing.types import Vector
from retrieval.mmr import mmr

EAST = np.array([1, 0], np.float32)
NORTH = np.array([0, 1], np.float32)


def test_spelled_out() -> None:
    """b is a copy of a: .5 * .9 - .5 * 1 = -.05; c is unlike it: .5 * .5 - .5 * 0 = .25."""
    ranking = [("a", 2.0), ("b", 1.8), ("c", 1.0)]
    vectors = {"a": EAST, "b": EAST, "c": NORTH}
    assert mmr(ranking, vectors, 0.5) == [("a", 2.0), ("c", 1.0), ("b", 1.8)]
    assert mmr(ranking, vectors, 0.5, k=2) == [("a", 2.0), ("c", 1.0)]


def test_enough_relevance_outweighs_likeness() -> None:
    """.8 * .9 - .2 * 1 = .52 for the copy, .8 * .5 = .4 for the other."""
    ranking = [("a", 2.0), ("b", 1.8), ("c", 1.0)]
    assert mmr(ranking, {"a": EAST, "b": EAST, "c": NORTH}, 0.8) == ranking


def test_likeness_to_any_of_those_chosen_counts() -> None:
    ranking = [("a", 1.0), ("b", 0.9), ("c", 0.8), ("d", 0.7)]
    vectors = {"a": EAST, "b": NORTH, "c": NORTH, "d": -EAST}
    assert [name for name, _ in mmr(ranking, vectors, 0.5)] == ["a", "b", "d", "c"]


def test_an_id_without_a_vector_is_like_nothing() -> None:
    ranking = [("a", 1.0), ("b", 0.9), ("c", 0.1)]
    assert [name for name, _ in mmr(ranking, {"a": EAST, "b": EAST}, 0.4)] == ["a", "c", "b"]
    assert mmr(ranking, {}, 0.3) == ranking


def test_nothing_and_scores_of_zero() -> None:
    assert mmr([], {}, 0.5) == []
    assert mmr([("a", 0.0), ("b", 0.0)], {"a": EAST, "b": NORTH}, 0.5) == [("a", 0.0), ("b", 0.0)]
    assert mmr([("a", 1.0)], {"a": EAST}, 0.5, k=0) == []


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[tuple[str, float]], dict[str, Vector]]:
    scores = sorted(draw(st.lists(st.floats(0, 10), max_size=8)), reverse=True)
    ranking = [(f"m{i}", score) for i, score in enumerate(scores)]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    rows = rng.standard_normal((len(ranking), 3)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True) if len(rows) else 1
    return ranking, {name: row for (name, _), row in zip(ranking, rows, strict=True)}


@given(cases(), st.floats(0, 1))
def test_nothing_is_lost_and_the_best_stays_first(
    case: tuple[list[tuple[str, float]], dict[str, Vector]], lambda_: float
) -> None:
    ranking, vectors = case
    chosen = mmr(ranking, vectors, lambda_)
    assert sorted(chosen) == sorted(ranking)
    assert mmr(ranking, vectors, 1.0) == ranking
    assert chosen[:1] == ranking[:1] or lambda_ == 0
    for k in range(len(ranking)):
        assert mmr(ranking, vectors, lambda_, k) == chosen[:k]
