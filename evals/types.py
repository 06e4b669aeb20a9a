"""The nouns of the evals: qrels and runs as in TREC, and the record of one run.

A run's scores only order its documents: `ranked` gives rank 1 the score 1, rank 2 the score 1/2.
Equal scores would be ordered by document id in trec_eval, which is not what a user sees.
"""

from collections.abc import Iterable
from typing import Any, TypedDict

Qrels = dict[str, dict[str, int]]
"""Query id -> document id -> relevance."""

Run = dict[str, dict[str, float]]
"""Query id -> document id -> score."""

Means = dict[str, float]
"""Measure -> its mean over queries, 0 to 1."""


class Record(TypedDict):
    """What one arm did on one dataset; JSON as it is. ``seconds`` is of writing and of asking."""

    dataset: str
    arm: str
    metrics: Means
    by_category: dict[str, Means]
    template: str
    settings: dict[str, Any]
    queries: int
    seconds: dict[str, float]


def ranked(ids: Iterable[str]) -> dict[str, float]:
    """Return document ids, best first, with strictly falling scores.

    >>> ranked(["b", "a"])
    {'b': 1.0, 'a': 0.5}
    """
    return {key: 1 / rank for rank, key in enumerate(dict.fromkeys(ids), 1)}
