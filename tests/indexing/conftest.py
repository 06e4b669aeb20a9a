import os
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from qdrant_client import QdrantClient

from indexing.catalog import Catalog
from indexing.catalog_database import Database
from indexing.edge import EdgeStore
from indexing.server import ServerStore, connect
from indexing.server_client import make_client
from indexing.server_options import ServerOptions
from indexing.store import VectorStore
from indexing.types import (
    COLLECTIONS,
    Memory,
    Point,
    Scope,
    SparseVector,
    VectorNames,
    user_scope,
)
from tests import postgres
from tests.indexing.rest import rest_server

collect_ignore = [] if postgres.available() else ["test_catalog_postgres.py"]


@pytest.fixture
def database(catalog_url: str) -> Iterator[Database]:
    """The database of an empty catalog, of every kind that the catalog runs on."""
    catalog = Catalog(catalog_url)
    yield catalog.database
    catalog.close()


NAMES = VectorNames({"dense": 4}, ("sparse",))


@contextmanager
def _edge(folder: Path) -> Iterator[VectorStore]:
    store = EdgeStore(folder / "store")
    yield store
    store.close()


@contextmanager
def _memory(folder: Path) -> Iterator[VectorStore]:
    store = ServerStore(QdrantClient(":memory:"))
    yield store
    store.close()


@contextmanager
def _rest(folder: Path) -> Iterator[VectorStore]:
    with rest_server() as transport:
        store = connect("http://qdrant.example:6333", transport=transport)
        yield store
        store.close()


@contextmanager
def _server(folder: Path) -> Iterator[VectorStore]:
    """A real server: collections of their own names, deleted whatever the test did."""
    url = os.environ["QDRANT_URL"]
    key = os.environ.get("QDRANT_API_KEY", "")
    options = ServerOptions(prefix=f"test_{uuid.uuid4().hex}_", api_key=key)
    store = connect(url, options)
    try:
        yield store
    finally:
        store.close()
        client = make_client(url, options)
        for collection in COLLECTIONS:
            client.delete_collection(options.prefix + collection)
        client.close()


STORES = {"edge": _edge, "memory": _memory, "rest": _rest}
if "QDRANT_URL" in os.environ:
    STORES["server"] = _server


@pytest.fixture(params=sorted(STORES))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorStore]:
    """Every implementation of `VectorStore`, with the user collection open."""
    with STORES[request.param](tmp_path) as opened:
        opened.open_collection("user", NAMES)
        yield opened


PointMaker = Callable[..., Point]


@pytest.fixture(scope="session")
def point() -> PointMaker:
    """Make a point of 4 dense dimensions; its id follows from the scope and the text."""

    def make(
        text: str,
        scope: Scope | None = None,
        *,
        dense: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0),
        terms: tuple[int, ...] = (),
        **fields: Any,
    ) -> Point:
        scope = scope or user_scope("ann")
        fields = {"kind": "turn", "source_id": "s", **fields}
        own = str(uuid.uuid5(uuid.NAMESPACE_OID, f"{scope.tenant}{text!r}"))
        vector = np.asarray(dense, dtype=np.float32)
        return Point(
            Memory(id=fields.pop("id", own), scope=scope, text=text, **fields),
            {"dense": vector / np.linalg.norm(vector)},
            {"sparse": SparseVector(terms, (1.0,) * len(terms))},
        )

    return make
