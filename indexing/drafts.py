"""A source -> drafts: memories on their way, with what their vectors are made from.

A memory is named by what it says, in its scope: the same words under the same heading, or by the
same speaker at the same time after the same words, are one memory wherever they are from.
"""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace

from chunking.types import Chunk
from indexing.dedup import exact_key
from indexing.embed import Named, Reading
from indexing.hashing import digest
from indexing.index import Index, Recipe, Source, Statement
from indexing.late import Place
from indexing.rebuild import chunk_of
from indexing.sparse import language, lexicon, weigh
from indexing.store import OWN, SPARSE
from indexing.template import Views, sparse_fields, views
from indexing.types import Memory, Point, Scope

NAMESPACE = uuid.UUID("5b0c2c6e-7f0a-5b55-9d5c-6a1f0f6f2f53")

FORMAT = "memory-2"
"""Changes with the way in which a memory's id and key are made: part of the fingerprint."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory on its way, without its id: that depends on what it joins.

    ``renews`` says that its end is in force, also where it was stored with another one; ``told``
    is what was said to the memory itself.
    """

    memory: Memory
    reading: Reading
    statement: Statement | None = None
    renews: bool = False
    told: bool = False


def drafts(index: Index, scope: Scope, source: Source) -> Iterator[Draft]:
    """Yield a draft for each chunk of a source."""
    now = index.clock()
    life = index.recipe.life(source.kind, scope)
    said = source.statement
    for chunk in source.chunks:
        view = views(chunk, index.recipe.spans, source.name)
        reading = Reading(view, _place(source, chunk))
        memory = Memory(
            id="",
            scope=scope,
            kind=source.kind,
            text=chunk.text,
            source_id=source.source_id,
            start=chunk.start,
            end=chunk.end,
            ordinal=chunk.ordinal,
            uri=source.uri,
            title=chunk.title or source.name,
            headings=chunk.headings,
            page=chunk.page,
            speaker=chunk.speaker,
            role=chunk.role,
            before=chunk.before,
            conversation_id=source.conversation_id,
            turn_id=source.turn_id,
            embed_hash=reading.key,
            lang=language(chunk.text),
            terms=words_of(view),
            at=chunk.at,
            created_at=now,
            expires_at=source.expires_at or (now + life if life else None),
            key=_key(source, chunk, reading.key if reading.place else ""),
            tags=source.tags,
        )
        if said:
            memory = replace(memory, value=said.value, closes=said.closes, valid_from=said.since)
        renews = source.told or source.expires_at is not None
        yield Draft(memory, reading, said, renews, source.told)


def identified(memory: Memory) -> Memory:
    """Return the memory with its id: the same in every run for the same words of a scope.

    Statements about a subject are told apart by when they began to hold: what held, was
    superseded, and holds again is two memories.
    """
    since = memory.valid_from.timestamp() if memory.subject and memory.valid_from else ""
    named = digest(memory.scope.tenant, memory.key, memory.subject, str(since))
    return replace(memory, id=str(uuid.uuid5(NAMESPACE, named)))


def words_of(view: Views) -> str:
    """Return the lexicon of what a memory is found by."""
    return lexicon(f"{view.header}\n{view.text}", view.before)


def point_of(recipe: Recipe, memory: Memory, view: Views, dense: Named) -> Point:
    """Return a memory with its dense vectors and the sparse ones that its texts make."""
    mean = recipe.mean_terms.get(memory.kind, recipe.mean_terms["document"])
    sparse = {SPARSE: weigh(sparse_fields(view, recipe.factors), mean)}
    if recipe.factors.views:
        alone = replace(recipe.factors, sparse_before=0.0)
        sparse[SPARSE + OWN] = weigh(sparse_fields(view, alone), mean)
    return Point(memory, dense, sparse)


def key_of(memory: Memory) -> str:
    """Return the key that a memory's own place has where no text is read as a whole."""
    source = Source(memory.source_id, memory.kind, "", (), memory.uri, turn_id=memory.turn_id)
    return _key(source, chunk_of(memory))


def _key(source: Source, chunk: Chunk, late: str = "") -> str:
    """Name what a chunk says, in the place where it says it; ``late`` names what it is read in."""
    stated = "" if chunk.title == source.name else chunk.title
    around = [_normal(text) for text in (stated, *chunk.headings, chunk.before)]
    who = (chunk.speaker, chunk.role, _moment(source, chunk) if source.turn_id else "")
    return digest(source.kind, _normal(chunk.text), *who, late, *around)[:32]


def _moment(source: Source, chunk: Chunk) -> str:
    """Return what tells a turn from others of the same words: its time, or else its own name."""
    return str(chunk.at.timestamp()) if chunk.at else source.source_id


def _normal(text: str) -> str:
    return exact_key(text) or text.strip()


def _place(source: Source, chunk: Chunk) -> Place | None:
    if source.context is None:
        return None
    return Place(source.context, source.offset + chunk.start, source.offset + chunk.end)
