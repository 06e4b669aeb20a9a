"""The stage of recency and variety: hits -> hits in another order, by `recency` and `mmr`.

It comes after whatever scored the hits and before they are packed; it needs more hits than are
shown, or there is nothing to choose from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from indexing.store import DENSE, VectorStore
from indexing.types import Filter, Kind, Scope, Vector
from retrieval.mmr import mmr
from retrieval.recency import aged
from retrieval.trace import Log
from retrieval.types import Hit


@dataclass(frozen=True, slots=True)
class Reordering:
    """``half_lives`` by kind, empty: nothing ages; ``lambda_`` of `mmr`, None: no variety."""

    half_lives: Mapping[Kind, timedelta] = field(default_factory=dict)
    lambda_: float | None = None

    def __call__(
        self, hits: Sequence[Hit], store: VectorStore, now: datetime, log: Log
    ) -> list[Hit]:
        """Return all hits in their new order; ageing changes their scores. Raises `StoreError`."""
        kept = list(hits)
        if self.half_lives:
            by_id = {hit.memory.id: hit for hit in kept}
            ranked = aged([(hit.memory, hit.score) for hit in kept], now, self.half_lives)
            kept = [replace(by_id[memory.id], score=score) for memory, score in ranked]
            halves = (
                f"{kind} {life / timedelta(days=1):g} d" for kind, life in self.half_lives.items()
            )
            log.stage("recency", len(kept), len(kept), f"half-lives: {', '.join(halves)}")
        if self.lambda_ is not None and len(kept) > 1:
            by_id = {hit.memory.id: hit for hit in kept}
            scores = [(hit.memory.id, max(0.0, hit.score)) for hit in kept]
            order = mmr(scores, vectors_of(kept, store), self.lambda_)
            kept = [by_id[name] for name, _ in order]
            log.stage("mmr", len(kept), len(kept), f"lambda {self.lambda_:g}")
        return kept


def vectors_of(hits: Sequence[Hit], store: VectorStore) -> dict[str, Vector]:
    """Return the dense vectors of hits by memory id; one that is gone meanwhile has none."""
    by_scope: dict[Scope, list[str]] = {}
    for hit in hits:
        by_scope.setdefault(hit.memory.scope, []).append(hit.memory.id)
    found: dict[str, Vector] = {}
    for scope, ids in by_scope.items():
        stored = store.vectors(scope.collection, Filter(scope, ids=tuple(ids)))
        found |= {name: held[DENSE] for name, held in stored.items() if DENSE in held}
    return found
