"""Late interaction: the embedder's own token vectors, the question's against a passage's.

Does: read question and passage apart and add up what is most alike (MaxSim, as in ColBERT, Khattab
and Zaharia 2020, doi:10.1145/3397271.3401075), as a `Reranker`. Does not: need a model of its own,
store anything. Measured in docs/reranker.md.

``score = mean over the question's tokens of the best cosine among the passage's tokens``, then a
sigmoid. The question is read as a passage is: the vectors of like words are then nearer.
"""

from collections.abc import Sequence

import numpy as np

from indexing.dense import Matrix, TokenEmbedder, normalize
from retrieval.rerank.types import Scores, sigmoid

SCALE, MIDDLE = 43.2, 0.8185
"""Of the sigmoid: logistic regression with multilingual E5 over LoCoMo's first half, the first 30
candidates, answers and others weighing the same."""
CALL_TOKENS = 2048
"""Tokens of one call, after which the stage looks at the clock."""


class LateInteraction:
    """An embedder with token vectors as a reranker."""

    remote = False

    def __init__(self, embedder: TokenEmbedder) -> None:
        self.name = f"late/{embedder.name}"
        self.tokenizer = embedder.tokenizer
        self.max_tokens = embedder.max_tokens
        self.call_tokens = CALL_TOKENS
        self._embedder = embedder

    def scores(self, query: str, passages: Sequence[str]) -> Scores:
        """Return how well each passage answers, 0..1. Raises `PassageTooLong`, `ModelError`."""
        if not passages:
            return np.empty(0)
        tokens = self._embedder.tokens([query, *passages])
        asked, *read = (normalize(each.vectors) for each in tokens)
        return sigmoid(SCALE * (np.array([alike(asked, each) for each in read]) - MIDDLE))


def alike(question: Matrix, passage: Matrix) -> float:
    """Return the mean of each question token's best cosine; 0 where either has no token.

    Both are unit vectors, shapes ``(n, dim)`` and ``(m, dim)``.
    """
    if not len(question) or not len(passage):
        return 0.0
    return float((question @ passage.T).max(axis=1).mean())
