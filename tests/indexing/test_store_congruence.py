"""The same questions on two engines give the same hits; filters find what `matches` does."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient

from indexing.edge import EdgeStore
from indexing.server import ServerStore
from indexing.store import VectorStore, matches
from indexing.types import (
    Branch,
    Filter,
    Memory,
    Mention,
    Point,
    Scored,
    SparseVector,
    Stretch,
    VectorNames,
    user_scope,
)

DIM, NOW = 16, datetime(2026, 1, 1, tzinfo=UTC)
RNG = np.random.default_rng(7)


def random_vector() -> np.ndarray:
    vector = RNG.normal(size=DIM).astype(np.float32)
    return vector / np.linalg.norm(vector)


def random_sparse(size: int) -> SparseVector:
    terms = np.unique(np.minimum(RNG.zipf(1.3, size), 400))
    return SparseVector(tuple(terms.tolist()), tuple(RNG.uniform(0.2, 2, len(terms)).tolist()))


def random_points(point: Callable[..., Point]) -> list[Point]:
    made = []
    for i in range(300):
        base = point(
            f"m{i}",
            user_scope("ab"[i % 2]),
            kind=("turn", "fact")[i % 3 == 0],
            expires_at=NOW + timedelta(hours=1) * (-1 if i % 5 == 0 else 1),
        )
        made.append(Point(base.memory, {"dense": random_vector()}, {"sparse": random_sparse(12)}))
    return made


def assert_same(left: list[Scored], right: list[Scored]) -> None:
    assert [hit.score for hit in left] == pytest.approx([hit.score for hit in right], abs=1e-5)
    if not left:
        return
    last = left[-1].score + 1e-4  # hits that tie with the last may differ

    def above(hits: list[Scored]) -> dict[str, float]:
        return {hit.id: hit.score for hit in hits if hit.score > last}

    assert above(left) == pytest.approx(above(right), abs=1e-5)


def test_edge_and_server_agree(tmp_path: Path, point: Callable[..., Point]) -> None:
    stores: list[VectorStore] = [EdgeStore(tmp_path), ServerStore(QdrantClient(":memory:"))]
    points = random_points(point)
    for store in stores:
        store.open_collection("user", VectorNames({"dense": DIM}, ("sparse",)))
        store.upsert("user", points)
    for i in range(40):
        where = Filter(
            user_scope("ab"[i % 2]),
            NOW if i % 3 else None,
            kinds=("fact",) if i % 4 == 0 else None,
        )
        branches = [
            Branch("dense", random_vector(), 20, (None, 0.1)[i % 2]),
            Branch("sparse", random_sparse(6), 20, (None, 1.0)[i % 2]),
        ]
        for edge, server in zip(*(s.search("user", branches, where) for s in stores), strict=True):
            assert_same(edge, server)
        assert stores[0].count("user", where) == stores[1].count("user", where)
    for store in stores:
        store.close()


HOURS = [NOW + timedelta(hours=hour) for hour in range(5)]
SOURCES, URIS, TAGS, TALKS = (
    ("s1", "s2", "s10"),
    ("", "a.md", "a.md/b"),
    ("q3", "план"),
    ("", "c", "d"),
)


def random_place() -> dict[str, object]:
    def one_of(*values: object) -> object:
        return values[int(RNG.integers(len(values)))]

    return {
        "source_id": one_of(*SOURCES),
        "text": "text",
        "uri": one_of(*URIS),
        "tags": one_of((), TAGS[:1], TAGS[1:], TAGS),
        "conversation_id": one_of(*TALKS),
        "ordinal": one_of(*range(4)),
        "at": one_of(None, *HOURS),
        "expires_at": one_of(None, *HOURS),
    }


def placed(point: Callable[..., Point]) -> list[Memory]:
    made = []
    for number in range(80):
        also = [Mention(**random_place()) for _ in range(int(RNG.integers(3)))]
        fields = {**random_place(), "text": f"m{number}"}
        kind = ("turn", "fact", "document")[number % 3]
        scope = user_scope("ab"[number % 2])
        name = str(fields.pop("text"))
        made.append(point(name, scope, kind=kind, also=tuple(also), **fields).memory)
    return made


def some(*values: object) -> st.SearchStrategy[object]:
    lists = st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)
    return st.one_of(st.none(), lists)


moments = st.one_of(st.none(), st.sampled_from(HOURS))
pairs = st.one_of(st.none(), st.tuples(st.integers(0, 3), st.integers(0, 4)))
spans = st.one_of(st.none(), st.tuples(st.sampled_from(HOURS), st.sampled_from(HOURS)))
stretches = st.one_of(
    st.builds(Stretch, st.sampled_from(SOURCES), ordinals=pairs, said=spans),
    st.builds(Stretch, conversation_id=st.sampled_from(TALKS[1:]), ordinals=pairs, said=spans),
)
wheres = st.builds(
    Filter,
    st.sampled_from([user_scope("a"), user_scope("b")]),
    now=moments,
    kinds=some("turn", "fact"),
    source_ids=some(*SOURCES, "s"),
    as_of=moments,
    uris=some(*URIS[1:], "a"),
    tags=some(*TAGS, "q"),
    said_from=moments,
    said_to=moments,
    stretches=st.one_of(st.none(), st.lists(stretches, max_size=3).map(tuple)),
)


def test_a_filter_finds_what_python_says(store: VectorStore, point: Callable[..., Point]) -> None:
    memories = placed(point)
    store.upsert(
        "user", [Point(m, {"dense": np.eye(4, dtype=np.float32)[0]}, {}) for m in memories]
    )

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(where=wheres)
    def check(where: Filter) -> None:
        wanted = sorted(memory.id for memory in memories if matches(memory, where))
        assert [memory.id for memory in store.scroll("user", where)] == wanted
        assert store.count("user", where) == len(wanted)

    check()
