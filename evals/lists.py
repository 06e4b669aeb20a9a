"""The branch lists of a set's questions, asked of the engine once and then fused many times.

Lists are asked long and without thresholds; `judged` cuts them to what a product would have asked
and fuses them as it does, so that a grid of settings costs no engine query and no embedding.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from configs.build import Parts
from evals.datasets import Dataset, Entry
from evals.metrics import DEPTH, by_query
from evals.product import document_id
from evals.types import Means, Run, ranked
from indexing.mentions import spread
from indexing.sparse import weigh_query
from indexing.store import DENSE, base
from indexing.types import GLOBAL, Filter, Scope, Scored, user_scope
from indexing.types import Collection as Where
from retrieval.rank import Fusion, fuse
from retrieval.search import Question, ScopeAnswer, search
from retrieval.types import ScopePolicy

DOCUMENTS = 2 * DEPTH
"""The least length of the lists of documents: a document has several chunks."""


@dataclass(frozen=True, slots=True)
class Lists:
    """What the engine answered: query id -> an answer of each scope; memory id -> document ids."""

    dataset: Dataset
    answers: Mapping[str, list[ScopeAnswer]]
    names: Mapping[str, list[str]]


def collect(parts: Parts, dataset: Dataset, limit: int = DOCUMENTS) -> Lists:
    """Ask every question of a set. A query's own conversation is its user; documents are global."""
    retriever = parts.retriever
    now = retriever.clock()
    policies = {
        collection: replace(policy, limit=limit, thresholds={}, weights=_all(policy), weight=1.0)
        for collection, policy in retriever.policies.items()
    }
    answers = {}
    for query in dataset.queries.values():
        question = Question(parts.index.embedder.query(query.text)[0], weigh_query(query.text), now)
        scopes = list(_scopes(query))
        answers[query.id] = search(retriever.store, scopes, policies, question, retriever.pool)
    names = {}
    for scope in {scope for query in dataset.queries.values() for scope in _scopes(query)}:
        for memory in retriever.store.scroll(scope.collection, Filter(scope, now=now)):
            names[memory.id] = [document_id(place) for place in spread(memory)]
    return Lists(dataset, answers, names)


def _all(policy: ScopePolicy) -> dict[str, float]:
    return dict.fromkeys(policy.weights, 1.0)


def _scopes(query: Entry) -> Iterator[Scope]:
    yield GLOBAL
    if query.conv:
        yield user_scope(query.conv)


def part(lists: Lists, queries: Collection[str]) -> Lists:
    """Return the lists of some of the queries only."""
    dataset = lists.dataset
    kept = replace(
        dataset,
        queries={key: query for key, query in dataset.queries.items() if key in queries},
        qrels={key: held for key, held in dataset.qrels.items() if key in queries},
    )
    answers = {key: answer for key, answer in lists.answers.items() if key in queries}
    return Lists(kept, answers, lists.names)


def judged(lists: Lists, policies: Mapping[Where, ScopePolicy], fusion: Fusion) -> dict[str, Means]:
    """Return query id -> measures of the lists as these policies ask and this fusion ranks."""
    run: Run = {}
    deep = {name: replace(p, limit=max(p.limit, _least(name))) for name, p in policies.items()}
    for name, answers in lists.answers.items():
        text = lists.dataset.queries[name].text
        cut = [_cut(answer, deep[answer.scope.collection]) for answer in answers]
        order = fuse(text, cut, deep, fusion).order
        run[name] = ranked(document for key, _ in order for document in lists.names[key])
    return by_query(lists.dataset.qrels, run)


def _least(collection: Where) -> int:
    return DOCUMENTS if collection == "global" else DEPTH


def _cut(answer: ScopeAnswer, policy: ScopePolicy) -> ScopeAnswer:
    """Return the answer as a policy would have got it: dense lists are cut language by language."""
    kept: dict[str, list[Scored]] = {}
    for branch, hits in answer.branches.items():
        if not policy.weights.get(branch, 0) > 0:
            continue
        dense = base(branch) == DENSE
        least = policy.thresholds.get(branch)
        parts: dict[str, list[Scored]] = {}
        for hit in hits:
            if least is None or hit.score >= least:
                parts.setdefault(hit.lang if dense else "", []).append(hit)
        kept[branch] = [hit for part in parts.values() for hit in part[: policy.limit]]
    return replace(answer, branches=kept)
