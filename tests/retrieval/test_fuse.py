import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fuse import METHODS, Method, Ranked, convex, dbsf, fuse, order, rrf
from retrieval.normalise import NORMALISERS, bounds, min_max, width

NORMS = {**NORMALISERS, "bounds": bounds(0.0), "width": width(0.1, 0.01)}
WAYS = [Method("rrf"), Method("dbsf"), *(Method("convex", 10, {"a": n}) for n in NORMS.values())]
EVERY = [Method(w.name, w.k, dict.fromkeys("ab", w.normalise.get("a", min_max))) for w in WAYS]

ids = st.lists(st.sampled_from([f"m{i}" for i in range(8)]), unique=True)
scores = st.floats(0, 1, width=32)


@st.composite
def rankings(draw: st.DrawFn) -> list[Ranked]:
    """A list as a branch gives it: best first, weights from 0 up."""
    names = draw(ids)
    found = sorted((draw(scores) for _ in names), reverse=True)
    return [Ranked(n, draw(st.floats(0, 2)), s) for n, s in zip(names, found, strict=True)]


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


def test_rrf_with_a_k_of_a_scope() -> None:
    merged = [Ranked("user", k=20.0), Ranked("global")]
    assert rrf({"dense": merged}, k=10) == {
        "user": {"dense": 1 / (20 + 1)},
        "global": {"dense": 1 / (10 + 2)},
    }


def test_dbsf_spelled_out() -> None:
    """Mean 6 and deviation 2 (of 8, 8, 4, 4); from 0 to 12 is 0 to 1."""
    lists = {"x": [Ranked("a", 1, 8), Ranked("b", 0.5, 8), Ranked("c", 1, 4), Ranked("d", 2, 4)]}
    shares = dbsf(lists)
    assert shares["a"]["x"] == pytest.approx(8 / 12)
    assert shares["b"]["x"] == pytest.approx(0.5 * 8 / 12)
    assert shares["c"]["x"] == pytest.approx(4 / 12)
    assert shares["d"]["x"] == pytest.approx(2 * 4 / 12)


def test_dbsf_clips_beyond_three_deviations() -> None:
    """One 1 among 99 zeros: mean .01, deviation .0995, so it is 9.9 deviations up."""
    lists = {"x": [Ranked("out", 1, 1.0), *(Ranked(f"m{i}", 1, 0.0) for i in range(99))]}
    shares = dbsf(lists)
    assert shares["out"]["x"] == 1.0
    assert shares["m0"]["x"] == pytest.approx(0.5 - 0.01 / (6 * 0.0995), abs=1e-4)


def test_convex_spelled_out() -> None:
    """The default: cosines by differences of .125, BM25 by the best one, covered by half."""
    lists = {
        "dense": [Ranked("a", 1, 0.875), Ranked("b", 1, 0.75)],
        "sparse": [Ranked("b", 0.5, 12.0), Ranked("c", 1.0, 9.0)],
    }
    norms = {"dense": width(0.125), "sparse": bounds(0.0)}
    shares = convex(lists, norms)
    assert shares["a"] == {"dense": (0.875 - 0.75) / 0.125}
    assert shares["b"] == {"dense": 0.0, "sparse": 0.5 * 12 / 12}
    assert shares["c"] == {"sparse": 1.0 * 9 / 12}
    assert order(shares) == [("a", 1.0), ("c", 0.75), ("b", 0.5)]


def test_convex_counts_scores_as_they_are_without_a_normaliser() -> None:
    assert convex({"x": [Ranked("a", 2, 3.5)]}, {"y": min_max}) == {"a": {"x": 7.0}}


def test_a_method_is_chosen_by_name() -> None:
    lists = {"a": [Ranked("m", 1, 3.0), Ranked("n", 1, 1.0)]}
    assert fuse(lists, Method("rrf", 4)) == rrf(lists, 4)
    assert fuse(lists, Method("dbsf")) == dbsf(lists)
    assert fuse(lists, Method("convex", 4, {"a": min_max})) == convex(lists, {"a": min_max})
    assert list(METHODS) == ["rrf", "dbsf", "convex"]


def test_ties_are_ordered_by_id() -> None:
    assert [name for name, _ in order(rrf({"x": [Ranked("b")], "y": [Ranked("a")]}, k=1))] == [
        "a",
        "b",
    ]


@pytest.mark.parametrize("method", EVERY)
def test_no_lists_no_ranking(method: Method) -> None:
    assert order(fuse({}, method)) == []
    assert order(fuse({"a": []}, method)) == []


@pytest.mark.parametrize("method", EVERY)
def test_one_hit_of_each_list_and_equal_scores_have_a_place(method: Method) -> None:
    lists = {"a": [Ranked("m", 1, 0.8)], "b": [Ranked("n", 1, 5.0), Ranked("o", 1, 5.0)]}
    fused = dict(order(fuse(lists, method)))
    assert fused.keys() == {"m", "n", "o"}
    assert all(score > 0 for score in fused.values())


@given(rankings(), rankings(), st.sampled_from(EVERY))
def test_the_order_of_the_lists_is_nothing(a: list[Ranked], b: list[Ranked], how: Method) -> None:
    one, two = order(fuse({"a": a, "b": b}, how)), order(fuse({"b": b, "a": a}, how))
    assert one == two
    assert {name for name, _ in one} == {item.id for item in (*a, *b)}


@given(rankings(), rankings(), st.sampled_from(EVERY))
def test_shares_are_finite_and_sum_up(a: list[Ranked], b: list[Ranked], how: Method) -> None:
    shares = fuse({"a": a, "b": b}, how)
    held = [share for parts in shares.values() for share in parts.values()]
    assert all(0 <= share < float("inf") for share in held)
    for name, score in order(shares):
        assert score == sum(shares[name].values())


@given(ids, st.lists(scores, min_size=8, max_size=8), st.sampled_from(EVERY))
def test_one_list_of_one_weight_keeps_its_order(
    names: list[str], found: list[float], how: Method
) -> None:
    ranked = [Ranked(n, 1, s) for n, s in zip(names, sorted(found, reverse=True), strict=False)]
    shares = fuse({"a": ranked}, how)
    held = [shares[name]["a"] for name in names]
    assert held == sorted(held, reverse=True)


@given(st.permutations([f"m{i}" for i in range(6)]), st.permutations([f"m{i}" for i in range(6)]))
def test_leading_both_lists_leads_the_fusion(one: list[str], two: list[str]) -> None:
    one.remove("m0")
    two.remove("m0")
    for how in EVERY:
        lists = {
            name: [Ranked(n, 1, 1 - i / 8) for i, n in enumerate(["m0", *held])]
            for name, held in {"a": one, "b": two}.items()
        }
        assert order(fuse(lists, how))[0][0] == "m0"


@given(rankings(), st.floats(0, 2), st.sampled_from(EVERY))
def test_more_weight_is_no_smaller_share(a: list[Ranked], more: float, how: Method) -> None:
    heavier = [item._replace(weight=item.weight + more) for item in a]
    one, two = fuse({"a": a}, how), fuse({"a": heavier}, how)
    assert all(two[name]["a"] >= parts["a"] for name, parts in one.items())
