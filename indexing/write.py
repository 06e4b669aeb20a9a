"""The only write path: sources -> chunks -> vectors -> collection -> catalog row.

For every batch: embed what is new, take the content hashes out of the rows, upsert, delete what is
gone, then commit the rows. A crash between two steps leaves sources that count as changed, whose
points the next run upserts again under the same ids, or deletes.
"""

import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Literal, get_args

from chunking.types import Chunk, Session, TokenSpans
from indexing.catalog import Catalog, DeadLetter, SourceRow, digest
from indexing.dense import Embedder, PassageTooLong
from indexing.embed import Reading, dense_vectors
from indexing.errors import InvalidInput
from indexing.late import Context, Cutter, Late, Place
from indexing.sparse import language, lexicon, weigh
from indexing.store import DENSE, SPARSE, VectorStore
from indexing.template import Factors, Views, sparse_fields, views
from indexing.types import Collection, Filter, Kind, Memory, Point, Scope, Vector, check_time

NAMESPACE = uuid.UUID("5b0c2c6e-7f0a-5b55-9d5c-6a1f0f6f2f53")

Clock = Callable[[], datetime]

Change = Literal["new", "changed", "renamed"]
"""What makes a source be indexed; a renamed one has the content of one that is gone."""


def utc_now() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How text becomes memories: every choice that a collection's fingerprint covers.

    ``chunk_turns`` cuts a session; ``mean_terms`` is the mean number of terms of a memory of a
    kind, BM25's length norm; ``ttl`` maps a collection or a kind to its life, the kind first;
    ``chunkers`` cut documents, by name, ``documents`` is the usual one; ``late_turns`` plans what
    turns are read in, None where no share of their vectors is late.
    """

    chunkers: Mapping[str, Cutter]
    documents: str
    chunk_turns: Callable[[Session], list[Chunk]]
    spans: TokenSpans
    fact_tokens: int = 256
    factors: Factors = field(default_factory=Factors)
    mean_terms: dict[str, float] = field(default_factory=lambda: {"document": 160.0})
    ttl: dict[str, timedelta] = field(default_factory=dict)
    late_turns: Late | None = None


@dataclass(frozen=True, slots=True)
class Index:
    """The parts that writing needs, put together once by `configs.build`."""

    store: VectorStore
    catalog: Catalog
    embedder: Embedder
    recipe: Recipe
    batch: int = 128
    clock: Clock = utc_now


@dataclass(slots=True)
class Report:
    """What a run did, in sources (documents, turns).

    ``seen = indexed + unchanged + duplicate + len(dead)``, and ``indexed = new + changed +
    renamed``. ``removed`` are gone, ``kept`` are gone and stayed: too many to be believed.
    """

    seen: int = 0
    indexed: int = 0
    new: int = 0
    changed: int = 0
    renamed: int = 0
    unchanged: int = 0
    duplicate: int = 0
    removed: int = 0
    kept: int = 0
    memories: int = 0
    embedded: int = 0
    dead: list[DeadLetter] = field(default_factory=list)

    def add(self, other: "Report") -> None:
        """Add the counts of another run."""
        self.seen += other.seen
        self.indexed += other.indexed
        self.new += other.new
        self.changed += other.changed
        self.renamed += other.renamed
        self.unchanged += other.unchanged
        self.duplicate += other.duplicate
        self.removed += other.removed
        self.kept += other.kept
        self.memories += other.memories
        self.embedded += other.embedded
        self.dead += other.dead


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that sources come from and the scope it was ingested with: what a retry repeats."""

    scope: Scope
    path: str


@dataclass(frozen=True, slots=True)
class Source:
    """One source ready to be indexed: its chunks, and a hash of all that they were made from.

    ``was`` is the id that a renamed source had: its vectors are used again, then it is removed.
    ``context`` is the whole text that late chunking reads it in; there it starts at ``offset``.
    """

    source_id: str
    kind: Kind
    content_hash: str
    chunks: Sequence[Chunk]
    uri: str = ""
    conversation_id: str = ""
    turn_id: str = ""
    expires_at: datetime | None = None
    was: str = ""
    change: Change = "new"
    context: Context | None = None
    offset: int = 0

    @property
    def name(self) -> str:
        """The file's name without its ending: what stands for a title that is not stated."""
        return PurePosixPath(self.uri).stem


def remember(
    index: Index,
    scope: Scope,
    text: str,
    kind: Kind = "fact",
    at: datetime | None = None,
    expires_at: datetime | None = None,
) -> Memory:
    """Store one fact and return it; the same text in the same scope is the same memory.

    Raises `InvalidInput` for an empty text, one over the chunk or the model's limit, or a time
    that is naive or out of range.
    """
    if not text.strip():
        raise InvalidInput("there is nothing to remember: the text is empty")
    for name, given in (("at", at), ("expires_at", expires_at)):
        if given is not None:
            check_time(given, name)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("the text is not valid Unicode (a lone surrogate)") from error
    size = len(index.recipe.spans(text))
    if size > index.recipe.fact_tokens:
        raise InvalidInput(
            f"a fact of {size} tokens is over the limit of {index.recipe.fact_tokens}: "
            "ingest it as a document"
        )
    if kind not in get_args(Kind):
        raise InvalidInput(f"kind {kind!r} is none of {', '.join(get_args(Kind))}")
    source_id = f"{kind}:{digest(text)[:32]}"
    chunk = Chunk(source_id, 0, 0, len(text), text, at=at)
    moment = at.isoformat() if at else ""
    until = expires_at.isoformat() if expires_at else ""
    source = Source(source_id, kind, digest(text, moment, until), [chunk], expires_at=expires_at)
    _write_batch(index, scope, [source], Report())
    (memory,) = index.store.get(scope.collection, Filter(scope, source_ids=(source_id,)), limit=1)
    return memory


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
        _write_batch(index, scope, sources, report)
    except PassageTooLong as error:
        if len(sources) == 1:
            source, place = sources[0], ""
            if origin is not None:
                place = f"session {source.conversation_id}, turn {source.turn_id}"
            at = origin or Origin(scope, source.source_id)
            return bury(index, report, DeadLetter(at.scope, at.path, place, str(error)))
        for source in sources:
            _write_each(index, scope, [source], report, origin)


