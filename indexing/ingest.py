"""The simple form of a sync: one file or folder, and what failed before. All forms: `sync`."""

from pathlib import Path

from indexing.catalog import Catalog
from indexing.documents import document_source
from indexing.feeds.access import Access
from indexing.feeds.types import Entry, Feed, Progress
from indexing.index import Index, Report
from indexing.members import Members
from indexing.removal import MAX_REMOVED
from indexing.sync import Sync, sync
from indexing.turns import ingest_chats, ingest_session
from indexing.types import GLOBAL, Scope

__all__ = ["Progress", "document_source", "ingest", "ingest_chats", "ingest_session", "retry"]


def ingest(
    index: Index,
    path: Path,
    scope: Scope | None = None,
    progress: Progress | None = None,
    *,
    access: Access | None = None,
    force: bool = False,
    max_removed: float = MAX_REMOVED,
) -> Report:
    """Index a file, a folder or what matches a pattern, into a scope.

    Without one documents are global and turns go to their users. Files that are gone leave the
    index; lines that are gone from a chat export do not. Raises `SourceError` when the path does
    not exist.
    """
    feed = Feed("path", str(path), scope=scope)
    return sync(index, feed, access, progress, force=force, max_removed=max_removed)


def retry(index: Index, progress: Progress | None = None, access: Access | None = None) -> Report:
    """Read again what has a dead letter; what works now leaves the table.

    What a query gave is not read again here, but by the next sync of its feed.
    """
    report = Report()
    access = access or Access()
    tried: set[tuple[Scope, str]] = set()
    for letter in index.catalog.dead():
        scope, path = letter.scope, letter.path
        if (scope, path) in tried:
            continue
        tried.add((scope, path))
        report.add(_retry(index, scope, path, access, progress))
    return report


def _retry(
    index: Index, scope: Scope, path: str, access: Access, progress: Progress | None
) -> Report:
    """Read one entry again as the feed that offers it did, or as a file of its own."""
    key, entry, owner = _entry(index.catalog, scope, path)
    if entry.id.startswith("sql:"):
        dead = [letter for letter in index.catalog.dead(scope) if letter.path == path]
        return Report(seen=len(dead), dead=dead)
    given = None if owner == GLOBAL else owner
    if not key:
        return ingest(index, Path(path), given, progress, access=access)
    feed = Feed("path" if entry.path else "urls", entry.id, scope=given)
    return Sync(index.catalog, feed, access, progress, only=(key, [entry])).apply(index)


def _entry(catalog: Catalog, scope: Scope, path: str) -> tuple[str, Entry, Scope]:
    """Return the feed that offers what failed, the entry that it is read from, and its scope.

    The feed is empty where none does.
    """
    members = Members(catalog)
    for feed, member in members.offers(scope, path):
        entries = [(feed, member, scope)]
        if member.parent:
            entries = [
                (feed, entry, owner)
                for owner in (scope, GLOBAL)
                for key, entry in members.offers(owner, member.parent)
                if key == feed
            ]
        for key, entry, owner in entries:
            web = entry.source_id.startswith(("http://", "https://"))
            where = None if web else Path(entry.source_id)
            return key, Entry(entry.source_id, entry.uri, where), owner
    return "", Entry(path, path), scope
