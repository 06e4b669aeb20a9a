"""Settings -> objects: the only place that reads settings, and the only name -> maker tables."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache

from chunking.tokens import tiktoken_count
from configs.embedders import Progress, lazy_embedder
from configs.feeds import build_access
from configs.fingerprints import open_collections
from configs.recipe import build_recipe
from configs.settings import ScopeSettings, Settings
from configs.stores import build_catalog, build_store
from indexing import drafts, sparse, template
from indexing.dense import Embedder
from indexing.feeds.access import Access
from indexing.hashing import digest
from indexing.index import Clock, Index, utc_now
from indexing.recovery import recover
from indexing.store import DENSE, SPARSE, VectorStore
from indexing.types import COLLECTIONS, VectorNames
from retrieval.rank import Fusion
from retrieval.retriever import Retriever
from retrieval.types import ScopePolicy
from retrieval.vectors import QueryVectors


@dataclass(frozen=True, slots=True)
class Parts:
    """One deployment, put together: what writes and what reads."""

    settings: Settings
    index: Index
    retriever: Retriever
    access: Access

    def close(self) -> None:
        """Flush and let go of the store and the catalog."""
        self.retriever.pool.shutdown()
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
        names = VectorNames({DENSE: embedder.dim}, (SPARSE,))
        made = fingerprint(settings, embedder)
        open_collections(store, catalog, names, made)
        index = Index(store, catalog, embedder, recipe, settings.ingest.batch, clock)
        recover(index)
        undo.pop_all()
    retriever = build_retriever(settings, store, embedder, clock, made)
    return Parts(settings, index, retriever, build_access(settings))


def build_retriever(
    settings: Settings,
    store: VectorStore,
    embedder: Embedder,
    clock: Clock,
    made: Mapping[str, str] | None = None,
) -> Retriever:
    """Put the read side together over an open store."""
    search = settings.retrieval
    policies = {"global": search.global_, "user": search.user, "session": search.session}
    return Retriever(
        store,
        embedder,
        {collection: scope_policy(policies[collection]) for collection in COLLECTIONS},
        clock,
        _tokens,
        Fusion(search.rrf_k, search.lexical_coverage, search.language_balance),
        search.scope_seconds or None,
        {"memory": digest(*sorted(f"{k}={v}" for k, v in made.items()))[:12]} if made else {},
        QueryVectors(search.query_cache),
    )


def _tokens(text: str) -> int:
    """Count what a budget is counted in: tokens of a language model, not of the embedder."""
    return _counter()(text)


_counter = cache(tiktoken_count)


def scope_policy(chosen: ScopeSettings) -> ScopePolicy:
    """Return the search policy of one scope."""
    limits = {DENSE: chosen.dense_threshold, SPARSE: chosen.sparse_threshold}
    return ScopePolicy(
        limit=chosen.limit,
        weights={DENSE: chosen.dense, SPARSE: chosen.sparse},
        weight=chosen.weight,
        thresholds={name: value for name, value in limits.items() if value is not None},
    )


def fingerprint(settings: Settings, embedder: Embedder) -> dict[str, str]:
    """Return what a collection's vectors depend on: name -> value, as text."""
    sections = {"chunking": settings.chunking, "template": settings.template}
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
            for name, value in values.model_dump().items()
        },
    }
