"""How an answer came about: what every stage was given and made of it. Names are stable.

Plain data that a `Result` carries; docs/retrieval.md describes every field. Making it costs next
to nothing: lists are those the stages worked on, not copies.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from indexing.types import Scored

Route = Literal["vector", "full", "sql", "sql+vector", "sql+full"]

Fact = str | float | None

Drop = Literal["duplicate", "gone", "irrelevant", "neighbour", "budget"]


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a scope has that its filters and thresholds kept out; counted when asked to explain.

    ``expired`` and ``superseded`` are memories; ``below`` counts by branch those of the list that
    the threshold cut.
    """

    expired: int
    superseded: int
    below: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ScopeTrace:
    """What one scope did: each branch's list, its time, or why it failed."""

    scope: str
    lists: Mapping[str, Sequence[Scored]]
    milliseconds: float
    error: str = ""
    hidden: Hidden | None = None

    @property
    def candidates(self) -> dict[str, int]:
        """Return the number of candidates by branch."""
        return {name: len(found) for name, found in self.lists.items()}


@dataclass(frozen=True, slots=True)
class PartTrace:
    """One part of a question: where its answer is from, its label, how sure that is, and why."""

    text: str
    went: Literal["sql", "vector"]
    label: str
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class StageTrace:
    """One stage: how many candidates went in and came out, and what it says of that."""

    name: str
    before: int
    after: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is not in the answer: its id, why, and by which other memory or number."""

    id: str
    scope: str
    why: Drop
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer came about. Times are in milliseconds, by step, ``total`` among them.

    ``filters`` are those of the caller, as text; ``models`` names the embedder and the reranker;
    ``evidence`` is what the confidence rests on: `relevance.Evidence` and its lift.
    ``fingerprints`` says by collection what its vectors were made with, as a short digest.
    """

    route: Route
    reason: str
    parts: tuple[PartTrace, ...] = ()
    scopes: tuple[ScopeTrace, ...] = ()
    stages: tuple[StageTrace, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    filters: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    evidence: Mapping[str, Fact] = field(default_factory=dict)


class Log:
    """What the stages of one call write down; `trace` makes a `Trace` of it."""

    def __init__(self) -> None:
        self.watch = Stopwatch()
        self.parts: list[PartTrace] = []
        self.scopes: list[ScopeTrace] = []
        self.stages: list[StageTrace] = []
        self.dropped: list[Dropped] = []
        self.models: dict[str, str] = {}
        self.notes: list[str] = []
        self.unread = False
        """Whether the reranker left out some of the first of its candidates."""
        self.confidence: float | None = None
        self.evidence: dict[str, Fact] = {}

    def stage(self, name: str, before: int, after: int, note: str = "") -> None:
        """Note what a stage made of its candidates."""
        self.stages.append(StageTrace(name, before, after, note))

    def trace(
        self,
        route: Route,
        reason: str,
        filters: Mapping[str, str],
        fingerprints: Mapping[str, str],
    ) -> Trace:
        """Return the trace of the call."""
        return Trace(
            route=route,
            reason=reason,
            parts=tuple(self.parts),
            scopes=tuple(self.scopes),
            stages=tuple(self.stages),
            dropped=tuple(self.dropped),
            filters=filters,
            models=self.models,
            fingerprints=fingerprints,
            milliseconds=self.watch.milliseconds(),
            notes=tuple(self.notes),
            evidence=self.evidence,
        )


class Stopwatch:
    """Times the steps of one call, in order.

    >>> watch = Stopwatch()
    >>> with watch("embed"):
    ...     pass
    >>> list(watch.milliseconds())
    ['embed', 'total']
    """

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._spent: dict[str, float] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        """Add the time of a block to a step."""
        started = time.perf_counter()
        try:
            yield
        finally:
            spent = (time.perf_counter() - started) * 1000
            self._spent[step] = self._spent.get(step, 0.0) + spent

    def milliseconds(self) -> dict[str, float]:
        """Return the time of every step and the total."""
        return {**self._spent, "total": (time.perf_counter() - self._started) * 1000}
