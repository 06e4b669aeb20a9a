"""What every `VectorStore` promises, run on each one."""

import unicodedata
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import log

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indexing.errors import InvalidId, InvalidInput, SchemaMismatch, StoreError
from indexing.mentions import mention_of
from indexing.store import VectorStore
from indexing.types import (
    GLOBAL,
    Branch,
    Filter,
    Memory,
    Point,
    Scope,
    Scored,
    SparseVector,
    Stretch,
    VectorNames,
    check_id,
    session_scope,
    user_scope,
)

PointMaker = Callable[..., Point]

ANN, BOB = user_scope("ann"), user_scope("bob")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
X = np.array([1, 0, 0, 0], dtype=np.float32)


NAMES = VectorNames({"dense": 4}, ("sparse",))


def near(limit: int = 10, threshold: float | None = None) -> Branch:
    return Branch("dense", X, limit, threshold)


def words(*terms: int, limit: int = 10, threshold: float | None = None) -> Branch:
    return Branch("sparse", SparseVector(terms, (1.0,) * len(terms)), limit, threshold)


def texts(store: VectorStore, hits: list[Scored], scope: Scope = ANN) -> list[str]:
    """Read the memories of hits, in their order."""
    ids = tuple(hit.id for hit in hits)
    found = {m.id: m.text for m in store.scroll(scope.collection, Filter(scope, ids=ids))}
    return [found[name] for name in ids]


def test_ranks_and_scores_of_every_branch_in_order(store: VectorStore, point: PointMaker) -> None:
    store.upsert(
        "user",
        [
            point("far", dense=(0, 1, 0, 0), terms=(7, 8)),
            point("mid", dense=(0.6, 0.8, 0, 0), terms=(7,)),
            point("top", dense=(1, 0, 0, 0), terms=(9,)),
        ],
    )
    dense, sparse = store.search("user", [near(), words(7, 8)], Filter(ANN))
    assert texts(store, dense) == ["top", "mid", "far"]
    assert [hit.score for hit in dense] == pytest.approx([1.0, 0.6, 0.0], abs=1e-6)
    assert texts(store, sparse) == ["far", "mid"]
    # idf = ln(1 + (N - df + 0.5) / (df + 0.5)), N = 3
    seven, eight = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5)
    assert [hit.score for hit in sparse] == pytest.approx([seven + eight, seven], abs=1e-5)


def test_upsert_replaces_equal_ids(store: VectorStore, point: PointMaker) -> None:
    old = point("old", terms=(1,))
    new = point("new", id=old.memory.id, dense=(0, 1, 0, 0), terms=(2,))
    store.upsert("user", [old])
    store.upsert("user", [new])
    assert store.get("user", Filter(ANN), 10) == [new.memory]
    (hits,) = store.search("user", [words(1)], Filter(ANN))
    assert hits == []


def test_pages_follow_each_other_by_id(store: VectorStore, point: PointMaker) -> None:
    points = [point(f"text {number}") for number in range(7)]
    store.upsert("user", [*points, *(point(f"other {number}", BOB) for number in range(7))])
    ids = sorted(one.memory.id for one in points)
    everything, shown, last = Filter(ANN), [], ""
    while page := store.get("user", everything, 3, last):
        shown += [memory.id for memory in page]
        last = shown[-1]
    assert shown == ids
    assert [m.id for m in store.get("user", Filter(ANN, ids=tuple(ids)), 2, ids[3])] == ids[4:6]
    store.delete("user", Filter(ANN, ids=(ids[3],)))
    assert [m.id for m in store.get("user", everything, 2, ids[3])] == ids[4:6]
    with pytest.raises(InvalidInput, match="a memory id is a lower-case UUID"):
        store.get("user", everything, 2, "x")


