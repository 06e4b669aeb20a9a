"""Cases, measures and fit of "nothing found"; the numbers of the product come from real sets."""

import io
import math
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from configs.confidence_settings import ConfidenceSettings
from configs.settings import Settings
from evals import nothing
from evals.absence import OWN, Case, conversations, documents, rename, thinned
from evals.calibration import auroc, ece, interval, logistic, reliability
from evals.confidence import balanced, fit, report
from evals.datasets import Dataset, Entry, load
from evals.errors import EvalError
from indexing.dense import Embedder
from retrieval.relevance import E5, Evidence

PEOPLE = (("Ann", "locker"), ("Bob", "ferry"), ("Eve", "garden"), ("Dan", "invoice"))


@pytest.fixture
def talk(write_set: Callable[..., Path]) -> Dataset:
    """Four conversations of one speaker each, who speaks of one thing."""
    turns, queries, qrels = {}, {}, {}
    for name, thing in PEOPLE:
        conv = name.lower()
        for number in range(6):
            text = f"The {thing} has number {number}." if number else "Good morning to you."
            turn = {"text": text, "speaker": name, "conv": conv}
            turns[f"{conv}{number}"] = turn | {"session_date_time": "1:56 pm on 8 May, 2023"}
        queries[f"q-{conv}"] = {
            "text": f"Which {thing} does {name} mention?",
            "conv": conv,
            "category": "single_hop",
        }
        qrels[f"q-{conv}"] = {f"{conv}1": 1}
    return load("talk", write_set("talk", turns, queries, qrels).parent)


@pytest.fixture
def shelf() -> Dataset:
    """Four articles of five paragraphs, each with a word of its own; a question about each."""
    things = [f"{first}{second}ko" for first in "bdgk" for second in "aeiou"]
    held = {f"p{n}": Entry(f"p{n}", f"Here {thing} is told.") for n, thing in enumerate(things)}
    asked = {f"q{n}": Entry(f"q{n}", f"What is {thing}?") for n, thing in enumerate(things)}
    return Dataset("shelf", "shelf", held, asked, {f"q{n}": {f"p{n}": 1} for n in range(20)})


def case(kind: str, coverage: float, best: float = 0.85, **fields: object) -> Case:
    evidence = Evidence(
        listed=50, best=best, rest=0.8, words=3, matched=9, coverage=coverage, known=coverage
    )
    made = {"set": "locomo", "group": "1", "fitted": True} | fields
    return Case(kind=kind, evidence=(evidence,), **made)  # type: ignore[arg-type]


def test_auroc_is_the_share_of_pairs_in_order_and_half_of_the_ties() -> None:
    positive, negative = np.array([0.9, 0.5, 0.4]), np.array([0.5, 0.1])
    assert auroc(positive, negative) == pytest.approx((2 + 1.5 + 1) / 6)
    assert math.isnan(auroc(positive, np.array([])))


def test_an_interval_holds_the_value_and_is_the_same_each_time() -> None:
    random = np.random.default_rng(0)
    own = [(str(n % 8), float(x)) for n, x in enumerate(random.normal(1, 1, 200))]
    other = [(str(n % 8), float(x)) for n, x in enumerate(random.normal(0, 1, 200))]
    low, high = interval(own, other)
    value = auroc(*(np.array([score for _, score in side]) for side in (own, other)))
    assert low < value < high
    assert (low, high) == interval(own, other)


def test_reliability_compares_what_was_said_with_what_was_true() -> None:
    scores = np.array([0.05, 0.05, 0.95, 1.0])
    bins = reliability(scores, np.array([0.0, 1.0, 1.0, 1.0]), np.array([3.0, 1.0, 1.0, 1.0]))
    assert [(each.low, each.weight, each.true) for each in bins] == [(0.0, 4, 0.25), (0.9, 2, 1.0)]
    assert ece(bins) == pytest.approx((4 * 0.2 + 2 * 0.025) / 6)
    assert ece([]) == 0


def test_a_fit_finds_the_weights_that_made_the_data() -> None:
    random = np.random.default_rng(0)
    features = random.normal(size=(20_000, 2))
    odds = features @ np.array([2.0, -1.0]) + 0.5
    truth = (random.uniform(size=len(odds)) < 1 / (1 + np.exp(-odds))).astype(float)
    found = logistic(features, truth, np.ones(len(odds)), ridge=0)
    assert found == pytest.approx([2.0, -1.0, 0.5], abs=0.1)


def test_a_fit_of_separable_cases_stays_finite() -> None:
    found = logistic(np.array([[0.0], [1.0]]), np.array([0.0, 1.0]), np.ones(2))
    assert 0 < found[0] < 100


def test_speakers_are_renamed_place_by_place() -> None:
    assert rename("Did Ann see Bob's Annex?", ["Ann", "Bob"], ["Bob", "Eve"]) == (
        "Did Bob see Eve's Annex?"
    )
    assert rename("Did Ann?", [], []) == "Did Ann?"


