"""A cross-encoder from a local folder: ``model.onnx`` with one logit a pair, ``tokenizer.json``.

Runs on onnxruntime alone, offline. ``config.json`` may say how much the model reads
(``max_position_embeddings``) and its padding (``pad_token_id``).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from indexing.errors import ModelError
from indexing.onnx_model import length_limit, load_onnx, padded, read_config
from retrieval.rerank.cross_encoder import CrossEncoder, Pair
from retrieval.rerank.types import Reranker

PADS = ("<pad>", "[PAD]")


def onnx_reranker(
    folder: Path,
    name: str = "",
    threads: int = 0,
    batch_tokens: int = 1024,
    max_length: int = 512,
) -> Reranker:
    """Load a folder. Raises `ModelError` naming what is missing or of another kind."""
    session, tokenizer = load_onnx(folder, threads)
    config = read_config(folder)
    pad = _pad(config, tokenizer)
    wanted = {node.name for node in session.get_inputs()}
    output = session.get_outputs()[0].name

    def run(pairs: Sequence[Pair], read: Sequence[Any]) -> Any:
        return session.run([output], {k: v for k, v in _feed(read, pad).items() if k in wanted})[0]

    unknown = wanted - _feed([tokenizer.encode("a", "b")], pad).keys()
    if unknown:
        raise ModelError(f"the model in {folder} wants {', '.join(sorted(unknown))}")
    limit = length_limit(config, max_length)
    return CrossEncoder(run, name or folder.name, tokenizer, limit, batch_tokens)


def _feed(read: Sequence[Any], pad: int) -> dict[str, Any]:
    """Return the inputs of a batch of encodings, padded on the right to the longest."""
    return {
        "input_ids": padded([row.ids for row in read], pad),
        "attention_mask": padded([row.attention_mask for row in read]),
        "token_type_ids": padded([row.type_ids for row in read]),
    }


def _pad(config: dict[str, Any], tokenizer: Any) -> int:
    stated = config.get("pad_token_id")
    if isinstance(stated, int):
        return stated
    known = (tokenizer.token_to_id(pad) for pad in PADS)
    return next((int(found) for found in known if found is not None), 0)
