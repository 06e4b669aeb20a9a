"""The vectors of memories that come from a file: each of its own text, as the recipe reads it.

With late chunking what a text reads like in its context comes back when its source is synced.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace

from indexing.embed import Reading, dense_vectors
from indexing.index import Index
from indexing.mentions import mentions, put_together, spread
from indexing.rebuild import chunk_of, name_of
from indexing.template import views
from indexing.types import Memory
from indexing.write import Vectors


def reading_of(index: Index, memory: Memory) -> Reading:
    """Return what the vector of a memory's own place is made from."""
    return Reading(views(chunk_of(memory), index.recipe.spans, name_of(memory)))


def hashed(index: Index, memory: Memory) -> Memory:
    """Return a memory whose places name the vectors that they would have."""
    places = zip(mentions(memory), spread(memory), strict=True)
    return put_together(
        memory, [replace(p, embed_hash=reading_of(index, alone).key) for p, alone in places]
    )


def vectors_of(index: Index, memories: Iterable[Memory], known: Collection[str]) -> Vectors:
    """Return the vectors of memories by their names, but for those that are known.

    Raises `PassageTooLong`.
    """
    readings = {m.embed_hash: reading_of(index, m) for m in memories if m.embed_hash not in known}
    made, _ = dense_vectors(index.embedder, list(readings.values()), index.recipe.factors)
    return dict(zip(readings, made, strict=True))
