"""`retrieve(query, user_id)`: embed -> scopes in parallel -> fuse -> the k best, with a trace.

Lists of one branch from several scopes are merged by score before they are ranked: cosines are
comparable between collections, so a weak best hit of one scope does not displace a strong one of
another. Scope and branch weights then apply to the merged rank.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime

from indexing.dense import Embedder
from indexing.errors import InvalidInput
from indexing.sparse import weigh_query
from indexing.store import DENSE, SPARSE, VectorStore
from indexing.types import (
    GLOBAL,
    Collection,
    Kind,
    Memory,
    Scope,
    Scored,
    session_scope,
    user_scope,
)
from retrieval.balance import balance
from retrieval.coverage import content_terms, coverage
from retrieval.fuse import Ranked, order, rrf
from retrieval.search import Question, ScopeAnswer, search
from retrieval.types import Hit, Result, ScopePolicy, Stage, Trace


def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=4, thread_name_prefix="letopis-scope")


@dataclass(frozen=True, slots=True)
class Retriever:
    """The read side, put together once by `configs.build`. Thread-safe."""

    store: VectorStore
    embedder: Embedder
    policies: Mapping[Collection, ScopePolicy]
    clock: Callable[[], datetime]
    rrf_k: float = 10.0
    pool: ThreadPoolExecutor = field(default_factory=_threads)

    def retrieve(
        self,
        query: str,
        user_id: str | None,
        session_id: str | None = None,
        k: int = 8,
        kinds: Sequence[Kind] | None = None,
    ) -> Result:
        """Return the k memories that answer best, from global, the user's own and the session's.

        Raises `InvalidInput` for an empty query or k < 1, `InvalidId`, `StoreError`, `ModelError`.
        """
        scopes = scopes_of(user_id, session_id)
        if not query.strip():
            raise InvalidInput("the query is empty")
        if k < 1:
            raise InvalidInput(f"k is {k}; ask for at least 1")
        return self.answer(query, scopes, k, None if kinds is None else tuple(kinds))

    def answer(
        self, query: str, scopes: Sequence[Scope], k: int, kinds: tuple[Kind, ...] | None = None
    ) -> Result:
        """Search the given scopes."""
        started = time.perf_counter()
        dense = any(self.policies[scope.collection].weights.get(DENSE, 0) for scope in scopes)
        question = Question(
            self.embedder.query(query)[0] if dense else None,
            weigh_query(query),
            self.clock(),
            kinds,
        )
        embedded = time.perf_counter()
        answers = search(self.store, scopes, self.policies, question, self.pool)
        searched = time.perf_counter()
        hits = self._fuse(query, answers, k)
        done = time.perf_counter()
        trace = Trace(
            route="vector",
            reason="no analytical source is registered",
            scopes=tuple(answer.trace for answer in answers),
            milliseconds={
                "embed": (embedded - started) * 1000,
                "search": (searched - embedded) * 1000,
                "fuse": (done - searched) * 1000,
                "total": (done - started) * 1000,
            },
            notes=tuple(f"{a.trace.scope}: {a.trace.error}" for a in answers if a.trace.error),
        )
        return Result(query, hits, trace)

    def _fuse(self, query: str, answers: Sequence[ScopeAnswer], k: int) -> tuple[Hit, ...]:
        wanted = content_terms(query)
        memories: dict[str, Memory] = {}
        lists: dict[str, list[Ranked]] = {}
        stages: dict[str, dict[str, Stage]] = {}
        for branch, ranked in _rank(answers).items():
            ranking = lists.setdefault(branch, [])
            for rank, (scored, shift) in enumerate(ranked, 1):
                memory = scored.memory
                memories[memory.id] = memory
                weight = self.policies[memory.scope.collection].weights[branch]
                covered = coverage(wanted, memory) if branch == SPARSE else None
                ranking.append(Ranked(memory.id, weight * (1 if covered is None else covered)))
                stage = Stage(rank, scored.score, 0.0, covered, shift)
                stages.setdefault(memory.id, {})[branch] = stage
        shares = rrf(lists, self.rrf_k)
        return tuple(
            Hit(
                memories[name],
                rank,
                score,
                {
                    branch: replace(stage, share=shares[name][branch])
                    for branch, stage in stages[name].items()
                },
            )
            for rank, (name, score) in enumerate(order(shares)[:k], 1)
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


def _rank(answers: Sequence[ScopeAnswer]) -> dict[str, list[tuple[Scored, float]]]:
    """Return each branch's hits of all scopes, best first, with what was added to each score."""
    found: dict[str, list[Scored]] = {DENSE: [], SPARSE: []}
    for answer in answers:
        for branch, hits in answer.branches.items():
            found[branch] += hits
    by_score = sorted(found[SPARSE], key=lambda scored: (-scored.score, scored.memory.id))
    return {DENSE: balance(found[DENSE]), SPARSE: [(scored, 0.0) for scored in by_score]}