def test_another_tenants_texts_do_not_change_my_scores(
    store: VectorStore, point: PointMaker
) -> None:
    store.upsert("user", [point("a", terms=(1, 2)), point("b", terms=(2,))])
    before = store.search("user", [words(1, 2)], Filter(ANN))
    store.upsert("user", [point(f"x{i}", BOB, terms=(1,)) for i in range(50)])
    assert store.search("user", [words(1, 2)], Filter(ANN)) == before


def test_expired_memories_do_not_count_in_idf(store: VectorStore, point: PointMaker) -> None:
    store.upsert("user", [point("a", terms=(1, 2)), point("b", terms=(2,))])
    before = store.search("user", [words(1, 2)], Filter(ANN, NOW))
    gone = NOW - timedelta(seconds=1)
    store.upsert("user", [point(f"x{i}", terms=(1,), expires_at=gone) for i in range(9)])
    assert store.search("user", [words(1, 2)], Filter(ANN, NOW)) == before


def test_a_filter_does_not_change_idf(store: VectorStore, point: PointMaker) -> None:
    store.upsert("user", [point(f"t{i}", terms=(1,)) for i in range(5)])
    store.upsert("user", [point("fact", kind="fact", terms=(1, 2))])
    (all_kinds,) = store.search("user", [words(2)], Filter(ANN))
    (facts,) = store.search("user", [words(2)], Filter(ANN, kinds=("fact",)))
    assert facts == all_kinds


def variants(base: str) -> list[str]:
    forms = [unicodedata.normalize(form, base) for form in ("NFC", "NFD", "NFKC", "NFKD")]
    near_ids = [base[:-1], base + "0", base + " ", " " + base, base + "\0", base + "*", base * 2]
    return list(dict.fromkeys([base, base.upper(), base.lower(), *forms, *near_ids]))


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(base=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12))
def test_a_user_sees_only_exactly_own_memories(
    store: VectorStore, point: PointMaker, base: str
) -> None:
    users = []
    for name in variants(base):
        try:
            users.append(user_scope(check_id(name, "user id")))
        except InvalidId:
            continue
    points = [point("é1", scope, terms=(1,)) for scope in users]
    store.upsert("user", points)
    for scope, mine in zip(users, points, strict=True):
        dense, sparse = store.search("user", [near(100), words(1, limit=100)], Filter(scope))
        assert [hit.id for hit in dense + sparse] == [mine.memory.id] * 2
        assert list(store.scroll("user", Filter(scope))) == [mine.memory]


def test_sessions_of_one_user_are_apart(store: VectorStore, point: PointMaker) -> None:
    store.open_collection("session", NAMES)
    one, two = session_scope("ann", "1"), session_scope("ann", "12")
    store.upsert("session", [point("one", one), point("two", two)])
    (hits,) = store.search("session", [near()], Filter(one))
    assert texts(store, hits, one) == ["one"]
    assert store.delete("session", Filter(one)) == 1
    assert store.count("session", Filter(two)) == 1


def test_expired_neighbours_do_not_fill_the_list(store: VectorStore, point: PointMaker) -> None:
    gone = [point(f"gone {i}", expires_at=NOW, terms=(1,)) for i in range(500)]
    later = NOW + timedelta(seconds=1)
    live = [
        point(f"live {i}", dense=(0.5, 0.8, 0, 0), terms=(1,), expires_at=later if i else None)
        for i in range(5)
    ]
    store.upsert("user", gone + live)
    for hits in store.search("user", [near(5), words(1, limit=5)], Filter(ANN, NOW)):
        assert sorted(texts(store, hits)) == [f"live {i}" for i in range(5)]
    assert store.count("user", Filter(ANN, NOW)) == 5
    assert store.count("user", Filter(ANN)) == 505


def test_thresholds_hold_per_branch(store: VectorStore, point: PointMaker) -> None:
    store.upsert(
        "user", [point("a", terms=(1,)), point("b", dense=(0.5, 0.8660254, 0, 0), terms=(1, 2))]
    )
    dense, sparse = store.search("user", [near(9, 0.7), words(1, 2, threshold=0.5)], Filter(ANN))
    assert (texts(store, dense), texts(store, sparse)) == (["a"], ["b"])


