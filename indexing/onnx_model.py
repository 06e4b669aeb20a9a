"""What every model in a folder needs, embedder or reranker: files, tokenizer, batches, padding."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from indexing.cores import cores
from indexing.errors import ModelError


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


def length_limit(config: Mapping[str, Any], most: int) -> int:
    """Return how many tokens a model reads: what its ``config.json`` states, if that is less."""
    stated = config.get("max_position_embeddings")
    return min(most, stated) if isinstance(stated, int) else most


def load_onnx(folder: Path, threads: int) -> tuple[Any, Any]:
    """Load session and tokenizer of a folder. Raises `ModelError` naming what is missing."""
    from tokenizers import Tokenizer

    for file in ("model.onnx", "tokenizer.json"):
        if not (folder / file).is_file():
            raise ModelError(f"model folder {folder} has no {file}")
    session = load_session(folder, threads)
    try:
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    except Exception as error:  # tokenizers raises no narrower class
        raise ModelError(f"cannot load the model in {folder}: {error}") from error
    return session, uncut(tokenizer)


def uncut(tokenizer: Any) -> Any:
    """Return the `tokenizers.Tokenizer`, which from now on neither cuts nor pads."""
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


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
    except Exception as error:  # onnxruntime's errors have no base of their own
        raise ModelError(f"cannot load the model in {folder}: {error}") from error


def padded(rows: Sequence[Sequence[int]], fill: int = 0) -> NDArray[np.int64]:
    """Return rows of like length as one matrix, filled on the right.

    >>> padded([[5, 7], [6]], fill=1).tolist()
    [[5, 7], [6, 1]]
    """
    made = np.full((len(rows), max(map(len, rows))), fill, np.int64)
    for i, row in enumerate(rows):
        made[i, : len(row)] = row
    return made


def like_lengths(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Yield the places of texts of like length, short ones first: batches within the budget.

    >>> list(like_lengths([9, 2, 3, 2], budget=9))
    [[1, 3, 2], [0]]
    """
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    for batch in batches_by_length([lengths[i] for i in order], budget):
        yield [order[i] for i in batch]


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