def _write_batch(index: Index, scope: Scope, sources: Sequence[Source], report: Report) -> None:
    if not sources:
        return
    collection = scope.collection
    drafts = [draft for source in sources for draft in _drafts(index, scope, source)]
    former = tuple(source.was for source in sources if source.was)
    ids = (*(source.source_id for source in sources), *former)
    where = Filter(scope, source_ids=ids)
    stored = {memory.id: memory for memory in index.store.scroll(collection, where)}
    fresh = [d for d in drafts if not _holds(stored.get(d.memory.id), d.memory)]
    same = {memory.embed_hash: memory.id for memory in stored.values()}
    moved = {draft.memory.id: same[h] for draft in fresh if (h := draft.memory.embed_hash) in same}
    vectors = _reuse(index, collection, scope, moved)
    new = [draft for draft in fresh if draft.memory.id not in vectors]
    factor = index.recipe.factors.dense_before
    made, count = dense_vectors(index.embedder, [draft.reading for draft in new], factor)
    vectors |= {draft.memory.id: vector for draft, vector in zip(new, made, strict=True)}
    report.embedded += count
    index.catalog.begin(scope, ids)
    points = [point_of(index.recipe, d.memory, d.reading.view, vectors[d.memory.id]) for d in fresh]
    index.store.upsert(collection, points)
    gone = stored.keys() - {draft.memory.id for draft in drafts}
    if gone:
        index.store.delete(collection, Filter(scope, ids=tuple(sorted(gone))))
    index.catalog.commit(scope, [_row(source) for source in sources], former)
    report.indexed += len(sources)
    report.new += sum(source.change == "new" for source in sources)
    report.changed += sum(source.change == "changed" for source in sources)
    report.renamed += sum(source.change == "renamed" for source in sources)
    report.memories += len(fresh)


def _row(source: Source) -> SourceRow:
    said = source.chunks[0].at if source.conversation_id and source.chunks else None
    return SourceRow(
        source.source_id,
        source.content_hash,
        len(source.chunks),
        source.conversation_id,
        said.timestamp() if said else None,
    )


def _holds(stored: Memory | None, draft: Memory) -> bool:
    """Whether the stored memory is the draft, still visible. An expired twin blocks nothing."""
    now = draft.created_at
    if stored is None or (stored.expires_at and now and stored.expires_at <= now):
        return False
    return stored == replace(draft, created_at=stored.created_at, expires_at=stored.expires_at)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A memory on its way, with what its vectors are made from."""

    memory: Memory
    reading: Reading


def _drafts(index: Index, scope: Scope, source: Source) -> Iterator[_Draft]:
    now = index.clock()
    life = index.recipe.ttl.get(source.kind, index.recipe.ttl.get(scope.collection))
    for chunk in source.chunks:
        view = views(chunk, index.recipe.spans, source.name)
        reading = Reading(view, _place(source, chunk))
        embed_hash = reading.key
        place = digest(scope.tenant, source.source_id, str(chunk.start), str(chunk.end))
        until = source.expires_at.isoformat() if source.expires_at else ""
        memory = Memory(
            id=str(uuid.uuid5(NAMESPACE, place + embed_hash + source.kind + until)),
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
            embed_hash=embed_hash,
            lang=language(chunk.text),
            terms=words_of(view),
            at=chunk.at,
            created_at=now,
            expires_at=source.expires_at or (now + life if life else None),
        )
        yield _Draft(memory, reading)


def _place(source: Source, chunk: Chunk) -> Place | None:
    if source.context is None:
        return None
    return Place(source.context, source.offset + chunk.start, source.offset + chunk.end)


def _reuse(
    index: Index, collection: Collection, scope: Scope, moved: dict[str, str]
) -> dict[str, Vector]:
    """Return the stored vectors of chunks whose embedded text is unchanged: new id -> vector."""
    if not moved:
        return {}
    where = Filter(scope, ids=tuple(sorted(set(moved.values()))))
    stored = index.store.vectors(collection, where)
    return {new: stored[old][DENSE] for new, old in moved.items() if old in stored}


def words_of(view: Views) -> str:
    """Return the lexicon of what a memory is found by."""
    return lexicon(f"{view.header}\n{view.text}", view.before)


def point_of(recipe: Recipe, memory: Memory, view: Views, vector: Vector) -> Point:
    """Return a memory with its dense vector and the sparse one that its texts make."""
    mean = recipe.mean_terms.get(memory.kind, recipe.mean_terms["document"])
    sparse = weigh(sparse_fields(view, recipe.factors), mean)
    return Point(memory, {DENSE: vector}, {SPARSE: sparse})


def bury(index: Index, report: Report, *letters: DeadLetter) -> None:
    """Put what failed into the dead-letter table and into the report."""
    index.catalog.bury(letters)
    report.dead.extend(letters)
