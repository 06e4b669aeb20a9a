"""`letopis export` and `import`: a memory is opened without its model; who did it, and when."""

from contextlib import closing

from configs.settings import Settings
from configs.stores import build_catalog, build_store
from indexing.audit import Action, Audit
from indexing.feeds.types import Progress
from indexing.index import utc_now
from indexing.transfer.export import export_user
from indexing.types import user_scope


def note(settings: Settings, action: Action, user_id: str, actor: str) -> None:
    """Note in the audit log that somebody took or brought a user's memories."""
    with closing(build_catalog(settings)) as catalog:
        audit = Audit(catalog.database)
        audit.note(action, user_scope(user_id), actor=actor, now=utc_now())


def export_lines(settings: Settings, user_id: str, progress: Progress | None = None) -> list[str]:
    """Return the lines of a user's export. Raises `InvalidId`, `StoreError`."""
    with (
        closing(build_catalog(settings)) as catalog,
        closing(build_store(settings, catalog.generation)) as store,
    ):
        return list(export_user(catalog, store, user_id, utc_now(), progress))
