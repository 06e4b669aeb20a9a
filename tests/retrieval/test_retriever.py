from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from indexing.edge import EdgeStore
from indexing.errors import InvalidId, InvalidInput, StoreUnavailable
from indexing.types import (
    COLLECTIONS,
    GLOBAL,
    Branch,
    Collection,
    Filter,
    Memory,
    Scored,
    session_scope,
    user_scope,
)
from retrieval.retriever import Retriever
from retrieval.types import Narrow, Result, ScopePolicy

from .conftest import NOW

Put = Callable[..., Memory]


def texts(result: Result) -> list[str]:
    return [hit.memory.text for hit in result]


def test_three_scopes_are_searched_and_nobody_elses(retriever: Retriever, put: Put) -> None:
    put("cat policy", GLOBAL)
    put("my cat", user_scope("ann"))
    put("cat of this session", session_scope("ann", "s1"))
    put("secret cat", user_scope("bob"))
    put("cat of another session", session_scope("ann", "s2"))
    assert set(texts(retriever.retrieve("cat", "ann", "s1"))) == {
        "cat policy",
        "my cat",
        "cat of this session",
    }
    assert set(texts(retriever.retrieve("cat", "ann"))) == {"cat policy", "my cat"}
    assert texts(retriever.retrieve("cat", None)) == ["cat policy"]


@pytest.mark.parametrize("user", ["Ann", "ann ", "аnn", "ann\u0301", "an", "annn"])
def test_a_user_id_is_compared_exactly(retriever: Retriever, put: Put, user: str) -> None:
    put("my cat", user_scope("ann"))
    assert texts(retriever.retrieve("cat", user)) == []


def test_a_keyword_only_hit_appears(retriever: Retriever, put: Put) -> None:
    put("cat cat cat")
    put("tax form BX-4471-A")
    strict = {name: ScopePolicy(thresholds={"dense": 0.9}) for name in COLLECTIONS}
    hits = replace(retriever, policies=strict).retrieve("cat BX-4471-A", "ann").hits
    (code,) = (hit for hit in hits if "BX" in hit.memory.text)
    assert code.stages.keys() == {"sparse"}


def test_a_dense_only_hit_appears(retriever: Retriever, put: Put) -> None:
    put("the tax was paid")
    (hit,) = retriever.retrieve("taxation", "ann").hits
    assert hit.stages.keys() == {"dense"}


def test_shares_add_up_to_the_score(retriever: Retriever, put: Put) -> None:
    for text in ("cat and dog", "cat alone", "dog and sea", "котик и cat"):
        put(text)
    hits = retriever.retrieve("cat dog", "ann").hits
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]
    for hit in hits:
        assert sum(stage.share for stage in hit.stages.values()) == pytest.approx(hit.score)
    assert hits[0].memory.text == "cat and dog"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_thresholds_apply_before_fusion(retriever: Retriever, put: Put) -> None:
    put("cat")
    put("sea")
    strict = {name: ScopePolicy(thresholds={"dense": 0.5}) for name in COLLECTIONS}
    assert texts(replace(retriever, policies=strict).retrieve("cat", "ann")) == ["cat"]


def test_a_branch_of_weight_zero_is_not_asked(retriever: Retriever, put: Put) -> None:
    put("cat")
    sparse = {name: ScopePolicy(weights={"dense": 0, "sparse": 1}) for name in COLLECTIONS}
    result = replace(retriever, policies=sparse).retrieve("cat", "ann")
    assert result.hits[0].stages.keys() == {"sparse"}
    assert all(scope.candidates.keys() == {"sparse"} for scope in result.trace.scopes)


def test_expired_memories_do_not_fill_the_list(retriever: Retriever, put: Put) -> None:
    for i in range(150):
        put(f"cat {i}", expires_at=NOW)
    put("sea cat", expires_at=NOW + timedelta(seconds=1))
    assert texts(retriever.retrieve("cat", "ann", k=5)) == ["sea cat"]


