"""Memories as they travel: named by nothing but what they say. `as_told`, pure.

A stored id and key tell how a memory came to be: a beginning that moved, a place that is gone. A
file tells what is so now, and names it by that alone. Export and import both do this, so what a
file says is what a second export says, and no id or key of a file is ever taken on trust.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from indexing.chains import following, repaired, without
from indexing.drafts import identified, key_of
from indexing.mentions import as_memory, mention_of, mentions, put_together, spread
from indexing.types import Memory, Mention, Scope

Ids = dict[str, str]
"""The id that a memory had -> the one that it travels with."""


def as_told(memories: Iterable[Memory], scope: Scope, now: datetime) -> tuple[list[Memory], Ids]:
    """Return memories of one scope as those of ``scope``, and the ids that they go by there.

    Places that have expired by ``now`` go; a memory without any is in neither answer. Two that say
    the same since the same moment become one. What was superseded by one that is not among them
    ends as it did, and names the next that is left; of a subject one at most holds at any time.
    Every memory needs ``created_at``.
    """
    ids: Ids = {}
    told: dict[str, Memory] = {}
    for memory in memories:
        places = [place for place in _places(memory) if is_live(place, now)]
        if not places:
            continue
        made = _named(put_together(replace(memory, scope=scope), places))
        ids[memory.id] = made.id
        told[made.id] = united(told[made.id], made) if made.id in told else made
    return list(_linked(told, ids)), ids


def united(one: Memory, other: Memory) -> Memory:
    """Return a memory with the places of another that says the same; it holds while either does."""
    known = {spot(place) for place in mentions(one)}
    places = [*mentions(one), *(p for p in mentions(other) if spot(p) not in known)]
    pinned = one.pinned or other.pinned
    if pinned:
        places = [replace(place, expires_at=None) for place in places]
    made = replace(put_together(one, places), pinned=pinned)
    if one.valid_to and (other.valid_to is None or other.valid_to > one.valid_to):
        made = replace(made, valid_to=other.valid_to, superseded_by=other.superseded_by)
    return made


def spot(place: Mention) -> tuple[str, int, int, str]:
    """Return what makes two places one: the source, the span and the words."""
    return place.source_id, place.start, place.end, place.text


def is_live(place: Mention, now: datetime) -> bool:
    """Tell whether a place still counts."""
    return place.expires_at is None or place.expires_at > now


def said(place: Mention) -> datetime:
    """Return when a place said it, at the latest when it was stored."""
    assert place.created_at is not None
    return min(place.at, place.created_at) if place.at else place.created_at


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


def _linked(told: dict[str, Memory], ids: Ids) -> Iterator[Memory]:
    """Yield the memories, each superseded by one that is there, and one at a time a subject."""
    chains: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in told.values():
        chains[memory.subject].append(_ended(memory, ids))
    alone = chains.pop("", [])
    yield from alone
    for chain in chains.values():
        now = {memory.id: memory for memory in chain}
        gone = {m.superseded_by for m in chain} - told.keys() - {""}
        for step in (lambda: without(list(now.values()), gone), lambda: repaired(now.values())):
            now |= {memory.id: memory for memory in list(step())}
        yield from now.values()
