"""The embedded store: what stays on disk, what leaves it, and how it fails."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import qdrant_edge as engine

import indexing
from indexing.edge import EdgeStore
from indexing.edge_shard import INDEXES
from indexing.errors import StoreDamaged, StoreError, StoreUnavailable
from indexing.types import Branch, Filter, Point, VectorNames, session_scope, user_scope

PointMaker = Callable[..., Point]

ANN, BOB = user_scope("ann"), user_scope("bob")
NAMES = VectorNames({"dense": 4}, ("sparse",))
X = np.array([1, 0, 0, 0], dtype=np.float32)
ROOT = str(Path(indexing.__file__).parents[1])


@pytest.fixture
def edge(tmp_path: Path) -> Iterator[EdgeStore]:
    store = EdgeStore(tmp_path / "store")
    store.open_collection("user", NAMES)
    yield store
    store.close()


def run(script: str, *args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, args)],
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        timeout=60,
    )


def files_with(folder: Path, text: str) -> list[Path]:
    return [f for f in folder.rglob("*") if f.is_file() and text.encode() in f.read_bytes()]


def test_all_is_there_after_a_reopen(edge: EdgeStore, point: PointMaker) -> None:
    points = [point(f"m{i}", terms=(1, i)) for i in range(20)]
    edge.upsert("user", points)
    before = edge.search("user", [Branch("dense", X, 5)], Filter(ANN))
    edge.close()
    again = EdgeStore(edge.folder)
    assert again.search("user", [Branch("dense", X, 5)], Filter(ANN)) == before
    assert [m.id for m in again.scroll("user", Filter(ANN))] == sorted(p.memory.id for p in points)
    again.close()


def test_a_collection_without_todays_indexes_gets_them(edge: EdgeStore, point: PointMaker) -> None:
    edge.upsert("user", [point("a", tags=("x",), uri="a.md"), point("b", tags=("y",))])
    edge.close()
    path = str(edge.folder / "user")
    old = engine.EdgeShard.load(path)
    for key in ("filed", "at"):
        old.update(engine.UpdateOperation.delete_field_index(key))
    old.flush()
    assert "filed" not in old.info().payload_schema
    old.close()
    again = EdgeStore(edge.folder)
    assert again.open_collection("user", NAMES) == ""
    assert [m.text for m in again.scroll("user", Filter(ANN, tags=("x",), uris=("a.md",)))] == ["a"]
    again.close()
    shard = engine.EdgeShard.load(path)
    assert shard.info().payload_schema.keys() == INDEXES.keys()
    shard.close()


def test_no_byte_of_an_erased_text_stays(edge: EdgeStore, point: PointMaker) -> None:
    edge.upsert("user", [point(f"kept {i}", terms=(1,)) for i in range(50)])
    secret = [
        point(
            f"CANARY {i}",
            BOB,
            terms=(1,),
            source_id=f"CANARY-{i}",
            before="CANARY",
            tags=("CANARY",),
        )
        for i in range(10)
    ]
    edge.upsert("user", secret)
    edge.upsert("user", [point("replaced", BOB, id=secret[0].memory.id, terms=(1,))])
    edge.vacuum("user")
    assert files_with(edge.folder, "CANARY")
    assert edge.delete("user", Filter(BOB)) == 10
    edge.vacuum("user")
    assert files_with(edge.folder, "CANARY") == []
    assert edge.count("user", Filter(ANN)) == 50
    edge.close()
    assert files_with(edge.folder, "CANARY") == []


def test_close_erases_what_was_deleted(edge: EdgeStore, point: PointMaker) -> None:
    edge.upsert("user", [point("CANARY"), point("kept", BOB)])
    edge.delete("user", Filter(ANN))
    edge.close()
    assert files_with(edge.folder, "CANARY") == []


CRASH = """
import os, signal, sys
from pathlib import Path
import qdrant_edge as engine
from indexing.edge import EdgeStore
from indexing.edge_shard import to_point
from indexing.types import Memory, Point, VectorNames, user_scope
import numpy as np, uuid

def points(n):
    x = {"dense": np.array([1, 0, 0, 0], dtype=np.float32)}
    ids = [str(uuid.uuid4()) for _ in range(n)]
    own = {"scope": user_scope("ann"), "kind": "turn", "source_id": "s"}
    return [Point(Memory(id=i, text=i, **own), x, {}) for i in ids]

