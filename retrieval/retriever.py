"""`retrieve(query, user_id)`: embed -> scopes in parallel -> fuse -> the k best, with a trace.

Lists of one branch from several scopes are merged by score before they are ranked: cosines are
comparable between collections, so a weak best hit of one scope does not displace a strong one of
another. Scope and branch weights then apply to the merged rank.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime

from indexing.dense import Embedder
from indexing.errors import InvalidInput
from indexing.sparse import language, weigh_query
from indexing.store import DENSE, SPARSE, VectorStore
from indexing.types import (
    GLOBAL,
    Collection,
    Kind,
    Scope,
    Scored,
    check_time,
    session_scope,
    user_scope,
)
from retrieval.balance import STRENGTH, balance
from retrieval.coverage import content_terms, coverage
from retrieval.fuse import Ranked, order, rrf
from retrieval.search import Question, ScopeAnswer, search
from retrieval.types import Hit, Result, ScopePolicy, Stage, Trace


def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=4, thread_name_prefix="letopis-scope")


@dataclass(frozen=True, slots=True)
class Fused:
    """A memory's id with its fused score and where that came from."""

    id: str
    scope: Scope
    score: float
    stages: Mapping[str, Stage]


@dataclass(frozen=True, slots=True)
class Retriever:
    """The read side, put together once by `configs.build`. Thread-safe."""

    store: VectorStore
    embedder: Embedder
    policies: Mapping[Collection, ScopePolicy]
    clock: Callable[[], datetime]
    rrf_k: float = 10.0
    lexical_coverage: bool = True
    language_balance: float = STRENGTH
    pool: ThreadPoolExecutor = field(default_factory=_threads)

    def retrieve(
        self,
        query: str,
        user_id: str | None,
        session_id: str | None = None,
        k: int = 8,
        kinds: Sequence[Kind] | None = None,
        as_of: datetime | None = None,
    ) -> Result:
        """Return the k memories that answer best, from global, the user's own and the session's.

        With ``as_of`` facts are those of that time, and what was said later is left out; what has
        expired by now stays hidden. Raises `InvalidInput` for an empty query, k < 1 or a naive
        ``as_of``, `InvalidId`, `StoreError`, `ModelError`.
        """
        scopes = scopes_of(user_id, session_id)
        if not query.strip():
            raise InvalidInput("the query is empty")
        try:
            query.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput("the query is not valid Unicode (a lone surrogate)") from error
        if k < 1:
            raise InvalidInput(f"k is {k}; ask for at least 1")
        if as_of is not None:
            check_time(as_of, "as_of")
        return self.answer(query, scopes, k, None if kinds is None else tuple(kinds), as_of)

    def answer(
        self,
        query: str,
        scopes: Sequence[Scope],
        k: int,
        kinds: tuple[Kind, ...] | None = None,
        as_of: datetime | None = None,
    ) -> Result:
        """Search the given scopes."""
        started = time.perf_counter()
        dense = any(self.policies[scope.collection].weights.get(DENSE, 0) for scope in scopes)
        question = Question(
            self.embedder.query(query)[0] if dense else None,
            weigh_query(query),
            self.clock(),
            kinds,
            as_of,
        )
        embedded = time.perf_counter()
        answers = search(self.store, scopes, self.policies, question, self.pool)
        searched = time.perf_counter()
        fused = self._fuse(query, answers, k)
        ranked = time.perf_counter()
        hits = self._read(fused, question)
        done = time.perf_counter()
        trace = Trace(
            route="vector",
            reason="no analytical source is registered",
            scopes=tuple(answer.trace for answer in answers),
            milliseconds={
                "embed": (embedded - started) * 1000,
                "search": (searched - embedded) * 1000,
                "fuse": (ranked - searched) * 1000,
                "read": (done - ranked) * 1000,
                "total": (done - started) * 1000,
            },
            notes=tuple(f"{a.trace.scope}: {a.trace.error}" for a in answers if a.trace.error),
        )
        return Result(query, hits, trace)

    def _fuse(self, query: str, answers: Sequence[ScopeAnswer], k: int) -> list[Fused]:
        """Rank every branch over all scopes, fuse the ranks, and return the k best."""
        wanted = content_terms(query)
        owners = {hit.id: a.scope for a in answers for hits in a.branches.values() for hit in hits}
        weights = {a.scope: self.policies[a.scope.collection].weights for a in answers}
        lists: dict[str, list[Ranked]] = {}
        places: dict[tuple[str, str], tuple[int, Scored, float]] = {}
        for branch, ranked in self._rank(query, answers).items():
            ranking = lists.setdefault(branch, [])
            for rank, (hit, shift) in enumerate(ranked, 1):
                weight = weights[owners[hit.id]][branch]
                if branch == SPARSE and self.lexical_coverage:
                    weight *= coverage(wanted, hit.terms)
                ranking.append(Ranked(hit.id, weight))
                places[hit.id, branch] = (rank, hit, shift)
        shares = rrf(lists, self.rrf_k)

        def stage(branch: str, name: str) -> Stage:
            rank, hit, shift = places[name, branch]
            covered = coverage(wanted, hit.terms) if branch == SPARSE else None
            return Stage(rank, hit.score, shares[name][branch], covered, shift)

        return [
            Fused(name, owners[name], score, {b: stage(b, name) for b in shares[name]})
            for name, score in order(shares)[:k]
        ]

    def _rank(
        self, query: str, answers: Sequence[ScopeAnswer]
    ) -> dict[str, list[tuple[Scored, float]]]:
        """Return each branch's best hits of all scopes, with what shifted each score."""
        found: dict[str, list[Scored]] = {DENSE: [], SPARSE: []}
        for answer in answers:
            for branch, hits in answer.branches.items():
                found[branch] += hits
        dense = balance(found[DENSE], language(query), self.language_balance)
        sparse = sorted(found[SPARSE], key=lambda scored: (-scored.score, scored.id))
        depth = max(self.policies[answer.scope.collection].limit for answer in answers)
        return {DENSE: dense[:depth], SPARSE: [(scored, 0.0) for scored in sparse[:depth]]}

    def _read(self, fused: Sequence[Fused], question: Question) -> tuple[Hit, ...]:
        """Read the memories of the best; what was deleted meanwhile is left out."""
        wanted: dict[Scope, list[str]] = {}
        for item in fused:
            wanted.setdefault(item.scope, []).append(item.id)
        memories = {
            memory.id: memory
            for scope, ids in wanted.items()
            for memory in self.store.get(
                scope.collection, question.where(scope, tuple(ids)), limit=len(ids)
            )
        }
        there = [item for item in fused if item.id in memories]
        return tuple(
            Hit(memories[item.id], rank, item.score, item.stages)
            for rank, item in enumerate(there, 1)
        )


def scopes_of(user_id: str | None, session_id: str | None) -> list[Scope]:
    """Return the scopes a question may see: global, and the user's and session's when named."""
    scopes = [GLOBAL]
    if user_id is not None:
        scopes.append(user_scope(user_id))
    if session_id is not None:
        if user_id is None:
            raise InvalidInput("a session belongs to a user: give user_id with session_id")
        scopes.append(session_scope(user_id, session_id))
    return scopes
