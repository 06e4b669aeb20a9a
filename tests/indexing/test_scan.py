"""The scan: every byte of every file, across the borders of blocks, and into packed values."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

import lz4.block
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.edge import EdgeStore
from indexing.errors import InvalidInput, StoreUnavailable
from indexing.needles import Needle, id_needles, text_needle
from indexing.scan import Found, living, scan
from indexing.types import Filter, Point, user_scope
from indexing.unpack import UNIT, value, values
from tests.indexing.conftest import NAMES, PointMaker

ANN, BOB = user_scope("ann-of-the-north"), user_scope("bob-of-the-south")
HOLE = 1 << 16
CANARY = "The canary of this text is as long as it is needed to be seen"


def packed(data: bytes) -> bytes:
    """Return a value as the store has it, filled up to where the next may begin."""
    block: bytes = lz4.block.compress(data, store_size=True)
    return block + bytes(-len(block) % UNIT)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Read as somebody else where the tests run as an administrator, who may read every file."""
    own = os.geteuid()
    os.seteuid(own or 65534)
    try:
        yield
    finally:
        os.seteuid(own)


# plain bytes


@given(
    st.lists(st.binary(min_size=8, max_size=70), min_size=1, max_size=5),
    st.lists(st.integers(0, 600), min_size=1, max_size=6),
    st.sampled_from([128, 256, 384]),
)
def test_a_scan_counts_across_the_borders_of_blocks(
    tmp_path_factory: pytest.TempPathFactory, needles: list[bytes], gaps: list[int], block: int
) -> None:
    folder = tmp_path_factory.mktemp("files")
    data = b"".join(bytes(gap) + needles[i % len(needles)] for i, gap in enumerate(gaps))
    (folder / "data").write_bytes(data)
    report = scan(folder, map(Needle, needles), block=block)
    found = {hit.needle: hit.count for hit in report.hits if not hit.packed}
    assert found == {
        number: times
        for number, needle in enumerate(needles)
        if (times := sum(data.startswith(needle, place) for place in range(len(data))))
    }
    assert (report.files, report.bytes, report.too_short) == (1, len(data), 0)


def test_every_regular_file_is_read_and_links_are_not_followed(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / ".hidden").write_bytes(b"a needle here")
    (folder / "empty").touch()
    (tmp_path / "outside").write_bytes(b"a needle here")
    (folder / "link").symlink_to(tmp_path / "outside")
    (folder / "loop").symlink_to(folder)
    report = scan(folder, [Needle(b"a needle"), Needle(b"short")])
    assert report.hits == (Found("deep/er/.hidden", 0, 1),)
    assert (report.files, report.bytes, report.too_short) == (2, 13, 1)
    assert report.needles == {0}


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="missing"):
        scan(tmp_path / "missing", [])
    with pytest.raises(InvalidInput, match="multiple"):
        scan(tmp_path, [], block=100)


def test_a_file_that_cannot_be_read_is_named(memory_folder: Path) -> None:
    memory_folder.chmod(0o755)
    (memory_folder / "closed").write_bytes(b"secret")
    (memory_folder / "closed").chmod(0)
    with as_nobody(), pytest.raises(StoreUnavailable, match="closed"):
        scan(memory_folder, [])


def test_what_others_have_too_is_told() -> None:
    needles = [Needle(b"said by both"), Needle(b"said by one alone")]
    assert living(needles, [b"nothing", b"it was said by both of them"]) == {0}


# packed values


@given(st.binary(max_size=400), st.integers(0, 5))
def test_values_are_unpacked_as_they_were(data: bytes, times: int) -> None:
    whole = b'{"' + data * times
    assert list(values(bytes(UNIT) + packed(whole))) == [whole]


@given(st.binary(max_size=600))
def test_anything_else_is_looked_at_without_an_error(data: bytes) -> None:
    assert all(found.startswith(b'{"') for found in values(data))
    assert value(data, 0) in (b"", *values(data))


