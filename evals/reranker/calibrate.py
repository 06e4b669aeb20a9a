"""Fit the calibration of a checkpoint: ``python -m evals.reranker.calibrate STEP.pt --lists DIR``.

Does: score the held-out lists, fit ``sigmoid(scale * logit + shift)`` to whether a passage is the
answer (Platt), print both numbers, and by language how often the answer is first of its list and
how far the result is a probability.
Does not: change the checkpoint; `export` takes the two numbers.

Half of the held-out lists are fitted on, the other half tells the error. A passage is one of
eight, the others being what our own search takes for an answer.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from evals.calibration import Floats, ece, logistic, reliability
from evals.reranker.batches import Row, read
from evals.reranker.export import opened
from evals.reranker.model import CrossEncoder, Shape
from evals.reranker.train import logits_of, start


def of_lists(model: CrossEncoder, rows: Sequence[Row], tokenizer: Any) -> Floats:
    """Return the logits of lists, [lists, passages]."""
    found = []
    with torch.no_grad():
        for at in range(0, len(rows), 16):
            some = list(rows[at : at + 16])
            logits = logits_of(model, some, tokenizer, Random(at))  # noqa: S311
            found.append(logits.view(len(some), -1).double().numpy())
    return np.concatenate(found)


def main(arguments: list[str] | None = None) -> int:
    """Print the calibration; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.reranker.calibrate", description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    state = opened(options.checkpoint)
    model, tokenizer = start(Shape(tuple(state["layers"])))
    model.load_state_dict(state["mean"], strict=False)
    _, held = read(options.lists)
    rows = Random(2).sample(held, min(options.count, len(held)))  # noqa: S311
    logits = of_lists(model, rows, tokenizer)
    answers = np.zeros_like(logits)
    answers[:, 0] = 1
    half = len(rows) // 2
    seen, truth = logits[:half].reshape(-1, 1), answers[:half].ravel()
    scale, shift = logistic(seen, truth, np.ones(len(truth)))
    p = 1 / (1 + np.exp(-(scale * logits[half:] + shift)))
    print(f"--scale {scale:.4f} --shift {shift:.4f}")  # noqa: T201
    for lang in ("ru", "en", "mixed"):
        mine = np.array([row[0].endswith(f"-{lang}") for row in rows[half:]])
        if mine.any():
            said, true = p[mine].ravel(), answers[half:][mine].ravel()
            error = ece(reliability(said, true, np.ones(len(true))))
            first = (logits[half:][mine].argmax(1) == 0).mean()
            told = f"answer first in {100 * first:.1f} %, calibration error {error:.3f}"
            print(f"{lang}: {mine.sum()} lists, {told}")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