def test_kinds_sources_and_ids_narrow(store: VectorStore, point: PointMaker) -> None:
    a = point("a", kind="fact", source_id="s1")
    b = point("b", kind="fact", source_id="s10")
    c = point("c", kind="turn", source_id="s1")
    store.upsert("user", [a, b, c])

    def found(where: Filter) -> list[str]:
        (hits,) = store.search("user", [near()], where)
        assert sorted(texts(store, hits)) == sorted(m.text for m in store.scroll("user", where))
        return sorted(texts(store, hits))

    assert found(Filter(ANN, kinds=("fact",))) == ["a", "b"]
    assert found(Filter(ANN, kinds=("fact", "turn"), source_ids=("s1",))) == ["a", "c"]
    assert found(Filter(ANN, ids=(b.memory.id, c.memory.id))) == ["b", "c"]
    assert found(Filter(BOB, ids=(b.memory.id,))) == []


def test_any_place_of_a_memory_is_found_by_its_source_tags_and_time(
    store: VectorStore, point: PointMaker
) -> None:
    day = timedelta(days=1)
    one = point("one", source_id="s1", uri="a.md", tags=("план",), at=NOW, ordinal=3)
    place = replace(
        mention_of(one.memory),
        source_id="s2",
        uri="b.md",
        tags=("q3",),
        at=NOW + 2 * day,
        ordinal=9,
    )
    one = replace(one, memory=replace(one.memory, also=(place,)))
    two = point("two", source_id="s3", conversation_id="c", at=NOW + day)
    three = point("three", source_id="s4", uri="a.md.bak", tags=("планы",), conversation_id="c")
    store.upsert("user", [one, two, three])

    def found(**fields: object) -> list[str]:
        where = replace(Filter(ANN), **fields)
        (hits,) = store.search("user", [near()], where)
        assert store.count("user", where) == len(hits)
        by_id = replace(where, ids=tuple(m.memory.id for m in (one, two, three)))
        assert sorted(texts(store, hits)) == sorted(m.text for m in store.get("user", by_id, 9))
        return sorted(texts(store, hits))

    assert found(uris=("b.md",)) == ["one"]
    assert found(uris=("a.md", "a.md.bak")) == ["one", "three"]
    assert found(tags=("q3", "нет")) == ["one"]
    assert found(tags=("план",)) == ["one"]  # a tag is whole, not a beginning
    assert found(said_from=NOW + 2 * day) == ["one"]
    assert found(said_to=NOW + day) == ["one"]  # half-open; three does not say when
    assert found(said_from=NOW, said_to=NOW + timedelta(microseconds=1)) == ["one"]
    assert found(said_from=NOW + day, said_to=NOW + 2 * day) == ["two"]
    assert found(said_from=NOW + day, said_to=NOW) == []
    assert found(tags=("q3",), said_to=NOW + day) == ["one"]  # each by another of its places
    assert found(stretches=(Stretch("s2", ordinals=(9, 10)),)) == ["one"]
    assert found(stretches=(Stretch("s2", ordinals=(10, 20)), Stretch("s4"))) == ["three"]
    assert found(stretches=(Stretch(conversation_id="c"),)) == ["three", "two"]
    told = (NOW, NOW + 2 * day)
    assert found(stretches=(Stretch(conversation_id="c", said=told),)) == ["two"]
    assert found(stretches=(Stretch("s1"),), kinds=("fact",)) == []


@pytest.mark.parametrize(
    "field", ["kinds", "source_ids", "ids", "uris", "tags", "stretches", "langs"]
)
def test_an_empty_selection_is_nothing_not_everything(
    store: VectorStore, point: PointMaker, field: str
) -> None:
    store.upsert("user", [point("a"), point("b")])
    nothing = replace(Filter(ANN), **{field: ()})
    assert store.delete("user", nothing) == 0
    assert store.search("user", [near()], nothing) == [[]]
    assert store.count("user", Filter(ANN)) == 2


