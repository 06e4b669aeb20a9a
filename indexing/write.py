"""The only write path: sources -> drafts -> vectors -> collection -> catalog row.

What is new is embedded first. Then, with the tenant's turn in the catalog taken, the memories
around the batch are read, the plan is made and carried out, and the rows are committed: nothing
that another process writes or forgets comes in between. A crash leaves sources that count as
changed, whose memories the next run writes again under the same ids, or deletes.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from indexing.catalog_rows import About, DeadLetter, SourceRow, Writing
from indexing.dense import PassageTooLong
from indexing.drafts import Draft, drafts, identified, point_of, words_of
from indexing.embed import Named, Reading, dense_vectors
from indexing.errors import Forgotten
from indexing.index import Changes, Index, Origin, Report, Source
from indexing.merge import Neighbours, leaving, plan
from indexing.rebuild import chunk_of, name_of
from indexing.sparse import language
from indexing.store import DENSE, matches
from indexing.template import Views, views
from indexing.tombstones import Blocked
from indexing.types import Branch, Filter, Memory, Point, Scope

Vectors = dict[str, Named]
"""The name of what the embedder was given (`Memory.embed_hash`) -> its vector."""


def write(
    index: Index, scope: Scope, sources: Iterable[Source], origin: Origin | None = None
) -> Report:
    """Index sources in batches, replacing what each had before.

    A source that cannot be embedded becomes a dead letter of its origin, or of itself.
    """
    report = Report()
    pending: list[Source] = []
    size = 0
    for source in sources:
        pending.append(source)
        size += len(source.chunks)
        if size >= index.batch:
            _write_each(index, scope, pending, report, origin)
            pending, size = [], 0
    _write_each(index, scope, pending, report, origin)
    return report


def _write_each(
    index: Index, scope: Scope, sources: Sequence[Source], report: Report, origin: Origin | None
) -> None:
    """Write a batch; when one source cannot be embedded, the others still are."""
    try:
        write_batch(index, scope, sources, report)
    except Forgotten:
        report.forgotten += len(sources)
    except PassageTooLong as error:
        if len(sources) == 1:
            source, place = sources[0], ""
            if origin is not None:
                place = f"session {source.conversation_id}, turn {source.turn_id}"
            at = origin or Origin(scope, source.source_id)
            return bury(index, report, DeadLetter(at.scope, at.path, place, str(error)))
        for source in sources:
            _write_each(index, scope, [source], report, origin)


def write_batch(index: Index, scope: Scope, sources: Sequence[Source], report: Report) -> Changes:
    """Write one batch and add to the report; return what was done to which memory.

    What was forgotten is left out. Raises `Forgotten` when that is the whole scope.
    """
    sources = _allowed(sources, index.catalog.blocked(scope, _names(sources)), report)
    if not sources:
        return Changes()
    batch: Sequence[Draft]
    batch = [draft for source in sources for draft in drafts(index, scope, source)]
    former = tuple(source.was for source in sources if source.was)
    ids = (*_names(sources), *former)
    known = list(_around(index, scope, batch, ids))
    fresh = _fresh(batch, known, index.clock())
    vectors = _embed(index, [draft.reading for draft in fresh.values()], report)
    near = _neighbours(index, scope, fresh, vectors)
    index.catalog.begin(scope, ids)
    with index.catalog.writing(scope) as catalog:
        late = catalog.blocked(ids, _told_twice(batch, catalog))
        sources = _allowed(sources, late, report)
        batch, near = _without(batch, near, sources, late)
        around = {m.id: m for m in _around(index, scope, batch, ids)}
        close = {name for found in near.values() for name, _ in found} - around.keys()
        around |= {m.id: m for m in _read(index, Filter(scope, ids=tuple(sorted(close))))}
        around |= {m.id: m for m in _chains(index, scope, around.values())}
        replaced = {*(source.source_id for source in sources if not source.told), *former}
        made = plan(batch, replaced, around.values(), near, index.recipe.dedup, index.clock())
        carry_out(index, scope, made, around, {d.memory.embed_hash: d for d in batch}, vectors)
        catalog.remove(sorted(late.source_ids))
        catalog.commit(_rows(sources, batch, made, index.clock()), former)
    report.indexed += sum(source.change != "duplicate" for source in sources)
    report.duplicate += sum(source.change == "duplicate" for source in sources)
    report.new += sum(source.change == "new" for source in sources)
    report.changed += sum(source.change == "changed" for source in sources)
    report.renamed += sum(source.change == "renamed" for source in sources)
    report.memories += len(made.put)
    report.repeated += made.repeated
    report.merges += made.merges
    return made


def _names(sources: Sequence[Source]) -> list[str]:
    return [source.source_id for source in sources]


def _allowed(sources: Sequence[Source], blocked: Blocked, report: Report) -> Sequence[Source]:
    """Return the sources that were not forgotten; count the others."""
    if blocked.by:
        blocked.refuse()
    kept = [source for source in sources if source.source_id not in blocked.source_ids]
    report.forgotten += len(sources) - len(kept)
    return kept


def _told_twice(batch: Sequence[Draft], catalog: Writing) -> list[str]:
    """Return the ids that drafts of files would have; what is told again may be written again."""
    told = [draft for draft in batch if draft.told]
    ways = [d.memory for d in told] + [
        replace(d.memory, subject=d.statement.subject) for d in told if d.statement
    ]
    catalog.lift([identified(memory).id for memory in ways])
    return [identified(draft.memory).id for draft in batch if not draft.told]


def _without(
    batch: Sequence[Draft], near: Neighbours, sources: Sequence[Source], blocked: Blocked
) -> tuple[Sequence[Draft], Neighbours]:
    """Return the drafts of these sources that are not blocked, and their neighbours."""
    if not blocked:
        return batch, near
    names = set(_names(sources))
    kept = [
        number
        for number, draft in enumerate(batch)
        if draft.memory.source_id in names and identified(draft.memory).id not in blocked.memory_ids
    ]
    places = {number: place for place, number in enumerate(kept)}
    moved = {places[number]: found for number, found in near.items() if number in places}
    return [batch[number] for number in kept], moved


def carry_out(
    index: Index,
    scope: Scope,
    made: Changes,
    around: Mapping[str, Memory],
    batch: Mapping[str, Draft],
    vectors: Vectors,
) -> None:
    """Write and delete what a plan says; vectors that neither batch nor store has are made."""
    held = {memory.embed_hash: memory.id for memory in around.values()}
    wanted = {m.embed_hash for m in made.put} - vectors.keys()
    vectors |= _stored(index, scope, {name: held[name] for name in wanted if name in held})
    seen: list[tuple[Memory, Views]] = []
    for memory in made.put:
        draft = batch.get(memory.embed_hash)
        if draft is not None and draft.memory.source_id == memory.source_id:
            view, words, lang = draft.reading.view, draft.memory.terms, draft.memory.lang
        else:
            view = views(chunk_of(memory), index.recipe.spans, name_of(memory))
            words, lang = words_of(view), language(memory.text)
        seen.append((replace(memory, terms=words, lang=lang), view))
    lost = [Reading(view) for m, view in seen if m.embed_hash not in vectors]
    vectors |= _embed(index, lost, Report())
    points = [point_of(index.recipe, m, view, vectors[_hash(m, view, vectors)]) for m, view in seen]
    for step in _steps(points, around, {d.memory.source_id for d in batch.values()}):
        index.store.upsert(scope.collection, step)
    if made.delete:
        index.store.delete(scope.collection, Filter(scope, ids=tuple(made.delete)))


def _steps(
    points: Sequence[Point], around: Mapping[str, Memory], sources: set[str]
) -> Iterator[Sequence[Point]]:
    """Yield what is upserted at a time: a statement is ended when what ends it is stored, and what
    these sources say is stored first, so that a killed write can be seen (`recover`)."""
    if not any(point.memory.subject for point in points):
        yield points
        return
    old = [point for point in points if point.memory.id in around]
    own: list[Point] = []
    others: list[Point] = []
    for point in points:
        if point.memory.id not in around:
            (own if sources.intersection(point.memory.sources) else others).append(point)
    yield from filter(None, (own, others, old))


def _hash(memory: Memory, view: Views, vectors: Vectors) -> str:
    """Return the name of a memory's vector; one that was lost was made from its view."""
    return memory.embed_hash if memory.embed_hash in vectors else Reading(view).key


