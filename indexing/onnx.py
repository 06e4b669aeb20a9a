"""An embedder from a local folder: ``model.onnx`` with token-level output, ``tokenizer.json``."""

import json
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
        stated = read_config(folder).get("max_position_embeddings")
        if isinstance(stated, int):
            max_length = min(max_length, stated)
        self._max_length = max_length
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
        """Yield the places of texts of like length, short ones first."""
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        for batch in batches_by_length([len(ids[i]) for i in order], self._batch_tokens):
            yield [order[i] for i in batch]

    def _pool(self, ids: Sequence[Sequence[int]], session: Any) -> Matrix:
        hidden = self._run(ids, session)
        mask = np.zeros(hidden.shape[:2], np.float32)
        for i, row in enumerate(ids):
            mask[i, : len(row)] = 1.0
        pooled = np.einsum("bsd,bs->bd", hidden, mask) / mask.sum(1, keepdims=True)
        return normalize(pooled)

    def _run(self, ids: Sequence[Sequence[int]], session: Any) -> Matrix:
        width = max(map(len, ids))
        tokens = np.full((len(ids), width), self._pad, np.int64)
        mask = np.zeros_like(tokens)
        for i, row in enumerate(ids):
            tokens[i, : len(row)] = row
            mask[i, : len(row)] = 1
        feed = {"input_ids": tokens, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = np.zeros_like(tokens)
        try:
            hidden: Matrix = session.run([self._output], feed)[0]
        except Exception as error:
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


def read_config(folder: Path) -> dict[str, Any]:
    """Return a model folder's ``config.json``, empty where there is none."""
    try:
        found = json.loads((folder / "config.json").read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ModelError(f"{folder / 'config.json'} cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ModelError(f"{folder / 'config.json'} is not a JSON object")
    return found


def load_onnx(folder: Path, threads: int) -> tuple[Any, Any]:
    """Load session and tokenizer of a folder. Raises `ModelError` naming what is missing."""
    from tokenizers import Tokenizer

    for file in ("model.onnx", "tokenizer.json"):
        if not (folder / file).is_file():
            raise ModelError(f"model folder {folder} has no {file}")
    session = load_session(folder, threads)
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:
        raise ModelError(f"cannot load the model in {folder}: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return session, tokenizer


def load_session(folder: Path, threads: int) -> Any:
    """Load a folder's model, to be computed by that many threads, 0: all. Raises `ModelError`."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or cores()
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
    except Exception as error:
        raise ModelError(f"cannot load the model in {folder}: {error}") from error


def batches_by_length(lengths: Sequence[int], budget: int) -> list[range]:
    """Cut ascending lengths into runs whose padded size (count x longest) is within the budget.

    >>> batches_by_length([2, 2, 3, 9], budget=9)
    [range(0, 3), range(3, 4)]
    """
    runs: list[range] = []
    start = 0
    for i, length in enumerate(lengths):
        if i > start and (i - start + 1) * length > budget:
            runs.append(range(start, i))
            start = i
    if start < len(lengths):
        runs.append(range(start, len(lengths)))
    return runs
