"""Embedded collections large enough to be packed: one byte a number, and the same answers."""

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import qdrant_edge as engine

from indexing import edge, edge_shard
from indexing.dense import Matrix
from indexing.edge import EdgeStore
from indexing.edge_known import Facts, Known
from indexing.errors import StoreError
from indexing.types import (
    GLOBAL,
    Branch,
    Filter,
    Memory,
    Point,
    SparseVector,
    VectorNames,
    user_scope,
)

PointMaker = Callable[..., Point]

ANN = user_scope("ann")
DIM, COUNT, LIMIT = 32, 600, 20
NAMES = VectorNames({"dense": DIM}, ("sparse",))
NOW = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def vectors() -> Matrix:
    """Vectors around one, as a model's are: cosines of 0.5 to 0.8."""
    noise = np.random.default_rng(3).standard_normal((COUNT + 1, DIM), dtype=np.float32)
    found: Matrix = noise / 6 + 0.25
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.fixture
def points(vectors: Matrix, point: PointMaker) -> list[Point]:
    return [
        point(str(i), dense=tuple(vectors[i]), terms=(1, i % 7 + 2), lang=("ru", "en")[i % 2])
        for i in range(COUNT)
    ]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EdgeStore]:
    """A store that packs from 10 KB on."""
    monkeypatch.setattr(edge_shard, "PACK_KB", 10)
    opened = EdgeStore(tmp_path / "store")
    opened.open_collection("user", NAMES)
    yield opened
    opened.close()


def small(store: EdgeStore) -> list[Path]:
    """The files of vectors in one byte a number."""
    return list(store.folder.rglob("quantized.data"))


def exact(
    points: list[Point], question: Matrix, lang: str | None = None
) -> list[tuple[str, float]]:
    scored = [
        (p.memory.id, float(p.dense["dense"] @ question))
        for p in points
        if lang in (None, p.memory.lang)
    ]
    return sorted(scored, key=lambda pair: -pair[1])[:LIMIT]


