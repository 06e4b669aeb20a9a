"""What a dense model is to this project: texts -> unit vectors. Models: `onnx`, `vendors`.

The template of the product adds who, when and what came before; an embedder adds only its model's
own prefixes (``query: `` and ``passage: `` for E5). Nothing is cut silently: a passage past the
model's limit raises `PassageTooLong`, a query past it is cut with a warning.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from indexing.errors import ConfigError, InvalidInput, ModelError

log = logging.getLogger(__name__)

Matrix = NDArray[np.float32]
"""One L2-normalised vector a row, shape ``(n, dim)``."""


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
class Tokens:
    """The token vectors of one text, as the model leaves them: shape ``(n, dim)``.

    ``spans`` are their characters in the text, ``(start, end)``, shape ``(n, 2)``; the prefix and
    special tokens are read but not among them.
    """

    spans: NDArray[np.int64]
    vectors: Matrix


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An `Embedder` that answers a vector a token too: what late chunking pools."""

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Read passages. Raises `PassageTooLong`."""


def token_embedder(embedder: Embedder) -> TokenEmbedder:
    """Return the embedder as one with token vectors. Raises `ConfigError` where it gives none."""
    if isinstance(embedder, TokenEmbedder):
        return embedder
    raise ConfigError(
        f"late chunking needs token vectors, which {embedder.name} does not give: set "
        "chunking.documents and turns without +late, or choose an embedder of another kind"
    )


def own_tokens(encoding: Any, vectors: Any, prefix: str) -> Tokens:
    """Return the tokens of a text alone, from what was read with a prefix in front of it.

    ``encoding`` is the `tokenizers.Encoding` of ``prefix + text``, ``vectors`` one row an id.
    Raises `ModelError` where the rows are not as many.
    """
    rows = np.asarray(vectors, np.float32)
    if rows.ndim != 2 or len(rows) != len(encoding.ids):
        raise ModelError(f"the model answered {rows.shape} for {len(encoding.ids)} tokens")
    spans = np.array(encoding.offsets, np.int64) - len(prefix)
    own = (spans[:, 1] > 0) & (np.array(encoding.special_tokens_mask) == 0)
    return Tokens(np.maximum(spans[own], 0), rows[own])


@dataclass(frozen=True, slots=True)
class Prefixes:
    """What a model wants written before its inputs."""

    query: str = ""
    passage: str = ""


E5 = Prefixes("query: ", "passage: ")


def prefixes_for(name: str) -> Prefixes:
    """Return E5's prefixes for a model with "e5" in its name, none for any other."""
    return E5 if "e5" in name.lower() else Prefixes()


def check_length(name: str, longest: int, limit: int) -> None:
    """Raise `PassageTooLong` when the longest of some passages is over the limit, in tokens."""
    if longest > limit:
        raise PassageTooLong(
            f"a passage of {longest} tokens is over the {limit} that {name} reads: "
            "lower chunking.size"
        )


def normalize(rows: Matrix) -> Matrix:
    """Scale each row to length 1; a zero row stays zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms == 0, 1, norms), np.float32)


class FunctionEmbedder:
    """Any batch function ``texts -> (n, dim)`` as an `Embedder`, with prefixes put in front.

    ``limit`` is how many tokens the model reads, as ``count`` counts them: of a text with its
    prefix, special tokens included. Without ``count`` it is taken on trust.
    """

    def __init__(
        self,
        encode: Callable[[list[str]], Any],
        name: str,
        prefixes: Prefixes | None = None,
        limit: int = 512,
        count: Callable[[str], int] | None = None,
        tokenizer: Any = None,
    ) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.prefixes = prefixes_for(name) if prefixes is None else prefixes
        self._encode = encode
        self._limit = limit
        self._count = count or (lambda text: 0)
        added = (self.prefixes.query, self.prefixes.passage)
        self.max_tokens = limit - max(map(self._count, added))
        self.dim = 0
        self.dim = int(self.query("dim").shape[1])

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed texts to be stored. Raises `PassageTooLong` where the model's counter is known."""
        whole = [self.prefixes.passage + text for text in texts]
        check_length(self.name, max(map(self._count, whole), default=0), self._limit)
        return self._vectors(whole)

    def query(self, text: str) -> Matrix:
        """Embed one question, shape ``(1, dim)``."""
        whole = self.prefixes.query + text
        if (length := self._count(whole)) > self._limit:
            log.warning("query of %d tokens: the model reads the first %d", length, self._limit)
        return self._vectors([whole])

    def _vectors(self, texts: list[str]) -> Matrix:
        if not texts:
            return np.empty((0, self.dim), np.float32)
        try:
            rows = np.asarray(self._encode(texts), np.float32)
        except (TypeError, ValueError) as error:
            raise ModelError(f"{self.name} answered no vectors of one length") from error
        if rows.ndim != 2 or len(rows) != len(texts) or self.dim not in (0, rows.shape[1]):
            raise ModelError(f"{self.name} answered {rows.shape} for {len(texts)} texts")
        if not np.isfinite(rows).all():
            raise ModelError(f"{self.name} answered numbers that are not finite")
        return normalize(rows)


class TokenFunctionEmbedder(FunctionEmbedder):
    """A `FunctionEmbedder` with a second function: ``texts -> [(tokens, dim), …]``.

    Its rows go with the ids of ``tokenizer``, special tokens included.
    """

    def __init__(
        self,
        encode: Callable[[list[str]], Any],
        encode_tokens: Callable[[list[str]], Sequence[Any]],
        tokenizer: Any,
        name: str,
        prefixes: Prefixes | None = None,
        limit: int = 512,
    ) -> None:
        def count(text: str) -> int:
            return len(tokenizer.encode(text).ids)

        super().__init__(encode, name, prefixes, limit, count, tokenizer)
        self._encode_tokens = encode_tokens

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token vectors of each passage. Raises `PassageTooLong`."""
        prefix = self.prefixes.passage
        whole = [prefix + text for text in texts]
        read = self.tokenizer.encode_batch(whole)
        check_length(self.name, max((len(row.ids) for row in read), default=0), self._limit)
        answers = self._encode_tokens(whole) if whole else []
        return [own_tokens(*pair, prefix) for pair in zip(read, answers, strict=True)]
