import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fuse import Ranked, order, rrf


def test_rrf_spelled_out() -> None:
    lists = {
        "dense": [Ranked("a"), Ranked("b"), Ranked("c")],
        "sparse": [Ranked("c", 2.0), Ranked("d", 0.5)],
    }
    shares = rrf(lists, k=60)
    assert shares["a"] == {"dense": 1 / 61}
    assert shares["b"] == {"dense": 1 / 62}
    assert shares["c"] == {"dense": 1 / 63, "sparse": 2 / 61}
    assert shares["d"] == {"sparse": 0.5 / 62}
    assert order(shares) == [
        ("c", pytest.approx(1 / 63 + 2 / 61)),
        ("a", 1 / 61),
        ("b", 1 / 62),
        ("d", 0.5 / 62),
    ]


def test_ties_are_ordered_by_id() -> None:
    assert [name for name, _ in order(rrf({"x": [Ranked("b")], "y": [Ranked("a")]}, k=1))] == [
        "a",
        "b",
    ]


def test_no_lists_no_ranking() -> None:
    assert order(rrf({}, k=60)) == []
    assert order(rrf({"dense": []}, k=60)) == []


@given(st.permutations([f"m{i}" for i in range(8)]), st.floats(0.1, 100))
def test_one_list_keeps_its_order(ids: list[str], k: float) -> None:
    fused = order(rrf({"dense": [Ranked(name) for name in ids]}, k))
    assert [name for name, _ in fused] == ids


@given(st.permutations([f"m{i}" for i in range(6)]), st.permutations([f"m{i}" for i in range(6)]))
def test_leading_both_lists_leads_the_fusion(one: list[str], two: list[str]) -> None:
    one.remove("m0")
    two.remove("m0")
    lists = {name: [Ranked("m0"), *map(Ranked, ids)] for name, ids in {"a": one, "b": two}.items()}
    assert order(rrf(lists, k=10))[0][0] == "m0"
