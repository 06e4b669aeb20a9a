"""Forget a user, a session, sources or memories, and prove it: `forget`.

A tombstone first, so that no write that is under way brings anything back. Then vectors and rows
go, one scope after the other, each in its tenant's turn; files are rewritten; every store is read
back and every file is looked through for what was removed, and rewritten again until nothing is
left. What was done is a receipt. Interrupted, it is simply run again.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from indexing import payload, sparse, types
from indexing.audit import Audit, named
from indexing.erasing import Done, Places, drop_letters, read_back, remove, rewrite
from indexing.index import Index
from indexing.keyed import Keyed
from indexing.receipts import HEAD, Draft, Receipt, Receipts
from indexing.scan import living, scan
from indexing.traces import Target, Traces, find, kept
from indexing.transfer.travel import names_of
from indexing.types import Filter

TRIES = 3
"""How often files are rewritten, at most, before what is left is reported."""

Progress = Callable[[str, int, int], None]
"""Called with the phase, its number from 0 and how many phases there are."""

PHASES = ("remove", "rewrite", "scan")


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
    done = Done()
    _show(progress, 0)
    with done.timed("remove"):
        keys = index.catalog.tombstones.put(target.what, target.scope, target.ids, now=asked_at)
        traces = find(index, target)
        if target.what == "memory":
            keys += _block_beside(index, target, traces, asked_at)
        remove(index, traces, places, done)
        for erase in places.erasers:
            removed, left, notes = erase(traces)
            for name, number in removed.items():
                done.count(name, number)
            done.left |= left
            done.notes += notes
        drop_letters(index, traces, done)
    _clear_caches()
    needles = sorted(traces.needles, key=lambda needle: needle.data)
    tenants = {scope.tenant for scope in traces.touched}
    for _ in range(TRIES):
        _show(progress, 1)
        with done.timed("rewrite"):
            rewrite(index, traces, places)
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
    done.left |= read_back(index, target, traces, places)
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


def _block_beside(index: Index, target: Target, traces: Traces, now: datetime) -> list[str]:
    """Block what would bring memories back: the turns that say them, their other names in files."""
    stones, scope, keys = index.catalog.tombstones, target.scope, list[str]()
    held = index.store.scroll(scope.collection, Filter(scope, ids=target.ids))
    names = {name for memory in held for name in names_of(memory)}
    if turns := traces.turns.get(scope):
        keys += stones.put("source", scope, turns, now=now)
    if others := sorted(names.difference(target.ids)):
        keys += stones.put("name", scope, others, now=now)
    return keys


def lift(index: Index, target: Target, asked_by: str) -> int:
    """Let a target be written again; return how many tombstones there were."""
    lifted = index.catalog.tombstones.lift(target.what, target.scope, target.ids)
    audit = Audit(index.catalog.database)
    audit.note("lift", target.scope, actor=asked_by, now=index.clock())
    return lifted


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
    for cached in (sparse._expand, sparse.term_id, payload._scope, types._tenant):
        cached.cache_clear()


def _show(progress: Progress | None, number: int) -> None:
    if progress:
        progress(PHASES[number], number, len(PHASES))
