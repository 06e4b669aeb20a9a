"""What a search is given and what it gives back: policies, hits with their stages, a trace."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from indexing.types import Memory


@dataclass(frozen=True, slots=True)
class ScopePolicy:
    """How one scope is searched. Weights and thresholds are by branch: ``dense``, ``sparse``.

    ``limit`` is the length of each branch's list. A threshold applies to the branch's own score
    (cosine, BM25) before fusion; a branch of weight 0 is not asked.
    """

    limit: int = 50
    weights: Mapping[str, float] = field(default_factory=lambda: {"dense": 1.0, "sparse": 1.0})
    thresholds: Mapping[str, float] = field(default_factory=dict)


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
    """A memory that answers, its fused score and where that came from, by branch."""

    memory: Memory
    rank: int
    score: float
    stages: Mapping[str, Stage]


@dataclass(frozen=True, slots=True)
class ScopeTrace:
    """What one scope did: candidates by branch, its time, or why it failed."""

    scope: str
    candidates: Mapping[str, int]
    milliseconds: float
    error: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about. Times are in milliseconds, by step."""

    route: str
    reason: str
    scopes: tuple[ScopeTrace, ...]
    milliseconds: Mapping[str, float]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one question: hits, best first, and the trace. Iterates over its hits."""

    query: str
    hits: tuple[Hit, ...]
    trace: Trace

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)
