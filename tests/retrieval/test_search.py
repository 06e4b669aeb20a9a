import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from indexing.edge import EdgeStore
from indexing.errors import InvalidInput, StoreUnavailable
from indexing.sparse import weigh_query
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
from retrieval.search import Question, search
from retrieval.types import Narrow, ScopePolicy

from .conftest import NOW, AxisEmbedder

Put = Callable[..., Memory]
POLICIES = {collection: ScopePolicy() for collection in COLLECTIONS}


class Slow:
    """A store that answers for one collection only when it is let go."""

    concurrent = True

    def __init__(self, store: EdgeStore, slow: Collection) -> None:
        self.store, self.slow, self.gate = store, slow, threading.Event()

    def search(
        self, collection: Collection, branches: Sequence[Branch], where: Filter
    ) -> list[list[Scored]]:
        if collection == self.slow:
            self.gate.wait(30)
        return self.store.search(collection, branches, where)

    def __getattr__(self, name: str) -> object:
        return getattr(self.store, name)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as threads:
        yield threads


def question(text: str) -> Question:
    return Question(AxisEmbedder().query(text)[0], weigh_query(text), NOW)


def test_a_slow_scope_is_reported_and_does_not_hold_up_the_others(
    store: EdgeStore, put: Put, pool: ThreadPoolExecutor
) -> None:
    put("cat policy", GLOBAL)
    put("my cat")
    slow = Slow(store, "user")
    scopes = [GLOBAL, user_scope("ann")]
    try:
        answers = search(slow, scopes, POLICIES, question("cat"), pool, 0.2)  # type: ignore[arg-type]
    finally:
        slow.gate.set()
    assert [len(a.branches.get("dense", ())) for a in answers] == [1, 0]
    assert answers[1].trace.error == "no answer within 0.2 s"


def test_when_every_scope_is_late_the_caller_is_told(
    store: EdgeStore, pool: ThreadPoolExecutor
) -> None:
    slow = Slow(store, "user")
    try:
        with pytest.raises(StoreUnavailable, match=r"no answer within 0\.1 s"):
            search(slow, [user_scope("ann")], POLICIES, question("cat"), pool, 0.1)  # type: ignore[arg-type]
    finally:
        slow.gate.set()


def test_the_embedded_engine_leaves_out_what_it_has_no_time_for(
    store: EdgeStore, put: Put, pool: ThreadPoolExecutor
) -> None:
    put("my cat")
    slow = Slow(store, "global")
    slow.concurrent = False
    slow.gate.wait = lambda seconds: threading.Event().wait(0.3)  # type: ignore[method-assign]
    scopes = [GLOBAL, user_scope("ann")]
    answers = search(slow, scopes, POLICIES, question("cat"), pool, 0.1)  # type: ignore[arg-type]
    assert [bool(answer.trace.error) for answer in answers] == [False, True]


def test_a_scope_of_weight_zero_is_not_asked(retriever: Retriever, put: Put) -> None:
    put("cat policy", GLOBAL)
    put("my cat")
    off = {**POLICIES, "global": ScopePolicy(weight=0)}
    result = replace(retriever, policies=off).retrieve("cat", "ann")
    assert [hit.memory.text for hit in result] == ["my cat"]
    assert result.trace.scopes[0].candidates == {}


def test_a_heavier_scope_comes_first(retriever: Retriever, put: Put) -> None:
    put("cat", GLOBAL)
    put("cat and dog")
    light = {**POLICIES, "global": ScopePolicy(weight=0.01)}
    assert retriever.retrieve("cat", "ann").hits[0].memory.text == "cat"
    found = replace(retriever, policies=light).retrieve("cat", "ann").hits
    assert found[0].memory.text == "cat and dog"


def test_what_is_hidden_is_counted_when_asked(retriever: Retriever, put: Put) -> None:
    put("cat now")
    put("sea and cat")
    for i in range(3):
        put(f"cat old {i}", expires_at=NOW)
    put("cat before", kind="fact", subject="user.cat", valid_to=NOW - timedelta(days=1))
    strict = {**POLICIES, "user": ScopePolicy(thresholds={"dense": 0.9})}
    strictly = replace(retriever, policies=strict)
    assert strictly.retrieve("cat", "ann").trace.scopes[1].hidden is None
    hidden = strictly.retrieve("cat", "ann", explain=True).trace.scopes[1].hidden
    assert hidden is not None
    assert (hidden.expired, hidden.superseded, hidden.below) == (3, 1, {"dense": 1})


