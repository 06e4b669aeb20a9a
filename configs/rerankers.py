"""Settings -> `RerankStage`: the one table of kinds of rerankers; the model is loaded at need."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from configs.rerank_settings import RerankSettings
from indexing.dense import Embedder, token_embedder
from indexing.errors import ConfigError
from retrieval.rerank.built_in import built_in_reranker
from retrieval.rerank.endpoint import EndpointReranker
from retrieval.rerank.late import LateInteraction
from retrieval.rerank.onnx import onnx_reranker
from retrieval.rerank.stage import RerankLimits, RerankStage
from retrieval.rerank.types import Reranker
from retrieval.rerank.vendors import fastembed_reranker, sentence_transformers_reranker


@dataclass(frozen=True, slots=True)
class Given:
    """What rerankers may be made of beside their settings: the model cache and the embedder."""

    cache: Path
    embedder: Embedder


def build_reranker(chosen: RerankSettings, given: Given) -> RerankStage | None:
    """Return the stage that the settings name, None for none; nothing is loaded or asked yet.

    Raises `ConfigError` where a setting is missing.
    What the model's files lack is said by the stage at its first question.
    """
    if chosen.kind == "none":
        return None
    limits = RerankLimits(
        chosen.candidates,
        chosen.budget_ms,
        chosen.timeout,
        chosen.window,
        chosen.overlap,
        chosen.cache,
        chosen.characters,
    )
    return RerankStage(RERANKERS[chosen.kind](chosen, given), limits)


def _built_in(chosen: RerankSettings, given: Given) -> Callable[[], Reranker]:
    return partial(
        built_in_reranker,
        given.cache / "models",
        chosen.threads,
        chosen.batch_tokens,
        chosen.max_length,
    )


def _late(chosen: RerankSettings, given: Given) -> Callable[[], Reranker]:
    return lambda: LateInteraction(token_embedder(given.embedder))


def _onnx(chosen: RerankSettings, given: Given) -> Callable[[], Reranker]:
    if chosen.folder is None:
        raise ConfigError("rerank.kind = onnx needs rerank.folder")
    return partial(
        onnx_reranker,
        chosen.folder.expanduser(),
        chosen.model,
        chosen.threads,
        chosen.batch_tokens,
        chosen.max_length,
    )


def _fastembed(chosen: RerankSettings, given: Given) -> Callable[[], Reranker]:
    if not chosen.model:
        raise ConfigError("rerank.kind = fastembed needs rerank.model")
    folder = None if chosen.folder is None else chosen.folder.expanduser()
    return partial(fastembed_reranker, chosen.model, chosen.threads, folder, chosen.batch_tokens)


def _sentence_transformers(chosen: RerankSettings, given: Given) -> Callable[[], Reranker]:
    name = chosen.model if chosen.folder is None else str(chosen.folder.expanduser())
    if not name:
        raise ConfigError("rerank.kind = sentence-transformers needs rerank.model or rerank.folder")
    return partial(sentence_transformers_reranker, name, chosen.max_length, chosen.batch_tokens)


def _endpoint(chosen: RerankSettings, given: Given) -> Callable[[], Reranker]:
    if not chosen.url:
        raise ConfigError("rerank.kind = endpoint needs rerank.url")
    reranker = EndpointReranker(
        chosen.url,
        chosen.model,
        chosen.style,
        chosen.api_key,
        chosen.timeout,
        chosen.retries,
        chosen.max_length,
        chosen.logits,
    )
    return lambda: reranker


RERANKERS: Mapping[str, Callable[[RerankSettings, Given], Callable[[], Reranker]]] = (
    MappingProxyType(
        {
            "built-in": _built_in,
            "late": _late,
            "onnx": _onnx,
            "fastembed": _fastembed,
            "sentence-transformers": _sentence_transformers,
            "endpoint": _endpoint,
        }
    )
)
