"""`context_of`: a question in a session -> its context. Reads the stores, asks once, assembles.

A session of any length is read at both ends only, while it is searched. No transaction is open
during the search.
"""

from concurrent.futures import wait
from dataclasses import replace
from typing import Any

from indexing.index import Index
from indexing.types import Filter, Memory, user_scope
from retrieval.retriever import Retriever
from retrieval.trace import Stopwatch
from retrieval.types import Result
from sessions.beside import read_beside
from sessions.cache import ContextCache
from sessions.context import drafted, finished
from sessions.draft import Draft
from sessions.known import since
from sessions.log import TurnLog
from sessions.material import Material
from sessions.policies import ContextPolicy
from sessions.snapshot import read_snapshot
from sessions.types import Context

MARGIN = 8
"""Turns that are read beyond the window's, so that it need not begin within a group."""

NOTEBOOK = 500
"""Facts of a user that the newest are chosen from."""


def context_of(
    log: TurnLog,
    retriever: Retriever,
    user_id: str,
    session_id: str,
    question: str,
    policy: ContextPolicy | None = None,
    *,
    role: str | None = None,
    rerank: bool = True,
    cache: ContextCache | None = None,
) -> Context:
    """Return the context of a question; ``role`` None is what the session's state says.

    ``cache`` keeps from question to question what is the same: clear it when you forget.
    ``details`` has besides what the search did: its ``route``, ``confidence`` and ``notes``, and
    ``milliseconds`` by step. Raises `InvalidInput`, `BudgetTooSmall`, `InvalidId`, `StoreError`,
    `ModelError`.
    """
    policy, watch = policy or ContextPolicy(), Stopwatch()
    lease = (ContextCache() if cache is None else cache).begin()

    def draft_of() -> Draft:
        with watch("read"):
            material = material_of(log, user_id, session_id, question, policy, role=role)
            draft = drafted(material, policy, log.count_tokens, lease)
            draft.rehearse()
            return draft

    reading = retriever.pool.submit(draft_of)
    try:
        with watch("retrieve"):
            found = _found(retriever, user_id, session_id, question, policy, rerank=rerank)
    finally:
        wait([reading])
    draft = reading.result()
    if found:
        with watch("beside"):
            turns = {turn.entry.turn_id for turn in draft.turns}
            hits = [hit for hit in found.hits if hit.memory.turn_id not in turns][: policy.hits]
            tail = draft.material.tail
            beside = read_beside(log.index, user_id, session_id, hits, tail)
    with watch("assemble"):
        if found:
            draft.find(found.hits, found.answers, beside)
        context = finished(draft)
    details = {**context.details, "search": _search(found), "milliseconds": watch.milliseconds()}
    return replace(context, details=details)


def material_of(
    log: TurnLog,
    user_id: str,
    session_id: str,
    question: str,
    policy: ContextPolicy,
    *,
    role: str | None = None,
) -> Material:
    """Read what a context shows of a session and its user, but for what is found on the question.

    Of more facts about the user than `ContextPolicy.facts` the newest are listed.
    """
    index, window = log.index, policy.window
    facts, more = _notebook(index, user_id, policy.facts)
    first, last = window.pinned + MARGIN, window.last + MARGIN
    read = read_snapshot(index, user_id, session_id, first, last)
    return Material(
        question,
        session_id,
        role=read.state.role if role is None else role,
        notes=read.notes,
        replaced=read.replaced,
        facts=facts,
        more_facts=more,
        digest=read.digest,
        first=read.first,
        last=read.last,
        tail=read.tail,
        total=read.total,
        said=read.said,
        now=index.clock(),
    )


def _found(
    retriever: Retriever,
    user_id: str,
    session_id: str,
    question: str,
    policy: ContextPolicy,
    *,
    rerank: bool,
) -> Result | None:
    """Return what memory has on the question; turns of the window, which it finds too, besides.

    None where no memories are wanted.
    """
    if not policy.hits:
        return None
    k = policy.hits + policy.window.pinned + policy.window.last
    return retriever.retrieve(question, user_id, session_id, k, rerank=rerank)


def _notebook(index: Index, user_id: str, most: int) -> tuple[tuple[Memory, ...], int]:
    """Return the newest facts about a user, and how many more there are."""
    scope = user_scope(user_id)
    where = Filter(scope, now=index.clock(), kinds=("fact",))
    found = index.store.get(scope.collection, where, NOTEBOOK)
    total = len(found)
    if total == NOTEBOOK:
        total = index.store.count(scope.collection, where)
    newest = sorted(found, key=since, reverse=True)[:most]
    return tuple(newest), total - len(newest)


def _search(found: Result | None) -> dict[str, Any]:
    if found is None:
        return {}
    trace = found.trace
    return {
        "route": trace.route,
        "reason": trace.reason,
        "confidence": found.confidence,
        "notes": list(trace.notes),
        "milliseconds": dict(trace.milliseconds),
    }