def _embed(index: Index, readings: Sequence[Reading], report: Report) -> Vectors:
    """Return the vectors of readings by their names, each made once."""
    once = {reading.key: reading for reading in readings}
    made, count = dense_vectors(index.embedder, list(once.values()), index.recipe.factors)
    report.embedded += count
    return dict(zip(once, made, strict=True))


def _around(
    index: Index, scope: Scope, batch: Sequence[Draft], ids: tuple[str, ...]
) -> Iterator[Memory]:
    """Yield the memories that a batch has to do with, some more than once."""
    keys = {draft.memory.key for draft in batch}
    said = [draft.statement for draft in batch if draft.statement]
    subjects = {statement.subject for statement in said}
    for statement in said:
        if statement.replaces:
            subjects.update(leaving(statement.subject, statement.value))
    values = {statement.replaces for statement in said} - {""}
    yield from _read(index, Filter(scope, source_ids=ids))
    yield from _read(index, Filter(scope, keys=tuple(sorted(keys))))
    yield from _read(index, Filter(scope, subjects=tuple(sorted(subjects))))
    yield from _read(index, Filter(scope, values=tuple(sorted(values))))


def _fresh(batch: Sequence[Draft], around: Sequence[Memory], now: datetime) -> dict[int, Draft]:
    """Return the drafts that need a vector, by their place in the batch: neither is their own
    stored, nor what says the same words and will stand for them."""
    hashes = {memory.embed_hash for memory in around}
    live = {(m.key, m.subject) for m in around if matches(m, Filter(m.scope, now))}
    found: dict[int, Draft] = {}
    for number, draft in enumerate(batch):
        about = draft.statement.subject if draft.statement else ""
        twins = {(draft.memory.key, ""), (draft.memory.key, about)}
        if draft.memory.embed_hash not in hashes and not twins & live:
            found[number] = draft
    return found