folder = Path(sys.argv[1])
store = EdgeStore(folder)
store.open_collection("user", VectorNames({"dense": 4}, ("sparse",)))
store.upsert("user", points(70))
store.close()
shard = engine.EdgeShard.load(str(folder / "user"))
shard.update(engine.UpdateOperation.upsert_points([to_point(p) for p in points(30)]))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_kill_between_write_and_flush_loses_nothing_acknowledged(
    tmp_path: Path, point: PointMaker
) -> None:
    assert run(CRASH, tmp_path).returncode == -signal.SIGKILL
    store = EdgeStore(tmp_path)
    store.open_collection("user", NAMES)
    found = store.count("user", Filter(ANN))
    assert 70 <= found <= 100
    (hits,) = store.search("user", [Branch("dense", X, 200)], Filter(ANN))
    assert len(hits) == found
    store.upsert("user", [point("after")])
    assert store.count("user", Filter(ANN)) == found + 1
    store.close()


def test_half_a_collection_of_a_crash_is_made_again(tmp_path: Path, point: PointMaker) -> None:
    (tmp_path / "user.new" / "segments").mkdir(parents=True)
    store = EdgeStore(tmp_path)
    store.open_collection("user", NAMES)
    store.upsert("user", [point("a")])
    assert store.count("user", Filter(ANN)) == 1
    store.close()


FULL_DISK = """
import resource, sys
from pathlib import Path
from indexing.edge import EdgeStore
from indexing.errors import StoreUnavailable
from indexing.types import VectorNames
store = EdgeStore(Path(sys.argv[1]))
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    store.open_collection("user", VectorNames({"dense": 4}, ("sparse",)))
except StoreUnavailable as error:
    print("unavailable")
"""


def test_no_room_for_a_file_is_unavailable(tmp_path: Path) -> None:
    assert run(FULL_DISK, tmp_path).stdout == "unavailable\n"
    store = EdgeStore(tmp_path)
    store.open_collection("user", NAMES)
    assert store.count("user", Filter(ANN)) == 0
    store.close()


def test_a_place_that_cannot_be_a_folder_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "store"):
        with pytest.raises(StoreUnavailable):
            EdgeStore(folder).open_collection("user", NAMES)


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "user").mkdir()
    (tmp_path / "user" / "letter.txt").write_text("hello")
    store = EdgeStore(tmp_path)
    with pytest.raises(StoreError, match="no collection"):
        store.open_collection("user", NAMES)
    with pytest.raises(StoreError, match="no collection"):
        store.count("user", Filter(ANN))
    assert os.listdir(tmp_path / "user") == ["letter.txt"]
    store.close()


def test_a_missing_collection_is_named(edge: EdgeStore) -> None:
    with pytest.raises(StoreError, match="'session'"):
        edge.count("session", Filter(session_scope("ann", "1")))
    with pytest.raises(StoreError, match="'global'"):
        edge.vacuum("global")


@pytest.mark.parametrize(
    ("pattern", "data"),
    [
        ("edge_config.json", b"{"),
        ("edge_config.json", b"[]"),
        ("segments/*/segment.json", b"{}"),
        ("segments/*/vector_storage-dense/deleted/status.dat", b""),  # a panic in the engine
        ("segments/*/vector_storage-dense/vectors/chunk_0.mmap", b""),
    ],
)
def test_damage_is_a_store_error(
    edge: EdgeStore, point: PointMaker, pattern: str, data: bytes
) -> None:
    edge.upsert("user", [point("a")])
    edge.close()
    (file,) = (edge.folder / "user").glob(pattern)
    file.write_bytes(data)
    store = EdgeStore(edge.folder)

    def use() -> None:
        store.open_collection("user", NAMES)
        store.search("user", [Branch("dense", X, 5)], Filter(ANN))

    with pytest.raises(StoreError):
        use()
    store.close()


def test_threads_write_and_search_at_once(edge: EdgeStore, point: PointMaker) -> None:
    failures: list[BaseException] = []

    def write(name: int) -> None:
        for i in range(15):
            edge.upsert("user", [point(f"{name}-{i}", terms=(i,))])

    def read() -> None:
        while len(list(edge.scroll("user", Filter(ANN)))) < 60:
            edge.search("user", [Branch("dense", X, 5)], Filter(ANN))

    def caught(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)
            raise

    threads = [
        threading.Thread(target=caught, args=(work,))
        for work in (*(lambda n=n: write(n) for n in range(4)), read, read)
    ]
    for thread in threads:
        thread.start()
    edge.vacuum("user")
    for thread in threads:
        thread.join(60)
    assert failures == []
    assert edge.count("user", Filter(ANN)) == 60


def test_an_idle_store_closes_its_files_and_opens_again(tmp_path: Path, point: PointMaker) -> None:
    store = EdgeStore(tmp_path, idle=0.05)
    store.open_collection("user", NAMES)
    store.upsert("user", [point("a")])
    other = EdgeStore(tmp_path, busy_timeout=3, idle=60)
    time.sleep(0.3)
    assert other.count("user", Filter(ANN)) == 1
    assert store.count("user", Filter(ANN)) == 1
    store.close()
    other.close()


