"""Cross-encoders of other makers: fastembed, sentence-transformers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from indexing.errors import MissingExtra, ModelError
from indexing.onnx_model import uncut
from retrieval.rerank.cross_encoder import CrossEncoder, Pair
from retrieval.rerank.types import Reranker


def fastembed_reranker(
    model: str, threads: int = 0, folder: Path | None = None, batch_tokens: int = 1024
) -> Reranker:
    """Open a fastembed cross-encoder by name; ``folder`` holds its files for offline use.

    A folder whose model fastembed does not list is registered with its ``model.onnx``.
    """
    from fastembed.common.model_description import ModelSource
    from fastembed.rerank.cross_encoder import TextCrossEncoder
    from tokenizers import Tokenizer

    known = {row["model"].lower() for row in TextCrossEncoder.list_supported_models()}
    if folder is not None and model.lower() not in known:
        TextCrossEncoder.add_custom_model(
            model=model, sources=ModelSource(hf=model), model_file="model.onnx"
        )
    path = None if folder is None else str(folder)
    try:
        engine = TextCrossEncoder(model, threads=threads or None, specific_model_path=path)
    except Exception as error:  # onnxruntime's errors have no base of their own
        raise ModelError(f"fastembed cannot load {model!r}: {error}") from error
    cutting = engine.model.tokenizer
    limit = int(cutting.truncation["max_length"])

    def run(pairs: Sequence[Pair], read: Sequence[Any]) -> Any:
        return list(engine.rerank_pairs(list(pairs), batch_size=len(pairs)))

    whole = uncut(Tokenizer.from_str(cutting.to_str()))
    return CrossEncoder(run, model, whole, limit, batch_tokens)


def sentence_transformers_reranker(
    model: str, max_length: int = 512, batch_tokens: int = 1024
) -> Reranker:
    """Open a sentence-transformers `CrossEncoder` by hub name or local folder (optional extra)."""
    from tokenizers import Tokenizer

    try:
        from sentence_transformers import CrossEncoder as Engine
    except ImportError as error:
        raise MissingExtra("sentence-transformers", "sentence-transformers") from error
    try:
        engine = Engine(model)
    except (ValueError, OSError, RuntimeError) as error:
        raise ModelError(f"sentence-transformers cannot load {model!r}: {error}") from error
    backend = getattr(engine.tokenizer, "backend_tokenizer", None)
    if backend is None:
        raise ModelError(f"the model {model!r} has no fast tokenizer: passages cannot be measured")

    def run(pairs: Sequence[Pair], read: Sequence[Any]) -> Any:
        return engine.predict(
            list(pairs),
            batch_size=len(pairs),
            show_progress_bar=False,
            activation_fn=lambda logits: logits,
        )

    stated = engine.max_seq_length if hasattr(engine, "max_seq_length") else engine.max_length
    limit = min(max_length, int(stated or max_length))
    whole = uncut(Tokenizer.from_str(backend.to_str()))
    return CrossEncoder(run, model, whole, limit, batch_tokens)
