"""Forget a user, a session, sources or memories, and prove it: `forget`.

A tombstone first, so that no write that is under way brings anything back. Then vectors and rows
go, one scope after the other, each in its tenant's turn; files are rewritten; every store is read
back and every file is looked through for what was removed, and rewritten again until nothing is
left. What was done is a receipt. Interrupted, it is simply run again.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import delete, func, select

from indexing import sparse, store, types
from indexing.audit import Audit, named
from indexing.catalog_schema import (
    conversations,
    dead_letters,
    events,
    members,
    scopes,
    sources,
)
from indexing.hashing import digest
from indexing.index import Index
from indexing.keyed import Keyed
from indexing.merge import Plan
from indexing.receipts import HEAD, Draft, Receipt, Receipts
from indexing.removal import remove_sources, settle
from indexing.scan import living, scan
from indexing.store import VectorStore
from indexing.traces import Target, Traces, find, is_of, kept
from indexing.types import GLOBAL, Filter, Memory, Scope
from indexing.unsay import unsay

TRIES = 3
"""How often files are rewritten, at most, before what is left is reported."""

OWNED = (sources, dead_letters, members, conversations, scopes)
"""The tables whose rows belong to one tenant."""

Erase = Callable[[Traces], tuple[Mapping[str, int], Mapping[str, int], Sequence[str]]]
"""Takes traces out of another store; returns what was removed, what is left, and notes."""

Progress = Callable[[str, int, int], None]
"""Called with the phase, its number from 0 and how many phases there are."""

PHASES = ("remove", "rewrite", "scan")


@dataclass(frozen=True, slots=True)
class Places:
    """Where else to look: other generations' stores, folders of files, and other stores."""

    others: Sequence[VectorStore] = ()
    folders: Sequence[Path] = ()
    erasers: Sequence[Erase] = ()


@dataclass(slots=True)
class _Done:
    """What a forgetting has done so far."""

    removed: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    rewrites: int = 0
    files: int = 0
    scanned: int = 0
    hits: int = 0
    too_short: int = 0

    def count(self, name: str, number: int) -> None:
        self.removed[name] = self.removed.get(name, 0) + number

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        spent = time.perf_counter() - started
        self.seconds[phase] = round(self.seconds.get(phase, 0.0) + spent, 3)


def forget(
    index: Index,
    target: Target,
    asked_by: str,
    places: Places | None = None,
    progress: Progress | None = None,
) -> Receipt:
    """Remove a target from every store and return the receipt; `Receipt.clean` says that none is
    left.

    ``asked_by`` is who gave the command. Forgetting what is not there gives a receipt of zeros.
    Raises `InvalidInput`, `InvalidId`, `StoreError`.
    """
    places = places or Places()
    asked_at = index.clock()
    done = _Done()
    _show(progress, 0)
    with done.timed("remove"):
        keys = index.catalog.tombstones.put(target.what, target.scope, target.ids, now=asked_at)
        traces = find(index, target)
        _remove(index, traces, places, done)
        for erase in places.erasers:
            removed, left, notes = erase(traces)
            for name, number in removed.items():
                done.count(name, number)
            done.left |= left
            done.notes += notes
        _drop_letters(index, traces, done)
    _clear_caches()
    needles = sorted(traces.needles, key=lambda needle: needle.data)
    tenants = {scope.tenant for scope in traces.touched}
    for _ in range(TRIES):
        _show(progress, 1)
        with done.timed("rewrite"):
            _rewrite(index, traces, places)
            done.rewrites += 1
        _show(progress, 2)
        with done.timed("scan"):
            reports = [scan(folder, needles, tenants=tenants) for folder in places.folders]
            found = frozenset().union(*(report.needles for report in reports))
            excused: frozenset[int] = frozenset()
            if found:
                doubtful = sorted(found)
                there = living([needles[number] for number in doubtful], kept(index))
                excused = frozenset(doubtful[place] for place in there)
        done.files = sum(report.files for report in reports)
        done.scanned = sum(report.bytes for report in reports)
        done.too_short = max((report.too_short for report in reports), default=0)
        remains = [hit for report in reports for hit in report.hits if hit.needle not in excused]
        done.hits = sum(hit.count for hit in remains)
        if not remains:
            break
    else:
        files = sorted({hit.file for hit in remains})
        done.notes.append(f"still found after {TRIES} rewrites, in: {', '.join(files)}")
    if excused:
        done.notes.append(
            f"{len(excused)} texts or ids are in the files because others have them too"
        )
    done.left |= _read_back(index, target, traces, places)
    done.notes += [held.residue for held in (index.store, *places.others) if held.residue]
    return _sign(
        index,
        target,
        asked_by,
        keys,
        Draft(
            asked_by=named(asked_by, target.scope),
            asked_at=asked_at,
            done_at=index.clock(),
            what=target.what,
            subject=_subject(index, target),
            removed=done.removed,
            left=done.left,
            files=done.files,
            bytes_scanned=done.scanned,
            hits=done.hits,
            too_short=done.too_short,
            rewrites=done.rewrites,
            seconds=done.seconds,
            notes=tuple(dict.fromkeys(done.notes)),
        ),
    )


