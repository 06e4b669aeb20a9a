"""What is learnt of a reranker's speed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.rerank.speed import Speed


def test_nothing_is_known_before_the_first_call() -> None:
    speed = Speed()
    assert (speed.known, speed.line(), speed.affords(5)) == (False, (0.0, 0.0), float("inf"))


def test_one_call_gives_a_mean() -> None:
    speed = Speed()
    speed.learn(200, 30.0)
    assert speed.line() == (0.0, pytest.approx(0.15))
    assert speed.affords(60) == pytest.approx(400)
    assert str(speed) == "0.15 ms a token"


def test_a_model_here_costs_by_the_token() -> None:
    speed = Speed()
    speed.learn(100, 30.0)
    speed.learn(1000, 120.0)  # (0.9 * 30 + 120) / (0.9 * 100 + 1000) = 0.13486
    assert speed.line() == (0.0, pytest.approx(147 / 1090))


def test_calls_of_two_sizes_show_the_round_trip_of_a_remote_one() -> None:
    speed = Speed(remote=True)
    for tokens in (100, 1000, 100, 1000):
        speed.learn(tokens, 20 + 0.1 * tokens)
    call, token = speed.line()
    assert (call, token) == (pytest.approx(20), pytest.approx(0.1))
    assert speed.affords(70) == pytest.approx(500)
    assert speed.affords(15) == 0
    assert str(speed) == "0.1 ms a token and 20 ms a call"


def test_calls_of_one_size_and_falling_lines_give_a_mean() -> None:
    same, falling = Speed(remote=True), Speed(remote=True)
    for _ in range(3):
        same.learn(100, 10.0)
    falling.learn(100, 50.0)
    falling.learn(200, 10.0)  # (0.9 * 50 + 10) / (0.9 * 100 + 200) = 0.18966
    assert same.line() == (0.0, pytest.approx(0.1))
    assert falling.line() == (0.0, pytest.approx(55 / 290))


def test_what_is_new_counts_more() -> None:
    speed = Speed()
    for _ in range(10):
        speed.learn(100, 10.0)
    for _ in range(10):
        speed.learn(100, 100.0)
    assert 0.7 < speed.line()[1] < 1.0


@given(
    st.booleans(),
    st.lists(st.tuples(st.integers(1, 10_000), st.floats(0, 1e5)), min_size=1, max_size=30),
)
def test_a_line_never_falls_nor_starts_below_zero(
    remote: bool, calls: list[tuple[int, float]]
) -> None:
    speed = Speed(remote)
    for tokens, milliseconds in calls:
        speed.learn(tokens, milliseconds)
    call, token = speed.line()
    assert call >= 0
    assert token >= 0
    assert speed.affords(100) >= 0
