"""The arms: what is asked the queries of a dataset. Each yields query id -> document ids.

``bm25`` is the baseline, built per conversation where there are some. The others are the product
with one or both branches of its retriever, and with a reranker where the arm says so.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from configs.build import Parts
from evals import bm25, product
from evals.datasets import Dataset, Entry
from evals.errors import UnknownArm
from evals.metrics import DEPTH

Answers = Iterator[tuple[str, list[str]]]


def _bm25(dataset: Dataset) -> Answers:
    """Rank the documents of the query's own conversation."""
    groups: dict[str, list[Entry]] = {}
    for entry in dataset.documents.values():
        groups.setdefault(entry.conv, []).append(entry)
    rankers: dict[str, bm25.Ranker] = {}
    for query in dataset.queries.values():
        if query.conv not in rankers:
            rankers[query.conv] = bm25.Ranker(groups.get(query.conv, []))
        yield query.id, rankers[query.conv].top(query.text, DEPTH)


BASELINES: dict[str, Callable[[Dataset], Answers]] = {
    "bm25": _bm25,
}

RERANKERS = {"hybrid+rerank": "built-in", "hybrid+late": "late"}
"""Arms whose first candidates are reranked, and by which kind of reranker."""

BOTH = ("dense", "sparse")

PRODUCT: Mapping[str, Callable[[Parts, Dataset], Answers]] = {
    "sparse": partial(product.ask, branches=("sparse",)),
    "dense": partial(product.ask, branches=("dense",)),
    "hybrid": partial(product.ask, branches=BOTH),
} | {arm: partial(product.ask, branches=BOTH, rerank=kind) for arm, kind in RERANKERS.items()}

ARMS = (*BASELINES, *PRODUCT)
DEFAULT = tuple(arm for arm in ARMS if arm != "hybrid+late")
"""What is run where no arm is named: late interaction takes half a second a question."""


def check(arms: Sequence[str]) -> None:
    """Raise `UnknownArm` for a name that is no arm."""
    for arm in arms:
        if arm not in ARMS:
            raise UnknownArm(f"there is no arm {arm!r}; the arms are {', '.join(ARMS)}")


def reranker(arm: str) -> str:
    """Return the kind of reranker of an arm."""
    return RERANKERS.get(arm, "none")