def lift(index: Index, target: Target, asked_by: str) -> int:
    """Let a target be written again; return how many tombstones there were."""
    lifted = index.catalog.tombstones.lift(target.what, target.scope, target.ids)
    audit = Audit(index.catalog.database)
    audit.note("lift", target.scope, actor=asked_by, now=index.clock())
    return lifted


def _remove(index: Index, traces: Traces, places: Places, done: _Done) -> None:
    for scope, names in traces.sources.items():
        held = list(_of_sources(index, scope, names))
        gone = [m.id for m in held if set(names).issuperset(m.sources)]
        unsay(index, scope, held)
        done.count(f"vectors:{scope.collection}", remove_sources(index, scope, names))
        done.count("sources", len(names))
        _from_others(places, scope, [memory.id for memory in held])
        traces.memories.setdefault(scope, []).extend(gone)
        _drop_rows(index, scope, names, traces.conversations.get(scope), done)
    for scope, ids in traces.memories.items():
        if scope not in traces.sources:
            _remove_memories(index, scope, ids, done)
            _from_others(places, scope, ids)
    for scope in traces.scopes:
        with index.catalog.writing(scope) as turn:
            number = index.store.delete(scope.collection, Filter(scope))
            done.count(f"vectors:{scope.collection}", number)
            for table in OWNED:
                query = delete(table).where(table.c.tenant == scope.tenant)
                done.count(table.name, turn.connection.execute(query).rowcount)
            if scope.collection == "user":
                Audit(index.catalog.database).disown(turn.connection, scope.user_id)
        for other in places.others:
            other.delete(scope.collection, Filter(scope))


def _remove_memories(index: Index, scope: Scope, ids: Sequence[str], done: _Done) -> None:
    """Delete memories by id, and the rows of what was only told and is in none any more."""
    where = Filter(scope, ids=tuple(ids))
    held = {m.id: m for m in index.store.scroll(scope.collection, where)}
    unsay(index, scope, held.values())
    with index.catalog.writing(scope) as turn:
        held = {m.id: m for m in index.store.scroll(scope.collection, where)}
        number = settle(index, scope, Plan(delete=list(held)), held)
        done.count(f"vectors:{scope.collection}", number)
        names = sorted({name for memory in held.values() for name in memory.sources})
        left = {
            name: index.store.count(scope.collection, Filter(scope, source_ids=(name,)))
            for name in names
        }
        told = {m.source_id for m in held.values() if not m.uri and not m.conversation_id}
        bare = [name for name in names if name in told and not left[name]]
        turn.remove(bare)
        done.count("sources", len(bare))
    index.catalog.recount(scope, {name: left[name] for name in names if name not in bare})


def _of_sources(index: Index, scope: Scope, names: Sequence[str]) -> Iterator[Memory]:
    for start in range(0, len(names), index.batch):
        where = Filter(scope, source_ids=tuple(names[start : start + index.batch]))
        yield from index.store.scroll(scope.collection, where)


def _from_others(places: Places, scope: Scope, ids: Sequence[str]) -> None:
    """Delete memories from other generations: one that is being built takes over what stays."""
    for other in places.others:
        other.delete(scope.collection, Filter(scope, ids=tuple(ids)))


