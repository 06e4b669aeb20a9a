from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.types import Kind, Memory, Mention, user_scope
from retrieval.recency import aged, decay

NOW = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
LIVES: dict[Kind, timedelta] = {"turn": 30 * DAY}


def memory(kind: Kind = "turn", days: float | None = None, **fields: object) -> Memory:
    at = None if days is None else NOW - days * DAY
    return Memory(
        id="m",
        scope=user_scope("ann"),
        kind=kind,
        text="t",
        source_id="s",
        at=at,
        **fields,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize(("days", "left"), [(0, 1.0), (30, 0.5), (60, 0.25), (15, 0.5**0.5)])
def test_a_half_life_halves(days: float, left: float) -> None:
    assert decay(memory(days=days), NOW, LIVES) == pytest.approx(left)


def test_what_has_no_half_life_does_not_age() -> None:
    assert decay(memory("document", 900), NOW, LIVES) == 1
    assert decay(memory(days=900), NOW, {}) == 1
    assert decay(memory(), NOW, LIVES) == 1
    assert decay(memory(days=-5), NOW, LIVES) == 1
    assert decay(memory(days=900, pinned=True), NOW, LIVES) == 1


def test_age_is_from_when_it_was_last_said() -> None:
    again = Mention(source_id="s2", text="t", at=NOW - 30 * DAY)
    assert decay(memory(days=300, also=(again,)), NOW, LIVES) == pytest.approx(0.5)
    since = memory(valid_from=NOW - 60 * DAY, created_at=NOW)
    assert decay(since, NOW, LIVES) == pytest.approx(0.25)
    assert decay(memory(created_at=NOW - 30 * DAY), NOW, LIVES) == pytest.approx(0.5)


def test_scores_and_order_spelled_out() -> None:
    old, new, page = memory(days=60), memory(days=0), memory("document", 60)
    ranked = [(old, 1.0), (page, 0.9), (new, 0.5)]
    assert aged(ranked, NOW, LIVES) == [(page, 0.9), (new, 0.5), (old, pytest.approx(0.25))]
    assert aged(ranked, NOW, {}) == ranked


@given(st.floats(0, 1e5), st.floats(0.01, 1e4))
def test_from_one_down_to_nothing(days: float, life: float) -> None:
    lives: dict[Kind, timedelta] = {"turn": life * DAY}
    value = decay(memory(days=days), NOW, lives)
    assert 0 <= value <= 1
    assert decay(memory(days=days / 2), NOW, lives) >= value
