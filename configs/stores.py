"""Settings -> the places of a memory: its vector store and its catalog. No model is needed."""

from dataclasses import replace

from configs.settings import Settings
from indexing.catalog import Catalog
from indexing.errors import StoreUnavailable
from indexing.generations import FIRST
from indexing.open import open_store
from indexing.server_options import ServerOptions
from indexing.store import VectorStore


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
    if not settings.catalog:
        folder = settings.data_dir.expanduser()
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnavailable(f"data folder {folder}: {error.strerror}") from error
    return Catalog(catalog_url(settings), settings.busy_timeout)


def catalog_url(settings: Settings) -> str:
    """Return the URL of the catalog: the one that is set, or a file in the data folder."""
    file = settings.data_dir.expanduser() / "catalog.sqlite"
    return settings.catalog or f"sqlite:///{file}"
