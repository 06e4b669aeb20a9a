"""A memory that says something else: its places, and what becomes of the memories around it.

What says the same words becomes a part of it, and the statements about its subject stay in order.
Nothing is read or written here.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from indexing.alike import joined
from indexing.chains import Run, linked
from indexing.drafts import Draft, drafts, identified
from indexing.index import Changes, Index, Source
from indexing.mentions import (
    is_live,
    is_over,
    mention_of,
    mentions,
    noted,
    put_together,
    spot,
    spread,
)
from indexing.rebuild import chunk_of
from indexing.remember import statement_of, told_name
from indexing.types import Kind, Memory, Mention

EDITABLE: tuple[Kind, ...] = ("fact", "procedure", "digest")
"""Kinds that no file and no conversation stands behind."""

_TOLD = re.compile(rf"({'|'.join(EDITABLE)}):[0-9a-f]{{32}}")


def retold(index: Index, memory: Memory, text: str) -> list[Draft]:
    """Return a draft for each place of a memory, with another text there."""
    return [_retell(index, part, text) for part in spread(memory)]


def _retell(index: Index, part: Memory, text: str) -> Draft:
    name = part.source_id
    if _TOLD.fullmatch(name):  # it is made from the old text
        name = told_name(part.kind, text, part.subject, part.at)
    chunk = replace(
        chunk_of(part), source_id=name, text=text, start=0, end=len(text), ordinal=0, before=""
    )
    source = Source(
        name,
        part.kind,
        "",
        [chunk],
        uri=part.uri,
        conversation_id=part.conversation_id,
        turn_id=part.turn_id,
        told=True,
        tags=part.tags,
    )
    (draft,) = drafts(index, part.scope, source)
    return draft


def corrected(old: Memory, told: Sequence[Draft]) -> Memory:
    """Return a memory as it says something else, without its id."""
    places = [
        replace(mention_of(draft.memory), created_at=p.created_at, expires_at=p.expires_at)
        for draft, p in zip(told, mentions(old), strict=True)
    ]
    first = told[0].memory
    new = replace(old, key=first.key)
    if not old.subject:
        once: dict[object, Mention] = {}
        for place in places:
            once.setdefault(spot(place), place)
        return put_together(new, once.values())
    states = statement_of(first.text, _since(old), old.subject)
    assert states is not None
    return put_together(replace(new, value=states.value, closes=states.closes), noted(places))


def _since(memory: Memory) -> datetime:
    since = memory.valid_from or memory.created_at
    assert since is not None
    return since


def reworded(old: Memory, new: Memory, stored: Iterable[Memory], now: datetime) -> Changes:
    """Return what has to be done so that ``old`` becomes ``new``; its id is the plan's one home.

    Both have the same subject and interval. ``stored`` are the memories of the scope with the new
    key or the subject, and those that the old one superseded.
    """
    before = {memory.id: memory for memory in stored} | {old.id: old}
    after = {name: memory for name, memory in before.items() if name != old.id}
    twins = [m for m in after.values() if m.key == new.key and is_live(m, now)]
    if new.subject:
        for twin in [m for m in twins if not m.subject]:
            new = joined(new, after.pop(twin.id))
        names = {old.id, identified(new).id}
        home = _put_in_line(identified(new), old, after, now)
    else:
        same = min(twins, key=lambda m: (m.subject, m.id), default=None)
        home = joined(same, new) if same else _again(identified(new), after, now)
        names = {old.id}
        after[home.id] = home
    for memory in list(after.values()):
        if memory.superseded_by in names - {home.id}:
            after[memory.id] = replace(memory, superseded_by=home.id)
    put = [memory for name, memory in after.items() if memory != before.get(name)]
    return Changes(put, sorted(before.keys() - after.keys()), [home.id])


def _put_in_line(new: Memory, old: Memory, after: dict[str, Memory], now: datetime) -> Memory:
    """Put a statement among the others about its subject; return what it is a part of then."""
    line = [m for m in after.values() if m.subject == new.subject and not is_over(m, now)]
    for memory in line:
        del after[memory.id]
    named = [replace(m, superseded_by=new.id) if m.superseded_by == old.id else m for m in line]
    runs = linked([(m, [p for p in mentions(m) if not is_over(p, now)]) for m in (*named, new)])
    made = {id(run): put_together(run.memory, _places(run, now)) for run in runs}
    after |= {memory.id: memory for memory in made.values()}
    return next(made[id(run)] for run in runs if any(one is new for one in run.told))


def _places(run: Run, now: datetime) -> Iterator[Mention]:
    """Yield the places of a run, with those that have expired and were not swept yet."""
    kept = noted(run.places)
    spots = set(map(spot, kept))
    for memory in {memory.id: memory for memory in run.told}.values():
        kept += [p for p in mentions(memory) if is_over(p, now) and spot(p) not in spots]
    for place in kept:
        yield replace(place, expires_at=None) if run.memory.pinned else place


def _again(new: Memory, after: dict[str, Memory], now: datetime) -> Memory:
    """Return a memory with what is left of one of its id that had ended."""
    ended = after.get(new.id)
    left = [p for p in mentions(ended) if not is_over(p, now)] if ended else []
    return joined(new, put_together(new, left)) if left else new
