"""An embedder from a local folder: ``model.onnx`` with token-level output, ``tokenizer.json``."""

import logging
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from indexing.cores import cores
from indexing.dense import (
    Matrix,
    Prefixes,
    Tokens,
    check_length,
    normalize,
    own_tokens,
    prefixes_for,
)
from indexing.errors import ModelError
from indexing.onnx_model import (
    length_limit,
    like_lengths,
    load_onnx,
    load_session,
    padded,
    read_config,
)

log = logging.getLogger(__name__)

SPECIAL_TOKENS = 2
"""What the tokenizer adds around a text: ``<s>`` and ``</s>``."""


class OnnxEmbedder:
    """A local folder with ``model.onnx`` (token-level output) and ``tokenizer.json``.

    Mean pooling over the mask, then L2: what E5 and most sentence encoders were trained with.
    Batches are made of texts of like length, so little padding is computed.

    A question is computed by one thread: its ten tokens are faster without waiting for others, and
    questions at once share the cores better. Passages get ``threads``, by a session of their own
    that is loaded with the first of them.
    """

    def __init__(
        self,
        folder: Path,
        name: str = "",
        prefixes: Prefixes | None = None,
        threads: int = 0,
        batch_tokens: int = 1024,
        max_length: int = 512,
    ) -> None:
        self.name = name or folder.name
        self.prefixes = prefixes_for(self.name) if prefixes is None else prefixes
        self._folder, self._threads = folder, threads or cores()
        self._narrow, self.tokenizer = load_onnx(folder, 1)
        self._wide = self._narrow if self._threads == 1 else None
        self._loading = threading.Lock()
        self._inputs = {node.name for node in self._narrow.get_inputs()}
        self._output = self._narrow.get_outputs()[0].name
        self._batch_tokens = batch_tokens
        self._max_length = max_length = length_limit(read_config(folder), max_length)
        longest = max(self._count(self.prefixes.query), self._count(self.prefixes.passage))
        self.max_tokens = max_length - SPECIAL_TOKENS - longest
        self.dim = int(self.query("dim").shape[1])

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed texts to be stored. Raises `PassageTooLong`."""
        return self._embed(self._passage_ids(texts), self._passages())

    def query(self, text: str) -> Matrix:
        """Embed one question, shape ``(1, dim)``; cut with a warning when it is too long."""
        (row,) = self._encode([self.prefixes.query + text])
        if len(row) > self._max_length:
            log.warning("query of %d tokens cut to %d", len(row), self._max_length)
            row = [*row[: self._max_length - 1], row[-1]]
        return self._embed([row], self._narrow)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token vectors of each passage. Raises `PassageTooLong`."""
        prefix = self.prefixes.passage
        read = self.tokenizer.encode_batch([prefix + text for text in texts])
        ids = [row.ids for row in read]
        self._check(ids)
        session = self._passages()
        found: dict[int, Tokens] = {}
        for rows in self._batches(ids):
            hidden = self._run([ids[i] for i in rows], session)
            for i, vectors in zip(rows, hidden, strict=True):
                found[i] = own_tokens(read[i], vectors[: len(ids[i])], prefix)
        return [found[i] for i in range(len(ids))]

    def _passages(self) -> Any:
        with self._loading:
            if self._wide is None:
                self._wide = load_session(self._folder, self._threads)
            return self._wide

    def _passage_ids(self, texts: Sequence[str]) -> list[list[int]]:
        ids = self._encode([self.prefixes.passage + text for text in texts])
        self._check(ids)
        return ids

    def _check(self, ids: Sequence[Sequence[int]]) -> None:
        check_length(self.name, max(map(len, ids), default=0), self._max_length)

    def _count(self, text: str) -> int:
        return len(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [row.ids for row in self.tokenizer.encode_batch_fast(list(texts))]

    def _embed(self, ids: Sequence[Sequence[int]], session: Any) -> Matrix:
        """Pool and normalise, in batches of at most ``batch_tokens`` padded tokens."""
        out = np.empty((len(ids), getattr(self, "dim", 0)), np.float32)
        for rows in self._batches(ids):
            pooled = self._pool([ids[i] for i in rows], session)
            if not out.shape[1]:
                out = np.empty((len(ids), pooled.shape[1]), np.float32)
            out[rows] = pooled
        return out

    def _batches(self, ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        return like_lengths(list(map(len, ids)), self._batch_tokens)

    def _pool(self, ids: Sequence[Sequence[int]], session: Any) -> Matrix:
        hidden = self._run(ids, session)
        mask = np.zeros(hidden.shape[:2], np.float32)
        for i, row in enumerate(ids):
            mask[i, : len(row)] = 1.0
        pooled = np.einsum("bsd,bs->bd", hidden, mask) / mask.sum(1, keepdims=True)
        return normalize(pooled)

    def _run(self, ids: Sequence[Sequence[int]], session: Any) -> Matrix:
        tokens = padded(ids, self._pad)
        feed = {"input_ids": tokens, "attention_mask": padded([[1] * len(row) for row in ids])}
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = np.zeros_like(tokens)
        try:
            hidden: Matrix = session.run([self._output], feed)[0]
        except Exception as error:  # onnxruntime's errors have no base of their own
            raise ModelError(f"the model {self.name} failed: {error}") from error
        if hidden.ndim != 3:
            raise ModelError(
                f"the model {self.name} answers {self._output} of shape {hidden.shape}, "
                "not one vector a token"
            )
        return hidden

    @property
    def _pad(self) -> int:
        pad = self.tokenizer.token_to_id("<pad>")
        return 0 if pad is None else int(pad)
