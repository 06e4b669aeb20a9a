"""A collection is opened only by what it was built with, whoever asks and from wherever."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from configs.fingerprints import open_collections
from indexing.catalog import Catalog
from indexing.edge import EdgeStore
from indexing.errors import SchemaMismatch
from indexing.server import ServerStore
from indexing.store import VectorStore
from indexing.types import VectorNames

NAMES = VectorNames({"dense": 4}, ("sparse",))
OURS = {"embedder": "tiny", "size": "256"}
OTHERS = {"embedder": "other", "size": "256"}

Place = Callable[[], VectorStore]


@pytest.fixture(params=["edge", "server"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Open one and the same store again and again."""
    client = QdrantClient(":memory:")
    opened: list[EdgeStore] = []

    def edge() -> VectorStore:
        opened.append(EdgeStore(tmp_path / "store"))
        return opened[-1]

    yield edge if request.param == "edge" else lambda: ServerStore(client)
    for store in opened:
        store.close()
    client.close()


@contextmanager
def catalog(folder: Path, name: str) -> Iterator[Catalog]:
    made = Catalog(f"sqlite:///{folder / name}.sqlite")
    yield made
    made.close()


def test_the_same_maker_opens_again_also_with_a_new_catalog(place: Place, tmp_path: Path) -> None:
    for name in ("one", "one", "two"):
        with catalog(tmp_path, name) as own:
            open_collections(place(), own, NAMES, OURS)


def test_a_new_catalog_does_not_hide_another_model(place: Place, tmp_path: Path) -> None:
    with catalog(tmp_path, "one") as own:
        open_collections(place(), own, NAMES, OURS)
    with catalog(tmp_path, "two") as fresh:
        with pytest.raises(SchemaMismatch) as refused:
            open_collections(place(), fresh, NAMES, OTHERS)
        assert fresh.fingerprint("global") is None
    assert "built otherwise: embedder was 'tiny' and is 'other'. " in str(refused.value)
    assert "letopis reindex" in str(refused.value)


def test_other_dimensions_are_refused_with_the_way_out(place: Place, tmp_path: Path) -> None:
    wider = VectorNames({"dense": 5}, ("sparse",))
    with catalog(tmp_path, "one") as own:
        open_collections(place(), own, NAMES, OURS)
    with (
        catalog(tmp_path, "two") as fresh,
        pytest.raises(SchemaMismatch, match=r"'dense': 4.*letopis reindex"),
    ):
        open_collections(place(), fresh, wider, OTHERS)


def test_a_catalog_of_another_store_is_refused(tmp_path: Path) -> None:
    one, two = EdgeStore(tmp_path / "one"), EdgeStore(tmp_path / "two")
    with catalog(tmp_path, "one") as own, catalog(tmp_path, "two") as other:
        open_collections(one, own, NAMES, OURS)
        open_collections(two, other, NAMES, OURS)
        with pytest.raises(SchemaMismatch, match="the catalog lists what is in another collection"):
            open_collections(two, own, NAMES, OURS)
        open_collections(one, own, NAMES, OURS)
    one.close()
    two.close()


def test_an_emptied_store_does_not_count_as_indexed(tmp_path: Path) -> None:
    with catalog(tmp_path, "one") as own:
        first = EdgeStore(tmp_path / "first")
        open_collections(first, own, NAMES, OURS)
        first.close()
        emptied = EdgeStore(tmp_path / "second")
        with pytest.raises(SchemaMismatch, match="changed or emptied"):
            open_collections(emptied, own, NAMES, OURS)
        emptied.close()


def test_a_collection_of_before_takes_what_the_catalog_knows(place: Place, tmp_path: Path) -> None:
    store = place()
    for collection in ("global", "user", "session"):
        store.open_collection(collection, NAMES)  # type: ignore[arg-type]
    with catalog(tmp_path, "one") as own:
        own.claim("global", '{"embedder": "tiny", "size": "256"}')
        open_collections(store, own, NAMES, OURS)
        open_collections(store, own, NAMES, OURS)
    with catalog(tmp_path, "two") as fresh, pytest.raises(SchemaMismatch, match="built otherwise"):
        open_collections(store, fresh, NAMES, OTHERS)
