"""Write a checkpoint as what ships: ``python -m evals.reranker.export STEP.pt --out FILE``.

Does: take the running mean of the weights, round the matrices, add what is known of the training
and the calibration; read such a file back, to train further from it. Does not: fit the calibration
(`calibrate`), write the model card.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor

from evals.reranker.batches import read
from evals.reranker.model import Shape
from evals.reranker.rounding import Seen, compensated, watched
from indexing.e5 import Array
from retrieval.rerank.trained import Trained, dump, parse, quantised

PARTS = {"qkv": ("q", "k", "v"), "out": ("ao",), "wide": ("fi",), "narrow": ("fo",)}
"""Linear layer -> the matrices of the file that it is made of."""
NORMS = {"out_norm": "aln", "narrow_norm": "oln"}

LISTS = 100
"""Training lists that rounding looks at."""


def arrays(state: Mapping[str, Tensor], seen: Mapping[str, Seen] | None = None) -> dict[str, Array]:
    """Return the trained arrays under the names that `trained` reads.

    Matrices are rounded so that what was ``seen`` comes out as before, else each weight by itself.
    """
    values = {name: value.detach().float().numpy() for name, value in state.items()}
    found: dict[str, Array] = {
        "sides": values["sides"],
        "late": values["late"],
        "pooled.w": values["pooled.weight"],
        "pooled.b": values["pooled.bias"],
        "first.w": values["first.weight"],
        "first.b": values["first.bias"],
        "weigh.w": values["weigh.weight"],
    }
    for number in range(layers_of(values)):
        source, target = f"layers.{number}", f"l{number}"
        for name, parts in PARTS.items():
            layer = f"{source}.{name}"
            matrix, bias = values[f"{layer}.weight"], values[f"{layer}.bias"]
            if seen:
                whole, scale, bias = compensated(matrix, bias, seen[layer].moments)
            else:
                whole, scale = quantised(matrix)
            size = len(matrix) // len(parts)
            for at, part in enumerate(parts):
                rows = slice(at * size, (at + 1) * size)
                found[f"{target}.{part}.w"] = whole[rows]
                found[f"{target}.{part}.w.scale"] = scale[rows]
                found[f"{target}.{part}.b"] = bias[rows]
        for name, part in NORMS.items():
            found[f"{target}.{part}.w"] = values[f"{source}.{name}.weight"]
            found[f"{target}.{part}.b"] = values[f"{source}.{name}.bias"]
    return found


def layers_of(names: Iterable[str]) -> int:
    """Return how many layers the names of a state are of."""
    return 1 + max(int(name.split(".")[1]) for name in names if name.startswith("layers."))


def wide_of(seen: Mapping[str, Seen]) -> dict[str, list[int]]:
    """Return the channels of a wide range by matrix, as `Trained.wide` is asked for them."""
    found = {}
    for name, parts in PARTS.items():
        for number in range(layers_of(seen)):
            if channels := seen[f"layers.{number}.{name}"].wide():
                found[f"l{number}.{''.join(parts)}"] = channels
    return found


def weights_of(held: Trained) -> dict[str, Tensor]:
    """Return the weights of a file that was exported, as they were rounded: `arrays` undone."""
    found = {
        "sides": held.tensors["sides"],
        "late": held.tensors["late"],
        "pooled.weight": held.tensors["pooled.w"],
        "pooled.bias": held.tensors["pooled.b"],
        "first.weight": held.tensors["first.w"],
        "first.bias": held.tensors["first.b"],
        "weigh.weight": held.tensors["weigh.w"],
        "weigh.bias": np.zeros(1, np.float32),
    }
    for number in range(held.layers):
        source, target = f"l{number}", f"layers.{number}"
        for name, parts in PARTS.items():
            matrices = [_unpacked(held, f"{source}.{part}") for part in parts]
            biases = [held.tensors[f"{source}.{part}.b"] for part in parts]
            found[f"{target}.{name}.weight"] = np.concatenate(matrices)
            found[f"{target}.{name}.bias"] = np.concatenate(biases)
        for name, part in NORMS.items():
            found[f"{target}.{name}.weight"] = held.tensors[f"{source}.{part}.w"]
            found[f"{target}.{name}.bias"] = held.tensors[f"{source}.{part}.b"]
    return {name: torch.from_numpy(np.array(array)) for name, array in found.items()}


def _unpacked(held: Trained, name: str) -> Array:
    scale = held.tensors[f"{name}.w.scale"]
    return held.tensors[f"{name}.w"].astype(np.float32) * scale[:, None]


def opened(file: Path) -> dict[str, Any]:
    """Return a checkpoint's `step`, `layers` and `mean`: one of training, or what was exported.

    Raises `ModelError` for an exported file that is damaged.
    """
    if file.suffix != ".npz":
        state: dict[str, Any] = torch.load(file, weights_only=True)
        return state
    held = parse(file.read_bytes())
    layers = tuple(range(held.layers))
    return {"step": held.meta.get("steps", 0), "layers": layers, "mean": weights_of(held)}


def exported(
    checkpoint: Path,
    scale: float,
    shift: float,
    notes: Mapping[str, Any],
    lists: Path | None = None,
) -> bytes:
    """Return the file's content for a checkpoint, rounded by what it sees in training lists."""
    state = opened(checkpoint)
    seen = seen_by(state, lists) if lists else None
    meta = {
        "layers": len(state["layers"]),
        "steps": state["step"],
        "scale": scale,
        "shift": shift,
        "wide": wide_of(seen) if seen else {},
        **notes,
    }
    return dump({k: np.asarray(v) for k, v in arrays(state["mean"], seen).items()}, meta)


def seen_by(state: Mapping[str, Any], lists: Path, count: int = LISTS) -> dict[str, Seen]:
    """Return what each linear layer of a checkpoint is multiplied with in so many lists."""
    from evals.reranker.train import start

    model, tokenizer = start(Shape(tuple(state["layers"])))
    model.load_state_dict(state["mean"], strict=False)
    rows, _ = read(lists)
    return watched(model, Random(5).sample(rows, min(count, len(rows))), tokenizer)  # noqa: S311


def main(arguments: list[str] | None = None) -> int:
    """Write the file; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.reranker.export", description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scale", type=float, default=1.0, help="of the logit, by `calibrate`")
    parser.add_argument("--shift", type=float, default=0.0)
    parser.add_argument("--notes", type=json.loads, default={}, help="JSON, kept in the file")
    parser.add_argument("--lists", type=Path, help="round by what these training lists make it see")
    options = parser.parse_args(arguments)
    known = (options.scale, options.shift, options.notes, options.lists)
    data = exported(options.checkpoint, *known)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(data)
    print(f"{options.out}: {len(data) / 1e6:.2f} MB")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
