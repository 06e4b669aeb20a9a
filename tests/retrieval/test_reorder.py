from datetime import UTC, datetime, timedelta

from indexing.edge import EdgeStore
from indexing.types import Memory, user_scope
from retrieval.reorder import Reordering, vectors_of
from retrieval.trace import Log
from retrieval.types import Hit
from tests.retrieval.conftest import NOW, Put

DAY = timedelta(days=1)


def hit(memory: Memory, score: float) -> Hit:
    return Hit(memory, 0, score, {})


def order(hits: list[Hit]) -> list[str]:
    return [hit.memory.text for hit in hits]


def test_variety_is_by_the_stored_vectors(store: EdgeStore, put: Put) -> None:
    cat, again = put("a cat"), put("the cat")
    dog = put("a dog", user_scope("bob"))
    hits, log = [hit(cat, 1.0), hit(again, 0.9), hit(dog, 0.5)], Log()
    found = Reordering(lambda_=0.5)(hits, store, NOW, log)
    assert order(found) == ["a cat", "a dog", "the cat"]
    assert [one.score for one in found] == [1.0, 0.5, 0.9]
    assert [(stage.name, stage.note) for stage in log.stages] == [("mmr", "lambda 0.5")]
    assert set(vectors_of(hits, store)) == {cat.id, again.id, dog.id}


def test_what_ages_has_a_lower_score_and_place(store: EdgeStore, put: Put) -> None:
    old = put("old", at=NOW - 60 * DAY)
    new = put("new", at=NOW)
    page = put("page", kind="document", at=datetime(2020, 1, 1, tzinfo=UTC))
    log = Log()
    hits = [hit(old, 1.0), hit(page, 0.9), hit(new, 0.5)]
    found = Reordering({"turn": 30 * DAY})(hits, store, NOW, log)
    assert [(one.memory.text, one.score) for one in found] == [
        ("page", 0.9),
        ("new", 0.5),
        ("old", 0.25),
    ]
    assert [stage.note for stage in log.stages] == ["half-lives: turn 30 d"]


def test_off_and_nothing(store: EdgeStore, put: Put) -> None:
    hits, log = [hit(put("b"), 0.1), hit(put("a"), 0.1)], Log()
    assert Reordering()(hits, store, NOW, log) == hits
    assert Reordering({"turn": DAY}, 0.5)([], store, NOW, log) == []
    assert all(stage.name == "recency" for stage in log.stages)


def test_what_is_gone_meanwhile_keeps_its_place(store: EdgeStore, put: Put) -> None:
    cat = put("a cat")
    ghost = Memory(
        id="00000000-0000-4000-8000-000000000000",
        scope=cat.scope,
        kind="turn",
        text="ghost",
        source_id="s",
    )
    found = Reordering(lambda_=0.5)([hit(cat, 1.0), hit(ghost, 0.9)], store, NOW, Log())
    assert order(found) == ["a cat", "ghost"]