WRITER = """
import sys, uuid
from pathlib import Path
import numpy as np
from indexing.edge import EdgeStore
from indexing.types import Memory, Point, VectorNames, user_scope
folder, name = Path(sys.argv[1]), sys.argv[2]
x = {"dense": np.array([1, 0, 0, 0], dtype=np.float32)}
store = EdgeStore(folder, busy_timeout=30)
store.open_collection("user", VectorNames({"dense": 4}, ("sparse",)))
for i in range(50):
    own = {"id": str(uuid.uuid4()), "scope": user_scope("ann"), "kind": "turn"}
    memory = Memory(text=f"{name}-{i}", source_id=name, **own)
    store.upsert("user", [Point(memory, x, {})])
store.close()
"""


def test_two_processes_write_by_turns_and_lose_nothing(tmp_path: Path) -> None:
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name],
            env={**os.environ, "PYTHONPATH": ROOT},
        )
        for name in "ab"
    ]
    assert [w.wait(60) for w in writers] == [0, 0]
    store = EdgeStore(tmp_path)
    texts = {memory.text for memory in store.scroll("user", Filter(ANN))}
    assert texts == {f"{name}-{i}" for name in "ab" for i in range(50)}
    store.close()


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("mutable_id_tracker.mappings", 0),
        ("mutable_id_tracker.mappings", None),
        ("mutable_id_tracker.versions", 0.5),
        ("vector_storage-dense/vectors/status.dat", None),
    ],
)
def test_lost_points_are_noticed_at_open(
    edge: EdgeStore, point: PointMaker, pattern: str, size: float | None
) -> None:
    edge.upsert("user", [point(f"m{i}", terms=(1,)) for i in range(20)])
    edge.close()
    (file,) = (edge.folder / "user").glob(f"segments/*/{pattern}")
    if size is None:
        file.unlink()
    else:
        os.truncate(file, int(file.stat().st_size * size))
    store = EdgeStore(edge.folder)
    store.open_collection("user", NAMES)
    with pytest.raises(StoreDamaged, match=r"of the 20 memories .* Restore .*points\.count"):
        store.count("user", Filter(ANN))
    (edge.folder / "user" / "points.count").unlink()
    store.upsert("user", [point("after")])
    store.close()


def test_deleted_points_are_not_missed(edge: EdgeStore, point: PointMaker) -> None:
    edge.upsert("user", [point(f"m{i}") for i in range(20)])
    edge.delete("user", Filter(ANN))
    edge.upsert("user", [point("one")])
    edge.close()
    store = EdgeStore(edge.folder)
    assert store.count("user", Filter(ANN)) == 1
    store.close()


def test_what_a_kill_inside_the_optimizer_leaves_is_cleared(
    edge: EdgeStore, point: PointMaker
) -> None:
    edge.upsert("user", [point(f"m{i}", terms=(1,)) for i in range(20)])
    edge.delete("user", Filter(ANN, ids=(next(edge.scroll("user", Filter(ANN))).id,)))
    edge._close_shards()  # the old segments, as they are before the optimizer runs
    shard = edge.folder / "user"
    shutil.copytree(shard / "segments", edge.folder / "old")
    edge.vacuum("user")
    edge.close()
    for segment in (edge.folder / "old").iterdir():
        segment.rename(shard / "segments" / segment.name)
    draft = shard / "temp_segments" / "segment_builder_x" / "page_0.dat"
    draft.parent.mkdir(parents=True)
    draft.write_text("half a segment")
    assert len(list((shard / "segments").iterdir())) == 2

    store = EdgeStore(edge.folder)
    assert store.count("user", Filter(ANN)) == 19
    assert len(list((shard / "segments").iterdir())) == 1
    assert not draft.exists()
    assert len(list(store.scroll("user", Filter(ANN)))) == 19
    store.upsert("user", [point("after", terms=(1,))])
    assert store.count("user", Filter(ANN)) == 20
    store.close()


def test_a_segment_set_aside_when_the_process_died_comes_back(
    edge: EdgeStore, point: PointMaker
) -> None:
    edge.upsert("user", [point("a")])
    edge.close()
    shard = edge.folder / "user"
    (segment,) = (shard / "segments").iterdir()
    (shard / "segments.aside").mkdir()
    segment.rename(shard / "segments.aside" / segment.name)
    store = EdgeStore(edge.folder)
    assert store.count("user", Filter(ANN)) == 1
    store.close()
