"""What a person changes in what is remembered: `edit`, `pin`, `unpin`, each an audited event.

An edit is a correction: the memory says something else from the beginning on, and what it said
before is nowhere afterwards. To say that something has changed, `remember` it. What comes from a
file or a conversation is corrected there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from indexing.audit import Action, Audit
from indexing.catalog_rows import SourceRow, Writing, about_place
from indexing.catalog_schema import events, sources
from indexing.drafts import Draft, identified
from indexing.embed import dense_vectors
from indexing.errors import InvalidInput, UnknownMemory
from indexing.index import Changes, Index
from indexing.mentions import mentions, put_together
from indexing.remember import check_told, told_hash
from indexing.removal import settle
from indexing.rewording import EDITABLE, corrected, retold, reworded
from indexing.store import VectorStore
from indexing.types import Filter, Memory, Scope


def edit(
    index: Index,
    scope: Scope,
    memory_id: str,
    text: str,
    actor: str,
    others: Sequence[VectorStore] = (),
) -> Memory:
    """Let a memory say something else and return it: its id is another one then.

    Subject, times and pin stay. If a memory of the scope says the new text already, the two become
    one. The old text is out of every file when it returns (`VectorStore.residue` says where that
    cannot be promised); ``others`` are stores of other generations. Raises `UnknownMemory`,
    `InvalidInput` for a text that cannot be remembered or a memory that cannot be edited,
    `Forgotten`, `StoreError`.
    """
    check_told(index, text)
    old = _editable(standing(index, scope, memory_id))
    told = retold(index, old, text)
    readings = {draft.reading.key: draft.reading for draft in told}
    made, _ = dense_vectors(index.embedder, list(readings.values()), index.recipe.factors)
    vectors = dict(zip(readings, made, strict=True))
    index.catalog.tombstones.put("edit", scope, [memory_id], now=index.clock())  # for `recover`
    index.catalog.begin(scope, [*old.sources, *(draft.memory.source_id for draft in told)])
    with index.catalog.writing(scope) as turn:
        old = _editable(standing(index, scope, memory_id))
        told = retold(index, old, text)
        new = corrected(old, told)
        turn.blocked(new.sources).refuse()
        turn.lift([identified(new).id])
        around = {memory.id: memory for memory in _around(index, old, new)}
        plan = reworded(old, new, around.values(), index.clock())
        settle(index, scope, plan, around, vectors)
        _note_sources(index, turn, old, told)
        turn.lift([memory_id], "edit")
        (home,) = plan.homes
        _note(index, turn, "edit", scope, home, actor)
    for store in (index.store, *others):
        if memory_id != home:
            store.delete(scope.collection, Filter(scope, ids=(memory_id,)))
        store.vacuum(scope.collection)
    index.catalog.database.purge([sources.name, events.name])
    return found(index, scope, home)


def pin(index: Index, scope: Scope, memory_id: str, actor: str) -> Memory:
    """Keep a memory until it is unpinned, whatever its life was; return it.

    Raises `UnknownMemory`, `InvalidInput` for one that was superseded, `StoreError`.
    """
    with index.catalog.writing(scope) as turn:
        memory = standing(index, scope, memory_id)
        pinned = replace(_lasting(memory, None), pinned=True)
        settle(index, scope, Changes([pinned]), {memory.id: memory})
        _note(index, turn, "pin", scope, memory_id, actor)
    return found(index, scope, memory_id)


def unpin(index: Index, scope: Scope, memory_id: str, actor: str) -> Memory:
    """Let a pinned memory live as long as its kind does, from now on; return it.

    One that is not pinned stays as it is. Raises `UnknownMemory`, `StoreError`.
    """
    with index.catalog.writing(scope) as turn:
        memory = found(index, scope, memory_id)
        if memory.pinned:
            life = index.recipe.life(memory.kind, scope)
            until = index.clock().astimezone(UTC) + life if life else None
            free = replace(_lasting(memory, until), pinned=False)
            settle(index, scope, Changes([free]), {memory.id: memory})
            _note(index, turn, "unpin", scope, memory_id, actor)
    return found(index, scope, memory_id)


def found(index: Index, scope: Scope, memory_id: str) -> Memory:
    """Return a memory of a scope, superseded or not. Raises `UnknownMemory`."""
    where = Filter(scope, now=index.clock(), ids=(memory_id,), superseded=True)
    held = index.store.get(scope.collection, where, limit=1)
    if not held:
        raise UnknownMemory(f"{scope} has no memory {memory_id}")
    return held[0]


def standing(index: Index, scope: Scope, memory_id: str) -> Memory:
    """Return a memory of a scope that holds now.

    Raises `UnknownMemory`, and `InvalidInput` for one that was superseded or archived.
    """
    memory = found(index, scope, memory_id)
    if memory.valid_to is not None and memory.valid_to <= index.clock():
        by = f" by {memory.superseded_by}" if memory.superseded_by else ""
        raise InvalidInput(f"memory {memory_id} was superseded{by}: it does not hold any more")
    return memory


def _editable(memory: Memory) -> Memory:
    if memory.kind not in EDITABLE:
        raise InvalidInput(
            f"memory {memory.id} is a {memory.kind} of {memory.source}: edit it at its source, "
            "then ingest that again"
        )
    return memory


def _around(index: Index, old: Memory, new: Memory) -> Iterator[Memory]:
    """Yield the memories that an edit has to do with, some more than once."""
    scope = old.scope
    wheres = [Filter(scope, keys=(new.key,)), Filter(scope, successors=(old.id,))]
    if old.subject:
        wheres.append(Filter(scope, subjects=(old.subject,)))
    yield old
    for where in wheres:
        yield from index.store.scroll(scope.collection, where)


def _note_sources(index: Index, turn: Writing, old: Memory, told: Sequence[Draft]) -> None:
    """Drop the rows of sources that are in no memory now, and record the new ones."""
    scope = old.scope
    names = {draft.memory.source_id: draft.memory for draft in told}
    since = {d.memory.source_id: p for d, p in zip(told, mentions(old), strict=True)}
    counts = {
        name: index.store.count(scope.collection, Filter(scope, source_ids=(name,)))
        for name in {*old.sources, *names}
    }
    turn.remove([name for name in old.sources if name not in names and not counts[name]])
    turn.commit(
        [
            SourceRow(
                name,
                told_hash(memory.text, old.subject, memory.at),
                counts[name],
                memory.conversation_id,
                memory.at.timestamp() if memory.conversation_id and memory.at else None,
                about_place(memory.kind, since[name]),
            )
            for name, memory in names.items()
        ]
    )


def _lasting(memory: Memory, until: datetime | None) -> Memory:
    """Return a memory all of whose places end at a time, or never."""
    return put_together(memory, (replace(p, expires_at=until) for p in mentions(memory)))


def _note(
    index: Index, turn: Writing, action: Action, scope: Scope, memory_id: str, actor: str
) -> None:
    Audit(index.catalog.database).note(
        action, scope, memory_id, actor=actor, now=index.clock(), connection=turn.connection
    )
