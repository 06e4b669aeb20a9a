"""Neighbours from a store: the question's filter, one read a scope, every place of a hit."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from indexing.edge import EdgeStore
from indexing.mentions import mention_of
from indexing.types import Collection, Filter, Memory, Point, Scope, session_scope, user_scope
from retrieval.neighbours import with_neighbours
from retrieval.passages import NeighbourPolicy, Passage
from tests.retrieval.conftest import NOW, Put

ANN, BOB, SESSION = user_scope("ann"), user_scope("bob"), session_scope("ann", "s")
AT = datetime(2026, 2, 1, tzinfo=UTC)


def words(text: str) -> int:
    return len(text.split())


def seen(scope: Scope) -> Filter:
    return Filter(scope, NOW)


def ask(
    store: EdgeStore,
    *hits: Memory,
    where: Callable[[Scope], Filter] = seen,
    policy: NeighbourPolicy | None = None,
) -> list[str | None]:
    policy = policy or NeighbourPolicy()
    found: list[Passage | None] = with_neighbours(store, hits, where, policy, words)
    return [passage and passage.text for passage in found]


def talk(
    put: Put, *texts: str, scope: Scope = ANN, name: str = "c", **fields: object
) -> list[Memory]:
    return [
        put(
            text,
            scope,
            source_id=f"turn:{name}{number}",
            conversation_id=name,
            turn_id=str(number),
            speaker="Ann",
            at=AT + timedelta(minutes=number),
            **fields,
        )
        for number, text in enumerate(texts)
    ]


def document(put: Put, text: str, size: int, scope: Scope = ANN, name: str = "d") -> list[Memory]:
    return [
        put(
            text[start : start + size],
            scope,
            kind="document",
            source_id=name,
            start=start,
            end=min(len(text), start + size),
            ordinal=number,
        )
        for number, start in enumerate(range(0, len(text), size))
    ]


def test_turns_and_chunks_of_several_scopes(store: EdgeStore, put: Put) -> None:
    turns = talk(put, "one", "two", "three", "four")
    others = talk(put, "uno", "due", "tre", scope=SESSION)
    talk(put, "eins", "zwei", "drei", scope=BOB)
    chunks = document(put, "abcdefghi", 3)
    hits = [turns[1], others[0], chunks[2]]
    assert ask(store, *hits) == [
        "Ann: one\nAnn: two\nAnn: three",
        "Ann: uno\nAnn: due",
        "defghi",
    ]
    assert ask(store) == []


def test_the_questions_filter_holds_for_neighbours(store: EdgeStore, put: Put) -> None:
    hit = talk(put, "before", "hit", "after")[1]
    put("before", source_id="turn:c0", conversation_id="c", turn_id="0", at=AT, expires_at=NOW)
    assert ask(store, hit) == ["Ann: hit\nAnn: after"]
    then = AT + timedelta(minutes=1)
    assert ask(store, hit, where=lambda s: Filter(s, as_of=then)) == ["before\nAnn: hit"]
    tagged = ask(store, hit, where=lambda s: Filter(s, NOW, tags=("x",)))
    assert tagged == [None]  # the question does not see the hit itself
    late = ask(store, hit, where=lambda s: Filter(s, NOW, said_from=then))
    assert late == ["Ann: hit\nAnn: after"]


def test_a_hit_is_where_the_question_sees_it(store: EdgeStore, put: Put) -> None:
    """Its own place is of another source, and a chunk beside it is a place of another memory."""
    first = document(put, "abcdef", 3, name="d")
    put("xyz", kind="document", source_id="e", start=0, end=3, ordinal=0)
    place = replace(mention_of(first[1]), source_id="e", start=3, end=6, ordinal=1)
    gone = replace(place, source_id="f", expires_at=NOW)
    shared = replace(first[1], also=(place, gone))
    vector = store.vectors("user", Filter(ANN, ids=(shared.id,)))[shared.id]
    store.upsert("user", [Point(shared, vector, {})])
    assert ask(store, shared) == ["abcdef"]
    only = ask(store, shared, where=lambda s: Filter(s, NOW, source_ids=("e",)))
    assert only == ["xyzdef"]
    assert ask(store, first[0]) == ["abcdef"]


def test_one_read_for_all_hits_of_a_scope(store: EdgeStore, put: Put) -> None:
    reads: list[tuple[Collection, Filter]] = []

    class Counting(EdgeStore):
        def scroll(self, collection: Collection, where: Filter) -> Iterator[Memory]:
            reads.append((collection, where))
            return store.scroll(collection, where)

    turns = talk(put, *(f"turn {n}" for n in range(20)))
    chunks = document(put, "abcdefghijklmnopqrstuvwxyz", 3)
    session = talk(put, "a", "b", scope=SESSION)
    counting = Counting(store.folder)
    hits = [turns[3], chunks[4], turns[9], session[0], chunks[4]]
    found = ask(counting, *hits)
    assert [collection for collection, _ in reads] == ["user", "session"]
    assert found[:2] == ["Ann: turn 2\nAnn: turn 3\nAnn: turn 4", "jklmnopqr"]
    assert [asked.ids for _, asked in reads] == [None, None]


def test_times_at_the_ends_of_the_calendar(store: EdgeStore, put: Put) -> None:
    first = put("first", conversation_id="c", turn_id="1", at=datetime(1, 1, 3, tzinfo=UTC))
    last = put("last", conversation_id="d", turn_id="1", at=datetime(9999, 12, 30, tzinfo=UTC))
    policy = NeighbourPolicy(within=timedelta.max)
    assert ask(store, first, last, policy=policy) == [None, None]


def test_what_stands_alone_brings_nothing(store: EdgeStore, put: Put) -> None:
    fact = put("Anna rows", kind="fact", source_id="fact:1")
    single = talk(put, "hello", name="alone")[0]
    assert ask(store, fact, single) == [None, None]