def _drop_rows(
    index: Index, scope: Scope, names: Sequence[str], told: str | None, done: _Done
) -> None:
    """Drop the rows that name sources, and a conversation of theirs."""
    keys = [digest(name) for name in names]
    letters = Traces(sources={scope: list(names)})
    if told is not None:
        letters.conversations[scope] = told
    doomed = [digest(w.path, w.place) for w in index.catalog.dead(scope) if is_of(w, letters)]
    with index.catalog.writing(scope) as turn:
        for table, chosen in (
            (members, keys),
            (dead_letters, doomed),
            (conversations, [digest(told)] if told is not None else []),
        ):
            for start in range(0, len(chosen), 500):
                page = table.c.key.in_(chosen[start : start + 500])
                query = delete(table).where(table.c.tenant == scope.tenant, page)
                done.count(table.name, turn.connection.execute(query).rowcount)


def _drop_letters(index: Index, traces: Traces, done: _Done) -> None:
    """Drop the dead letters of nobody that are about a user who goes."""
    for letter in index.catalog.dead(GLOBAL) if traces.told else ():
        if is_of(letter, traces):
            key = digest(letter.path, letter.place)
            with index.catalog.writing(GLOBAL) as turn:
                mine = (dead_letters.c.tenant == GLOBAL.tenant, dead_letters.c.key == key)
                gone = turn.connection.execute(delete(dead_letters).where(*mine))
            done.count("dead_letters", gone.rowcount)


def _rewrite(index: Index, traces: Traces, places: Places) -> None:
    for collection in dict.fromkeys(scope.collection for scope in traces.touched):
        for held in (index.store, *places.others):
            held.vacuum(collection)
    index.catalog.database.purge([table.name for table in (*OWNED, events)])


def _read_back(index: Index, target: Target, traces: Traces, places: Places) -> dict[str, int]:
    """Count what is left of the target in every store: nothing."""
    wheres = [Filter(scope) for scope in traces.scopes]
    wheres += [Filter(s, source_ids=tuple(names)) for s, names in traces.sources.items() if names]
    wheres += [Filter(s, ids=tuple(ids)) for s, ids in traces.memories.items() if ids]
    left: dict[str, int] = {}
    for where in wheres:
        name = f"vectors:{where.scope.collection}"
        for held in (index.store, *places.others):
            left[name] = left.get(name, 0) + held.count(where.scope.collection, where)
    with index.catalog.database.read() as connection:
        for table in OWNED:
            left[table.name] = 0
            for scope in traces.scopes:
                query = select(func.count()).where(table.c.tenant == scope.tenant)
                left[table.name] += connection.execute(query).scalar_one()
            if target.what == "user" and "user_id" in table.c:  # also what no list of scopes names
                query = select(func.count()).where(table.c.user_id == target.scope.user_id)
                left[table.name] += connection.execute(query).scalar_one()
    for scope, names in traces.sources.items():
        left["sources"] += len(index.catalog.sources(scope, names))
    left["dead_letters"] += sum(is_of(letter, traces) for letter in index.catalog.dead())
    return left


def _subject(index: Index, target: Target) -> str:
    scope = target.scope
    parts = (scope.collection, scope.user_id, scope.session_id, *target.ids)
    return Keyed(index.catalog.database).digest(target.what, *parts)


def _sign(
    index: Index, target: Target, asked_by: str, keys: Sequence[str], draft: Draft
) -> Receipt:
    database = index.catalog.database
    with database.write(HEAD) as connection:
        receipt = Receipts(database).add(draft, connection)
        index.catalog.tombstones.close(keys, receipt.number, connection)
        Audit(database).note(
            "forget",
            target.scope,
            actor=asked_by,
            now=draft.done_at,
            receipt=receipt.number,
            connection=connection,
        )
    return receipt


def _clear_caches() -> None:
    """Empty what this process keeps of words and ids to be faster."""
    for cached in (sparse._expand, sparse.term_id, store._scope, types._tenant):
        cached.cache_clear()


def _show(progress: Progress | None, number: int) -> None:
    if progress:
        progress(PHASES[number], number, len(PHASES))
