from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from indexing.edge import EdgeStore
from indexing.errors import InvalidInput
from indexing.types import GLOBAL, Filter, Memory, Scope, session_scope, user_scope
from retrieval.full import everything
from retrieval.retriever import Retriever

from .conftest import NOW, words

Put = Callable[..., Memory]

ANN = user_scope("ann")


def where(scope: Scope) -> Filter:
    return Filter(scope, now=NOW)


def read(store: EdgeStore, *scopes: Scope, budget: int) -> list[str] | None:
    found = everything(store, scopes, where, budget, words)
    return None if found is None else [memory.text for memory in found]


def test_what_fits_is_read_in_the_order_a_person_would(store: EdgeStore, put: Put) -> None:
    day = timedelta(days=1)
    put("last words", ANN, at=NOW - day)
    put("first words", ANN, at=NOW - 2 * day)
    put("part two", GLOBAL, kind="document", uri="b.md", start=8)
    put("part one", GLOBAL, kind="document", uri="b.md", start=0)
    put("another file", GLOBAL, kind="document", uri="a.md")
    put("working memory", session_scope("ann", "s"))
    put("private", user_scope("bob"))
    put("gone", ANN, expires_at=NOW)
    expected = ["another file", "part one", "part two", "first words", "last words"]
    assert read(store, GLOBAL, ANN, budget=10) == expected
    assert read(store, GLOBAL, ANN, budget=9) is None
    assert read(store, GLOBAL, ANN, session_scope("ann", "s"), budget=12) == [
        *expected,
        "working memory",
    ]


def test_more_than_a_page_is_read_whole(store: EdgeStore, put: Put) -> None:
    said = [f"word{i}" for i in range(100)]
    for i, text in enumerate(said):
        put(text, ANN, at=NOW - timedelta(minutes=100 - i))
    assert read(store, ANN, budget=100) == said
    assert read(store, ANN, budget=99) is None


def test_nothing_is_all_there_is(store: EdgeStore) -> None:
    assert read(store, GLOBAL, ANN, budget=1) == []


def test_a_small_corpus_is_handed_over_and_no_model_is_asked(
    retriever: Retriever, put: Put
) -> None:
    put("the cat sleeps", ANN, at=NOW)
    put("taxes are due", GLOBAL, at=NOW)
    result = retriever.retrieve("dog", "ann", budget=6)
    assert [hit.memory.text for hit in result] == ["taxes are due", "the cat sleeps"]
    assert [hit.rank for hit in result] == [1, 2]
    assert result.trace.route == "full"
    assert "2 memories fit the budget of 6 tokens" in result.trace.reason
    assert result.trace.milliseconds.keys() == {"full", "total"}
    assert len(retriever.vectors) == 0


def test_the_best_k_are_shown_where_fewer_are_asked_for_than_fit(
    retriever: Retriever, put: Put
) -> None:
    put("taxes are due", GLOBAL, at=NOW)
    put("the cat sleeps", ANN, at=NOW)
    best = retriever.retrieve("cat", "ann", k=1, budget=6)
    assert [hit.memory.text for hit in best] == ["the cat sleeps"]
    assert best.trace.route == "vector"
    assert retriever.retrieve("cat", "ann", k=2, budget=6).trace.route == "full"


def test_a_budget_is_filled_with_the_best_that_fit(retriever: Retriever, put: Put) -> None:
    put("cat cat", ANN)
    put("cat with a very long tale of many words", ANN)
    put("cat again", ANN)
    result = retriever.retrieve("cat", "ann", budget=4)
    assert {hit.memory.text for hit in result} == {"cat cat", "cat again"}
    assert [hit.rank for hit in result] == [1, 2]
    (dropped,) = result.trace.dropped
    assert dropped.why == "budget"
    assert dropped.detail.startswith("9 tokens")
    assert len(retriever.retrieve("cat", "ann", k=1, budget=4).hits) == 1


def test_a_budget_below_one_token_is_refused(retriever: Retriever) -> None:
    with pytest.raises(InvalidInput, match="budget is 0"):
        retriever.retrieve("cat", "ann", budget=0)


def test_speakers_count(store: EdgeStore, put: Put) -> None:
    put("good morning", ANN, speaker="Ann", at=datetime(2026, 1, 1, tzinfo=NOW.tzinfo))
    assert read(store, ANN, budget=2) is None
    assert read(store, ANN, budget=3) == ["good morning"]
