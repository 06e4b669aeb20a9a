"""Bring the index in step with a feed: new, changed, renamed, gone. `sync`, `plan`, `Sync`.

Cheap first: a file with its old stamp is not opened, bytes with their old hash are not parsed, a
chunk with its old text is not embedded. Every batch is committed with what it replaces, so a run
that is killed is finished by the next. Where most of a feed is gone at once, nothing is removed
until it is forced: a disk that is not mounted looks the same.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from indexing.catalog import Catalog
from indexing.catalog_rows import DeadLetter
from indexing.documents import document_source
from indexing.errors import SourceError
from indexing.feeds.access import Access
from indexing.feeds.reading import BROKEN, entries_of, offers_of
from indexing.feeds.types import Entry, Export, Failure, Feed, Item, Listing, Offer, Progress
from indexing.index import Index, Report, Source
from indexing.judge import Judge, Place, Verdict
from indexing.members import Member, Members
from indexing.removal import MAX_REMOVED, by_scope, is_too_much, remove_sources
from indexing.turns import ingest_export
from indexing.types import GLOBAL, Scope
from indexing.write import bury, write

PAGE = 256


def sync(
    index: Index,
    feed: Feed,
    access: Access | None = None,
    progress: Progress | None = None,
    *,
    force: bool = False,
    max_removed: float = MAX_REMOVED,
) -> Report:
    """Index what a feed offers and remove what it offers no longer.

    Raises `SourceError` or `ConfigError` when the feed cannot be listed.
    """
    run = Sync(index.catalog, feed, access, progress)
    report = run.apply(index)
    report.add(run.remove(index, force=force, max_removed=max_removed))
    return report


class Sync:
    """One run over a feed, in steps that can be repeated: `apply` some entries, then `remove`.

    Steps of one run share its object; they may be called one after another from several threads.
    """

    def __init__(
        self,
        catalog: Catalog,
        feed: Feed,
        access: Access | None = None,
        progress: Progress | None = None,
        *,
        only: tuple[str, Sequence[Entry]] | None = None,
    ) -> None:
        """List the feed; ``only`` names a feed's key and a few of its entries instead."""
        self.feed = feed
        self.access = access or Access()
        self.listing = Listing(tuple(only[1])) if only else entries_of(feed, self.access)
        self.key = only[0] if only else feed.key
        self.judge = Judge(catalog, self.key, self.listing.entries, partial=only is not None)
        self._catalog = catalog
        self._progress = progress
        self._members = Members(catalog)
        self._scope = feed.scope or GLOBAL
        self._place = {entry.id: number for number, entry in enumerate(self.listing.entries)}
        self._seen: set[Place] = set()
        self._failed: set[str] = set()
        self._ended: set[str] = set()
        self._whole: set[str] = set()
        self.judge.load(m for m in self.judge.members.values() if not self.is_listed(m))

    def pages(self, size: int = PAGE) -> Iterator[tuple[str, ...]]:
        """Yield the ids of the entries, some at a time: what `apply` takes."""
        names = tuple(self._place)
        for start in range(0, len(names), size):
            yield names[start : start + size]

    def offers(self, ids: Sequence[str] | None = None) -> Iterator[Offer]:
        """Yield what the entries of these ids offer, or all."""
        entries = self.listing.entries
        if ids is not None:
            entries = tuple(entries[self._place[name]] for name in ids)
        own = [Member(self._scope, entry.id) for entry in entries]
        self.judge.load(own)
        self.judge.load(child for entry in entries for child in self.judge.children[entry.id])
        olds = {m.source_id: old for m in own if (old := self.judge.members.get(m.place))}
        for entry, offers in offers_of(self.feed, entries, olds, self.access):
            if self._progress:
                self._progress(entry.uri, self._place[entry.id], len(self._place))
            self._seen.add((self._scope.tenant, entry.id))
            broken = lost = False
            for offer in offers:
                self._seen.add(offer.member.place)
                if isinstance(offer, Failure):
                    broken |= offer.place == BROKEN
                    lost |= offer.lost
                    self._failed.add(offer.record)
                yield offer
            if not broken:
                self._ended.add(entry.id)
            if not broken and not lost:
                self._whole.add(entry.id)

    def apply(self, index: Index, ids: Sequence[str] | None = None) -> Report:
        """Index what the entries of these ids offer, or all; what is unchanged costs nothing."""
        work = _Work(self._dead_paths())
        held: defaultdict[Scope, list[Source]] = defaultdict(list)
        size = 0
        for source, scope in self._sources(index, ids, work):
            held[scope].append(source)
            size += len(source.chunks)
            if size >= index.batch * len(held):
                self._write(index, held, work)
                size = 0
        self._write(index, held, work)
        self._revive(work, ids)
        return work.report

    def gone(self) -> list[Member]:
        """Return what the feed offers no longer, of the entries that were read or are not there."""
        found = self.judge.gone(self._whole, self.listing.closed, self._seen)
        return [member for member in found if member.source_id not in self._failed]

    def remove(
        self, index: Index, *, force: bool = False, max_removed: float = MAX_REMOVED
    ) -> Report:
        """Remove what is gone, unless that is too much to be believed; `apply` comes first."""
        report = Report()
        gone = self.gone()
        rows = by_scope(member for member in gone if self.judge.is_free(member))
        doomed = {
            scope: [name for name in ids if name in held]
            for scope, ids in rows.items()
            if (held := self._catalog.sources(scope, ids))
        }
        count = sum(map(len, doomed.values()))
        if not force and is_too_much(count, len(self.judge.members), max_removed):
            report.kept = count
            return report
        for scope, ids in doomed.items():
            remove_sources(index, scope, ids)
        report.removed = count
        dead = self._dead_paths()
        for member in gone:
            if member.source_id in dead:
                self._catalog.revive(self._scope, member.source_id)
        self._members.drop(self.key, gone)
        return report

    def _sources(
        self, index: Index, ids: Sequence[str] | None, work: "_Work"
    ) -> Iterator[tuple[Source, Scope]]:
        """Yield what has to be written; count and record the rest."""
        report = work.report
        for offer in self.offers(ids):
            if isinstance(offer, Failure):
                self._fail(index, offer, work)
            elif isinstance(offer, Export):
                self._export(index, offer, work)
            else:
                self._parent(offer.member, work)
                verdict = self.judge.judge(offer)
                if verdict.change == "unchanged":
                    report.seen += 1
                    report.unchanged += 1
                    self._keep(offer.member, work)
                elif verdict.change == "duplicate" and self._is_written(offer.member):
                    report.seen += 1
                    report.duplicate += 1
                    self._keep(offer.member, work)
                elif source := self._source(index, offer, verdict, work):
                    report.seen += 1
                    yield source, offer.member.scope
            if len(work.members) >= PAGE:
                self._record(work)

    def _source(self, index: Index, item: Item, verdict: Verdict, work: "_Work") -> Source | None:
        member = item.member
        assert verdict.change != "unchanged"
        try:
            document = item.read()
            made = document_source(
                index.recipe, document, member.content, self.feed.chunker, self.feed.tags
            )
        except SourceError as error:
            self.judge.withdraw(item, verdict)
            self._fail(index, Failure(member, str(error), member.parent and member.source_id), work)
            return None
        work.members.append(member)
        was = "" if verdict.change == "duplicate" else verdict.twin
        return replace(made, was=was, change=verdict.change)

    def _is_written(self, member: Member) -> bool:
        """Tell whether a member is indexed as it is now, under its name of now."""
        row, old = self.judge.row(member), self.judge.members.get(member.place)
        return bool(row and row.content_hash == member.content and old and old.uri == member.uri)

    def _fail(self, index: Index, failure: Failure, work: "_Work") -> None:
        """Bury what could not be read; what was indexed from it stays, and it is read again."""
        member = failure.member
        old = self.judge.members.get(member.place)
        work.members.append(replace(member, stamp="", content=old.content if old else "", turns=0))
        work.report.seen += 1
        path = member.parent or member.source_id
        bury(index, work.report, DeadLetter(self._scope, path, failure.place, failure.reason))

    def _export(self, index: Index, export: Export, work: "_Work") -> None:
        """Index the turns of an export, unless it is byte for byte what it was."""
        member, report = export.member, work.report
        old = self.judge.members.get(member.place)
        if self.is_unchanged(export) and old and member.source_id not in work.dead:
            report.seen += old.turns
            report.unchanged += old.turns
            self._keep(replace(member, turns=old.turns), work)
            return
        try:
            text = export.read()
        except SourceError as error:
            self._fail(index, Failure(member, str(error)), work)
            return
        found = ingest_export(
            index,
            text,
            member.source_id,
            member.uri,
            self.feed.scope,
            self.access.timezone,
            self._progress,
            self.feed.tags,
        )
        report.add(found)
        work.members.append(replace(member, turns=0 if found.dead else found.seen))

    def _parent(self, member: Member, work: "_Work") -> None:
        """Record the entry that a record is from: a retry asks whose it was."""
        if member.parent and member.parent not in work.parents:
            work.parents.add(member.parent)
            entry = self.listing.entries[self._place[member.parent]]
            self._keep(Member(self._scope, entry.id, "", entry.uri), work)

    def is_unchanged(self, export: Export) -> bool:
        """Tell whether all lines of an export were good, and it is byte for byte what it was."""
        old = self.judge.members.get(export.member.place)
        return old is not None and old.turns > 0 and old.content == export.member.content

    def _keep(self, member: Member, work: "_Work") -> None:
        """Record a member that differs from what is recorded."""
        if self.judge.members.get(member.place) != member:
            work.members.append(member)

    def _write(self, index: Index, held: dict[Scope, list[Source]], work: "_Work") -> None:
        """Write what is held; who offers it goes first, so that no kill leaves points of nobody."""
        self._record(work)
        for scope, sources in held.items():
            work.report.add(write(index, scope, sources))
        held.clear()

    def _record(self, work: "_Work") -> None:
        self._members.put(self.key, work.members)
        work.members.clear()

    def _revive(self, work: "_Work", ids: Sequence[str] | None) -> None:
        """Clear the dead letters of entries that were read to their end, but for today's."""
        failing = defaultdict(list)
        for letter in work.report.dead:
            failing[letter.path].append(letter.place)
        for name in work.dead.intersection(self._place if ids is None else ids, self._ended):
            self._catalog.revive(self._scope, name, failing[name])

    def _dead_paths(self) -> set[str]:
        return {letter.path for letter in self._catalog.dead(self._scope)}

    def is_listed(self, member: Member) -> bool:
        """Tell whether a member is an entry of the feed now, or a record of one."""
        return (member.parent or member.source_id) in self._place


@dataclass(slots=True)
class _Work:
    """What one `Sync.apply` has done and has still to record."""

    dead: set[str]
    report: Report = field(default_factory=Report)
    members: list[Member] = field(default_factory=list)
    parents: set[str] = field(default_factory=set)