def test_each_question_of_a_conversation_is_asked_where_its_answer_is_and_is_not(
    talk: Dataset, settings: Settings, embedder: Embedder
) -> None:
    found = list(conversations(talk, settings, embedder))
    assert [case.kind for case in found] == [OWN, "other", "renamed"] * 4
    assert {case.group for case in found if case.fitted} == {"ann", "dan"}  # every second by name
    covered = {
        (case.group, case.kind): max(each.coverage or 0.0 for each in case.evidence)
        for case in found
    }
    for name, _ in PEOPLE:
        own, other, renamed = (covered[name.lower(), kind] for kind in (OWN, "other", "renamed"))
        assert own > renamed > other == 0


def test_one_of_so_many_questions_is_asked(talk: Dataset) -> None:
    names = list(talk.queries)
    assert list(thinned(talk, 3).queries) == names[::3]
    assert thinned(talk, 1).queries == talk.queries
    assert thinned(talk, 3).documents == talk.documents


def test_a_half_of_one_conversation_has_no_other(
    talk: Dataset, settings: Settings, embedder: Embedder
) -> None:
    queries = {key: query for key, query in talk.queries.items() if query.conv in ("ann", "bob")}
    few = Dataset("few", "few", talk.documents, queries, talk.qrels)
    with pytest.raises(EvalError, match="too few"):
        list(conversations(few, settings, embedder))


def test_each_question_of_an_article_is_asked_with_and_without_its_paragraph(
    shelf: Dataset, settings: Settings, embedder: Embedder
) -> None:
    found = list(documents([shelf], settings, embedder))
    counts: dict[tuple[str, str], int] = {}
    for each in found:
        counts[each.set, each.kind] = counts.get((each.set, each.kind), 0) + 1
    assert counts == {
        ("shelf", OWN): 20,
        ("shelf", "other"): 20,
        ("shelf", "removed"): 20,
        ("shelf, one article", OWN): 20,
        ("shelf, one article", "other"): 20,
    }
    for each in found:
        covered = max(evidence.coverage or 0.0 for evidence in each.evidence)
        assert covered == (1.0 if each.kind == OWN else 0.0)
        if "one article" in each.set:
            assert max(evidence.listed for evidence in each.evidence) == 5
    assert {each.group for each in found if each.fitted} == {"0", "1"}


def test_own_questions_count_as_much_as_all_others_together() -> None:
    found = [case(OWN, 1.0)] * 3 + [case("other", 0.0)] * 2 + [case("renamed", 0.0)]
    assert balanced(found) == pytest.approx([1 / 3] * 3 + [1 / 4] * 2 + [1 / 2])


def test_a_fit_weighs_words_and_cosines_upwards() -> None:
    random = np.random.default_rng(0)
    found = []
    for number in range(400):
        own = number % 2 == 0
        share = float(np.clip(random.normal(0.7 if own else 0.4, 0.2), 0, 1))
        best = float(random.normal(0.87 if own else 0.84, 0.02))
        found.append(case(OWN if own else "other", share, best))
    weights = fit(found)
    assert weights.usual == 0.8
    assert weights.both[0] > 0
    assert weights.both[1] + weights.both[2] > 0
    assert weights.dense[0] > 0
    assert weights.lexical[0] + weights.lexical[1] > 0


def test_a_report_counts_what_is_lost_and_what_is_left_empty() -> None:
    found = [
        case(kind, share, best, fitted=fitted, category="single_hop")
        for fitted in (True, False)
        for kind, share, best in ((OWN, 1.0, 0.95), (OWN, 0.0, 0.8), ("other", 0.0, 0.8))
    ]
    made = report(found, E5)
    held = [row for row in made["separation"] if row["half"] == "held out"]
    assert [(row["category"], row["auroc"]) for row in held] == [("", 0.75), ("single_hop", 0.75)]
    below = {row["kind"]: row["below"]["0.1"] for row in made["below"]}
    assert below == {OWN: 0.5, "other": 1.0}
    assert made["ece"]["locomo"] < 0.3
    assert nothing.missed(made)
    console = Console(record=True, width=200, file=io.StringIO())
    for table in nothing.tables(made):
        console.print(table)
    text = console.export_text()
    assert "locomo single_hop" in text
    assert "0.750" in text


def test_printed_weights_are_settings() -> None:
    table = tomllib.loads(nothing.toml(E5))["retrieval"]["confidence"]
    assert ConfidenceSettings(**table).weights() == E5 == ConfidenceSettings().weights()


def test_missing_data_is_an_error_in_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert nothing.main(["--data", str(tmp_path / "nowhere")]) == 1
    assert "there is no data folder" in " ".join(capsys.readouterr().err.split())
