"""Finish what a killed process had begun: statements about a subject that overlap. `recover`.

A source whose row has no content hash was begun and not finished. The next sync of a feed writes
its documents again; a statement that was told is told once, so it is put right here: what of it is
stored stays, and the chain of its subject is made anew. Of an edit, what was to be replaced goes if
what replaces it is stored. A row of which nothing is stored goes, once
it is too old to be that of a write that is still under way.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import literal_column, or_, select

from indexing.catalog_rows import About, SourceRow, Writing, about_place
from indexing.catalog_schema import scopes, sources
from indexing.hashing import digest
from indexing.index import Changes, Index
from indexing.mentions import mentions
from indexing.merge import mended
from indexing.removal import settle
from indexing.rewording import EDITABLE
from indexing.types import Filter, Memory, Scope
from indexing.write import carry_out

UNDER_WAY = timedelta(hours=1)
"""No write takes longer; one that began before was killed."""


@dataclass(slots=True)
class _Begun:
    """What was begun in a scope: source id -> when, in seconds since the epoch."""

    scope: Scope
    since: dict[str, float] = field(default_factory=dict)


def recover(index: Index) -> int:
    """Put right what killed writes left of statements; return how many sources were finished.

    Cheap where there is nothing to do. Raises `StoreError`.
    """
    return sum(_finish(index, begun) for begun in list(_unfinished(index)))


def _finish(index: Index, begun: _Begun) -> int:
    scope, old = begun.scope, (datetime.now(UTC) - UNDER_WAY).timestamp()
    with index.catalog.writing(scope) as turn:
        left = index.catalog.sources(scope, list(begun.since))
        ids = [name for name, row in left.items() if not row.content_hash]
        stored = list(index.store.scroll(scope.collection, Filter(scope, source_ids=tuple(ids))))
        stored, replaced = _edited(index, turn, stored)
        subjects = tuple(sorted({memory.subject for memory in stored} - {""}))
        if subjects:
            where = Filter(scope, subjects=subjects)
            chain = {m.id: m for m in index.store.scroll(scope.collection, where)}
            made = mended(chain.values(), subjects, ids, index.recipe.dedup, index.clock())
            carry_out(index, scope, made, chain, {}, {})
            stored = list(
                index.store.scroll(scope.collection, Filter(scope, source_ids=tuple(ids)))
            )
        counts = {name: sum(name in memory.sources for memory in stored) for name in ids}
        about = _abouts(stored)
        found = [
            SourceRow(name, digest(name), number, about=about[name])
            for name, number in counts.items()
            if number
        ]
        turn.commit(found)
        gone = {name for memory in replaced.values() for name in memory.sources}
        bare = [name for name, number in counts.items() if not number]
        turn.remove([name for name in bare if name in gone or begun.since[name] < old])
    if replaced:
        index.store.vacuum(scope.collection)
        index.catalog.database.purge()
    return len(found)


def _abouts(stored: list[Memory]) -> dict[str, About]:
    """Return what the sources of memories count as."""
    return {p.source_id: about_place(m.kind, p) for m in stored for p in mentions(m)}


def _edited(
    index: Index, turn: Writing, stored: list[Memory]
) -> tuple[list[Memory], dict[str, Memory]]:
    """Finish an edit if its text is stored; return what stays, and what was replaced."""
    marked = turn.edited([memory.id for memory in stored])
    old = {memory.id: memory for memory in stored if memory.id in marked}
    left = [memory for memory in stored if memory.id not in marked]
    turn.lift(sorted(old), "edit")
    if not old or not left:
        return stored, {}
    settle(index, left[0].scope, Changes(delete=sorted(old)), old)
    return left, old


def _unfinished(index: Index) -> Iterator[_Begun]:
    """Yield the facts that were begun and not finished, by scope."""
    columns = scopes.c
    query = (
        select(
            *(columns.collection, columns.user_id, columns.session_id),
            *(sources.c.source_id, sources.c.indexed_at),
        )
        .join(scopes, scopes.c.tenant == sources.c.tenant)
        .where(
            sources.c.content_hash == literal_column("''"),
            or_(*(sources.c.source_id.startswith(f"{kind}:") for kind in EDITABLE)),
        )
        .order_by(sources.c.tenant)
    )
    with index.catalog.database.read() as connection:
        rows = list(connection.execute(query))
    found: dict[Scope, _Begun] = {}
    for collection, user_id, session_id, source_id, at in rows:
        scope = Scope(collection, user_id, session_id)
        found.setdefault(scope, _Begun(scope)).since[source_id] = at
    yield from found.values()
