import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from indexing.dense import Matrix
from indexing.edge import EdgeStore
from indexing.sparse import language, lexicon, weigh
from indexing.types import COLLECTIONS, Memory, Point, Scope, VectorNames, user_scope
from retrieval.retriever import Retriever
from retrieval.types import ScopePolicy

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
AXES = ("cat", "dog", "tax", "sea")


class AxisEmbedder:
    """An embedder of four axes: a text points at the axes whose words it has."""

    name, dim, max_tokens, tokenizer = "axes", 4, 500, None

    def passages(self, texts: Sequence[str]) -> Matrix:
        rows = np.array([[float(axis in text) + 1e-3 for axis in AXES] for text in texts])
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)

    def query(self, text: str) -> Matrix:
        return self.passages([text])


Put = Callable[..., Memory]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EdgeStore]:
    opened = EdgeStore(tmp_path)
    for collection in COLLECTIONS:
        opened.open_collection(collection, VectorNames({"dense": 4}, ("sparse",)))
    yield opened
    opened.close()


@pytest.fixture
def put(store: EdgeStore) -> Put:
    """Store a text in a scope, dense by its axes and sparse by its terms."""

    def make(text: str, scope: Scope | None = None, **fields: object) -> Memory:
        scope = scope or user_scope("ann")
        memory = Memory(
            id=str(uuid.uuid5(uuid.NAMESPACE_OID, scope.tenant + text)),
            scope=scope,
            text=text,
            terms=lexicon(text, ""),
            lang=language(text),
            **{"kind": "turn", "source_id": "s", **fields},  # type: ignore[arg-type]
        )
        vector = AxisEmbedder().passages([text])[0]
        sparse = weigh([(text, 1.0)], 10)
        store.upsert(scope.collection, [Point(memory, {"dense": vector}, {"sparse": sparse})])
        return memory

    return make


def words(text: str) -> int:
    """Count words: the tokens of these tests."""
    return len(text.split())


@pytest.fixture
def retriever(store: EdgeStore) -> Iterator[Retriever]:
    policies = {collection: ScopePolicy() for collection in COLLECTIONS}
    with ThreadPoolExecutor(2) as pool:
        yield Retriever(store, AxisEmbedder(), policies, lambda: NOW, words, pool=pool)
