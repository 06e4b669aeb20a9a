"""What a sync does with each document that a feed offers: pure decisions over what is known.

Of equal documents of one feed and scope the first in the feed's order is indexed, the others are
duplicates: its memories name them too. What is indexed under an id that is gone, or that comes
later, is taken over: no embedding. So the outcome depends on what the feed offers now, not on what
it offered before.
"""

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from indexing.catalog import Catalog
from indexing.catalog_rows import SourceRow
from indexing.feeds.types import Entry, Item
from indexing.index import Change
from indexing.members import Member, Members
from indexing.types import Scope

Class = Change | Literal["unchanged"]

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an item is. ``twin`` is whose content it has: its former id, or what it repeats."""

    change: Class
    twin: str = ""


class Judge:
    """What one sync knows: the members of the feed, the entries listed, what was decided so far."""

    def __init__(
        self, catalog: Catalog, feed: str, entries: Sequence[Entry], partial: bool
    ) -> None:
        self._catalog = catalog
        self._feed = feed
        self._partial = partial
        self._claims = Members(catalog)
        self.members = self._claims.of(feed)
        self.children: defaultdict[str, list[Member]] = defaultdict(list)
        self._alike: defaultdict[tuple[str, str], list[Member]] = defaultdict(list)
        for member in self.members.values():
            self.children[member.parent].append(member)
            if member.content:
                self._alike[member.scope.tenant, member.content].append(member)
        self.listed = {entry.id for entry in entries}
        self._rows: dict[Place, SourceRow | None] = {}
        self._claimed: dict[Place, bool] = {}
        self._first: dict[tuple[str, str], str] = {}
        self._done: set[Place] = set()
        self._took: dict[Place, Member] = {}
        self.taken: set[Place] = set()

    def judge(self, item: Item) -> Verdict:
        """Decide about the next item; the order of calls is the feed's."""
        member = item.member
        tenant, content = member.scope.tenant, member.content
        self._done.add(member.place)
        row = self.row(member)
        twin = self._first.setdefault((tenant, content), member.source_id)
        if twin == member.source_id and self._partial and not (row and row.content_hash == content):
            twin = next((alike.source_id for alike in self._indexed_alike(member)), twin)
        if twin != member.source_id:
            return Verdict("duplicate", twin)
        old = self.members.get(member.place)
        if row and row.content_hash == content and (old is None or old.uri == member.uri):
            return Verdict("unchanged")
        known = row is not None or member.place in self.taken
        former = self._took.get(member.place)  # a step that is tried again takes the same
        former = former or next(filter(self.is_free, self._indexed_alike(member)), None)
        if former is None:
            return Verdict("changed" if known else "new")
        self.taken.add(former.place)
        self._took[member.place] = former
        gone = former.source_id not in self.listed
        return Verdict("changed" if known else "renamed" if gone else "new", former.source_id)

    def withdraw(self, item: Item, verdict: Verdict) -> None:
        """Take a decision back: the item turned out to be unreadable, an equal one may not be."""
        tenant = item.member.scope.tenant
        self._first.pop((tenant, item.member.content), None)
        self.taken.discard((tenant, verdict.twin))
        self._took.pop(item.member.place, None)

    def row(self, member: Member) -> SourceRow | None:
        """Return what is indexed under a member's id now."""
        if member.place in self.taken:
            return None
        if member.place not in self._rows:
            self.load([member])
        return self._rows[member.place]

    def load(self, members: Iterable[Member]) -> None:
        """Read the rows of members, a page at a time, and whether other feeds claim them."""
        wanted = [member for member in members if member.place not in self._rows]
        by_scope: defaultdict[Scope, list[str]] = defaultdict(list)
        for member in wanted:
            by_scope[member.scope].append(member.source_id)
        for scope, ids in by_scope.items():
            rows = self._catalog.sources(scope, ids)
            self._rows |= {(scope.tenant, name): rows.get(name) for name in ids}

    def is_free(self, member: Member) -> bool:
        """Tell whether this feed alone decides about a source: no other offers it still."""
        if member.place not in self._claimed:
            others = self._claims.claimed(self._feed, [member])
            self._claimed[member.place] = member.place in others
        return not self._claimed[member.place] or _is_no_file(member.source_id)

    def gone(
        self, complete: Iterable[str], closed: tuple[str, ...], seen: set[Place]
    ) -> list[Member]:
        """Return the members that are offered no longer.

        ``complete`` are entries that were read to their end, ``closed`` what could not be listed,
        ``seen`` all that was offered. Records of an entry that was not read to its end stay.
        """
        ended = set(complete)
        found = []
        for member in self.members.values():
            entry = member.parent or member.source_id
            read = entry not in self.listed or (member.parent in ended and member.parent != "")
            if read and member.place not in seen and not entry.startswith(closed):
                found.append(member)
        others = self._claims.claimed(self._feed, found)
        self._claimed |= {member.place: member.place in others for member in found}
        return found

    def _indexed_alike(self, member: Member) -> Iterable[Member]:
        """Yield members of equal content that are indexed, and not decided about yet."""
        for alike in self._alike.get((member.scope.tenant, member.content), ()):
            if alike.place in self._done or alike.place in self.taken:
                continue
            row = self.row(alike)
            if row and row.content_hash == member.content:
                yield alike


def _is_no_file(source_id: str) -> bool:
    """Tell whether an id is the path of a file that is no longer there."""
    if not PurePath(source_id).is_absolute() or "\\x" in source_id:
        return False
    return not os.path.lexists(source_id)