@pytest.mark.parametrize("lang", [None, "ru"])
def test_a_packed_collection_finds_what_an_exact_search_finds(
    store: EdgeStore, points: list[Point], vectors: Matrix, lang: str | None
) -> None:
    store.upsert("user", points)
    assert not small(store)
    store.vacuum("user")
    assert small(store)
    found = wanted = 0
    for question in vectors[:: COUNT // 30]:
        (hits,) = store.search("user", [Branch("dense", question, LIMIT, None, lang)], Filter(ANN))
        best = exact(points, question, lang)
        found += len({hit.id for hit in hits} & {name for name, _ in best})
        wanted += len(best)
        scores = {p.memory.id: float(p.dense["dense"] @ question) for p in points}
        assert [hit.score for hit in hits] == pytest.approx([scores[h.id] for h in hits], abs=1e-5)
    assert found / wanted >= 0.99


def test_a_threshold_cuts_by_the_whole_vectors(
    store: EdgeStore, points: list[Point], vectors: Matrix
) -> None:
    store.upsert("user", points)
    store.vacuum("user")
    best = exact(points, vectors[-1])
    least = (best[9][1] + best[10][1]) / 2
    (hits,) = store.search("user", [Branch("dense", vectors[-1], LIMIT, least)], Filter(ANN))
    assert [hit.id for hit in hits] == [name for name, _ in best[:10]]


def test_vectors_of_deleted_memories_leave_the_small_copy(
    store: EdgeStore, points: list[Point]
) -> None:
    store.upsert("user", points)
    store.vacuum("user")
    before = sum(file.stat().st_size for file in small(store))
    gone = tuple(p.memory.id for p in points[:200])
    assert store.delete("user", Filter(ANN, ids=gone)) == 200
    store.vacuum("user")
    assert sum(file.stat().st_size for file in small(store)) == before * (COUNT - 200) / COUNT


def test_a_collection_of_an_older_release_is_packed_anew(
    store: EdgeStore, points: list[Point], vectors: Matrix
) -> None:
    store.upsert("user", points)
    store.close()
    file = store.folder / "user" / "edge_config.json"
    older = json.loads(file.read_bytes())
    del older["quantization_config"]
    file.write_text(json.dumps(older))
    shard = engine.EdgeShard.load(str(file.parent))
    shard.update(engine.UpdateOperation.delete_points([points[0].memory.id]))
    shard.optimize()
    shard.close()
    (file.parent / "points.count").unlink()
    assert not small(store)
    again = EdgeStore(store.folder)
    again.open_collection("user", NAMES)
    ask = [Branch("dense", vectors[-1], LIMIT)]
    before = again.search("user", ask, Filter(ANN))
    again.vacuum("user")
    assert small(store)
    assert again.search("user", ask, Filter(ANN)) == before
    again.close()


def test_branches_asked_at_once_answer_as_one_after_the_other(
    store: EdgeStore, points: list[Point], vectors: Matrix, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.upsert("user", points)
    branches = [
        Branch("dense", vectors[0], LIMIT, None, "ru"),
        Branch("sparse", SparseVector((), ()), LIMIT),
        Branch("dense", vectors[0], LIMIT, None, "en"),
        Branch("sparse", SparseVector((1, 3), (1.0, 1.0)), LIMIT),
    ]
    together = store.search("user", branches, Filter(ANN))
    used: set[str] = set()
    monkeypatch.setattr(edge, "SPLIT", COUNT)
    monkeypatch.setattr(edge, "cores", lambda: 2)
    real = edge.to_request
    monkeypatch.setattr(
        edge, "to_request", lambda *given: (used.add(str(len(given[1]))), real(*given))[1]
    )
    assert store.search("user", branches, Filter(ANN)) == together
    assert [len(hits) for hits in together] == [LIMIT, 0, LIMIT, LIMIT]
    assert used == {"1", "2"}, "three branches on two cores"
    with pytest.raises(StoreError, match="user"):
        store.search("user", [*branches, Branch("none", vectors[0], 3)], Filter(ANN))
    assert store.search("user", branches, Filter(ANN)) == together


@pytest.mark.parametrize("field", ["expires_at", "valid_to"])
def test_the_first_memory_that_ends_is_hidden_from_then_on(
    store: EdgeStore, point: PointMaker, field: str
) -> None:
    across = (1.0, *[0.0] * (DIM - 1))
    ask = [Branch("dense", np.eye(1, DIM, dtype=np.float32)[0], 5, None, "ru")]
    store.upsert("user", [point("stays", dense=across, lang="ru")])

    def seen(now: datetime) -> int:
        return len(store.search("user", ask, Filter(ANN, now=now))[0])

    assert seen(NOW) == 1
    ending = point("ends", dense=across, lang="ru", **{field: NOW})
    store.upsert("user", [ending])
    assert (seen(NOW - timedelta(seconds=1)), seen(NOW)) == (2, 1)
    store.delete("user", Filter(ANN, ids=(ending.memory.id,)))
    assert seen(NOW) == 1


def test_global_memories_are_found_by_language_without_their_tenant(
    store: EdgeStore, point: PointMaker
) -> None:
    across = (1.0, *[0.0] * (DIM - 1))
    store.open_collection("global", NAMES)
    kept = [point(lang, GLOBAL, dense=across, lang=lang) for lang in ("ru", "en")]
    store.upsert("global", kept)
    (hits,) = store.search(
        "global", [Branch("dense", kept[0].dense["dense"], 5, None, "ru")], Filter(GLOBAL)
    )
    assert [hit.id for hit in hits] == [kept[0].memory.id]


def test_facts_end_with_the_next_write(store: EdgeStore, point: PointMaker) -> None:
    across = (1.0, *[0.0] * (DIM - 1))
    store.upsert("user", [point("a", dense=across)])
    with store._read("user") as shard:
        known = Known()
        assert known.facts(shard) == Facts(1, frozenset())
        shard.update(
            engine.UpdateOperation.upsert_points(
                [edge_shard.to_point(point("b", dense=across, expires_at=NOW))]
            )
        )
        assert known.facts(shard) == Facts(1, frozenset()), "read off once"
        known.changed()
        assert known.facts(shard) == Facts(2, frozenset({"expires_at"}))


def test_facts_read_during_a_write_are_not_kept() -> None:
    known = Known()

    class Shard:
        """Is written to while its facts are read."""

        points = 1

        def info(self) -> object:
            found = type("Info", (), {"points_count": self.points})()
            Shard.points += 1
            writer = threading.Thread(target=known.changed)
            writer.start()
            writer.join()
            return found

        def scroll(self, request: object) -> tuple[list[Memory], None]:
            return [], None

    shard = Shard()
    assert known.facts(shard).points == 1  # type: ignore[arg-type]
    assert known.facts(shard).points == 2  # type: ignore[arg-type]
