"""Embedders of other makers: fastembed, sentence-transformers, OpenAI-compatible endpoints."""

from pathlib import Path
from typing import Any

import numpy as np

from indexing.dense import Embedder, FunctionEmbedder, Prefixes, TokenFunctionEmbedder
from indexing.errors import ConfigError, MissingExtra, ModelError
from indexing.onnx_model import read_config, uncut


def fastembed_embedder(
    model: str,
    threads: int = 0,
    folder: Path | None = None,
    prefixes: Prefixes | None = None,
) -> Embedder:
    """Open a fastembed model by name; ``folder`` holds its files for offline use.

    A folder whose model fastembed does not list is registered from its ``config.json``.
    """
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType
    from tokenizers import Tokenizer

    known = {row["model"].lower() for row in TextEmbedding.list_supported_models()}
    if folder is not None and model.lower() not in known:
        size = read_config(folder).get("hidden_size")
        if not isinstance(size, int):
            raise ModelError(f"{folder / 'config.json'} states no hidden_size")
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
    except Exception as error:  # onnxruntime's errors have no base of their own
        raise ModelError(f"fastembed cannot load {model!r}: {error}") from error
    cutting = engine.model.tokenizer  # its own counter counts what is left after the cut
    tokenizer = uncut(Tokenizer.from_str(cutting.to_str()))

    def hidden(texts: list[str]) -> list[Any]:
        out = [engine.model.onnx_embed([text]).model_output for text in texts]
        if any(rows.ndim != 3 for rows in out):
            raise ModelError(f"the model {model} answers one vector a text, not one a token")
        return [rows[0] for rows in out]

    return TokenFunctionEmbedder(
        lambda texts: np.stack(list(engine.embed(texts, batch_size=32))),
        hidden,
        tokenizer,
        model,
        prefixes,
        limit=int(cutting.truncation["max_length"]),
    )


def sentence_transformers_embedder(model: str, prefixes: Prefixes | None = None) -> Embedder:
    """Open a sentence-transformers model by hub name or local folder (optional extra)."""
    from tokenizers import Tokenizer

    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingExtra("sentence-transformers", "sentence-transformers") from error
    try:
        engine = SentenceTransformer(model)
    except (ValueError, OSError, RuntimeError) as error:
        raise ModelError(f"sentence-transformers cannot load {model!r}: {error}") from error

    def encode(texts: list[str], output: str = "sentence_embedding") -> Any:
        pooled = output == "sentence_embedding"
        return engine.encode(
            texts, output_value=output, normalize_embeddings=pooled, show_progress_bar=False
        )

    limit = int(engine.max_seq_length or 512)
    backend = getattr(engine.tokenizer, "backend_tokenizer", None)
    if backend is None:  # a tokenizer in Python: counts, but says no places
        return FunctionEmbedder(
            encode, model, prefixes, limit, lambda text: len(engine.tokenizer(text)["input_ids"])
        )
    tokenizer = uncut(Tokenizer.from_str(backend.to_str()))

    def hidden(texts: list[str]) -> list[Any]:
        return [rows.float().cpu() for rows in encode(texts, "token_embeddings")]

    return TokenFunctionEmbedder(encode, hidden, tokenizer, model, prefixes, limit)


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

    from indexing.endpoint import client_of

    if not model:
        raise ConfigError("an embedding endpoint needs a model name (embedder.model)")
    client = client_of(url, "embedder.url", api_key, timeout)

    def encode(texts: list[str]) -> list[list[float]]:
        try:
            answer = client.post("/embeddings", json={"model": model, "input": texts})
            answer.raise_for_status()
            rows = sorted(answer.json()["data"], key=lambda row: row["index"])
            return [row["embedding"] for row in rows]
        except httpx.HTTPError as error:
            raise ModelError(f"embedding endpoint {url}: {error}") from error
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"embedding endpoint {url} sent no embeddings: {error!r}") from error

    return FunctionEmbedder(encode, model, prefixes, max_tokens)
