"""Forgetting from the command line: who asks, which source a path is, what else to look through."""

import getpass
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlalchemy import select

from configs.settings import Settings
from indexing.audit import Audit, Event
from indexing.catalog import Catalog
from indexing.catalog_schema import members
from indexing.erasing import Erase
from indexing.traces import Target
from indexing.types import Scope


def erasers(settings: Settings) -> list[Erase]:
    """Return what takes traces out of the records of flow runs, where there are any."""
    from pipelines.erase import eraser

    return [eraser(settings)]


def operator() -> str:
    """Return who runs this command, by the operating system."""
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return f"uid {os.getuid()}"


def described(target: Target) -> str:
    """Say what would be forgotten."""
    if target.what == "user":
        return f"everything of user {target.scope.user_id}, with all sessions,"
    if target.what == "session":
        return f"session {target.scope.session_id} of user {target.scope.user_id}"
    return f"{target.what} {', '.join(target.ids)} of {target.scope}"


def events_of(catalog: Catalog, scope: Scope | None, limit: int) -> list[Event]:
    """Return the latest events: of all, of a user with the sessions known, or of one session."""
    audit = Audit(catalog.database)
    if scope is None:
        return audit.events(limit)
    scopes = {scope, *(catalog.scopes(scope.user_id) if scope.collection == "user" else ())}
    found = [event for one in scopes for event in audit.events(limit, scope=one)]
    return sorted(found, key=lambda event: -event.number)[:limit]


def source_ids(catalog: Catalog, scope: Scope, names: Sequence[str]) -> list[str]:
    """Return the ids of sources of a scope that are named by their id or by a path.

    A file's id is its absolute path. What is neither known nor a file is an id as it stands.
    """
    return [_source_id(catalog, scope, name) for name in names]


def _source_id(catalog: Catalog, scope: Scope, name: str) -> str:
    if not name.strip() or _is_known(catalog, scope, name):
        return name
    try:
        path = Path(name).expanduser().resolve()
        is_file = path.is_file()
    except (OSError, ValueError, RuntimeError):
        return name
    return str(path) if is_file or _is_known(catalog, scope, str(path)) else name


def _is_known(catalog: Catalog, scope: Scope, name: str) -> bool:
    return name in catalog.sources(scope, [name]) or name in set(_others(catalog, scope, name))


def _others(catalog: Catalog, scope: Scope, name: str) -> Iterator[str]:
    """Yield a name that records were read from, or that is in the dead letters."""
    table = members.c
    query = select(table.parent).where(table.tenant == scope.tenant, table.parent == name)
    with catalog.database.read() as connection:
        yield from connection.execute(query.limit(1)).scalars()
    yield from (letter.path for letter in catalog.dead(scope) if letter.path == name)
