"""Average the weights of checkpoints: ``python -m evals.reranker.average A.pt B.pt --out C.pt``.

A checkpoint may be an exported file (``.npz``) too. ``--shares 3 1``: the first counts three times.

What two stretches of one training have learnt adds up better than it is learnt one after the other:
a model soup, Wortsman et al. (2022), arXiv:2203.05482. The result can be measured, calibrated and
exported, not trained on: it has no optimizer.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from chunking.errors import LetopisError
from evals.command import refused
from evals.errors import EvalError
from evals.reranker.export import opened


def average(checkpoints: Sequence[Path], shares: Sequence[float] = ()) -> dict[str, Any]:
    """Return a checkpoint of the mean of the running means, weighed by shares, else all alike.

    Raises `EvalError` for checkpoints of different layers, and for other than one share each or
    shares that add up to nothing.
    """
    states = [opened(file) for file in checkpoints]
    first, *others = states
    if any(tuple(state["layers"]) != tuple(first["layers"]) for state in others):
        raise EvalError("the checkpoints are of different layers")
    parts = torch.tensor(list(shares) or [1.0] * len(states))
    if len(parts) != len(states) or not parts.sum() > 0:
        raise EvalError("one share a checkpoint, more than nothing together")
    held = list(zip(states, parts / parts.sum(), strict=True))
    mean = {
        name: torch.stack([state["mean"][name] * part for state, part in held]).sum(0)
        for name in first["mean"]
    }
    return {"step": max(state["step"] for state in states), "layers": first["layers"], "mean": mean}


def main(arguments: list[str] | None = None) -> int:
    """Write the average; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.reranker.average", description=__doc__)
    parser.add_argument("checkpoints", nargs="+", type=Path)
    parser.add_argument("--shares", nargs="+", type=float, default=(), help="one a checkpoint")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    try:
        torch.save(average(options.checkpoints, options.shares), options.out)
    except LetopisError as error:
        return refused(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
