"""Embedders: texts -> unit vectors. ONNX folders, fastembed, sentence-transformers, endpoints.

The template of the product adds who, when and what came before; this file adds only the model's
own prefixes (``query: `` and ``passage: `` for E5). Nothing is cut silently: a passage past the
model's limit raises `PassageTooLong`, a query past it is cut with a warning.
"""

import json
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from indexing.errors import ConfigError, InvalidInput, MissingExtra, ModelError

log = logging.getLogger(__name__)

Matrix = NDArray[np.float32]
"""One L2-normalised vector a row, shape ``(n, dim)``."""

SPECIAL_TOKENS = 2
"""What the tokenizer adds around a text: ``<s>`` and ``</s>``."""


class PassageTooLong(InvalidInput):
    """A passage has more tokens than the model reads: its chunker was set too large."""


class Embedder(Protocol):
    """What the write and the read side need of a dense model. Implementations are thread-safe."""

    name: str
    """Model and variant: part of a collection's fingerprint."""
    dim: int
    max_tokens: int
    """Tokens of a passage's own text that fit, prefix and special tokens already taken off."""
    tokenizer: Any
    """The model's `tokenizers.Tokenizer`, None where it is not known (an endpoint)."""

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed texts to be stored. Raises `PassageTooLong`."""

    def query(self, text: str) -> Matrix:
        """Embed one question, shape ``(1, dim)``; cut with a warning when it is too long."""


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model wants written before its inputs."""

    query: str = ""
    passage: str = ""


E5 = Prefixes("query: ", "passage: ")


def prefixes_for(name: str) -> Prefixes:
    """Return E5's prefixes for a model with "e5" in its name, none for any other."""
    return E5 if "e5" in name.lower() else Prefixes()


class OnnxEmbedder:
    """A local folder with ``model.onnx`` (token-level output) and ``tokenizer.json``.

    Mean pooling over the mask, then L2: what E5 and most sentence encoders were trained with.
    Batches are made of texts of like length, so little padding is computed.
    """

    def __init__(
        self,
        folder: Path,
        name: str = "",
        prefixes: Prefixes | None = None,
        threads: int = 0,
        batch_tokens: int = 4096,
        max_length: int = 512,
    ) -> None:
        self.name = name or folder.name
        self.prefixes = prefixes_for(self.name) if prefixes is None else prefixes
        self._session, self.tokenizer = _load_onnx(folder, threads)
        self._inputs = {node.name for node in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name
        self._batch_tokens = batch_tokens
        config = folder / "config.json"
        if config.exists():
            stated = json.loads(config.read_text()).get("max_position_embeddings", max_length)
            max_length = min(max_length, int(stated))
        self._max_length = max_length
        longest = max(self._count(self.prefixes.query), self._count(self.prefixes.passage))
        self.max_tokens = max_length - SPECIAL_TOKENS - longest
        self.dim = int(self.query("dim").shape[1])

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed texts to be stored. Raises `PassageTooLong`."""
        ids = self._encode([self.prefixes.passage + text for text in texts])
        longest = max(map(len, ids), default=0)
        if longest > self._max_length:
            raise PassageTooLong(
                f"a passage of {longest} tokens is over the {self._max_length} that {self.name} "
                "reads: lower chunking.size"
            )
        return self._embed(ids)

    def query(self, text: str) -> Matrix:
        """Embed one question, shape ``(1, dim)``; cut with a warning when it is too long."""
        (row,) = self._encode([self.prefixes.query + text])
        if len(row) > self._max_length:
            log.warning("query of %d tokens cut to %d", len(row), self._max_length)
            row = [*row[: self._max_length - 1], row[-1]]
        return self._embed([row])

    def tokens(self, texts: Sequence[str]) -> list[Matrix]:
        """Return the token vectors of each passage, shape ``(tokens, dim)`` each, unnormalised."""
        ids = self._encode([self.prefixes.passage + text for text in texts])
        return [self._run([row])[0] for row in ids]

    def _count(self, text: str) -> int:
        return len(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [row.ids for row in self.tokenizer.encode_batch_fast(list(texts))]

    def _embed(self, ids: Sequence[Sequence[int]]) -> Matrix:
        """Pool and normalise, in batches of at most ``batch_tokens`` padded tokens."""
        out = np.empty((len(ids), getattr(self, "dim", 0)), np.float32)
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        for batch in batches_by_length([len(ids[i]) for i in order], self._batch_tokens):
            rows = [order[i] for i in batch]
            pooled = self._pool([ids[i] for i in rows])
            if not out.shape[1]:
                out = np.empty((len(ids), pooled.shape[1]), np.float32)
            out[rows] = pooled
        return out

    def _pool(self, ids: Sequence[Sequence[int]]) -> Matrix:
        hidden = self._run(ids)
        mask = np.zeros(hidden.shape[:2], np.float32)
        for i, row in enumerate(ids):
            mask[i, : len(row)] = 1.0
        pooled = np.einsum("bsd,bs->bd", hidden, mask) / mask.sum(1, keepdims=True)
        return normalize(pooled)

    def _run(self, ids: Sequence[Sequence[int]]) -> Matrix:
        width = max(map(len, ids))
        tokens = np.full((len(ids), width), self._pad, np.int64)
        mask = np.zeros_like(tokens)
        for i, row in enumerate(ids):
            tokens[i, : len(row)] = row
            mask[i, : len(row)] = 1
        feed = {"input_ids": tokens, "attention_mask": mask}
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = np.zeros_like(tokens)
        hidden: Matrix = self._session.run([self._output], feed)[0]
        return hidden

    @property
    def _pad(self) -> int:
        pad = self.tokenizer.token_to_id("<pad>")
        return 0 if pad is None else int(pad)


def _load_onnx(folder: Path, threads: int) -> tuple[Any, Any]:
    """Load session and tokenizer of a folder. Raises `ModelError` naming what is missing."""
    import onnxruntime
    from tokenizers import Tokenizer

    for file in ("model.onnx", "tokenizer.json"):
        if not (folder / file).is_file():
            raise ModelError(f"model folder {folder} has no {file}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or _cores()
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:
        raise ModelError(f"cannot load the model in {folder}: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return session, tokenizer


def _cores() -> int:
    return max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)


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


def normalize(rows: Matrix) -> Matrix:
    """Scale each row to length 1; a zero row stays zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms == 0, 1, norms), np.float32)


