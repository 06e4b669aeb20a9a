"""How near is what ships to what was trained? ``python -m evals.reranker.precision STEP.pt --lists
DIR``.

Does: score held-out lists by the model in float32, and by the file made of it in each way; print
how far the log-odds are off, a list's mean taken out, and in how many lists another passage is
first. Does not: say what that costs in an order (`measure`).
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from chunking.errors import LetopisError
from evals.command import refused, say
from evals.reranker.batches import Part, Row, parts, read
from evals.reranker.export import arrays, opened, seen_by, wide_of
from evals.reranker.model import CrossEncoder, Shape
from evals.reranker.rounding import Seen
from evals.reranker.train import start
from indexing import e5
from indexing.e5 import Array
from indexing.e5_graph import MATMULS
from indexing.onnx_model import load_session
from indexing.weights import source_file
from retrieval.rerank import graph
from retrieval.rerank.trained import dump, parse

WAYS = {
    "each weight by itself": (False, False),
    "wide channels apart": (False, True),
    "errors made good": (True, False),
    "both, as shipped": (True, True),
}
"""How a file is made: whether rounding errors are made good, whether wide channels are apart."""
INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def made(state: Mapping[str, Any], seen: Mapping[str, Seen], good: bool, apart: bool) -> bytes:
    """Return the content of a file without a calibration."""
    wide = wide_of(seen) if apart else {}
    meta = {"layers": len(state["layers"]), "scale": 1.0, "shift": 0.0, "wide": wide}
    return dump(arrays(state["mean"], seen if good else None), meta)


def session(data: bytes, folder: Path) -> Any:
    """Return the session of a file."""
    words = e5.parse(source_file().read_bytes())
    kept = e5.russian_english(words.pieces)
    model = graph.model(words, parse(data), kept, MATMULS["int8"])
    (folder / "model.onnx").write_bytes(model)
    return load_session(folder, 0)


def in_lists(batch: Sequence[Part], logits: Sequence[Array], lists: int) -> Array:
    """Return logits by list, [lists, passages], less the mean of each."""
    found = np.empty(sum(len(part.places) for part in batch))
    for part, values in zip(batch, logits, strict=True):
        found[part.places] = values
    rows = found.reshape(lists, -1)
    centred: Array = rows - rows.mean(axis=1, keepdims=True)
    return centred


def compared(
    state: Mapping[str, Any],
    seen: Mapping[str, Seen],
    model: CrossEncoder,
    rows: Sequence[Row],
    tokenizer: Any,
) -> Iterator[tuple[str, float, float, float]]:
    """Yield each way's name, root mean square error, spread of a list and share of other firsts."""
    batch = list(parts(list(rows), tokenizer, Random(1)))  # noqa: S311
    with torch.no_grad():
        exact = [model(*map(torch.from_numpy, part.inputs)).numpy() for part in batch]
    wanted = in_lists(batch, exact, len(rows))
    for name, how in WAYS.items():
        with tempfile.TemporaryDirectory() as folder:
            opened_ = session(made(state, seen, *how), Path(folder))
            found = [
                opened_.run(None, dict(zip(INPUTS, part.inputs, strict=True)))[0] for part in batch
            ]
        rounded = in_lists(batch, found, len(rows))
        off = float(np.sqrt(((rounded - wanted) ** 2).mean()))
        other = float((rounded.argmax(axis=1) != wanted.argmax(axis=1)).mean())
        yield name, off, float(wanted.std(axis=1).mean()), other


def main(arguments: list[str] | None = None) -> int:
    """Print a line a way; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.reranker.precision", description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100, help="held-out lists")
    options = parser.parse_args(arguments)
    try:
        state = opened(options.checkpoint)
        model, tokenizer = start(Shape(tuple(state["layers"])))
        model.load_state_dict(state["mean"], strict=False)
        seen = seen_by(state, options.lists)
        _, held = read(options.lists)
        some = Random(2).sample(held, min(options.count, len(held)))  # noqa: S311
        for name, off, spread, other in compared(state, seen, model, some, tokenizer):
            say(f"{name}\toff by {off:.3f} of a spread of {spread:.2f}\tother first {other:.1%}")
    except LetopisError as error:
        return refused(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
