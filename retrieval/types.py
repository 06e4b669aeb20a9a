"""What a search is given and what it gives back: query, policies, hits with their stages, result.

How an answer came about is `trace`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from indexing.tags import tags_of
from indexing.types import Filter, Kind, Memory, Scope
from retrieval.passages import Passage
from retrieval.sql.types import Answer
from retrieval.talk import said
from retrieval.trace import Trace


@dataclass(frozen=True, slots=True)
class ScopePolicy:
    """How one scope is searched. Weights and thresholds are by branch: ``dense``, ``sparse``.

    ``limit`` is the length of each branch's list. A threshold applies to the branch's own score
    (cosine, BM25) before fusion; a branch of weight 0 is not asked. ``weight`` is what the whole
    scope counts beside the others.
    """

    limit: int = 50
    weights: Mapping[str, float] = field(default_factory=lambda: {"dense": 1.0, "sparse": 1.0})
    thresholds: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Narrow:
    """What a caller narrows an answer to; None is "any". Every field that is set must hold.

    ``sources`` are exact source ids. Times are aware: ``said_from <= said < said_to``; ``as_of``
    answers with the statements that held then.
    """

    kinds: tuple[Kind, ...] | None = None
    sources: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    said_from: datetime | None = None
    said_to: datetime | None = None
    as_of: datetime | None = None

    def where(
        self, scope: Scope, now: datetime | None, ids: tuple[str, ...] | None = None
    ) -> Filter:
        """Return the filter of what may be seen of a scope."""
        return Filter(
            scope,
            now=now,
            kinds=self.kinds,
            source_ids=self.sources,
            ids=ids,
            tags=None if self.tags is None else tags_of(self.tags),
            langs=self.languages,
            said_from=self.said_from,
            said_to=self.said_to,
            as_of=self.as_of,
        )

    def shown(self) -> dict[str, str]:
        """Return what is set, as text."""
        found = {}
        for name in self.__slots__:
            value = getattr(self, name)
            if value is not None:
                found[name] = value.isoformat() if isinstance(value, datetime) else ", ".join(value)
        return found


ANY = Narrow()


@dataclass(frozen=True, slots=True)
class Query:
    """A checked call: what is asked, by whom, of which scopes, and how much is wanted.

    ``k`` None is the usual number, or with a budget as many as fit.

    ``budget`` is in tokens, None for none: hits are packed until it is full, and when all that
    the scopes have fits, all of it is returned. None of ``rerank_budget_ms`` and ``neighbours`` is
    the setting's.
    """

    text: str
    scopes: tuple[Scope, ...]
    user_id: str | None = None
    k: int | None = None
    narrow: Narrow = ANY
    budget: int | None = None
    explain: bool = False
    rerank: bool = True
    rerank_budget_ms: float | None = None
    neighbours: bool | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """A hit's place in one branch: rank from 1, the engine's score, its share of the fused score.

    ``coverage`` is the share of the question's content words that the memory has (sparse only); it
    scales the share. ``shift`` is what `balance` added to the score before ranking (dense only).
    """

    rank: int
    score: float
    share: float
    coverage: float | None = None
    shift: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, its score and where that came from, by branch.

    ``score`` is the last stage's that ranked it; ``fused`` and ``fused_rank`` are those of the
    fusion, ``reranked`` is the reranker's score, None where it did not score. ``also`` are copies
    of the same statement in wider scopes, which it stands for. ``passage`` is the hit with what
    stands around it, where neighbours were asked for and it has some.
    """

    memory: Memory
    rank: int
    score: float
    stages: Mapping[str, Stage]
    fused_rank: int = 0
    fused: float = 0.0
    reranked: float | None = None
    also: tuple[Memory, ...] = ()
    passage: Passage | None = None

    @property
    def text(self) -> str:
        """What a reader is shown: the passage, or the memory's own text with its speaker."""
        return self.passage.text if self.passage else said(self.memory, self.memory.text)

    @property
    def sources(self) -> tuple[str, ...]:
        """The ids of all sources that say it, in whatever scope, each once."""
        found = (source for memory in (self.memory, *self.also) for source in memory.sources)
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one question: hits, best first, and the trace. Iterates over its hits.

    ``answers`` are the numbers and tables of the databases, for the parts of the question that they
    could answer; a question that they answered whole has no hits. ``confidence`` is how probable
    it is that the memory has an answer, 0 to 1; None where nothing was ranked.
    """

    query: str
    hits: tuple[Hit, ...]
    trace: Trace
    answers: tuple[Answer, ...] = ()
    confidence: float | None = None

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
