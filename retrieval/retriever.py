"""`retrieve(query, user_id)`: the read side put together, from a question to its few memories.

analytical parts -> SQL | small corpus -> all of it | embed -> scopes in parallel -> fuse ->
read -> weigh what turns tell -> rerank -> the k best or as many as fit a budget. Each step is a
function of a module of its own; here is only their order.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime

from indexing.dense import Embedder
from indexing.errors import StoreError
from indexing.sparse import weigh_query
from indexing.store import DENSE, VectorStore
from indexing.types import Collection, Vector
from retrieval.analyst import Analyst, why
from retrieval.candidates import Reader
from retrieval.copies import collapse
from retrieval.full import Count, everything
from retrieval.pack import pack
from retrieval.passages import NeighbourPolicy
from retrieval.query import check, scopes_of
from retrieval.rank import Fusion, fuse
from retrieval.reorder import Reordering
from retrieval.routing.plan import NO_SOURCE
from retrieval.search import Question, search
from retrieval.sql.types import Answer
from retrieval.stages import Relevance, Reranking, Telling, bring
from retrieval.trace import Log, Route
from retrieval.types import ANY, Hit, Narrow, Query, Result, ScopePolicy
from retrieval.vectors import QueryVectors

K = 8
"""Hits of an answer where neither a number nor a budget is asked for."""

PACKED = 64
"""Candidates that a budget is filled from."""

Answers = tuple[Answer, ...]

CHOICE = 4
"""How many times more candidates there are to choose from where the order is made anew."""

THREADS = 32
"""Scopes that are asked at once, over all callers; each mostly waits for a server."""


def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="letopis-scope")


@dataclass(frozen=True, slots=True)
class Retriever:
    """The read side, put together once by `configs.build`. Thread-safe.

    ``scope_seconds`` is how long the scopes of one question may take; ``count`` counts tokens.
    """

    store: VectorStore
    embedder: Embedder
    policies: Mapping[Collection, ScopePolicy]
    clock: Callable[[], datetime]
    count: Count
    fusion: Fusion = field(default_factory=Fusion)
    scope_seconds: float | None = None
    telling: Telling | None = None
    reranking: Reranking | None = None
    reordering: Reordering | None = None
    relevance: Relevance = field(default_factory=Relevance)
    neighbours: NeighbourPolicy = field(default_factory=NeighbourPolicy)
    always_neighbours: bool = False
    analyst: Analyst | None = None
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    vectors: QueryVectors = field(default_factory=QueryVectors)
    pool: ThreadPoolExecutor = field(default_factory=_threads)

    def retrieve(
        self,
        query: str,
        user_id: str | None,
        session_id: str | None = None,
        k: int | None = None,
        narrow: Narrow | None = None,
        budget: int | None = None,
        *,
        rerank: bool = True,
        rerank_budget_ms: float | None = None,
        neighbours: bool | None = None,
        explain: bool = False,
    ) -> Result:
        """Return the k memories (8) that answer best: global ones, the user's, the session's.

        With a ``budget`` of tokens as many as fit; where all that may be seen fits, and is no more
        than k, all of it, in reading order. Raises `InvalidInput` for an empty query, k < 1,
        budget < 1 or a naive time, `InvalidId`, `StoreError`, `ModelError`.
        """
        asked = Query(
            query,
            tuple(scopes_of(user_id, session_id)),
            user_id,
            k,
            narrow or ANY,
            budget,
            explain=explain,
            rerank=rerank,
            rerank_budget_ms=rerank_budget_ms,
            neighbours=neighbours,
        )
        check(asked)
        return self.answer(asked)

    def answer(self, query: Query) -> Result:
        """Answer a checked query: its analytical parts from databases, the rest from memory."""
        log, now = Log(), self.clock()
        answers, left, reason = self._analysed(query, now, log)
        if answers and not left:
            trace = log.trace("sql", reason, {}, self.fingerprints)
            return Result(query.text, (), trace, answers)
        asked = replace(query, text=left)
        route: Route = "sql+vector" if answers else "vector"
        hits = self._whole(asked, now, log)
        if hits is None:
            hits = self._ranked(asked, now, log)
        else:
            route = "sql+full" if answers else "full"
            reason = f"all {len(hits)} memories fit the budget of {query.budget} tokens"
        trace = log.trace(route, reason, query.narrow.shown(), self.fingerprints)
        return Result(query.text, tuple(hits), trace, answers, log.confidence)

    def _analysed(self, query: Query, now: datetime, log: Log) -> tuple[Answers, str, str]:
        """Return what databases answer, the question that is left, and why."""
        if self.analyst is None:
            return (), query.text, NO_SOURCE
        if query.narrow != ANY:
            return (), query.text, "the caller narrowed the answer to memories"
        with log.watch("route"):
            plan = self.analyst.plan(query.text, now, query.user_id)
        with log.watch("sql"):
            answers, left = self.analyst.answers(plan, query.user_id, now, log)
        return answers, left if answers else query.text, why(log.parts)

    def clear(self) -> None:
        """Forget what was kept of earlier questions: their vectors, and the reranker's scores."""
        self.vectors.clear()
        if self.reranking:
            self.reranking.stage.clear()

    def close(self) -> None:
        """Let go of the threads."""
        self.pool.shutdown()
        if self.reranking:
            self.reranking.stage.close()
        if self.analyst:
            self.analyst.close()

    def _whole(self, query: Query, now: datetime, log: Log) -> list[Hit] | None:
        """Return all that may be seen, None where that does not fit the budget or there is none."""
        if query.budget is None:
            return None
        with log.watch("full"):
            try:
                found = everything(
                    self.store,
                    query.scopes,
                    lambda scope: query.narrow.where(scope, now),
                    query.budget,
                    self.count,
                    query.k,
                )
            except StoreError:  # the search asks again, and says which scope it is
                return None
        if found is None:
            return None
        hits, copies = collapse([Hit(memory, 0, 0.0, {}) for memory in found])
        if query.k is not None and len(hits) > query.k:  # the best k are asked for, not the first
            return None
        log.dropped += copies
        return [replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)]

    def _ranked(self, query: Query, now: datetime, log: Log) -> list[Hit]:
        """Return the best memories."""
        with log.watch("embed"):
            dense = self._vector(query)
            log.models["embedder"] = self.embedder.name
            terms, least = weigh_query(query.text), query.k or 0
            question = Question(dense, terms, now, query.narrow, query.explain, least)
        with log.watch("search"):
            answers = search(
                self.store,
                query.scopes,
                self.policies,
                question,
                self.pool,
                self.scope_seconds,
            )
            log.scopes = [answer.trace for answer in answers]
            log.notes += [f"{a.trace.scope}: {a.trace.error}" for a in answers if a.trace.error]
        with log.watch("fuse"):
            ranking = fuse(query.text, answers, self.policies, self.fusion, question.least)
            listed = sum(len(hits) for answer in answers for hits in answer.branches.values())
            log.stage("fuse", listed, len(ranking.order), self.fusion.shown())
        with log.watch("read"):
            more = self.telling.need if self.telling else None
            hits = Reader(self.store, question).best(ranking, self._need(query), log, more)
        if self.telling:
            with log.watch("telling"):
                hits = self.telling(query.text, hits, log)
        if self.reranking and query.rerank:
            with log.watch("rerank"):
                hits = self.reranking(query.text, hits, query.rerank_budget_ms, log)
        if self.reordering:
            with log.watch("reorder"):
                hits = self.reordering(hits, self.store, query.narrow.as_of or now, log)
        with log.watch("relevance"):
            hits = self.relevance(query.text, hits, log, ranking.covered)
        k = query.k or (K if query.budget is None else None)
        if self.always_neighbours if query.neighbours is None else query.neighbours:
            with log.watch("neighbours"):
                policy = self.neighbours
                hits = bring(self.store, hits[:k], question.where, policy, self.count, log)
        with log.watch("pack"):
            return pack(hits, k, query.budget, self._cost, log)

    def _need(self, query: Query) -> int:
        """Return how many candidates the stages after the fusion work on."""
        need = query.k or (K if query.budget is None else PACKED)
        if self.reordering:
            need *= CHOICE
        if self.reranking and query.rerank:
            need = max(need, self.reranking.stage.limits.candidates)
        return need

    def _cost(self, hit: Hit) -> int:
        return self.count(hit.text)

    def _vector(self, query: Query) -> Vector | None:
        """Return the question's vector, None where no scope asks a dense branch."""
        policies = (self.policies[scope.collection] for scope in query.scopes)
        if not any(policy.weights.get(DENSE, 0) * policy.weight > 0 for policy in policies):
            return None
        return self.vectors.of(self.embedder, query.text)
