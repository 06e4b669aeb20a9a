"""What is to be forgotten, and everything by which it could still be found: `Target`, `Traces`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select

from indexing.catalog import Catalog
from indexing.catalog_rows import DeadLetter
from indexing.catalog_schema import conversations, members, metadata, sources
from indexing.errors import InvalidInput
from indexing.hashing import digest
from indexing.index import Index
from indexing.left_behind import left_by
from indexing.mentions import spread
from indexing.needles import Needle, id_needles, scope_needles, text_needle
from indexing.payload import to_payload
from indexing.session_rows import logged, texts, turn_ids
from indexing.tombstones import What
from indexing.types import (
    COLLECTIONS,
    GLOBAL,
    Filter,
    Memory,
    Scope,
    check_id,
    session_scope,
    user_scope,
)


@dataclass(frozen=True, slots=True)
class Target:
    """A user with all sessions, one session, or some sources or memories of a scope.

    Make one with `user_target`, `session_target`, `source_target` or `memory_target`.
    """

    what: What
    scope: Scope
    ids: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether whole scopes go, not single ids."""
        return self.what in ("user", "session")


def user_target(user_id: str) -> Target:
    """Return a user with everything the user has, in the own scope and in every session."""
    return Target("user", user_scope(user_id))


def session_target(user_id: str, session_id: str) -> Target:
    """Return a session: its own memories, and the user's memories of that conversation."""
    return Target("session", session_scope(user_id, session_id))


def source_target(scope: Scope, source_ids: Sequence[str]) -> Target:
    """Return sources of a scope. Raises `InvalidId` for a blank one."""
    return Target("source", scope, tuple(check_id(name, "source id") for name in source_ids))


def memory_target(scope: Scope, memory_ids: Sequence[str]) -> Target:
    """Return memories of a scope."""
    if not memory_ids:
        raise InvalidInput("no memory id is given")
    return Target("memory", scope, tuple(memory_ids))


@dataclass(slots=True)
class Traces:
    """Where a target is: whole scopes, and sources and memories of others.

    ``told`` are the conversations of a user who goes: what failed in an export of several users is
    a dead letter of nobody that names one. ``turns`` are those of the sources, and of the memories,
    that are in the log of a session. ``needles`` are what no file may hold afterwards.
    """

    scopes: list[Scope] = field(default_factory=list)
    sources: dict[Scope, list[str]] = field(default_factory=dict)
    memories: dict[Scope, list[str]] = field(default_factory=dict)
    turns: dict[Scope, list[str]] = field(default_factory=dict)
    conversations: dict[Scope, str] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    needles: set[Needle] = field(default_factory=set)

    @property
    def touched(self) -> list[Scope]:
        """All scopes that something goes from."""
        return list(dict.fromkeys((*self.scopes, *self.sources, *self.memories)))


def find(index: Index, target: Target) -> Traces:
    """Find everything that a target has left in the store and the catalog."""
    traces = Traces()
    own = target.scope
    if target.what == "user":
        traces.scopes = list(dict.fromkeys((own, *index.catalog.scopes(own.user_id))))
        traces.told = _conversations(index.catalog, own.user_id)
    elif target.what == "session":
        traces.scopes = [own]
        user = user_scope(own.user_id)
        left = left_by(index.store, own.user_id, own.session_id)
        traces.sources[user] = [*_turns(index.catalog, user, own.session_id), *left]
        traces.conversations[user] = own.session_id
    elif target.what == "source":
        traces.sources[own] = [*target.ids, *_records(index.catalog, own, target.ids)]
        _take_turns(index, traces, own, traces.sources[own])
    else:
        traces.memories[own] = list(target.ids)
        held = index.store.scroll(own.collection, Filter(own, ids=target.ids))
        said = sorted({name for memory in held for name in memory.sources})
        _take_turns(index, traces, own, said)
    traces.needles.update(_needles(index, traces))
    if target.what == "session":  # the user stays
        traces.needles -= set(id_needles(own.user_id))
    return traces


def _take_turns(index: Index, traces: Traces, scope: Scope, names: Sequence[str]) -> None:
    """Add which of these sources are turns of a log, and what they left with their user."""
    if turns := logged(index.catalog, scope, names):
        traces.turns[scope] = list(turns)
        left = left_by(index.store, scope.user_id, scope.session_id, turns.values())
        traces.sources.setdefault(user_scope(scope.user_id), []).extend(left)


