"""The same points and questions on two engines give the same hits."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from qdrant_client import QdrantClient

from indexing.edge import EdgeStore
from indexing.server import ServerStore
from indexing.store import VectorStore
from indexing.types import Branch, Filter, Point, Scored, SparseVector, VectorNames, user_scope

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