def test_delete_takes_all_pages_and_counts(store: VectorStore, point: PointMaker) -> None:
    store.upsert("user", [point(f"m{i}") for i in range(600)] + [point("kept", BOB)])
    assert store.delete("user", Filter(ANN)) == 600
    assert store.delete("user", Filter(ANN)) == 0
    store.vacuum("user")
    assert store.count("user", Filter(ANN)) == 0
    assert texts(store, store.search("user", [near()], Filter(BOB))[0], BOB) == ["kept"]


def test_scroll_yields_each_once_over_many_pages(store: VectorStore, point: PointMaker) -> None:
    points = [point(f"m{i}") for i in range(700)]
    store.upsert("user", points)
    found = [memory.id for memory in store.scroll("user", Filter(ANN))]
    assert found == sorted(p.memory.id for p in points)
    assert [m.id for m in store.get("user", Filter(ANN), 3)] == found[:3]


def test_vectors_by_name(store: VectorStore, point: PointMaker) -> None:
    a, b = point("a", dense=(0.6, 0.8, 0, 0), terms=(1,)), point("b", terms=(1,))
    store.upsert("user", [a, b])
    found = store.vectors("user", Filter(ANN, ids=(a.memory.id,)))
    assert found.keys() == {a.memory.id}
    assert found[a.memory.id].keys() == {"dense"}
    np.testing.assert_allclose(found[a.memory.id]["dense"], [0.6, 0.8, 0, 0], atol=1e-6)


def test_upkeep_sees_all_tenants_and_takes_only_the_expired(
    store: VectorStore, point: PointMaker
) -> None:
    before, at, after = (NOW + timedelta(seconds=s) for s in (-1, 0, 1))
    points = [
        point(f"{scope.user_id} {name}", scope, expires_at=moment)
        for scope in (ANN, BOB)
        for name, moment in (("old", before), ("now", at), ("new", after), ("ever", None))
    ]
    store.upsert("user", points)
    assert list(store.everything("user")) == sorted(
        (made.memory for made in points), key=lambda memory: memory.id
    )
    expired = {memory.text for memory in store.expired("user", NOW)}
    assert expired == {"ann old", "ann now", "bob old", "bob now"}


def test_what_has_a_place_that_expired_is_seen_too(store: VectorStore, point: PointMaker) -> None:
    made = {text: point(text, expires_at=None) for text in ("two places", "one place", "later")}
    for text, moment in (("two places", NOW), ("later", NOW + timedelta(seconds=1))):
        place = replace(mention_of(made[text].memory), source_id="other", expires_at=moment)
        made[text] = replace(made[text], memory=replace(made[text].memory, also=(place,)))
    store.upsert("user", list(made.values()))
    assert [memory.text for memory in store.lapsed("user", NOW)] == ["two places"]
    assert list(store.expired("user", NOW)) == []


def test_nothing_asked_nothing_found(store: VectorStore, point: PointMaker) -> None:
    assert store.search("user", [near(), words(1)], Filter(ANN)) == [[], []]
    store.upsert("user", [])
    store.upsert("user", [point("a", terms=())])
    assert store.search("user", [], Filter(ANN)) == []
    no_terms, dense = store.search("user", [words(), near()], Filter(ANN))
    assert (no_terms, texts(store, dense)) == ([], ["a"])
    assert store.get("user", Filter(BOB), 5) == []
    assert list(store.scroll("user", Filter(BOB))) == []
    assert store.vectors("user", Filter(BOB)) == {}


