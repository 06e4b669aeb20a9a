"""`retrieve(query, user_id)`: the read side put together, from a question to its few memories.

small corpus -> all of it | embed -> scopes in parallel -> fuse -> read -> collapse -> k best or as
many as fit a budget. Each step is a function of a module of its own; here is only their order.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import get_args

from indexing.dense import Embedder
from indexing.errors import InvalidInput
from indexing.sparse import LANGUAGES, weigh_query
from indexing.store import DENSE, VectorStore
from indexing.types import (
    GLOBAL,
    Collection,
    Kind,
    Memory,
    Scope,
    Vector,
    check_time,
    session_scope,
    user_scope,
)
from retrieval.copies import collapse
from retrieval.full import Count, everything, shown
from retrieval.pack import pack
from retrieval.rank import Fusion, Ranking, fuse
from retrieval.search import Question, search
from retrieval.trace import Dropped, StageTrace, Stopwatch, Trace
from retrieval.types import Hit, Narrow, Query, Result, ScopePolicy
from retrieval.vectors import QueryVectors

K = 8
"""Hits of an answer where neither a number nor a budget is asked for."""

PACKED = 64
"""Candidates that a budget is filled from."""

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
        explain: bool = False,
    ) -> Result:
        """Return the k memories (8) that answer best: global ones, the user's, the session's.

        With a ``budget`` of tokens as many as fit; where all that may be seen fits, all of it,
        in reading order. Raises `InvalidInput` for an empty query, k < 1, budget < 1 or a naive
        time, `InvalidId`, `StoreError`, `ModelError`.
        """
        scopes = tuple(scopes_of(user_id, session_id))
        narrow = narrow or Narrow()
        check(query, k, narrow, budget)
        return self.answer(Query(query, scopes, k, narrow, budget, explain))

    def answer(self, query: Query) -> Result:
        """Answer a checked query."""
        watch, now = Stopwatch(), self.clock()
        if query.budget is not None:
            with watch("full"):
                found = everything(
                    self.store,
                    query.scopes,
                    lambda scope: query.narrow.where(scope, now),
                    query.budget,
                    self.count,
                )
            if found is not None:
                return self._whole(query, found, watch)
        return self._ranked(query, now, watch)

    def _whole(self, query: Query, found: Sequence[Memory], watch: Stopwatch) -> Result:
        hits, copies = collapse([Hit(memory, 0, 0.0, {}) for memory in found])
        hits = [replace(hit, rank=rank) for rank, hit in enumerate(hits, 1)]
        trace = Trace(
            route="full",
            reason=f"all {len(found)} memories fit the budget of {query.budget} tokens",
            dropped=tuple(copies),
            filters=query.narrow.shown(),
            milliseconds=watch.milliseconds(),
        )
        return Result(query.text, tuple(hits), trace)

    def _ranked(self, query: Query, now: datetime, watch: Stopwatch) -> Result:
        with watch("embed"):
            dense = self._vector(query)
            question = Question(dense, weigh_query(query.text), now, query.narrow, query.explain)
        with watch("search"):
            answers = search(
                self.store,
                query.scopes,
                self.policies,
                question,
                self.pool,
                self.scope_seconds,
            )
        with watch("fuse"):
            ranking = fuse(query.text, answers, self.policies, self.fusion)
        with watch("read"):
            found, dropped = self._candidates(ranking, question, query)
        with watch("pack"):
            k = query.k or (K if query.budget is None else None)
            hits, over = pack(found, k, query.budget, self._cost)
        listed = sum(len(hits) for answer in answers for hits in answer.branches.values())
        trace = Trace(
            route="vector",
            reason="no analytical source is registered",
            scopes=tuple(answer.trace for answer in answers),
            stages=(
                StageTrace("fuse", listed, len(ranking.order), self.fusion.shown()),
                StageTrace("collapse", len(found) + len(dropped), len(found)),
                StageTrace("pack", len(found), len(hits)),
            ),
            dropped=(*dropped, *over),
            filters=query.narrow.shown(),
            models={"embedder": self.embedder.name},
            fingerprints=self.fingerprints,
            milliseconds=watch.milliseconds(),
            notes=tuple(f"{a.trace.scope}: {a.trace.error}" for a in answers if a.trace.error),
        )
        return Result(query.text, tuple(hits), trace)

    def _cost(self, hit: Hit) -> int:
        return self.count(shown(hit.memory))

    def _vector(self, query: Query) -> Vector | None:
        """Return the question's vector, None where no scope asks a dense branch."""
        policies = (self.policies[scope.collection] for scope in query.scopes)
        if not any(policy.weights.get(DENSE, 0) * policy.weight > 0 for policy in policies):
            return None
        return self.vectors.of(self.embedder, query.text)[0]

    def _candidates(
        self, ranking: Ranking, question: Question, query: Query
    ) -> tuple[list[Hit], list[Dropped]]:
        """Read the best memories, more of them while copies of one another leave too few."""
        need = query.k or (K if query.budget is None else PACKED)
        hits: list[Hit] = []
        dropped: list[Dropped] = []
        start = 0
        while len(hits) < need and start < len(ranking.order):
            wanted = ranking.order[start : start + need - len(hits)]
            found, gone = self._read(wanted, start, ranking, question)
            hits, copies = collapse([*hits, *found])
            dropped += [*gone, *copies]
            start += len(wanted)
        return hits, dropped

    def _read(
        self,
        wanted: Sequence[tuple[str, float]],
        start: int,
        ranking: Ranking,
        question: Question,
    ) -> tuple[list[Hit], list[Dropped]]:
        """Read memories; what was deleted meanwhile is left out."""
        by_scope: dict[Scope, list[str]] = {}
        for name, _ in wanted:
            by_scope.setdefault(ranking.owners[name], []).append(name)
        memories = {
            memory.id: memory
            for scope, ids in by_scope.items()
            for memory in self.store.get(
                scope.collection, question.where(scope, tuple(ids)), limit=len(ids)
            )
        }
        hits, dropped = [], []
        for rank, (name, score) in enumerate(wanted, start + 1):
            if memory := memories.get(name):
                hits.append(Hit(memory, rank, score, ranking.stages(name), rank, score))
            else:
                dropped.append(Dropped(name, str(ranking.owners[name]), "gone"))
        return hits, dropped


def check(query: str, k: int | None, narrow: Narrow, budget: int | None) -> None:
    """Raise `InvalidInput` for what cannot be asked."""
    if not query.strip():
        raise InvalidInput("the query is empty")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput("the query is not valid Unicode (a lone surrogate)") from error
    if k is not None and k < 1:
        raise InvalidInput(f"k is {k}; ask for at least 1")
    if budget is not None and budget < 1:
        raise InvalidInput(f"the budget is {budget}; give at least 1 token, or none")
    _among("kind", narrow.kinds, get_args(Kind))
    _among("language", narrow.languages, LANGUAGES)
    for name in ("said_from", "said_to", "as_of"):
        moment = getattr(narrow, name)
        if moment is not None:
            check_time(moment, name)
    if narrow.said_from and narrow.said_to and narrow.said_from >= narrow.said_to:
        raise InvalidInput("said_from is not before said_to")


def _among(what: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    for value in given or ():
        if value not in known:
            raise InvalidInput(f"{value!r} is no {what}; there are {', '.join(known)}")


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
