"""An `Embedder` that fills a store fast, without a model."""

from collections.abc import Sequence

import numpy as np

from indexing.dense import Embedder, Matrix, normalize


class Filler:
    """Random unit passages, and what was given; questions are embedded for real."""

    def __init__(self, inner: Embedder) -> None:
        self.name, self.dim = inner.name, inner.dim
        self.max_tokens, self.tokenizer = inner.max_tokens, inner.tokenizer
        self._texts: list[str] = []
        self._inner = inner
        self._numbers = np.random.default_rng(1)
        self._centre = inner.query("?")[0]

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Return vectors around one question's, cosine 0.8 or so, as a real model's are."""
        self._texts += texts
        noise = self._numbers.standard_normal((len(texts), self.dim), dtype=np.float32)
        return normalize(self._centre + np.float32(0.75 / np.sqrt(self.dim)) * noise)

    def query(self, text: str) -> Matrix:
        """Embed one question."""
        return self._inner.query(text)

    def taken(self) -> list[str]:
        """Return the passages since the last call of this."""
        taken, self._texts = self._texts, []
        return taken
