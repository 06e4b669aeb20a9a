"""Procedural memory: what worked for a task is found again by what the next task says.

A procedure is a source of its own, named by its name in a user's or the global scope: told again,
it replaces what it was. It is cut into as many chunks as the model's limit needs, and what is found
of it brings the whole. It expires, is listed, exported and forgotten as every memory is.
"""

import json
import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chunking.types import Chunk, TokenSpans
from indexing.drafts import drafts, identified
from indexing.errors import Forgotten, InvalidInput
from indexing.hashing import digest
from indexing.index import Index, Report, Source
from indexing.mentions import spread
from indexing.remember import told_hash
from indexing.tags import tags_of
from indexing.types import Filter, Memory, Scope, check_time, is_unicode
from indexing.write import write_batch
from retrieval.retriever import Retriever
from retrieval.types import Narrow
from sessions.learn import from_session
from sessions.procedure_text import Example, Procedure, read_procedure, write_procedure

__all__ = [
    "Example",
    "Found",
    "Procedure",
    "from_session",
    "remember_procedure",
    "retrieve_procedures",
]

MAX_CHARS = 50_000
"""Characters of a procedure's text."""

MAX_NAME_CHARS = 200

K = 3
"""Procedures that are brought for a task."""

PARTS = 4
"""Hits that are asked for, for each procedure: several may be of one."""


@dataclass(frozen=True, slots=True)
class Found:
    """A procedure that was found: where, how well the best of its chunks answers, and since when.

    ``source_id`` is what it is forgotten by.
    """

    procedure: Procedure
    scope: Scope
    source_id: str
    score: float
    at: datetime | None


def remember_procedure(
    index: Index, scope: Scope, procedure: Procedure, expires_at: datetime | None = None
) -> Memory:
    """Store a procedure and return the memory that it begins with; durable when it returns.

    One of the same name in the scope is replaced, in the same write; without ``expires_at`` and a
    TTL of procedures the new one ends when that one would have. Raises `InvalidInput` for a
    session's scope, a procedure without name or task, a tool that is not JSON, tags that cannot be,
    a text of more than 50,000 characters or not valid Unicode, and `Forgotten`.
    """
    if scope.collection == "session":
        raise InvalidInput("a procedure is a user's or everybody's: give a user or global scope")
    if expires_at is not None:
        check_time(expires_at, "expires_at")
    procedure = replace(procedure, tags=tags_of(procedure.tags))
    text = _checked(procedure)
    source_id = procedure_source(procedure.name)
    life = index.recipe.life("procedure", scope)
    chunks = [
        Chunk(source_id, number, start, end, text[start:end], title=procedure.name)
        for number, (start, end) in enumerate(
            _cuts(text, index.recipe.spans, index.recipe.fact_tokens)
        )
    ]
    source = Source(
        source_id,
        "procedure",
        told_hash(text, "", None),
        chunks,
        expires_at=expires_at or (index.clock() + life if life else None),
        tags=procedure.tags,
    )
    again = [identified(draft.memory).id for draft in drafts(index, scope, source)]
    index.catalog.tombstones.lift("memory", scope, again)  # what is told again may be written
    made = write_batch(index, scope, [source], Report())
    if not made.homes:
        raise Forgotten("source")
    found = index.store.get(scope.collection, Filter(scope, ids=(made.homes[0],)), limit=1)
    return found[0] if found else made.held[made.homes[0]]


def retrieve_procedures(
    retriever: Retriever, task: str, user_id: str | None, tags: Sequence[str] = (), k: int = K
) -> tuple[Found, ...]:
    """Return the procedures of the user and of everybody that fit a task best, at most k.

    With ``tags`` those that have any of them. Raises as `Retriever.retrieve`.
    """
    narrow = Narrow(kinds=("procedure",), tags=tuple(tags) or None)
    found: dict[tuple[Scope, str], Found] = {}
    for hit in retriever.retrieve(task, user_id, k=k * PARTS, narrow=narrow):
        for memory in (hit.memory, *hit.also):
            for source_id in memory.sources:
                key = memory.scope, source_id
                if key not in found and len(found) < k:
                    found[key] = _found(retriever, *key, hit.score)
    return tuple(found.values())


def procedure_source(name: str) -> str:
    """Return the id of the source that a procedure of this name is; case and spaces do not count.

    >>> procedure_source("Возврат  денег") == procedure_source("возврат денег")
    True
    """
    folded = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return f"procedure-{digest(folded)[:32]}"


def _checked(procedure: Procedure) -> str:
    """Return the text of a procedure that can be stored."""
    if not procedure.name.strip() or not procedure.task.strip():
        raise InvalidInput("a procedure has a name and a task")
    if len(procedure.name) > MAX_NAME_CHARS or "\n" in procedure.name:
        raise InvalidInput(f"the name of a procedure is one line of {MAX_NAME_CHARS} characters")
    for number, tool in enumerate(procedure.tools, 1):
        try:
            json.loads(tool)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"the definition of tool {number} is not JSON") from error
    text = write_procedure(procedure)
    if len(text) > MAX_CHARS:
        raise InvalidInput(f"a procedure of {len(text):,} characters is over {MAX_CHARS:,}")
    if not is_unicode(text):
        raise InvalidInput("the procedure is not valid Unicode (a lone surrogate)")
    return text


def _cuts(text: str, spans: TokenSpans, size: int) -> list[tuple[int, int]]:
    """Return spans of at most ``size`` tokens that cover the text; they end with lines."""
    tokens = spans(text)
    starts = [start for start, _ in tokens]
    cuts: list[tuple[int, int]] = []
    first = 0
    while True:
        number = bisect_left(starts, first) + size
        if number >= len(tokens):
            return [*cuts, (first, len(text))]
        end = starts[number]
        line = text.rfind("\n", first + (end - first) // 2, end) + 1
        cuts.append((first, line or end))
        first = line or end


def _found(retriever: Retriever, scope: Scope, source_id: str, score: float) -> Found:
    """Return a whole procedure, from all that is stored of its source."""
    where = Filter(scope, now=retriever.clock(), source_ids=(source_id,))
    held = retriever.store.scroll(scope.collection, where)
    parts = [part for memory in held for part in spread(memory) if part.source_id == source_id]
    parts.sort(key=lambda part: (part.ordinal, part.start))
    read = read_procedure("".join(part.text for part in parts))
    if not read.name and parts:
        read = replace(read, name=parts[0].title)
    since = min((part.created_at for part in parts if part.created_at), default=None)
    return Found(read, scope, source_id, score, since)
