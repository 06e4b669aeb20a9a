"""Settings -> objects: the only place that reads settings, and the only name -> maker tables."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from chunking.tokens import tiktoken_count
from configs.analyst import build_analyst
from configs.embedders import Progress, lazy_embedder
from configs.feeds import build_access
from configs.fingerprints import open_collections
from configs.fusion_settings import build_method, build_reordering
from configs.recipe import build_recipe
from configs.rerankers import Given, build_reranker
from configs.retrieval_settings import ScopeSettings
from configs.settings import Settings
from configs.stores import build_catalog, build_store
from indexing import drafts, sparse, template
from indexing.dense import Embedder
from indexing.feeds.access import Access
from indexing.hashing import digest
from indexing.index import Clock, Index, utc_now
from indexing.recovery import recover
from indexing.store import DENSE, OWN, SPARSE, VectorStore, vector_names
from indexing.types import Collection
from retrieval.rank import Fusion
from retrieval.retriever import Retriever
from retrieval.stages import Relevance, Reranking, Telling
from retrieval.types import ScopePolicy
from retrieval.vectors import QueryVectors

if TYPE_CHECKING:
    from sessions.session import Desk


class LazyDesk:
    """Conversation memory of a deployment: most commands ask none and load nothing of it.

    Thread-safe.
    """

    def __init__(self, settings: Settings, index: Index, retriever: Retriever) -> None:
        self._given = (settings, index, retriever)
        self._lock = threading.Lock()
        self._desk: Desk | None = None

    def made(self) -> "Desk":
        """Return the desk. Raises `ConfigError` for a setting of sessions that cannot be."""
        with self._lock:
            if self._desk is None:
                from configs.sessions import build_desk

                self._desk = build_desk(*self._given, _tokens)
            return self._desk

    def clear(self) -> None:
        """Let go of the texts that it keeps, where it was made."""
        with self._lock:
            if self._desk:
                self._desk.cache.clear()

    def close(self) -> None:
        """Let go of its model, where it was made."""
        with self._lock:
            if self._desk:
                self._desk.close()


@dataclass(frozen=True, slots=True)
class Parts:
    """One deployment, put together: what writes, what reads, and what sessions share."""

    settings: Settings
    index: Index
    retriever: Retriever
    access: Access
    lazy_desk: LazyDesk

    @property
    def desk(self) -> "Desk":
        """What sessions share, made at its first use. Raises `ConfigError`."""
        return self.lazy_desk.made()

    def clear(self) -> None:
        """Let go of what was kept of questions and texts: call it when something was forgotten."""
        self.retriever.clear()
        self.lazy_desk.clear()

    def close(self) -> None:
        """Flush and let go of the store and the catalog."""
        self.lazy_desk.close()
        self.retriever.close()
        self.index.store.close()
        self.index.catalog.close()
        self.access.parser.close()


@contextmanager
def opened(settings: Settings, progress: Progress | None = None) -> Iterator[Parts]:
    """Build the parts and close them afterwards."""
    parts = build(settings, progress)
    try:
        yield parts
    finally:
        parts.close()


def build(
    settings: Settings,
    progress: Progress | None = None,
    clock: Clock = utc_now,
    embedder: Embedder | None = None,
) -> Parts:
    """Open everything. Raises `ConfigError`, `ModelError`, `StoreError`, `SchemaMismatch`.

    ``embedder`` stands in for the one that the settings name.
    """
    with ExitStack() as undo:
        catalog = build_catalog(settings)
        undo.callback(catalog.close)
        store = build_store(settings, catalog.generation)
        undo.callback(store.close)
        embedder = embedder or lazy_embedder(settings, progress)
        recipe = build_recipe(settings, embedder)
        names = vector_names(embedder.dim, settings.template.views)
        made = fingerprint(settings, embedder)
        open_collections(store, catalog, names, made)
        index = Index(store, catalog, embedder, recipe, settings.ingest.batch, clock)
        recover(index)
        retriever = build_retriever(settings, store, embedder, clock, made)
        undo.callback(retriever.close)
        access = build_access(settings)
        undo.pop_all()
    desk = LazyDesk(settings, index, retriever)
    return Parts(settings, index, retriever, access, desk)


def build_retriever(
    settings: Settings,
    store: VectorStore,
    embedder: Embedder,
    clock: Clock,
    made: Mapping[str, str] | None = None,
) -> Retriever:
    """Put the read side together over an open store."""
    search = settings.retrieval
    return Retriever(
        store,
        embedder,
        scope_policies(settings),
        clock,
        _tokens,
        build_fusion(settings),
        search.scope_seconds or None,
        telling=Telling(search.telling) if search.telling else None,
        reranking=build_reranking(settings, embedder),
        reordering=build_reordering(search.fusion),
        neighbours=search.neighbours.policy(),
        always_neighbours=search.neighbours.always,
        relevance=Relevance(
            search.least_confidence, search.confidence.weights(), settings.rerank.least
        ),
        analyst=build_analyst(settings, embedder),
        fingerprints=fingerprint_digest(made) if made else {},
        vectors=QueryVectors(search.query_cache),
    )


def build_reranking(settings: Settings, embedder: Embedder) -> Reranking | None:
    """Return the reranker that the settings name, None for none; it is loaded at its first use."""
    chosen = settings.rerank
    stage = build_reranker(chosen, Given(settings.cache_dir.expanduser(), embedder))
    if stage is None:
        return None
    return Reranking(
        stage,
        blend=chosen.blend,
        weight=chosen.weight,
        talk=chosen.talk,
        before=chosen.before,
        longest=chosen.longest,
    )


def fingerprint_digest(made: Mapping[str, str]) -> dict[str, str]:
    """Return what a trace says of the collections: one digest of all they were made with."""
    return {"collections": digest(*sorted(f"{name}={value}" for name, value in made.items()))[:12]}


def _tokens(text: str) -> int:
    """Count what a budget is counted in: tokens of a language model, not of the embedder."""
    return _counter()(text)


_counter = cache(tiktoken_count)


def build_fusion(settings: Settings) -> Fusion:
    """Return how lists become one ranking."""
    search = settings.retrieval
    return Fusion(
        build_method(search.fusion),
        search.lexical_coverage,
        search.language_balance,
        search.fusion.k_by_scope,
    )


def scope_policies(settings: Settings) -> dict[Collection, ScopePolicy]:
    """Return the search policy of each scope."""
    search = settings.retrieval
    chosen: dict[Collection, ScopeSettings] = {
        "global": search.global_,
        "user": search.user,
        "session": search.session,
    }
    own = search.fusion.own if settings.template.views else 0.0
    return {collection: scope_policy(scope, own) for collection, scope in chosen.items()}


def scope_policy(chosen: ScopeSettings, own: float = 0.0) -> ScopePolicy:
    """Return the search policy of one scope; ``own`` is the views' share of a branch's weight."""
    limits = {DENSE: chosen.dense_threshold, SPARSE: chosen.sparse_threshold}
    weights = {DENSE: chosen.dense, SPARSE: chosen.sparse}
    if own:
        weights = {name: weight * (1 - own) for name, weight in weights.items()} | {
            name + OWN: weight * own for name, weight in weights.items()
        }
        limits |= {name + OWN: least for name, least in limits.items()}
    return ScopePolicy(
        limit=chosen.limit,
        weights=weights,
        weight=chosen.weight,
        thresholds={name: value for name, value in limits.items() if value is not None},
    )


def fingerprint(settings: Settings, embedder: Embedder) -> dict[str, str]:
    """Return what a collection's vectors depend on: name -> value, as text."""
    sections = {
        "chunking": settings.chunking.model_dump(),
        "template": settings.template.model_dump(),
    }
    if not settings.template.views:  # as before there was a choice
        del sections["template"]["views"]
    return {
        "embedder": embedder.name,
        "embedder.dimension": str(embedder.dim),
        "embedder.max_tokens": str(embedder.max_tokens),
        "embedder.passage_prefix": str(settings.embedder.passage_prefix),
        "memory": drafts.FORMAT,
        "template": template.VERSION,
        "sparse": sparse.VERSION,
        **{
            f"{section}.{name}": str(value)
            for section, values in sections.items()
            for name, value in values.items()
        },
    }
