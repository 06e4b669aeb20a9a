"""Memories as they travel: named by nothing but what they say. `as_told`, pure.

A stored key may be that of a place that is gone, or of a text that was read as a whole. A file
tells what is so now, and names it by that alone. Export and import both do this, so what a file
says is what a second export says, and no id or key of a file is ever taken on trust.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from indexing.alike import joined
from indexing.chains import linked, without
from indexing.drafts import identified, key_of
from indexing.mentions import is_over, mentions, noted, put_together, said, spread
from indexing.types import Memory, Mention, Scope

Ids = dict[str, str]
"""The id that a memory had -> the one that it goes by now."""


def as_told(memories: Iterable[Memory], scope: Scope, now: datetime) -> tuple[list[Memory], Ids]:
    """Return memories of one scope as those of ``scope``, and the ids that they go by there.

    Places that have expired by ``now`` go; a memory without any is in neither answer. Two that say
    the same become one. What was superseded by one that is not among them ends as it did, and
    names the next that is left; of a subject one at most holds at any time. Every memory needs
    ``created_at``.
    """
    ids: Ids = {}
    alone: dict[str, Memory] = {}
    chains: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in memories:
        places = [place for place in _places(memory) if not is_over(place, now)]
        if not places:
            continue
        made = _named(put_together(replace(memory, scope=scope), places))
        ids[memory.id] = made.id
        if made.subject:
            chains[made.subject].append(made)
        else:
            alone[made.id] = joined(alone[made.id], made) if made.id in alone else made
    known = set(ids.values())
    told = [*alone.values()]
    homes: Ids = {}
    for chain in chains.values():
        runs, moved = chained(_rejoined(pointed(chain, ids), known))
        told += runs
        homes |= moved
    ids = {name: homes.get(made, made) for name, made in ids.items()}
    kept = {memory.id for memory in told}
    return [_only(m, kept) for m in pointed(pointed(told, ids), homes)], ids


def names_of(memory: Memory) -> set[str]:
    """Return the ids that a memory may go by in a file: each place may be the one that is left."""
    keys = {memory.key, *(key_of(alone) for alone in spread(memory))}
    return {identified(replace(memory, key=key)).id for key in keys}


def chained(statements: Sequence[Memory]) -> tuple[list[Memory], Ids]:
    """Return statements about one subject as they follow from when each was told.

    Also returned is where each went: of one that was parted the first part.
    """
    made: dict[str, Memory] = {}
    homes: Ids = {}
    for run in linked([(memory, mentions(memory)) for memory in statements]):
        memory = put_together(run.memory, noted(run.places))
        if memory.id in made:  # of one moment: it held, gave way, and holds again
            memory = joined(memory, made.pop(memory.id))
            memory = put_together(memory, noted(mentions(memory)))
        if memory.pinned:
            lasting = (replace(place, expires_at=None) for place in mentions(memory))
            memory = put_together(memory, lasting)
        made[memory.id] = memory
        for told in run.told:
            homes.setdefault(told.id, memory.id)
    return list(made.values()), homes


def pointed(memories: Iterable[Memory], ids: Ids) -> list[Memory]:
    """Return memories that name what superseded them as that is named now."""
    return [
        replace(memory, superseded_by=ids[memory.superseded_by])
        if memory.superseded_by in ids
        else memory
        for memory in memories
    ]


def bare(memory: Memory) -> Memory:
    """Return a memory without what a recipe makes of it."""
    also = tuple(replace(place, embed_hash="") for place in memory.also)
    return replace(memory, also=also, embed_hash="", terms="", lang="")


def _places(memory: Memory) -> tuple[Mention, ...]:
    """Return the places of a memory; those of a pinned one do not expire."""
    places = mentions(memory)
    return tuple(replace(p, expires_at=None) for p in places) if memory.pinned else places


def _named(memory: Memory) -> Memory:
    """Return a memory with the key and id of what it says: its key is that of one of its places."""
    memory = bare(memory)
    if memory.subject and memory.valid_from is None:
        memory = replace(memory, valid_from=min(map(said, mentions(memory))))
    keys = [key_of(alone) for alone in spread(memory)]
    return identified(memory if memory.key in keys else replace(memory, key=keys[0]))


def _rejoined(chain: Sequence[Memory], known: set[str]) -> list[Memory]:
    """Return a chain in which none names a successor that is not known."""
    lost = {memory.superseded_by for memory in chain} - known - {""}
    mended = {memory.id: memory for memory in without(chain, lost)} if lost else {}
    return [mended.get(memory.id, memory) for memory in chain]


def _only(memory: Memory, kept: set[str]) -> Memory:
    named = memory.superseded_by in kept - {memory.id}
    return memory if named else replace(memory, superseded_by="")
