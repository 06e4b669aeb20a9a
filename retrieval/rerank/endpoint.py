"""A reranker behind HTTP: ``POST {url}/rerank`` as Cohere, Jina or TEI speak it.

style   asked with                                   answers
------  -------------------------------------------  -------------------------------------------
cohere  ``model, query, documents, top_n``           ``{"results": [{index, relevance_score}]}``
jina    the same, and ``return_documents: false``    the same
tei     ``query, texts, raw_scores, truncate``       ``[{index, score}]``

What may pass (429, 5xx, no answer) is tried again. Texts leave this machine; no message has one.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import httpx

from indexing.endpoint import client_of
from indexing.errors import ConfigError, ModelError
from retrieval.rerank.types import Scores, checked, probabilities, sigmoid

AT_ONCE = 32
"""Passages of one request: what TEI takes where it is not told otherwise."""

Body = Callable[[str, str, list[str]], dict[str, Any]]


def _cohere(model: str, query: str, texts: list[str]) -> dict[str, Any]:
    return {"model": model, "query": query, "documents": texts, "top_n": len(texts)}


def _jina(model: str, query: str, texts: list[str]) -> dict[str, Any]:
    return _cohere(model, query, texts) | {"return_documents": False}


def _tei(model: str, query: str, texts: list[str]) -> dict[str, Any]:
    return {"query": query, "texts": texts, "raw_scores": False, "truncate": False}


BODIES: Mapping[str, Body] = MappingProxyType({"cohere": _cohere, "jina": _jina, "tei": _tei})


class EndpointReranker:
    """An HTTP `Reranker`; its tokenizer is not known, so long texts are cut by characters.

    ``logits`` says that it answers logits, not 0..1. ``timeout`` is seconds of one try; ``retries``
    are tries after the first.
    """

    tokenizer: Any = None
    remote = True

    def __init__(
        self,
        url: str,
        model: str,
        style: str = "cohere",
        api_key: str = "",
        timeout: float = 5.0,
        retries: int = 2,
        max_tokens: int = 512,
        logits: bool = False,
        backoff: float = 0.1,
    ) -> None:
        if not model and style != "tei":
            raise ConfigError(f"a rerank endpoint of style {style} needs a model name")
        self.name = f"{style}:{model or url}"
        self.max_tokens = max_tokens
        self.call_tokens = AT_ONCE * max_tokens
        self._body = BODIES[style]
        self._model, self._style, self._logits = model, style, logits
        self._client = client_of(url, "rerank.url", api_key, timeout, retries, backoff)
        if self._client.base_url.userinfo:
            raise ConfigError("rerank.url has a password in it: put a key into rerank.api_key")

    def scores(self, query: str, passages: Sequence[str]) -> Scores:
        """Return how well each passage answers, 0..1. Raises `ModelError` when it cannot be had."""
        found = [
            score
            for start in range(0, len(passages), AT_ONCE)
            for score in self._ask(query, list(passages[start : start + AT_ONCE]))
        ]
        values = checked(self.name, found, len(passages))
        return sigmoid(values) if self._logits else probabilities(self.name, values)

    def _ask(self, query: str, texts: list[str]) -> list[float]:
        try:
            answer = self._client.post("/rerank", json=self._body(self._model, query, texts))
            answer.raise_for_status()
            rows = answer.json()
        except httpx.HTTPStatusError as error:
            raise ModelError(f"rerank endpoint: HTTP {error.response.status_code}") from error
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            raise ModelError(f"rerank endpoint: {why}") from error
        except ValueError as error:
            raise ModelError("rerank endpoint: the answer is no JSON") from error
        return self._in_order(rows, len(texts))

    def _in_order(self, rows: Any, count: int) -> list[float]:
        """Return one score a passage, from rows in any order."""
        field = "score" if self._style == "tei" else "relevance_score"
        try:
            if self._style != "tei":
                rows = rows["results"]
            found = {int(row["index"]): float(row[field]) for row in rows}
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(
                f"rerank endpoint: the answer is not one of style {self._style}"
            ) from error
        if len(rows) != count or found.keys() != set(range(count)):
            raise ModelError(f"rerank endpoint: {len(rows)} scores for {count} passages")
        return [found[i] for i in range(count)]