class FunctionEmbedder:
    """Any batch function ``texts -> (n, dim)`` as an `Embedder`, with prefixes put in front."""

    def __init__(
        self,
        encode: Callable[[list[str]], Any],
        name: str,
        prefixes: Prefixes | None = None,
        max_tokens: int = 512,
        count: Callable[[str], int] | None = None,
        tokenizer: Any = None,
    ) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.prefixes = prefixes_for(name) if prefixes is None else prefixes
        self.max_tokens = max_tokens
        self._encode = encode
        self._count = count
        self.dim = int(self.query("dim").shape[1])

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed texts to be stored. Raises `PassageTooLong` where the model's counter is known."""
        if self._count is not None:
            longest = max(map(self._count, texts), default=0)
            if longest > self.max_tokens:
                raise PassageTooLong(
                    f"a passage of {longest} tokens is over the {self.max_tokens} that "
                    f"{self.name} reads: lower chunking.size"
                )
        return self._vectors([self.prefixes.passage + text for text in texts])

    def query(self, text: str) -> Matrix:
        """Embed one question, shape ``(1, dim)``."""
        if self._count is not None and self._count(text) > self.max_tokens:
            log.warning("query is over %d tokens; the model reads its start", self.max_tokens)
        return self._vectors([self.prefixes.query + text])

    def _vectors(self, texts: list[str]) -> Matrix:
        if not texts:
            return np.empty((0, self.dim), np.float32)
        rows = np.asarray(self._encode(texts), np.float32)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise ModelError(f"{self.name} answered {rows.shape} for {len(texts)} texts")
        return normalize(rows)


def fastembed_embedder(
    model: str,
    threads: int = 0,
    folder: Path | None = None,
    prefixes: Prefixes | None = None,
) -> Embedder:
    """Open a fastembed model by name; ``folder`` holds its files for offline use.

    A folder whose model fastembed does not list is registered from its ``config.json``.
    """
    try:
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType
    except ImportError as error:
        raise MissingExtra("fastembed", "fastembed") from error
    known = {row["model"].lower() for row in TextEmbedding.list_supported_models()}
    if folder is not None and model.lower() not in known:
        size = int(json.loads((folder / "config.json").read_text())["hidden_size"])
        TextEmbedding.add_custom_model(
            model=model,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=model),
            dim=size,
            model_file="model.onnx",
        )
    path = None if folder is None else str(folder)
    try:
        engine = TextEmbedding(model, threads=threads or None, specific_model_path=path)
    except (ValueError, OSError, RuntimeError) as error:
        raise ModelError(f"fastembed cannot load {model!r}: {error}") from error
    return FunctionEmbedder(
        lambda texts: np.stack(list(engine.embed(texts, batch_size=32))),
        model,
        prefixes,
        count=engine.token_count,
    )


def sentence_transformers_embedder(model: str, prefixes: Prefixes | None = None) -> Embedder:
    """Open a sentence-transformers model by hub name or local folder (optional extra)."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtra("sentence-transformers", "sentence-transformers") from error
    try:
        engine = SentenceTransformer(model)
    except (ValueError, OSError, RuntimeError) as error:
        raise ModelError(f"sentence-transformers cannot load {model!r}: {error}") from error
    return FunctionEmbedder(
        lambda texts: engine.encode(texts, normalize_embeddings=True, show_progress_bar=False),
        model,
        prefixes,
        max_tokens=int(engine.max_seq_length or 512) - SPECIAL_TOKENS,
        count=lambda text: len(engine.tokenizer(text, truncation=False)["input_ids"]),
        tokenizer=getattr(engine.tokenizer, "backend_tokenizer", None),
    )


def endpoint_embedder(
    url: str,
    model: str,
    api_key: str = "",
    prefixes: Prefixes | None = None,
    timeout: float = 30.0,
    max_tokens: int = 8191,
) -> Embedder:
    """Use an OpenAI-compatible ``POST {url}/embeddings``. Raises `ModelError` when it fails."""
    import httpx

    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    client = httpx.Client(base_url=url.rstrip("/"), headers=headers, timeout=timeout)

    def encode(texts: list[str]) -> list[list[float]]:
        try:
            answer = client.post("/embeddings", json={"model": model, "input": texts})
            answer.raise_for_status()
            rows = sorted(answer.json()["data"], key=lambda row: row["index"])
        except httpx.HTTPError as error:
            raise ModelError(f"embedding endpoint {url}: {error}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"embedding endpoint {url} sent no embeddings: {error!r}") from error
        return [row["embedding"] for row in rows]

    if not model:
        raise ConfigError("an embedding endpoint needs a model name (embedder.model)")
    return FunctionEmbedder(encode, model, prefixes, max_tokens)
