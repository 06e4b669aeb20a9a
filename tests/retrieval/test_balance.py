import pytest

from indexing.types import Scored
from retrieval.balance import USUAL_GAP, balance


def ranked(hits: list[Scored], asked: str = "ru", **options: float) -> list[str]:
    return [hit.id for hit, _ in balance(hits, asked, **options)]  # type: ignore[arg-type]


def test_the_shift_spelled_out() -> None:
    hits = [
        Scored("r1", 0.90, "ru"),
        Scored("r2", 0.86, "ru"),
        Scored("e1", 0.87, "en"),
        Scored("e2", 0.81, "en"),
    ]
    shifts = {hit.id: shift for hit, shift in balance(hits, "ru", strength=0.5, depth=2)}
    assert shifts["r1"] == shifts["r2"] == 0
    assert shifts["e1"] == shifts["e2"] == pytest.approx(0.5 * (0.88 - 0.84))
    assert ranked(hits, strength=0.5, depth=2) == ["r1", "e1", "r2", "e2"]


def test_a_language_of_few_memories_gets_the_usual_gap_for_the_rest() -> None:
    hits = [Scored("r", 0.90, "ru"), Scored("e", 0.86, "en")]
    shifts = {hit.id: shift for hit, shift in balance(hits, "ru", strength=0.5, depth=4)}
    assert shifts["e"] == pytest.approx(0.5 * (0.25 * 0.04 + 0.75 * USUAL_GAP))
    assert shifts["r"] == 0
    asked_in_english = {hit.id: shift for hit, shift in balance(hits, "en", depth=4)}
    assert asked_in_english["r"] == pytest.approx(0.85 * 0.75 * USUAL_GAP)
    assert asked_in_english["e"] == pytest.approx(0.85 * 0.25 * 0.04)


def test_the_best_passage_of_the_other_language_comes_up() -> None:
    russian = [Scored(f"r{i:02}", 0.85 - i * 0.0005, "ru") for i in range(40)]
    english = [Scored("right", 0.84, "en")]
    english += [Scored(f"e{i:02}", 0.79 - i * 0.0005, "en") for i in range(30)]
    raw = sorted(russian + english, key=lambda hit: -hit.score)
    assert raw.index(english[0]) == 21
    assert ranked(russian + english)[0] == "right"


def test_a_lone_memory_of_the_other_language_is_not_lifted_to_the_top() -> None:
    russian = [Scored(f"r{i:02}", 0.85 - i * 0.001, "ru") for i in range(40)]
    assert "lone" not in ranked([*russian, Scored("lone", 0.80, "en")])[:20]


def test_one_language_keeps_its_order_and_scores() -> None:
    hits = [Scored("a", 0.9, "ru"), Scored("b", 0.8, "ru")]
    assert balance(hits, "en") == [(hits[0], 0.0), (hits[1], 0.0)]
    assert balance([], "ru") == []
