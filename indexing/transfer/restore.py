"""A file of our own -> memories of a user: `restore`.

All of the file is read before anything is written. Each batch is planned and embedded, then, in the
tenant's turn, planned again and written, rows last. What is there already is no work: an import
that was stopped is finished by starting it again, and one that is done twice changes nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from indexing.dense import PassageTooLong
from indexing.feeds.types import Progress
from indexing.index import Changes, Index
from indexing.mentions import mentions, put_together
from indexing.portable import Refused, check, lines_of, load, load_records
from indexing.tombstones import Blocked
from indexing.transfer.around import around, naming, rows, touched
from indexing.transfer.joining import Joined, join, units
from indexing.transfer.readings import hashed, vectors_of
from indexing.transfer.talk import restore_talk
from indexing.transfer.travel import Ids, as_told, pointed
from indexing.transfer.types import ImportReport
from indexing.types import Memory, Scope
from indexing.write import Vectors, carry_out


def restore(
    index: Index,
    path: Path,
    user_id: str,
    progress: Progress | None = None,
    *,
    dry_run: bool = False,
) -> ImportReport:
    """Make the memories of an export those of a user, beside those that the user has.

    Each goes to the user's own scope or to the session that the file names. Raises `InvalidInput`
    before anything is written when the file is not whole and right, `Forgotten` for a user or a
    session that may not be stored.
    """
    report = ImportReport("letopis")
    scopes: defaultdict[Scope, list[Memory]] = defaultdict(list)
    for memory in _dated(list(load(lines_of(path), user_id)), path):
        scopes[memory.scope].append(memory)
    report.seen = sum(map(len, scopes.values()))
    done = 0
    for scope, memories in scopes.items():
        work = _Scope(index, scope, memories, report, dry_run)
        for batch in work.batches():
            if progress:
                progress(str(scope), done, report.seen)
            work.write(batch)
            done += len(batch)
    report.talk = restore_talk(index, user_id, load_records(lines_of(path)), dry_run=dry_run)
    return report


class _Scope:
    """The memories of one scope on their way."""

    def __init__(
        self,
        index: Index,
        scope: Scope,
        memories: Sequence[Memory],
        report: ImportReport,
        dry_run: bool,
    ) -> None:
        self._index, self._scope = index, scope
        self._report, self._dry_run = report, dry_run
        sources = sorted({name for memory in memories for name in memory.sources})
        blocked = index.catalog.blocked(scope, sources)
        if blocked.by:
            blocked.refuse()
        allowed = _allowed(memories, blocked)
        self._told, self._ids = as_told(allowed, scope, index.clock())
        self._known = {memory.id for memory in self._told}
        self._lines = Counter(self._ids.values())
        report.forgotten += len(memories) - len(allowed)
        report.expired += len(allowed) - len(self._ids)

    def batches(self) -> Iterator[list[Memory]]:
        """Yield what is joined together, in batches."""
        batch: list[Memory] = []
        for unit in units(self._told):
            batch += unit
            if len(batch) >= self._index.batch:
                yield batch
                batch = []
        if batch:
            yield batch

    def write(self, batch: Sequence[Memory]) -> None:
        """Write a batch, if there is anything to do; what the model cannot read is refused."""
        held = around(self._index, self._scope, batch)
        made = self._join(batch, held)
        if self._dry_run or not (made.put or made.delete):
            self._count(batch, held, made)
            return
        batch = [hashed(self._index, memory) for memory in batch]
        vectors, unread = self._vectors(self._join(batch, held), held)
        batch = pointed(
            (m for m in batch if m.embed_hash not in unread), self._refuse(batch, unread)
        )
        begun = touched(batch, self._join(batch, held))
        self._index.catalog.begin(self._scope, sorted(begun))
        self._carry_out(batch, begun, vectors)

    def _carry_out(self, batch: Sequence[Memory], begun: set[str], vectors: Vectors) -> None:
        """Changes again and write, in the tenant's turn."""
        index, scope = self._index, self._scope
        with index.catalog.writing(scope) as turn:
            sources = sorted({name for memory in batch for name in memory.sources})
            names = self._names(batch)
            blocked = turn.blocked(sources, names)
            gone = {names[name] for name in blocked.memory_ids}
            kept = [m for m in _allowed(batch, blocked) if m.id not in gone]
            held = around(index, scope, kept)
            made = self._join(kept, held)
            near = {m.id: m for m in naming(index, scope, made.delete) if m.id not in held}
            plan = Changes([*made.put, *pointed(near.values(), made.moved)], made.delete)
            carry_out(index, scope, plan, held | near, {}, vectors)
            after = {m.id: m for m in (*held.values(), *plan.put) if m.id not in made.delete}
            turn.remove(sorted(blocked.source_ids))
            written = (begun | touched(kept, made)) - blocked.source_ids
            turn.commit(rows(written, after.values()))
        self._report.forgotten += self._count_lines(batch) - self._count_lines(kept)
        self._count(kept, held, made)

    def _names(self, batch: Sequence[Memory]) -> Ids:
        """Return the ids that memories go by and went by in the file: each may be forgotten."""
        told = {memory.id: memory.id for memory in batch}
        return {name: one for name, one in self._ids.items() if one in told} | told

    def _join(self, batch: Sequence[Memory], held: dict[str, Memory]) -> Joined:
        return join(batch, self._known, held.values(), self._index.clock())

    def _vectors(self, made: Joined, held: dict[str, Memory]) -> tuple[Vectors, dict[str, str]]:
        """Return the vectors that are not stored, and why some cannot be made, by their names."""
        known = {memory.embed_hash for memory in held.values()}
        unread: dict[str, str] = {}
        try:
            vectors = vectors_of(self._index, made.put, known)
        except PassageTooLong:
            vectors = {}
            for memory in made.put:
                try:
                    vectors |= vectors_of(self._index, [memory], known)
                except PassageTooLong as error:
                    unread[memory.embed_hash] = str(error)
        self._report.embedded += len(vectors)
        return vectors, unread

    def _refuse(self, batch: Sequence[Memory], unread: dict[str, str]) -> Ids:
        """Report memories that the model cannot read; return their ids, to be named no more."""
        refused = {m.id: unread[m.embed_hash] for m in batch if m.embed_hash in unread}
        for name, told in self._ids.items():
            if told in refused:
                self._report.refused.append(Refused(f"memory {name}", refused[told]))
        return dict.fromkeys(refused, "")

    def _count(self, batch: Sequence[Memory], held: dict[str, Memory], made: Joined) -> None:
        """Count the lines of a batch by what became of them."""
        put = {memory.id for memory in made.put}
        for memory in batch:
            home, lines = made.homes[memory.id], self._lines[memory.id]
            if home not in put:
                self._report.unchanged += lines
            elif home in held or not lines:
                self._report.joined += lines
            else:
                self._report.new += 1
                self._report.joined += lines - 1

    def _count_lines(self, batch: Sequence[Memory]) -> int:
        return sum(self._lines[memory.id] for memory in batch)


def _allowed(memories: Sequence[Memory], blocked: Blocked) -> list[Memory]:
    """Return memories without the places whose sources were forgotten; those without any go."""
    kept = []
    for memory in memories:
        places = mentions(memory)
        left = [place for place in places if place.source_id not in blocked.source_ids]
        if left:
            kept.append(memory if len(left) == len(places) else put_together(memory, left))
    return kept


def _dated(memories: list[Memory], path: Path) -> list[Memory]:
    """Return memories all of whose places have ``created_at``: else when they were exported."""
    if all(place.created_at for memory in memories for place in mentions(memory)):
        return memories
    exported = check(lines_of(path)).exported_at
    return [
        put_together(m, (replace(p, created_at=p.created_at or exported) for p in mentions(m)))
        for m in memories
    ]