def test_a_value_that_is_cut_short_is_given_as_far_as_it_goes() -> None:
    whole = b'{"text":"' + bytes(range(32, 127)) * 3
    block = packed(whole)
    for length in range(8, len(block)):
        (found,) = values(block[:length] + bytes(-length % UNIT)) if length > 128 else [b'{"']
        assert whole.startswith(found[:90])


def test_the_worked_example() -> None:
    assert value(bytes.fromhex("06000000 20 7b22 0200"), 0) == b'{"{"{"'


def test_of_some_tenants_only_theirs_are_unpacked() -> None:
    one, other = (b'{"tenant":"' + tenant.encode() + b'"}' for tenant in (ANN.tenant, BOB.tenant))
    page = packed(one) + packed(other) + packed(b'{"kind":"turn"}')
    assert list(values(page, [ANN.tenant])) == [one, b'{"kind":"turn"}']
    assert len(list(values(page))) == 3


# the embedded store


@pytest.fixture
def texts(point: PointMaker) -> list[Point]:
    """Memories of two users whose text repeats what was said before in it: it is packed."""
    said = [f"{CANARY}. Once more, number {n}: {CANARY}" for n in range(6)]
    return [
        point(text, (ANN, BOB)[n % 2], source_id=f"notes/{n:08d}") for n, text in enumerate(said)
    ]


def needles_of(point: Point) -> list[Needle]:
    memory = point.memory
    return [
        text_needle(memory.text),
        *id_needles(memory.source_id),
        Needle(UUID(memory.id).bytes),
        Needle(memory.scope.tenant.encode()),
        Needle(memory.scope.user_id.encode()),
    ]


def test_all_of_a_memory_is_seen_until_the_files_are_rewritten(
    memory_folder: Path, texts: list[Point]
) -> None:
    store = EdgeStore(memory_folder)
    store.open_collection("user", NAMES)
    store.upsert("user", texts)
    gone = needles_of(texts[0])
    everything = frozenset(range(len(gone)))
    for tenants in (None, [ANN.tenant]):
        assert scan(memory_folder, gone, tenants=tenants).needles == everything
    store.delete("user", Filter(ANN))
    assert scan(memory_folder, gone).needles == everything
    store.vacuum("user")
    assert scan(memory_folder, gone[1:]).needles == frozenset()
    assert scan(memory_folder, needles_of(texts[1])).needles == everything
    store.close()


def test_a_text_that_was_changed_leaves_the_files_too(
    memory_folder: Path, point: PointMaker
) -> None:
    store = EdgeStore(memory_folder)
    store.open_collection("user", NAMES)
    before = point(CANARY, ANN, source_id="notes/changed")
    after = point("Something else", ANN, source_id="notes/other", id=before.memory.id)
    store.upsert("user", [before])
    store.upsert("user", [after])
    gone = [text_needle(CANARY), *id_needles("notes/changed")]
    assert scan(memory_folder, gone).needles
    store.vacuum("user")
    assert scan(memory_folder, gone).hits == ()
    assert list(store.everything("user")) == [after.memory]
    store.close()


@pytest.mark.parametrize("at", [0, 5, HOLE - 3, 3 * HOLE, 5 * HOLE - 4])
def test_holes_of_a_file_are_passed_over_and_nothing_else(tmp_path: Path, at: int) -> None:
    needles = [Needle(b"canary-of-the-hole")]
    size = 8 * HOLE + 100
    sparse = tmp_path / "sparse" / "file"
    dense = tmp_path / "dense" / "file"
    for path in (sparse, dense):
        path.parent.mkdir()
    with sparse.open("wb") as file:
        file.truncate(size)
        for place in (at, size - 18):
            file.seek(place)
            file.write(b"canary-of-the-hole")
    dense.write_bytes(sparse.read_bytes())
    for folder in (sparse.parent, dense.parent):
        report = scan(folder, needles, block=HOLE)
        assert [(hit.needle, hit.count) for hit in report.hits] == [(0, 2)]
        assert report.bytes == size