def test_what_is_deleted_between_search_and_read_is_left_out(
    retriever: Retriever, put: Put, store: EdgeStore
) -> None:
    gone, kept = put("cat one"), put("cat two")

    class Racing:
        def search(
            self, collection: Collection, branches: Sequence[Branch], where: Filter
        ) -> list[list[Scored]]:
            found = store.search(collection, branches, where)
            store.delete("user", Filter(gone.scope, ids=(gone.id,)))
            return found

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

    racing = replace(retriever, store=Racing())  # type: ignore[arg-type]
    assert texts(racing.retrieve("cat", "ann")) == [kept.text]


class Failing:
    """A store one of whose collections does not answer."""

    def __init__(self, store: EdgeStore, *broken: Collection) -> None:
        self.store, self.broken = store, broken

    def search(
        self, collection: Collection, branches: Sequence[Branch], where: Filter
    ) -> list[list[Scored]]:
        if collection in self.broken:
            raise StoreUnavailable("no answer")
        return self.store.search(collection, branches, where)

    def __getattr__(self, name: str) -> object:
        return getattr(self.store, name)


def test_a_failing_scope_is_reported_and_does_not_sink_the_others(
    retriever: Retriever, put: Put, store: EdgeStore
) -> None:
    put("cat policy", GLOBAL)
    put("my cat")
    half = replace(retriever, store=Failing(store, "user"))  # type: ignore[arg-type]
    result = half.retrieve("cat", "ann")
    assert texts(result) == ["cat policy"]
    assert result.trace.notes == ("user:ann: no answer",)
    none = replace(retriever, store=Failing(store, "user", "global"))  # type: ignore[arg-type]
    with pytest.raises(StoreUnavailable, match="no answer"):
        none.retrieve("cat", "ann")


def test_a_scope_that_cannot_be_read_is_asked_once_and_the_others_fill_its_places(
    retriever: Retriever, put: Put, store: EdgeStore
) -> None:
    for number in range(6):
        put(f"cat {number}")
        put(f"cat policy of many more words {number}", GLOBAL)
    reads: list[Collection] = []

    class Unreadable(Failing):
        def search(
            self, collection: Collection, branches: Sequence[Branch], where: Filter
        ) -> list[list[Scored]]:
            return self.store.search(collection, branches, where)

        def get(self, collection: Collection, where: Filter, limit: int) -> list[Memory]:
            reads.append(collection)
            if collection in self.broken:
                raise StoreUnavailable("no answer")
            return self.store.get(collection, where, limit=limit)

    half = replace(retriever, store=Unreadable(store, "user"))  # type: ignore[arg-type]
    result = half.retrieve("cat", "ann", k=2)
    assert len(texts(result)) == 2
    assert all(text.startswith("cat policy") for text in texts(result))
    assert reads.count("user") == 1
    assert result.trace.notes == ("user:ann: no answer",)
    none = replace(retriever, store=Unreadable(store, "user", "global"))  # type: ignore[arg-type]
    with pytest.raises(StoreUnavailable, match="no answer"):
        none.retrieve("cat", "ann", k=2)


def test_bad_arguments_are_named(retriever: Retriever) -> None:
    for query, user, session, k, error in (
        ("  ", "ann", None, 8, InvalidInput),
        ("cat", "ann", None, 0, InvalidInput),
        ("cat", None, "s1", 8, InvalidInput),
        ("cat", "", None, 8, InvalidId),
        ("cat", "*", None, 8, InvalidId),
        ("cat", "ann", "", 8, InvalidId),
        (None, "ann", None, 8, InvalidInput),
        ("cat", "ann", None, 1.5, InvalidInput),
        ("cat", "ann", None, True, InvalidInput),
    ):
        with pytest.raises(error):
            retriever.retrieve(query, user, session, k)  # type: ignore[arg-type]


def test_kinds_narrow_the_answer(retriever: Retriever, put: Put) -> None:
    put("cat turn")
    put("cat fact", kind="fact")
    assert texts(retriever.retrieve("cat", "ann", narrow=Narrow(kinds=("fact",)))) == ["cat fact"]
    assert texts(retriever.retrieve("cat", "ann", narrow=Narrow(kinds=()))) == []
