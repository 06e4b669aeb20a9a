"""What each feed last saw: the table `members`, a cache of stamps and hashes, and who claims what.

A member says "this feed offers that source"; whether the source is indexed, and with what content,
only the catalog's `sources` say. So members may be written before or after a batch, and losing them
costs reading files again, never a memory. A source that two feeds offer has two members.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, delete, insert, select

from indexing.catalog import Catalog
from indexing.catalog_database import in_pages
from indexing.catalog_rows import note_scope
from indexing.catalog_schema import members
from indexing.hashing import digest
from indexing.tombstones import owner_lock
from indexing.types import Scope


@dataclass(frozen=True, slots=True)
class Member:
    """A source as a feed saw it last.

    ``parent`` is the file or query that a record is from, empty for what stands for itself.
    ``stamp`` tells cheaply that nothing changed (empty: it cannot), ``content`` is the hash of what
    was read (empty: it could not be), ``turns`` how many lines of a chat export were good.
    """

    scope: Scope
    source_id: str
    parent: str = ""
    uri: str = ""
    stamp: str = ""
    content: str = ""
    turns: int = 0

    @property
    def place(self) -> tuple[str, str]:
        """The tenant and the id: what is unique within a feed."""
        return self.scope.tenant, self.source_id


class Members:
    """The members of all feeds of a catalog."""

    def __init__(self, catalog: Catalog) -> None:
        self._database = catalog.database
        self._tombstones = catalog.tombstones

    def of(self, feed: str) -> dict[tuple[str, str], Member]:
        """Return what a feed saw last, by tenant and id."""
        query = select(members).where(members.c.feed == feed)
        with self._database.read() as connection:
            found = [_member(row) for row in connection.execute(query)]
        return {member.place: member for member in found}

    def put(self, feed: str, rows: Sequence[Member]) -> None:
        """Record what a feed sees now, in one transaction; not what was forgotten."""
        last = {row.place: row for row in rows}
        if not last:
            return
        owners = {owner_lock(row.scope) for row in rows}
        tenants = {row.scope.tenant for row in rows}
        with self._database.write(f"feed {feed}", *tenants, shared=sorted(owners)) as connection:
            for where in _places(list(last.values())):
                connection.execute(delete(members).where(members.c.feed == feed, *where))
            kept = self._kept(connection, list(last.values()))
            if kept:
                connection.execute(insert(members), [_row(feed, row) for row in kept])

    def _kept(self, connection: Connection, rows: Sequence[Member]) -> list[Member]:
        """Return the members that no tombstone blocks."""
        by_scope: defaultdict[Scope, list[Member]] = defaultdict(list)
        for row in rows:
            by_scope[row.scope].append(row)
        kept: list[Member] = []
        for scope, held in by_scope.items():
            names = [row.source_id for row in held]
            blocked = self._tombstones.check(connection, scope, names)
            if not blocked.by:
                note_scope(connection, scope)
                kept += [row for row in held if row.source_id not in blocked.source_ids]
        return kept

    def drop(self, feed: str, rows: Sequence[Member]) -> None:
        """Forget that a feed offers these."""
        if not rows:
            return
        with self._database.write(f"feed {feed}") as connection:
            for where in _places(rows):
                connection.execute(delete(members).where(members.c.feed == feed, *where))

    def claimed(self, feed: str, rows: Sequence[Member]) -> set[tuple[str, str]]:
        """Return the places of those which another feed offers too."""
        found: set[tuple[str, str]] = set()
        with self._database.read() as connection:
            for where in _places(rows):
                query = select(members.c.tenant, members.c.source_id)
                query = query.where(members.c.feed != feed, *where)
                found.update((tenant, name) for tenant, name in connection.execute(query))
        return found

    def offers(self, scope: Scope, source_id: str) -> list[tuple[str, Member]]:
        """Return the feeds that offer a source, each with its member."""
        (where,) = _places([Member(scope, source_id)])
        query = select(members).where(*where).order_by(members.c.feed)
        with self._database.read() as connection:
            return [(row.feed, _member(row)) for row in connection.execute(query)]


def _places(rows: Sequence[Member]) -> Iterator[tuple[Any, Any]]:
    """Yield conditions that together match the rows' places, each within a statement's limits."""
    by_tenant: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows:
        by_tenant[row.scope.tenant].append(digest(row.source_id))
    for tenant, keys in by_tenant.items():
        for page in in_pages(keys):
            yield members.c.tenant == tenant, members.c.key.in_(page)


def _member(row: Row[Any]) -> Member:
    scope = Scope(row.collection, row.user_id, row.session_id)
    return Member(scope, row.source_id, row.parent, row.uri, row.stamp, row.content, row.turns)


def _row(feed: str, member: Member) -> dict[str, Any]:
    return {
        "feed": feed,
        "tenant": member.scope.tenant,
        "key": digest(member.source_id),
        "collection": member.scope.collection,
        "user_id": member.scope.user_id,
        "session_id": member.scope.session_id,
        "source_id": member.source_id,
        "parent": member.parent,
        "uri": member.uri,
        "stamp": member.stamp,
        "content": member.content,
        "turns": member.turns,
    }
