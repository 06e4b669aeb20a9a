"""Retrieve overhead: time of `retrieve` / time to embed the query and ask the bare engine.

The bare engine is asked for the same branches, one scope after the other, on a copy of the store;
reading the memories that an answer shows is the product's. Memories get random vectors, questions
get real ones. All sizes are open at once and asked each question in turn, so that what one size
takes can be set against another.
"""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, cast

import qdrant_edge as engine

from chunking.types import Document
from configs.build import Parts
from configs.settings import Settings
from evals.filler import Filler
from evals.product import opened
from evals.synthetic import speakers
from evals.timing import Ratio, milliseconds, p95
from indexing.dense import Embedder
from indexing.edge_known import Known
from indexing.edge_shard import to_request
from indexing.hashing import digest
from indexing.ingest import document_source
from indexing.store import VectorStore, is_empty
from indexing.types import GLOBAL, Branch, Collection, Filter, Scored, user_scope
from indexing.write import write
from retrieval.retriever import Retriever
from retrieval.vectors import QueryVectors

USERS = 10

OVERHEAD = 1.2
"""What `retrieve` may take, in floors."""

GROWTH = 2.0
"""What it may take over the most memories, in times of what it takes over the fewest."""


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
        asked = [branch for branch in branches if not is_empty(branch)]
        if asked:
            self.calls.append(Call(collection, asked, where))
        return self._store.search(collection, branches, where)


class Floor:
    """The least that answering takes: the query's vector, then the searches that it leads to."""

    def __init__(self, parts: Parts, copy: Path) -> None:
        self._retriever = parts.retriever
        self._shards = {
            collection: engine.EdgeShard.load(str(copy / collection))
            for collection in ("global", "user")
        }
        self._ends = {name: Known().facts(shard).ends for name, shard in self._shards.items()}

    def calls(self, query: str, user_id: str) -> list[Call]:
        """Return what `retrieve` asks of the engine, one batch a collection; not timed."""
        overheard = Overheard(self._retriever.store)
        replace(self._retriever, store=cast(VectorStore, overheard)).retrieve(query, user_id)
        batches: dict[Collection, Call] = {}
        for call in overheard.calls:
            first = batches.get(call.collection)
            branches = [*(first.branches if first else ()), *call.branches]
            batches[call.collection] = Call(call.collection, branches, call.where)
        return list(batches.values())

    def ask(self, query: str, calls: Sequence[Call]) -> int:
        """Answer one question; return how many points came back."""
        self._retriever.embedder.query(query)
        asked = [
            (
                call,
                to_request(call.collection, call.branches, call.where, self._ends[call.collection]),
            )
            for call in calls
        ]
        answers = [self._shards[call.collection].query_batch(request) for call, request in asked]
        return sum(len(branch) for answer in answers for branch in answer)

    def close(self) -> None:
        """Let go of the copy."""
        for shard in self._shards.values():
            shard.close()


def retrieve_overhead(
    settings: Settings, embedder: Embedder, sizes: Sequence[int], questions: int = 100
) -> list[Ratio]:
    """Measure the read side over each size, ascending: half global, half of `USERS` users."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="letopis-bench-")))
        pairs = []
        for size in sizes:
            data, copy = folder / str(size), folder / f"{size}.copy"
            with opened(settings, Filler(embedder), data) as parts:
                fill(parts, size)
            shutil.copytree(data / "store", copy)  # closed by now: both have their search index
            parts = stack.enter_context(opened(settings, embedder, data))
            floor = Floor(parts, copy)
            stack.callback(floor.close)
            pairs.append((uncached(parts.retriever), floor))
        times = _in_turns(pairs, questions)
    rows = []
    for size, (whole, bare) in zip(sizes, times, strict=True):
        rows += [
            Ratio(f"retrieve p50, {size} memories", median(whole), median(bare), most=OVERHEAD),
            Ratio(f"retrieve p95, {size} memories", p95(whole), p95(bare)),
        ]
    if len(sizes) > 1:
        what = f"retrieve p50, {sizes[-1]} memories / {sizes[0]}"
        rows.append(Ratio(what, median(times[-1][0]), median(times[0][0]), most=GROWTH))
    return rows


def uncached(retriever: Retriever) -> Retriever:
    """Return a retriever that embeds every question, also one that was asked before."""
    return replace(retriever, vectors=QueryVectors(0))


def fill(parts: Parts, size: int) -> None:
    """Write that many made-up memories: half of them global, half of `USERS` users."""
    voices = speakers(2)
    scopes = [GLOBAL] * USERS + [user_scope(f"u{number}") for number in range(USERS)]
    recipe = parts.index.recipe
    for number, scope in enumerate(scopes):
        texts = (next(voices).paragraph(2, 5) for _ in range(size // len(scopes)))
        documents = (Document(f"{number}/{i}", text) for i, text in enumerate(texts))
        write(parts.index, scope, (document_source(recipe, d, digest(d.text)) for d in documents))


def _in_turns(
    pairs: Sequence[tuple[Retriever, Floor]], count: int
) -> list[tuple[list[float], list[float]]]:
    """Return the times of product and floor, for each pair."""
    voices = speakers(3)
    times: list[tuple[list[float], list[float]]] = [([], []) for _ in pairs]
    for number in range(count):
        query = next(voices).sentence(4, 9)
        for (retriever, floor), (whole, bare) in zip(pairs, times, strict=True):
            calls = floor.calls(query, "u0")  # warms both up, too
            turns: list[tuple[list[float], Callable[[], object]]] = [
                (whole, partial(retriever.retrieve, query, "u0")),
                (bare, partial(floor.ask, query, calls)),
            ]
            for kept, call in turns if number % 2 else reversed(turns):
                kept.append(milliseconds(call))
    return times
