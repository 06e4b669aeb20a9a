"""`letopis export`: the places of a memory are opened, and no model."""

from configs.settings import Settings
from configs.stores import build_catalog, build_store
from indexing.feeds.types import Progress
from indexing.index import utc_now
from indexing.transfer.export import export_user


def export_lines(settings: Settings, user_id: str, progress: Progress | None = None) -> list[str]:
    """Return the lines of a user's export. Raises `InvalidId`, `StoreError`."""
    catalog = build_catalog(settings)
    try:
        store = build_store(settings, catalog.generation)
        try:
            return list(export_user(catalog, store, user_id, utc_now(), progress))
        finally:
            store.close()
    finally:
        catalog.close()
