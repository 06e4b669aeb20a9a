from math import log2

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.metrics import MEASURES, NAMES, by_category, by_query, mean
from evals.types import Qrels, Run, ranked


def test_the_measures_have_the_names_that_reports_use() -> None:
    assert NAMES == ("nDCG@10", "R@5", "R@10", "R@50", "RR@10")


def test_by_hand_two_relevant_at_ranks_two_and_six() -> None:
    run = {"q": ranked(["x1", "a", "x2", "x3", "x4", "b"])}
    row = by_query({"q": {"a": 1, "b": 1}}, run)["q"]
    dcg = 1 / log2(2 + 1) + 1 / log2(6 + 1)
    ideal = 1 / log2(1 + 1) + 1 / log2(2 + 1)
    assert row["nDCG@10"] == pytest.approx(dcg / ideal)
    assert row["R@5"] == 1 / 2
    assert row["R@10"] == row["R@50"] == 1
    assert row["RR@10"] == 1 / 2


def test_by_hand_graded_relevance_counts_linearly() -> None:
    row = by_query({"q": {"a": 1, "b": 3}}, {"q": ranked(["a", "b"])})["q"]
    dcg = 1 / log2(2) + 3 / log2(3)
    ideal = 3 / log2(2) + 1 / log2(3)
    assert row["nDCG@10"] == pytest.approx(dcg / ideal)


def test_by_hand_rank_eleven_counts_for_recall_at_fifty_only() -> None:
    row = by_query({"q": {"a": 1}}, {"q": ranked([*(f"x{i}" for i in range(10)), "a"])})["q"]
    assert row == {"nDCG@10": 0, "R@5": 0, "R@10": 0, "R@50": 1, "RR@10": 0}


def test_a_relevant_document_that_was_never_found_lowers_recall() -> None:
    row = by_query({"q": {"a": 1, "not in the corpus": 1}}, {"q": ranked(["a"])})["q"]
    assert row["R@50"] == 1 / 2


def test_a_query_without_results_counts_zero_and_one_without_judgements_not_at_all() -> None:
    run = {"found": ranked(["a"]), "empty": {}, "unjudged": ranked(["a"])}
    rows = by_query({"found": {"a": 1}, "empty": {"a": 1}, "absent": {"a": 1}}, run)
    assert {query: row["nDCG@10"] for query, row in rows.items()} == {
        "found": 1,
        "empty": 0,
        "absent": 0,
    }
    assert mean(rows.values())["nDCG@10"] == pytest.approx(1 / 3)


def test_equal_scores_keep_the_order_they_were_ranked_in() -> None:
    for order in (["a", "z"], ["z", "a"]):
        row = by_query({"q": {"a": 1}}, {"q": ranked(order)})["q"]
        assert row["RR@10"] == 1 / (order.index("a") + 1)


def test_categories_have_their_own_means() -> None:
    rows = by_query(
        {"1": {"a": 1}, "2": {"a": 1}, "3": {"a": 1}, "4": {"a": 1}},
        {"1": ranked(["a"]), "2": ranked(["b"]), "3": ranked(["b", "a"]), "4": ranked(["a"])},
    )
    found = by_category(rows, {"1": "easy", "2": "easy", "3": "hard", "4": ""})
    assert found["easy"]["RR@10"] == (1 + 0) / 2
    assert found["hard"]["RR@10"] == 1 / 2
    assert list(found) == ["easy", "hard"]


DOCUMENTS = st.sampled_from([f"d{i}" for i in range(15)])
QRELS = st.dictionaries(
    st.sampled_from("abc"), st.dictionaries(DOCUMENTS, st.just(1), min_size=1), min_size=1
)
RUNS = st.dictionaries(st.sampled_from("abcd"), st.lists(DOCUMENTS, unique=True).map(ranked))


@given(QRELS, RUNS)
def test_means_agree_with_ir_measures(qrels: Qrels, run: Run) -> None:
    ours = mean(by_query(qrels, run).values())
    if not any(run.get(query) for query in qrels):
        assert ours == dict.fromkeys(NAMES, 0)
        return
    theirs = ir_measures.calc_aggregate(MEASURES, qrels, run)
    assert ours == pytest.approx({str(measure): value for measure, value in theirs.items()})