FULL = Memory(
    id=str(uuid.UUID(int=7)),
    scope=session_scope(" Ann\0", "№ 5 😀"),
    kind="tool_result",
    text="нуль \0, 😀👩‍👩‍👧, \u202eשלום\u202c, e\u0301, \ufeff, \n\t",
    source_id="путь/к файлу*.md",
    start=3,
    end=2**40,
    ordinal=12,
    uri="file:///d/%20x",
    title="Заголовок",
    headings=("Глава 1", "", "§ 2"),
    speaker="Аня",
    role="user",
    before="что было\0 до",
    conversation_id="c1",
    turn_id="t9",
    at=datetime(1969, 12, 31, 23, 59, 59, 123456, tzinfo=UTC),
    created_at=datetime(2026, 2, 28, 1, 2, 3, 999999, tzinfo=UTC),
    expires_at=datetime(9999, 1, 1, tzinfo=UTC),
    tags=("план на год", "q3"),
)


def test_every_field_comes_back(store: VectorStore, point: PointMaker) -> None:
    store.open_collection("session", NAMES)
    store.upsert("session", [replace(point("x"), memory=FULL)])
    where = Filter(FULL.scope, NOW, (FULL.kind,), (FULL.source_id,), (FULL.id,))
    (hits,) = store.search("session", [near()], where)
    assert [hit.id for hit in hits] == [FULL.id]
    assert store.get("session", where, 1) == [FULL]


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(text=st.text(st.characters(exclude_categories=["Cs"])), headings=st.lists(st.text("aб😀 ")))
def test_any_text_comes_back(
    store: VectorStore, point: PointMaker, text: str, headings: list[str]
) -> None:
    store.open_collection("global", NAMES)
    made = point(text, GLOBAL, headings=tuple(headings), at=NOW)
    store.upsert("global", [made])
    assert store.get("global", Filter(GLOBAL, ids=(made.memory.id,)), 2) == [made.memory]


def test_other_vectors_are_a_schema_mismatch(store: VectorStore, point: PointMaker) -> None:
    store.open_collection("user", NAMES)
    for names in (
        VectorNames({"dense": 5}, ("sparse",)),
        VectorNames({"other": 4}, ("sparse",)),
        VectorNames({"dense": 4}, ("sparse", "more")),
    ):
        with pytest.raises(SchemaMismatch):
            store.open_collection("user", names)
    with pytest.raises(SchemaMismatch):
        store.search("user", [Branch("dense", X[:3], 5)], Filter(ANN))
    with pytest.raises(SchemaMismatch):
        store.search("user", [Branch("nope", X, 5)], Filter(ANN))
    with pytest.raises(SchemaMismatch):
        store.upsert("user", [replace(point("a"), dense={"dense": X[:3]})])
    store.upsert("user", [point("a")])
    assert store.count("user", Filter(ANN)) == 1


def test_misuse_is_named(store: VectorStore, point: PointMaker) -> None:
    with pytest.raises(InvalidInput):
        store.search("global", [near()], Filter(ANN))
    with pytest.raises(InvalidInput):
        store.delete("session", Filter(ANN))
    with pytest.raises(InvalidInput):
        store.upsert("user", [point("a", GLOBAL)])
    with pytest.raises(InvalidInput):
        store.upsert("user", [point("a", id="not-a-uuid")])
    with pytest.raises(InvalidInput):
        store.upsert("user", [point("half a pair: \ud83d")])
    with pytest.raises(InvalidInput):
        store.count("user", Filter(ANN, ids=("7",)))
    with pytest.raises(InvalidInput):
        store.count("user", Filter(ANN, said_from=datetime(2026, 1, 1)))
    with pytest.raises(InvalidInput):
        store.count("user", Filter(ANN, stretches=(Stretch(),)))
    with pytest.raises(InvalidInput):
        store.search("user", [near(0)], Filter(ANN))
    with pytest.raises(InvalidInput):
        store.get("user", Filter(ANN), 0)


def test_closing_twice_is_fine_and_closed_is_closed(store: VectorStore, point: PointMaker) -> None:
    store.upsert("user", [point("a")])
    store.close()
    store.close()
    with pytest.raises(StoreError):
        store.count("user", Filter(ANN))
