"""Take what is to be forgotten out of the store and the catalog, and count what is left: nothing.

Each scope's part is done in its tenant's turn. What the parts add up to is `forget`.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import delete, func, select

from indexing.audit import Audit
from indexing.catalog_database import in_pages
from indexing.catalog_schema import (
    conversations,
    dead_letters,
    events,
    members,
    scopes,
    sources,
)
from indexing.hashing import digest
from indexing.index import Changes, Index
from indexing.removal import remove_sources, settle
from indexing.session_rows import drop_turns, logged
from indexing.session_schema import SESSION_TABLES
from indexing.session_schema import turns as session_turns
from indexing.store import VectorStore
from indexing.traces import Target, Traces, is_of
from indexing.types import GLOBAL, Filter, Memory, Scope
from indexing.unsay import unsay

OWNED = (sources, dead_letters, members, conversations, scopes, *SESSION_TABLES)
"""The tables whose rows belong to one tenant."""

Erase = Callable[[Traces], tuple[Mapping[str, int], Mapping[str, int], Sequence[str]]]
"""Takes traces out of another store; returns what was removed, what is left, and notes."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where else to look: other generations' stores, folders of files, and other stores."""

    others: Sequence[VectorStore] = ()
    folders: Sequence[Path] = ()
    erasers: Sequence[Erase] = ()


@dataclass(slots=True)
class Done:
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
        """Add what was removed from a store."""
        self.removed[name] = self.removed.get(name, 0) + number

    @contextmanager
    def timed(self, phase: str) -> Iterator[None]:
        """Add the seconds of a block to a phase."""
        started = time.perf_counter()
        yield
        spent = time.perf_counter() - started
        self.seconds[phase] = round(self.seconds.get(phase, 0.0) + spent, 3)


def remove(index: Index, traces: Traces, places: Places, done: Done) -> None:
    """Delete vectors and rows, scope by scope; other generations lose them too."""
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
    for scope, names in traces.turns.items():
        with index.catalog.writing(scope) as turn:
            for what, number in drop_turns(turn.connection, scope, names).items():
                done.count(what, number)
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


def _remove_memories(index: Index, scope: Scope, ids: Sequence[str], done: Done) -> None:
    """Delete memories by id, and the rows of what was only told and is in none any more."""
    where = Filter(scope, ids=tuple(ids))
    held = {m.id: m for m in index.store.scroll(scope.collection, where)}
    unsay(index, scope, held.values())
    with index.catalog.writing(scope) as turn:
        held = {m.id: m for m in index.store.scroll(scope.collection, where)}
        number = settle(index, scope, Changes(delete=list(held)), held)
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
    index: Index, scope: Scope, names: Sequence[str], told: str | None, done: Done
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
            for page in in_pages(chosen):
                mine = (table.c.tenant == scope.tenant, table.c.key.in_(page))
                query = delete(table).where(*mine)
                done.count(table.name, turn.connection.execute(query).rowcount)


def drop_letters(index: Index, traces: Traces, done: Done) -> None:
    """Drop the dead letters of nobody that are about a user who goes."""
    for letter in index.catalog.dead(GLOBAL) if traces.told else ():
        if is_of(letter, traces):
            key = digest(letter.path, letter.place)
            with index.catalog.writing(GLOBAL) as turn:
                mine = (dead_letters.c.tenant == GLOBAL.tenant, dead_letters.c.key == key)
                gone = turn.connection.execute(delete(dead_letters).where(*mine))
            done.count("dead_letters", gone.rowcount)


def rewrite(index: Index, traces: Traces, places: Places) -> None:
    """Write the files anew that may still hold what was deleted."""
    for collection in dict.fromkeys(scope.collection for scope in traces.touched):
        for held in (index.store, *places.others):
            held.vacuum(collection)
    index.catalog.database.purge([table.name for table in (*OWNED, events)])


def read_back(index: Index, target: Target, traces: Traces, places: Places) -> dict[str, int]:
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
    for scope, names in traces.turns.items():
        left[session_turns.name] += len(logged(index.catalog, scope, names))
    for scope, names in traces.sources.items():
        left["sources"] += len(index.catalog.sources(scope, names))
    left["dead_letters"] += sum(is_of(letter, traces) for letter in index.catalog.dead())
    return left