def test_a_language_narrows_both_branches(retriever: Retriever, put: Put) -> None:
    put("cat")
    put("кот cat котик и ещё слово")
    found = retriever.retrieve("cat", "ann", narrow=Narrow(languages=("ru",)))
    assert [hit.memory.lang for hit in found] == ["ru"]


def test_what_is_known_in_several_scopes_is_one_hit(retriever: Retriever, put: Put) -> None:
    put("cat", GLOBAL, key="k", source_id="handbook")
    mine = put("cat", key="k", source_id="chat")
    session = put("cat", session_scope("ann", "s"), key="k", source_id="today")
    put("another cat", key="other")
    first, _ = retriever.retrieve("cat", "ann", "s").hits
    assert first.memory.id == session.id
    assert set(first.sources) == {"handbook", "chat", "today"}
    assert {copy.scope for copy in first.also} == {GLOBAL, mine.scope}
    without = retriever.retrieve("cat", "ann").hits[0]
    assert without.memory.id == mine.id
    dropped = retriever.retrieve("cat", "ann", "s").trace.dropped
    assert [drop.why for drop in dropped] == ["duplicate", "duplicate"]


def test_copies_do_not_make_an_answer_short(retriever: Retriever, put: Put) -> None:
    for i in range(6):
        put(f"cat {i}", GLOBAL, key=str(i))
        put(f"cat {i}", key=str(i))
    hits = retriever.retrieve("cat", "ann", k=5).hits
    assert len({hit.memory.key for hit in hits}) == 5


def test_a_scope_that_cannot_be_read_leaves_the_others(
    retriever: Retriever, put: Put, store: EdgeStore
) -> None:
    put("cat policy", GLOBAL)
    put("my cat")

    class Half:
        def get(self, collection: Collection, *args: object, **more: object) -> object:
            if collection == "user":
                raise StoreUnavailable("no answer")
            return store.get(collection, *args, **more)  # type: ignore[arg-type]

        def __getattr__(self, name: str) -> object:
            return getattr(store, name)

    half = replace(retriever, store=Half())  # type: ignore[arg-type]
    result = half.retrieve("cat", "ann")
    assert [hit.memory.text for hit in result] == ["cat policy"]
    assert result.trace.notes == ("user:ann: no answer",)
    whole = half.retrieve("cat", "ann", budget=100)
    assert [hit.memory.text for hit in whole] == ["cat policy"]
    assert whole.trace.route == "vector"


def test_time_and_tags_narrow_an_answer(retriever: Retriever, put: Put) -> None:
    day = timedelta(days=1)
    put("cat of old", at=NOW - 9 * day, tags=("pets",))
    put("cat of late", at=NOW - day, tags=("home", "pets"))
    put("cat of no time", tags=("home",))

    def found(**narrow: object) -> set[str]:
        asked = retriever.retrieve("cat", "ann", narrow=Narrow(**narrow))  # type: ignore[arg-type]
        assert asked.trace.filters.keys() == narrow.keys()
        return {hit.memory.text.removeprefix("cat of ") for hit in asked}

    assert found(tags=("PETS ",)) == {"old", "late"}
    assert found(said_from=NOW - 2 * day) == {"late"}
    assert found(said_to=NOW - 2 * day) == {"old"}
    assert found(said_from=NOW - 9 * day, said_to=NOW, tags=("home",)) == {"late"}
    assert found(sources=("s",)) == {"old", "late", "no time"}
    assert found(sources=("elsewhere",)) == set()


@pytest.mark.parametrize(
    ("narrow", "message"),
    [
        (Narrow(kinds=("poem",)), "'poem' is no kind"),  # type: ignore[arg-type]
        (Narrow(languages=("de",)), "'de' is no language"),
        (Narrow(said_from=NOW.replace(tzinfo=None)), "said_from has no time zone"),
        (Narrow(said_from="2026-01-01"), "said_from is a datetime, not str"),  # type: ignore[arg-type]
        (Narrow(said_from=NOW, said_to=NOW), "said_from is not before said_to"),
        (Narrow(tags=("",)), "a tag has 1 to 64 characters"),
    ],
)
def test_a_bad_filter_is_named(retriever: Retriever, narrow: Narrow, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        retriever.retrieve("cat", "ann", narrow=narrow)


def test_more_are_found_than_a_list_usually_has_where_more_are_asked_for(
    retriever: Retriever, put: Put
) -> None:
    for i in range(12):
        put(f"cat {i}")
    short = replace(retriever, policies={name: ScopePolicy(limit=3) for name in COLLECTIONS})
    assert len(short.retrieve("cat", "ann", k=12).hits) == 12
    assert len(short.retrieve("cat", "ann", k=2).hits) == 2
