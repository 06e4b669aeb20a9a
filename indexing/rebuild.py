"""What stored memories say about the texts they were cut from: chunks, documents, sessions.

A re-index embeds again what is stored, wherever the sources are by now. Between the chunks of a
document lay white space only, so its text comes back but for the kind of white space.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import PurePosixPath

from chunking.types import Chunk, Document, Session, Turn
from indexing.embed import Reading
from indexing.index import Recipe
from indexing.late import Context, Late, Place
from indexing.mentions import spread
from indexing.store import VectorStore
from indexing.template import views
from indexing.types import Filter, Memory, Scope


def name_of(memory: Memory) -> str:
    """Return the name of the memory's file without its ending."""
    return PurePosixPath(memory.uri).stem


def chunk_of(memory: Memory) -> Chunk:
    """Return the chunk that a memory was made of."""
    return Chunk(
        source_id=memory.source_id,
        ordinal=memory.ordinal,
        start=memory.start,
        end=memory.end,
        text=memory.text,
        title="" if memory.title == name_of(memory) else memory.title,
        headings=memory.headings,
        speaker=memory.speaker,
        role=memory.role,
        at=memory.at,
        before=memory.before,
        page=memory.page,
    )


def text_of(parts: Iterable[Memory]) -> str:
    """Return the text that memories of one source are spans of; other characters are spaces."""
    text = ""
    for part in sorted(parts, key=lambda part: (part.start, part.end)):
        text = text.ljust(part.start)
        text += part.text[len(text) - part.start :] if part.end > len(text) else ""
    return text


class Readings:
    """Memories -> what their vectors are made from, by a recipe; reads siblings where it is late.

    One object for one batch: a document or a session that several memories are of is put together
    once.
    """

    def __init__(self, store: VectorStore, recipe: Recipe) -> None:
        self._store = store
        self._recipe = recipe
        self._documents: dict[tuple[Scope, str], Context] = {}
        self._sessions: dict[Scope, dict[tuple[str, str], tuple[Context, int]]] = {}

    def of(self, memory: Memory) -> Reading:
        """Return what the memory's dense vector is made from."""
        view = views(chunk_of(memory), self._recipe.spans, name_of(memory))
        return Reading(view, self._place(memory))

    def _place(self, memory: Memory) -> Place | None:
        if memory.kind == "document":
            late = self._recipe.chunkers[self._recipe.documents].late
            context = self._document(memory, late) if late else None
            return Place(context, memory.start, memory.end) if context else None
        if memory.conversation_id and self._recipe.late_turns:
            held = self._session(memory.scope, self._recipe.late_turns)
            session, offset = held[memory.conversation_id, memory.turn_id]
            return Place(session, offset + memory.start, offset + memory.end)
        return None

    def _document(self, memory: Memory, late: Late) -> Context:
        key = memory.scope, memory.source_id
        if key not in self._documents:
            where = Filter(memory.scope, source_ids=(memory.source_id,))
            held = self._store.scroll(memory.scope.collection, where)
            text = text_of(part for part in _places(held) if part.source_id == memory.source_id)
            self._documents[key] = late.document(Document(memory.source_id, text))
        return self._documents[key]

    def _session(self, scope: Scope, late: Late) -> dict[tuple[str, str], tuple[Context, int]]:
        if scope not in self._sessions:
            self._sessions[scope] = {
                (session.session_id, turn_id): (context, offset)
                for session in self._told(scope)
                for context, places in [late.session(session)]
                for turn_id, offset in places.items()
            }
        return self._sessions[scope]

    def _told(self, scope: Scope) -> Iterator[Session]:
        where = Filter(scope, kinds=("turn", "tool_result"))
        said = sorted(_places(self._store.scroll(scope.collection, where)), key=_order)
        for name, held in groupby(said, key=lambda memory: memory.conversation_id):
            turns = [
                replace(_turn(parts[0]), text=text_of(parts))
                for _, group in groupby(held, key=lambda memory: memory.turn_id)
                for parts in [list(group)]
            ]
            yield Session(name, tuple(turns))


def _places(memories: Iterable[Memory]) -> Iterator[Memory]:
    """Yield each memory once for each place that says it."""
    for memory in memories:
        yield from spread(memory)


def _order(memory: Memory) -> tuple[str, float, str, int]:
    said = memory.at.timestamp() if memory.at else 0.0
    return memory.conversation_id, said, memory.turn_id, memory.start


def _turn(memory: Memory) -> Turn:
    return Turn(memory.turn_id, memory.role, memory.text, memory.speaker, memory.at)