def is_of(letter: DeadLetter, traces: Traces) -> bool:
    """Tell whether a dead letter is of what goes."""
    if letter.scope in traces.scopes or letter.path in traces.sources.get(letter.scope, ()):
        return True
    told = traces.conversations.get(letter.scope)
    names = {told} if told is not None else traces.told if letter.scope == GLOBAL else set()
    return any(letter.place.startswith(f"session {name}, turn ") for name in names)


def kept(index: Index) -> Iterator[bytes]:
    """Yield what is there to stay, as bytes: every memory's payload, every text of the catalog."""
    for collection in COLLECTIONS:
        for memory in index.store.everything(collection):
            yield _flat(to_payload(memory)).encode(errors="backslashreplace")
    with index.catalog.database.read() as connection:
        for table in metadata.sorted_tables:
            for row in connection.execute(select(table)):
                # As they are in a file: "doc-1" and a hash "2f…" beside it read as "doc-12f…".
                # Of nothing there is no byte.
                held = (value for value in row if value is not None)
                parts = (value if isinstance(value, str) else "\n" for value in held)
                yield "".join(parts).encode(errors="backslashreplace")


def _flat(value: object) -> str:
    if isinstance(value, dict):
        return "\n".join(map(_flat, value.values()))
    if isinstance(value, list):
        return "\n".join(map(_flat, value))
    return str(value)


def _turns(catalog: Catalog, scope: Scope, conversation_id: str) -> list[str]:
    """Return the turns of one conversation of a scope, as sources."""
    table = sources.c
    query = select(table.source_id).where(
        table.tenant == scope.tenant, table.conversation_id == conversation_id
    )
    with catalog.database.read() as connection:
        return list(connection.execute(query).scalars())


def _conversations(catalog: Catalog, user_id: str) -> set[str]:
    """Return the conversations that a user has, and nobody else."""
    table = conversations.c
    mine = select(table.conversation_id).where(table.user_id == user_id)
    others = select(table.conversation_id).where(
        table.user_id != user_id, table.conversation_id.in_(mine)
    )
    with catalog.database.read() as connection:
        found = set(connection.execute(mine).scalars())
        return found - set(connection.execute(others).scalars())


def _records(catalog: Catalog, scope: Scope, source_ids: Sequence[str]) -> list[str]:
    """Return the sources that are records of these: the rows of a table, the parts of an export."""
    table = members.c
    query = select(table.source_id).where(
        table.tenant == scope.tenant, table.parent.in_(source_ids)
    )
    with catalog.database.read() as connection:
        return sorted(set(connection.execute(query).scalars()))


def _needles(index: Index, traces: Traces) -> Iterator[Needle]:
    for scope in traces.scopes:
        yield from scope_needles(scope)
        yield from _said(index.store.scroll(scope.collection, Filter(scope)))
        for name in index.catalog.sources(scope):
            yield from id_needles(name)
        yield from _logged(index.catalog, scope)
    for scope, turns in traces.turns.items():
        yield from _logged(index.catalog, scope, turns)
    for told in {*traces.conversations.values(), *traces.told}:
        yield from id_needles(told)
    for scope, names in traces.sources.items():
        for name in names:
            yield from (*id_needles(name), Needle(digest(name).encode(), "id"))
        gone = set(names)
        for start in range(0, len(names), index.batch):
            where = Filter(scope, source_ids=tuple(names[start : start + index.batch]))
            for memory in index.store.scroll(scope.collection, where):
                parts = [part for part in spread(memory) if part.source_id in gone]
                yield from _places(parts)
                if gone.issuperset(memory.sources):
                    yield from id_needles(memory.id)
    for scope, ids in traces.memories.items():
        yield from _said(index.store.scroll(scope.collection, Filter(scope, ids=tuple(ids))))
    for letter in index.catalog.dead():
        if is_of(letter, traces):
            yield from id_needles(letter.path)


def _logged(catalog: Catalog, scope: Scope, turns: Sequence[str] | None = None) -> Iterator[Needle]:
    """Yield what the log of a session says, all of it or these turns."""
    for text in texts(catalog, scope, turns):
        yield text_needle(text)
    for name in turn_ids(catalog, scope, turns):
        yield from id_needles(name)


def _said(memories: Iterable[Memory]) -> Iterator[Needle]:
    for memory in memories:
        yield from id_needles(memory.id)
        yield from _places(spread(memory))


def _places(parts: Iterable[Memory]) -> Iterator[Needle]:
    for part in parts:
        yield text_needle(part.text)
