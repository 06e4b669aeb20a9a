"""The nouns of the write side: the recipe, the open index, a source on its way, a run's report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Literal

from chunking.types import Chunk, Session, TokenSpans
from indexing.catalog import Catalog
from indexing.catalog_rows import DeadLetter
from indexing.dense import Embedder
from indexing.late import Context, Cutter, Late
from indexing.store import VectorStore
from indexing.template import Factors
from indexing.types import Kind, Memory, Scope

Clock = Callable[[], datetime]

Change = Literal["new", "changed", "renamed", "duplicate"]
"""What makes a source be written; a renamed one has the content of one that is gone, a duplicate
that of one that is there."""


def utc_now() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Dedup:
    """Which memories may stand for others that say the same in other words.

    ``kinds`` are looked at by the nightly pass, and ``at_write`` when they are written;
    ``neighbours`` is how many of the nearest of the scope are compared, ``cosine`` is the least
    that two have in common.
    """

    kinds: tuple[Kind, ...] = ("fact", "procedure")
    neighbours: int = 5
    cosine: float = 0.9
    at_write: bool = True


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
    dedup: Dedup = field(default_factory=Dedup)

    def life(self, kind: Kind, scope: Scope) -> timedelta | None:
        """Return how long a memory lives; None: for ever."""
        return self.ttl.get(kind, self.ttl.get(scope.collection))


@dataclass(frozen=True, slots=True)
class Index:
    """The parts that writing needs, put together once by `configs.build`."""

    store: VectorStore
    catalog: Catalog
    embedder: Embedder
    recipe: Recipe
    batch: int = 128
    clock: Clock = utc_now


@dataclass(frozen=True, slots=True)
class Merge:
    """Two texts that say the same: the source of the one that was not stored, and what stands for
    it. The reason quotes both: it is for their owner, not for logs."""

    source_id: str
    memory_id: str
    score: float
    reason: str


@dataclass(slots=True)
class Changes:
    """Memories to be written, ids to be deleted, and where each draft ended up: ``homes`` are ids,
    ``held`` the memories.

    ``repeated`` drafts joined a memory of another source, by the same words; ``merges`` by others.
    """

    put: list[Memory] = field(default_factory=list)
    delete: list[str] = field(default_factory=list)
    homes: list[str] = field(default_factory=list)
    held: dict[str, Memory] = field(default_factory=dict)
    repeated: int = 0
    merges: list[Merge] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """What a run did, in sources (documents, turns).

    ``seen = indexed + unchanged + duplicate + forgotten + len(dead)``, and ``indexed = new +
    changed + renamed``. ``removed`` are gone, ``kept`` are gone and stayed: too many to be
    believed; ``forgotten`` may not be stored. ``memories`` were written and ``embedded`` texts
    read by the model; ``repeated`` chunks said what was stored already, ``merges`` those of them
    that said it in other words.
    """

    seen: int = 0
    indexed: int = 0
    new: int = 0
    changed: int = 0
    renamed: int = 0
    unchanged: int = 0
    duplicate: int = 0
    forgotten: int = 0
    removed: int = 0
    kept: int = 0
    memories: int = 0
    embedded: int = 0
    repeated: int = 0
    merges: list[Merge] = field(default_factory=list)
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
        self.forgotten += other.forgotten
        self.removed += other.removed
        self.kept += other.kept
        self.memories += other.memories
        self.embedded += other.embedded
        self.repeated += other.repeated
        self.merges += other.merges
        self.dead += other.dead


@dataclass(frozen=True, slots=True)
class Origin:
    """The file that sources come from and the scope it was ingested with: what a retry repeats."""

    scope: Scope
    path: str


@dataclass(frozen=True, slots=True)
class Statement:
    """What a source states about a subject: the subject's value, or that it has it no longer.

    ``replaces`` is the value of another subject that this one ends (a decision for something
    instead of what was decided before); ``since`` is when it began to hold.
    """

    subject: str
    value: str
    since: datetime
    closes: bool = False
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """One source ready to be indexed: its chunks, and a hash of all that they were made from.

    ``was`` is the id that a renamed source had: its vectors are used again, then it is removed.
    ``context`` is the whole text that late chunking reads it in; there it starts at ``offset``.
    What is ``told`` adds to what was said before; other sources replace what they said. ``tags``
    go to all its memories. A turn has its ``role`` and when it was said, a tool's result the name
    of the ``tool`` and whether the call ``failed``.
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
    told: bool = False
    statement: Statement | None = None
    tags: tuple[str, ...] = ()
    role: str = ""
    said_at: datetime | None = None
    tool: str = ""
    failed: bool | None = None

    @property
    def name(self) -> str:
        """The file's name without its ending: what stands for a title that is not stated."""
        return PurePosixPath(self.uri).stem
