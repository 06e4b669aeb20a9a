"""What a reranker is, and what the stage around it answers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indexing.errors import InvalidInput, ModelError

Scores = NDArray[np.float64]
"""One relevance a passage, 0..1, shape ``(n,)``."""


class PairTooLong(InvalidInput):
    """A query and a passage have more tokens together than the model reads."""


class Reranker(Protocol):
    """A model that reads a query and a passage together. Implementations are thread-safe."""

    name: str
    """Model and variant: part of what a cached score is kept under."""
    max_tokens: int
    """Tokens of a query, a passage and the special tokens around them that the model reads."""
    tokenizer: Any
    """The model's `tokenizers.Tokenizer`, neither cutting nor padding; None where not known."""
    call_tokens: int
    """Tokens that are worth one call: the stage looks at the clock after each."""
    remote: bool
    """Whether a call costs a round trip, whatever is in it."""

    def scores(self, query: str, passages: Sequence[str]) -> Scores:
        """Return how well each passage answers: 0..1, higher is better, in the order given.

        Probabilities on every reranker: where a model gives logits, their sigmoid. The numbers of
        two models are not comparable. Raises `PairTooLong`, `ModelError`.
        """


@dataclass(frozen=True, slots=True)
class Reranked:
    """What the stage did with the candidates.

    ``scores`` go with the candidates: None for one that was not scored. The scored ones are always
    the first of the fused order. ``windows`` are those that the model read now; a candidate
    from the cache (``cached``) has none. ``note`` says in words what was cut, or why it failed.
    """

    scores: tuple[float | None, ...]
    scored: int
    cached: int
    windows: int
    milliseconds: float
    note: str = ""
    failed: bool = False


def sigmoid(logits: Any) -> Scores:
    """Return ``1 / (1 + exp(-x))`` without overflow.

    >>> sigmoid([-1000.0, 0.0, 1000.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    return np.asarray(0.5 * (1 + np.tanh(np.asarray(logits, np.float64) / 2)), np.float64)


def checked(name: str, answer: Any, count: int) -> Scores:
    """Return a model's answer as ``count`` numbers. Raises `ModelError` for any other answer."""
    try:
        rows = np.asarray(answer, np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"the reranker {name} answered no numbers") from error
    if rows.shape not in ((count,), (count, 1)):
        raise ModelError(f"the reranker {name} answered {rows.shape} for {count} passages")
    if not np.isfinite(rows).all():
        raise ModelError(f"the reranker {name} answered numbers that are not finite")
    return rows.reshape(count)


def probabilities(name: str, values: Scores) -> Scores:
    """Return scores that are said to be 0..1. Raises `ModelError` where they are not."""
    outside = [value for value in values.tolist() if not 0 <= value <= 1]
    if outside:
        worst = max(outside, key=lambda value: math.fabs(value))
        raise ModelError(
            f"the reranker {name} answered {worst:.4g}, not 0..1: if it answers logits, set "
            "rerank.logits = true"
        )
    return values
