"""A cross-encoder on this machine: lengths checked, batches of like length, logits -> 0..1."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from indexing.errors import ModelError
from indexing.onnx_model import like_lengths
from retrieval.rerank.types import PairTooLong, Scores, checked, sigmoid

Pair = tuple[str, str]

Run = Callable[[Sequence[Pair], Sequence[Any]], Any]
"""Pairs and their `tokenizers.Encoding` -> one logit a pair, shape ``(n,)`` or ``(n, 1)``."""

CALLS = 2
"""Batches of full size in one call of `CrossEncoder.scores`, after which the clock is looked at."""


class CrossEncoder:
    """Any function from pairs to logits as a `Reranker`.

    ``run`` gets pairs of like length, at most ``batch_tokens`` tokens when padded, so little
    padding is computed. It is run once at the start: what it answers is checked then.
    """

    remote = False

    def __init__(
        self, run: Run, name: str, tokenizer: Any, max_tokens: int, batch_tokens: int = 1024
    ) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.max_tokens = max_tokens
        self.call_tokens = CALLS * batch_tokens
        self._batch_tokens = batch_tokens
        self._run = run
        self.scores("question", ["answer"])

    def scores(self, query: str, passages: Sequence[str]) -> Scores:
        """Return how well each passage answers, 0..1. Raises `PairTooLong`, `ModelError`."""
        pairs = [(query, passage) for passage in passages]
        read = self.tokenizer.encode_batch(pairs)
        lengths = [len(row.ids) for row in read]
        if max(lengths, default=0) > self.max_tokens:
            raise PairTooLong(
                f"a query and a passage of {max(lengths)} tokens are over the {self.max_tokens} "
                f"that {self.name} reads"
            )
        logits = np.empty(len(pairs), np.float64)
        for rows in like_lengths(lengths, self._batch_tokens):
            logits[rows] = self._logits([pairs[i] for i in rows], [read[i] for i in rows])
        return sigmoid(logits)

    def _logits(self, pairs: Sequence[Pair], read: Sequence[Any]) -> Scores:
        try:
            answer = self._run(pairs, read)
        except Exception as error:
            # any: onnxruntime's errors have no base of their own, and ``run`` is anybody's;
            # named by its type alone: what a model says may quote its input
            raise ModelError(f"the reranker {self.name} failed: {type(error).__name__}") from error
        return checked(self.name, answer, len(pairs))
