"""A hybrid query of the embedded store against the local mode of `qdrant_client`, in turns.

Both hold the same points and are asked what `retrieve` asks: the same branches, with the same
filters. Local mode is made for trying things out; it keeps all in Python's memory.
"""

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, cast

from qdrant_client import QdrantClient, models

from chunking.types import Document
from configs.settings import Settings
from evals.bench_retrieve import Call, Overheard
from evals.filler import Filler
from evals.product import opened
from evals.synthetic import speakers
from evals.timing import Ratio, milliseconds
from indexing import server_points
from indexing.dense import Embedder
from indexing.hashing import digest
from indexing.index import Index
from indexing.ingest import document_source
from indexing.store import VectorStore, idf_corpus, narrowed, vector_names
from indexing.types import GLOBAL, Collection, Point
from indexing.write import write

NAME = "bench"
BATCH = 1_000
FASTER = 100.0
"""How many times as fast as local mode the embedded store is at least."""


class Copied:
    """A store that keeps what is written to it, too."""

    def __init__(self, store: VectorStore) -> None:
        self.points: list[Point] = []
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        """Keep the points and pass them on."""
        self.points += points
        self._store.upsert(collection, points)


def against_local_mode(
    settings: Settings, embedder: Embedder, size: int = 20_000, questions: int = 7
) -> Ratio:
    """Measure one search over that many global memories; the floor here is the embedded one."""
    with tempfile.TemporaryDirectory(prefix="letopis-bench-") as name:
        data = Path(name) / "data"
        with opened(settings, Filler(embedder), data) as parts:
            copied = Copied(parts.index.store)
            _fill(replace(parts.index, store=cast(VectorStore, copied)), size)
        with opened(settings, embedder, data) as parts, _local(copied.points) as client:
            store = parts.index.store
            overheard = Overheard(store)
            retriever = replace(parts.retriever, store=cast(VectorStore, overheard))
            voices = speakers(3)
            for _ in range(questions):
                retriever.retrieve(next(voices).sentence(4, 9), None)
            embedded, local = [], []
            for call in overheard.calls:
                embedded.append(
                    milliseconds(partial(store.search, call.collection, call.branches, call.where))
                )
                local.append(milliseconds(partial(ask, client, call)))
    what = f"hybrid query, {size} memories, qdrant-client local mode / embedded"
    return Ratio(what, median(local), median(embedded), least=FASTER)


def ask(client: QdrantClient, call: Call) -> list[models.QueryResponse]:
    """Ask local mode what a search asks of the engine."""
    corpus = server_points.build_filter(call.collection, idf_corpus(call.where))
    return client.query_batch_points(
        NAME,
        [
            server_points.to_query(
                branch,
                server_points.build_filter(call.collection, narrowed(call.where, branch)),
                corpus,
            )
            for branch in call.branches
        ],
    )


@contextmanager
def _local(points: Sequence[Point]) -> Iterator[QdrantClient]:
    """Open a client in local mode that holds the points."""
    names = vector_names(len(next(iter(points[0].dense.values()))))
    client = QdrantClient(":memory:")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it warns that 20,000 points are many for it
            client.create_collection(
                NAME,
                {
                    name: models.VectorParams(size=size, distance=models.Distance.COSINE)
                    for name, size in names.dense.items()
                },
                {
                    name: models.SparseVectorParams(modifier=models.Modifier.IDF)
                    for name in names.sparse
                },
            )
            for start in range(0, len(points), BATCH):
                batch = [server_points.to_point(p) for p in points[start : start + BATCH]]
                client.upsert(NAME, batch)
        yield client
    finally:
        client.close()


def _fill(index: Index, size: int) -> None:
    voices = speakers(2)
    texts = (next(voices).paragraph(2, 5) for _ in range(size))
    documents = (Document(str(i), text) for i, text in enumerate(texts))
    write(index, GLOBAL, (document_source(index.recipe, d, digest(d.text)) for d in documents))
