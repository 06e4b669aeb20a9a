"""Retrieve overhead: time of `retrieve` / time to embed the query and ask the bare engine.

The bare engine is asked for the same branches, one scope after the other, on a copy of the store;
reading the memories that an answer shows is the product's. Memories get random vectors, questions
get real ones.
"""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any, cast

import qdrant_edge as engine

from chunking.types import Document
from configs.build import Parts
from configs.settings import Settings
from evals.filler import Filler
from evals.product import opened
from evals.synthetic import speakers
from evals.timing import Ratio, milliseconds
from indexing.dense import Embedder
from indexing.edge_shard import build_filter, to_query
from indexing.hashing import digest
from indexing.ingest import document_source
from indexing.store import VectorStore, idf_corpus, is_empty, narrowed
from indexing.types import GLOBAL, Branch, Collection, Filter, Scored, user_scope
from indexing.write import write
from retrieval.retriever import Retriever
from retrieval.vectors import QueryVectors

USERS = 10


@dataclass(frozen=True, slots=True)
class Call:
    """What one search asked of the engine."""

    collection: Collection
    branches: Sequence[Branch]
    where: Filter


class Overheard:
    """A store whose searches are remembered."""

    def __init__(self, store: VectorStore) -> None:
        self.calls: list[Call] = []
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def search(
        self, collection: Collection, branches: Sequence[Branch], where: Filter
    ) -> list[list[Scored]]:
        """Remember the call and pass it on."""
        self.calls.append(Call(collection, branches, where))
        return self._store.search(collection, branches, where)


class Floor:
    """The least that answering takes: the query's vector, then the searches that it leads to."""

    def __init__(self, parts: Parts, copy: Path) -> None:
        self._retriever = parts.retriever
        self._shards = {
            collection: engine.EdgeShard.load(str(copy / collection))
            for collection in ("global", "user")
        }

    def calls(self, query: str, user_id: str) -> list[Call]:
        """Return what `retrieve` asks of the engine; not part of the floor's time."""
        overheard = Overheard(self._retriever.store)
        replace(self._retriever, store=cast(VectorStore, overheard)).retrieve(query, user_id)
        return overheard.calls

    def ask(self, query: str, calls: Sequence[Call]) -> int:
        """Answer one question; return how many points came back."""
        self._retriever.embedder.query(query)
        answers = [self._shards[call.collection].query_batch(request(call)) for call in calls]
        return sum(len(branch) for answer in answers for branch in answer)

    def close(self) -> None:
        """Let go of the copy."""
        for shard in self._shards.values():
            shard.close()


def request(call: Call) -> engine.QueryBatchRequest:
    """Return the engine's form of a search, as `EdgeStore.search` makes it."""
    corpus = build_filter(call.collection, idf_corpus(call.where))
    return engine.QueryBatchRequest(
        [
            to_query(b, build_filter(call.collection, narrowed(call.where, b)), corpus)
            for b in call.branches
            if not is_empty(b)
        ]
    )


def retrieve_overhead(
    settings: Settings, embedder: Embedder, size: int, questions: int = 100
) -> list[Ratio]:
    """Measure the read side over ``size`` memories: half global, half of `USERS` users."""
    with tempfile.TemporaryDirectory(prefix="letopis-bench-") as name:
        data, copy = Path(name) / "data", Path(name) / "copy"
        with opened(settings, Filler(embedder), data) as parts:
            _fill(parts, size)
        shutil.copytree(data / "store", copy)  # closed by now: both have their search index
        with opened(settings, embedder, data) as parts:
            parts = replace(parts, retriever=uncached(parts.retriever))
            floor = Floor(parts, copy)
            whole, bare = _in_turns(parts, floor, questions)
            floor.close()
    return [
        Ratio(f"retrieve p50, {size} memories", median(whole), median(bare)),
        Ratio(f"retrieve p95, {size} memories", _p95(whole), _p95(bare)),
    ]


def uncached(retriever: Retriever) -> Retriever:
    """Return a retriever that embeds every question, also one that was asked before."""
    return replace(retriever, vectors=QueryVectors(0))


def _fill(parts: Parts, size: int) -> None:
    voices = speakers(2)
    scopes = [GLOBAL] * USERS + [user_scope(f"u{number}") for number in range(USERS)]
    recipe = parts.index.recipe
    for number, scope in enumerate(scopes):
        texts = (next(voices).paragraph(2, 5) for _ in range(size // len(scopes)))
        documents = (Document(f"{number}/{i}", text) for i, text in enumerate(texts))
        write(parts.index, scope, (document_source(recipe, d, digest(d.text)) for d in documents))


def _in_turns(parts: Parts, floor: Floor, count: int) -> tuple[list[float], list[float]]:
    voices = speakers(3)
    queries = [next(voices).sentence(4, 9) for _ in range(count)]
    whole: list[float] = []
    bare: list[float] = []
    for number, query in enumerate(queries):
        calls = floor.calls(query, "u0")  # warms both up, too
        pair: list[tuple[list[float], Callable[[], object]]] = [
            (whole, partial(parts.retriever.retrieve, query, "u0")),
            (bare, partial(floor.ask, query, calls)),
        ]
        for times, call in pair if number % 2 else reversed(pair):
            times.append(milliseconds(call))
    return whole, bare


def _p95(times: Sequence[float]) -> float:
    return quantiles(times, n=20)[-1]
