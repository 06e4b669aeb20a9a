"""What happens to the hits between fusion and answer: each stage is hits -> hits, and writes down
what it did. A stage that fails leaves the order as it was and says so.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from indexing.errors import StoreError
from indexing.store import VectorStore
from indexing.template import day
from indexing.types import Filter, Memory, Scope
from retrieval.coverage import Covered
from retrieval.neighbours import with_neighbours
from retrieval.passages import NeighbourPolicy
from retrieval.relevance import (
    E5,
    Weights,
    confidence,
    evidence,
    is_small,
    lift,
    names_nothing,
    strongest,
)
from retrieval.rerank.order import combined, reordered
from retrieval.rerank.stage import RerankStage
from retrieval.telling import Turn, telling
from retrieval.telling import Weights as TurnWeights
from retrieval.trace import Dropped, Log
from retrieval.types import Hit

READ = 10
"""Places of the fused order that a reranker has to have read before it may say that nothing is
found."""


@dataclass(frozen=True, slots=True)
class Telling:
    """Ranks turns of talk by what they tell too; see `retrieval.telling`.

    ``strength`` is how much that counts. The first ``candidates`` are weighed, the rest stays.
    """

    strength: float = 1.0
    candidates: int = 30
    weights: TurnWeights = field(default_factory=TurnWeights)

    def need(self, hits: Sequence[Hit]) -> int:
        """Return how many hits it weighs: none where the best of them are no talk."""
        return self.candidates if any(hit.memory.kind == "turn" for hit in hits) else 0

    def __call__(self, query: str, hits: Sequence[Hit], log: Log) -> list[Hit]:
        """Return the hits in their new order; scores stay on the scale of the fused ones."""
        first, rest = hits[: self.candidates], hits[self.candidates :]
        turns = [_turn(hit.memory) for hit in first]
        if not any(turns):
            return list(hits)
        fused = np.array([hit.score for hit in first])
        spread = float(fused.std()) * self.strength
        scores = fused + spread * telling(query, turns, self.weights)
        order = np.argsort(-scores, kind="stable").tolist()
        log.stage("telling", len(hits), len(first), f"strength {self.strength:g}")
        return [*(replace(first[at], score=max(0.0, float(scores[at]))) for at in order), *rest]


def _turn(memory: Memory) -> Turn | None:
    if memory.kind != "turn":
        return None
    return Turn(memory.speaker or memory.role, memory.text, memory.before)


@dataclass(frozen=True, slots=True)
class Reranking:
    """The reranker, and how the fused order counts beside it.

    With a ``weight`` both scores are added (`combined`), with 0 ranks are blended (`reordered`).
    Where the best of the hits is a turn, ``talk`` is the weight of the plain probability; 0: as
    everywhere. ``before``: a turn is read with the turn before it. Memories of more than
    ``longest`` characters (0: of any) are not read and keep their place among the others.
    """

    stage: RerankStage
    blend: float = 0.0
    weight: float = 0.0
    talk: float = 0.0
    before: bool = False
    longest: int = 0

    def __call__(
        self, query: str, hits: Sequence[Hit], budget_ms: float | None, log: Log
    ) -> list[Hit]:
        """Return the hits in their new order; the score of a hit is then the reranker's, with a
        ``weight`` one on the scale of before."""
        most = self.longest or math.inf
        places = [at for at, hit in enumerate(hits) if len(hit.memory.text) <= most]
        if not places:
            if hits:
                log.stage("rerank", len(hits), 0, f"all are longer than {self.longest} characters")
            return list(hits)
        some = [hits[at] for at in places]
        texts = [read_as(hit.memory, self.before) for hit in some]
        done = self.stage.rerank(query, texts, budget_ms)
        log.stage("rerank", len(hits), done.scored, done.note)
        if done.failed:
            log.notes.append(done.note)
            return list(hits)
        log.models["reranker"] = self.stage.reranker().name
        first = sum(at < READ for at in places[: done.scored])
        log.unread = first < min(READ, len(hits))
        ranked = self._ranked(some, done.scores, hits[0].memory.kind == "turn")
        if len(places) == len(hits):
            return ranked
        placed = list(hits)  # a place's score stays with the place: the others keep theirs
        for at, hit in zip(places, ranked, strict=True):
            placed[at] = replace(hit, score=hits[at].score)
        return placed

    def _ranked(self, hits: Sequence[Hit], scores: Sequence[float | None], talk: bool) -> list[Hit]:
        scored = [
            hit if score is None else replace(hit, score=score, reranked=score)
            for hit, score in zip(hits, scores, strict=True)
        ]
        plain = talk and self.talk > 0
        weight = self.talk if plain else self.weight
        if not weight:
            return reordered(scored, scores, self.blend)
        order = combined([hit.score for hit in hits], scores, weight, plain)
        return [replace(scored[place], score=score) for place, score in order]


@dataclass(frozen=True, slots=True)
class Relevance:
    """Says how probable an answer is; below ``least`` nothing is found. See `retrieval.relevance`.

    ``weights`` are the embedder's. A hit that the reranker scores below ``reranked`` is dropped;
    what it did not score stays.
    """

    least: float = 0.0
    weights: Weights = E5
    reranked: float = 0.0

    def __call__(
        self, query: str, hits: Sequence[Hit], log: Log, covered: Covered | None = None
    ) -> list[Hit]:
        """Return the hits, where an answer is too improbable those of small scopes only.

        A question that names nothing ("what do you know about me?") is never improbable. A
        reranker that did not read all of the first can make an answer likelier, but not less
        likely. ``covered`` is what the fusion knows of the question's words, so that none is read
        twice.
        """
        best = max((hit.reranked for hit in hits if hit.reranked is not None), default=None)
        found = evidence(query, log.scopes, best, self.weights, covered)
        if best is not None and log.unread:
            unread = evidence(query, log.scopes, None, self.weights, covered)
            found = strongest([found, unread], self.weights)
        log.confidence = confidence(found, self.weights)
        log.evidence = {**found.facts(), "lift": lift(found, self.weights.usual)}
        nothing = log.confidence < self.least and not names_nothing(query)
        small = {scope.scope for scope in log.scopes if is_small(scope)}
        kept = []
        for hit in hits:
            scope = str(hit.memory.scope)
            if nothing and scope not in small:
                why = f"confidence {log.confidence:.2f} < {self.least:g}"
            elif hit.reranked is not None and hit.reranked < self.reranked:
                why = f"reranker {hit.reranked:.3f} < {self.reranked:g}"
            else:
                kept.append(hit)
                continue
            log.dropped.append(Dropped(hit.memory.id, scope, "irrelevant", why))
        if nothing:
            note = f"confidence {log.confidence:.2f} < {self.least:g}; what small scopes have stays"
            log.stage("relevance", len(hits), len(kept), note)
        elif len(kept) < len(hits):
            log.stage("relevance", len(hits), len(kept), f"reranker below {self.reranked:g}")
        return kept


def bring(
    store: VectorStore,
    hits: Sequence[Hit],
    where: Callable[[Scope], Filter],
    policy: NeighbourPolicy,
    count: Callable[[str], int],
    log: Log,
) -> list[Hit]:
    """Return the hits with their passages; one that is in the passage of a better one is dropped.

    A store that does not answer leaves the hits as they are.
    """
    try:
        found = with_neighbours(store, [hit.memory for hit in hits], where, policy, count)
    except StoreError as error:
        log.notes.append(f"no neighbours: {error}")
        return list(hits)
    within = {name: passage.hits[0] for passage in found if passage for name in passage.hits[1:]}
    kept = []
    for hit, passage in zip(hits, found, strict=True):
        if better := within.get(hit.memory.id):
            scope = str(hit.memory.scope)
            log.dropped.append(Dropped(hit.memory.id, scope, "neighbour", better))
        else:
            kept.append(replace(hit, passage=passage))
    log.stage("neighbours", len(hits), len(kept))
    return kept


def read_as(memory: Memory, before: bool = False) -> str:
    """Return what a reranker reads of a memory: when and by whom, or under which headings, and
    the text; with ``before`` the turn before too."""
    if memory.speaker or memory.role:
        when = day(memory.at, memory.text) if memory.at else ""
        header = " ".join(filter(None, (when, memory.speaker or memory.role)))
    else:
        path = [memory.title, *(h for h in memory.headings if h != memory.title)]
        header = " › ".join(filter(None, path))
    text = f"{header}: {memory.text}" if header else memory.text
    return with_before(text, memory.before) if before else text


def with_before(text: str, before: str) -> str:
    """Return what a reranker reads of a turn together with the turn before it, "" where none is."""
    return f"{text} {before}" if before else text
