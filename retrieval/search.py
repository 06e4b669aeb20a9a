"""Ask the scopes, in parallel where the store gains by it: one batched engine query each.

A scope that fails, or is not done in time, is reported in its trace and does not sink the others;
when none answers, the first error is raised. The embedded engine is asked scope after scope, since
one call of it is faster than a thread is woken, and a big collection takes every core for itself;
no call into it can be broken off, so there a scope is left out only when the time is over before
its turn.
"""

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotDone
from dataclasses import dataclass, replace
from datetime import datetime

from indexing.errors import StoreError, StoreUnavailable
from indexing.sparse import LANGUAGES
from indexing.store import DENSE, SPARSE, VectorStore, base
from indexing.types import Branch, Collection, Filter, Scope, Scored, SparseVector, Vector
from retrieval.trace import Hidden, ScopeTrace
from retrieval.types import ANY, Narrow, ScopePolicy


@dataclass(frozen=True, slots=True)
class Question:
    """A query ready to be asked: its vectors, and what every branch filters by.

    ``least`` is how long each list is where a policy has less. ``count_hidden`` also counts what
    filters and thresholds keep out, at a cost.
    """

    dense: Vector | None
    sparse: SparseVector
    now: datetime
    narrow: Narrow = ANY
    count_hidden: bool = False
    least: int = 0

    def where(self, scope: Scope, ids: tuple[str, ...] | None = None) -> Filter:
        """Return the filter of what it may see of a scope."""
        return self.narrow.where(scope, self.now, ids)


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
    seconds: float | None = None,
) -> list[ScopeAnswer]:
    """Ask every scope, within ``seconds``. Raises the first `StoreError` when none answered."""
    until = None if seconds is None else time.monotonic() + seconds

    def one(scope: Scope) -> ScopeAnswer:
        if until is not None and time.monotonic() >= until:
            return _late(scope, seconds or 0.0)
        return ask(store, scope, policies[scope.collection], question)

    if not store.concurrent or (len(scopes) == 1 and until is None):
        answers = [one(scope) for scope in scopes]
    else:
        running = [(scope, pool.submit(one, scope)) for scope in scopes]
        answers = []
        for scope, future in running:
            try:
                left = None if until is None else max(0.0, until - time.monotonic())
                answers.append(future.result(left))
            except NotDone:
                future.cancel()
                answers.append(_late(scope, seconds or 0.0))
    errors = [answer.error for answer in answers if answer.error is not None]
    if len(errors) == len(answers):
        raise errors[0]
    return answers


def _late(scope: Scope, seconds: float) -> ScopeAnswer:
    error = StoreUnavailable(f"no answer within {seconds:g} s")
    return ScopeAnswer(scope, {}, ScopeTrace(str(scope), {}, seconds * 1000, str(error)), error)


def ask(store: VectorStore, scope: Scope, policy: ScopePolicy, question: Question) -> ScopeAnswer:
    """Ask one scope, all its branches in one engine call."""
    started = time.perf_counter()
    branches = _branches(policy, question)
    where = question.where(scope)
    named: dict[str, list[Scored]] = {branch.name: [] for branch in branches}
    hidden: Hidden | None = None
    error: StoreError | None = None
    try:
        if branches:
            found = store.search(scope.collection, branches, where)
            for branch, hits in zip(branches, found, strict=True):
                named[branch.name].extend(hits)
        if question.count_hidden:
            hidden = count_hidden(store, scope, question, branches)
    except StoreError as failure:
        error = failure
    spent = (time.perf_counter() - started) * 1000
    trace = ScopeTrace(str(scope), named, spent, str(error or ""), hidden)
    return ScopeAnswer(scope, named, trace, error)


def count_hidden(
    store: VectorStore, scope: Scope, question: Question, branches: Sequence[Branch]
) -> Hidden:
    """Count what the filters of time and the thresholds keep out of a scope's answer."""

    def count(where: Filter) -> int:
        return store.count(scope.collection, where)

    visible = question.where(scope)
    known = count(replace(visible, as_of=None, now=None))
    alive = count(replace(visible, as_of=None, superseded=True))
    cut = [branch for branch in branches if branch.threshold is not None]
    open_ = [Branch(b.name, b.vector, b.limit, None, b.lang) for b in cut]
    below: dict[str, int] = {}
    found = store.search(scope.collection, open_, visible) if open_ else []
    for branch, hits in zip(cut, found, strict=True):
        least = branch.threshold or 0.0
        below[branch.name] = below.get(branch.name, 0) + sum(hit.score < least for hit in hits)
    return Hidden(known - alive, alive - count(visible), below)


def _branches(policy: ScopePolicy, question: Question) -> list[Branch]:
    vectors = {DENSE: question.dense, SPARSE: question.sparse}
    branches = []
    limit = max(policy.limit, question.least)
    wanted = question.narrow.languages
    for name, weight in policy.weights.items():
        vector = vectors[base(name)]
        if vector is None or not weight * policy.weight > 0:
            continue
        by_language = [lang for lang in LANGUAGES if wanted is None or lang in wanted]
        for lang in by_language if base(name) == DENSE else (None,):
            branches.append(Branch(name, vector, limit, policy.thresholds.get(name), lang))
    return branches