def _chains(index: Index, scope: Scope, around: Iterable[Memory]) -> Iterator[Memory]:
    """Yield all statements about the subjects of these memories."""
    subjects = sorted({memory.subject for memory in around} - {""})
    yield from _read(index, Filter(scope, subjects=tuple(subjects)))


def _read(index: Index, where: Filter) -> Iterator[Memory]:
    asked = (where.source_ids, where.keys, where.subjects, where.values, where.ids)
    if any(asked):
        yield from index.store.scroll(where.scope.collection, where)


def _neighbours(
    index: Index, scope: Scope, fresh: Mapping[int, Draft], vectors: Vectors
) -> Neighbours:
    """Return the stored memories that are near to those that are new."""
    dedup = index.recipe.dedup
    asked = {n: d.memory for n, d in fresh.items() if d.memory.kind in dedup.kinds}
    if not asked or not dedup.at_write:
        return {}
    branches = [
        Branch(DENSE, vectors[memory.embed_hash][DENSE], dedup.neighbours, dedup.cosine)
        for memory in asked.values()
    ]
    where = Filter(scope, now=index.clock(), kinds=dedup.kinds)
    lists = index.store.search(scope.collection, branches, where)
    found = ([(hit.id, hit.score) for hit in hits] for hits in lists)
    return dict(zip(asked, found, strict=True))


def _stored(index: Index, scope: Scope, held: Mapping[str, str]) -> Vectors:
    """Return the stored vectors of memories: name of the vector -> id of a memory that has it."""
    if not held:
        return {}
    where = Filter(scope, ids=tuple(sorted(set(held.values()))))
    stored = index.store.vectors(scope.collection, where)
    return {name: stored[m] for name, m in held.items() if m in stored}


def _rows(
    sources: Sequence[Source], batch: Sequence[Draft], made: Changes, now: datetime
) -> list[SourceRow]:
    """Return the catalog's rows of sources, with the memories that their drafts ended up in."""
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for draft, home in zip(batch, made.homes, strict=True):
        homes[draft.memory.source_id].add(home)
    return [_row(source, len(homes[source.source_id]), now) for source in sources]


def _row(source: Source, memories: int, now: datetime) -> SourceRow:
    at = source.chunks[0].at if source.chunks else None
    said = at or source.said_at if source.conversation_id else None
    added = at if source.told and at else now
    return SourceRow(
        source.source_id,
        source.content_hash,
        memories,
        source.conversation_id,
        said.timestamp() if said else None,
        About(source.kind, source.role, source.tool, source.failed, added.timestamp()),
    )


def bury(index: Index, report: Report, *letters: DeadLetter) -> None:
    """Put what failed into the dead-letter table and into the report."""
    index.catalog.bury(letters)
    report.dead.extend(letters)
