"""Ask the scopes, in parallel where the store gains by it: one batched engine query each.

A scope that fails is reported in the trace and does not sink the others; when all fail, the first
error is raised.
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime

from indexing.errors import StoreError
from indexing.sparse import LANGUAGES
from indexing.store import DENSE, SPARSE, VectorStore
from indexing.types import Branch, Collection, Filter, Kind, Scope, Scored, SparseVector, Vector
from retrieval.types import ScopePolicy, ScopeTrace


@dataclass(frozen=True, slots=True)
class Question:
    """A query ready to be asked: its vectors, and what every branch filters by."""

    dense: Vector | None
    sparse: SparseVector
    now: datetime
    kinds: tuple[Kind, ...] | None = None
    as_of: datetime | None = None

    def where(self, scope: Scope, ids: tuple[str, ...] | None = None) -> Filter:
        """Return the filter of what it may see of a scope."""
        return Filter(scope, now=self.now, kinds=self.kinds, ids=ids, as_of=self.as_of)


@dataclass(frozen=True, slots=True)
class ScopeAnswer:
    """One scope's hits by branch, and what happened; dense ones language by language."""

    scope: Scope
    branches: Mapping[str, Sequence[Scored]]
    trace: ScopeTrace
    error: StoreError | None = None


def search(
    store: VectorStore,
    scopes: Sequence[Scope],
    policies: Mapping[Collection, ScopePolicy],
    question: Question,
    pool: ThreadPoolExecutor,
) -> list[ScopeAnswer]:
    """Ask every scope. Raises the first `StoreError` when none answered."""

    def one(scope: Scope) -> ScopeAnswer:
        return ask(store, scope, policies[scope.collection], question)

    answers = list(pool.map(one, scopes) if store.concurrent else map(one, scopes))
    errors = [answer.error for answer in answers if answer.error is not None]
    if len(errors) == len(answers):
        raise errors[0]
    return answers


def ask(store: VectorStore, scope: Scope, policy: ScopePolicy, question: Question) -> ScopeAnswer:
    """Ask one scope, all its branches in one engine call."""
    started = time.perf_counter()
    branches = _branches(policy, question)
    where = question.where(scope)
    lists: Sequence[Sequence[Scored]] = [[] for _ in branches]
    error: StoreError | None = None
    try:
        if branches:
            lists = store.search(scope.collection, branches, where)
    except StoreError as failure:
        error = failure
    named: dict[str, list[Scored]] = {branch.name: [] for branch in branches}
    for branch, found in zip(branches, lists, strict=True):
        named[branch.name].extend(found)
    trace = ScopeTrace(
        str(scope),
        {name: len(found) for name, found in named.items()},
        (time.perf_counter() - started) * 1000,
        str(error or ""),
    )
    return ScopeAnswer(scope, named, trace, error)


def _branches(policy: ScopePolicy, question: Question) -> list[Branch]:
    vectors = {DENSE: question.dense, SPARSE: question.sparse}
    branches = []
    for name, vector in vectors.items():
        if vector is None or not policy.weights.get(name, 0) > 0:
            continue
        for lang in LANGUAGES if name == DENSE else (None,):
            branches.append(Branch(name, vector, policy.limit, policy.thresholds.get(name), lang))
    return branches
