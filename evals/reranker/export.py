"""Write a checkpoint as what ships: ``python -m evals.reranker.export STEP.pt --out FILE``.

Does: take the running mean of the weights, round the matrices, add what is known of the training
and the calibration; read such a file back, to train further from it. Does not: fit the calibration
(`calibrate`), write the model card.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from indexing.e5 import HIDDEN, Array
from retrieval.rerank.trained import Trained, dump, parse, quantised

PARTS = {"out": "ao", "wide": "fi", "narrow": "fo"}
NORMS = {"out_norm": "aln", "narrow_norm": "oln"}


def arrays(state: Mapping[str, Tensor]) -> dict[str, Array]:
    """Return the trained arrays under the names that `trained` reads."""
    values = {name: value.detach().float().numpy() for name, value in state.items()}
    count = 1 + max(int(name.split(".")[1]) for name in values if name.startswith("layers."))
    found: dict[str, Array] = {
        "sides": values["sides"],
        "late": values["late"],
        "pooled.w": values["pooled.weight"],
        "pooled.b": values["pooled.bias"],
        "first.w": values["first.weight"],
        "first.b": values["first.bias"],
        "weigh.w": values["weigh.weight"],
    }
    for number in range(count):
        source, target = f"layers.{number}", f"l{number}"
        for at, part in enumerate("qkv"):
            rows = slice(at * HIDDEN, (at + 1) * HIDDEN)
            _matrix(found, f"{target}.{part}", values[f"{source}.qkv.weight"][rows])
            found[f"{target}.{part}.b"] = values[f"{source}.qkv.bias"][rows]
        for name, part in PARTS.items():
            _matrix(found, f"{target}.{part}", values[f"{source}.{name}.weight"])
            found[f"{target}.{part}.b"] = values[f"{source}.{name}.bias"]
        for name, part in NORMS.items():
            found[f"{target}.{part}.w"] = values[f"{source}.{name}.weight"]
            found[f"{target}.{part}.b"] = values[f"{source}.{name}.bias"]
    return found


def _matrix(found: dict[str, Array], name: str, matrix: Array) -> None:
    found[f"{name}.w"], found[f"{name}.w.scale"] = quantised(matrix)


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
        joined = [_unpacked(held, f"{source}.{part}") for part in "qkv"]
        found[f"{target}.qkv.weight"] = np.concatenate(joined)
        biases = [held.tensors[f"{source}.{part}.b"] for part in "qkv"]
        found[f"{target}.qkv.bias"] = np.concatenate(biases)
        for name, part in PARTS.items():
            found[f"{target}.{name}.weight"] = _unpacked(held, f"{source}.{part}")
            found[f"{target}.{name}.bias"] = held.tensors[f"{source}.{part}.b"]
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


def exported(checkpoint: Path, scale: float, shift: float, notes: Mapping[str, Any]) -> bytes:
    """Return the file's content for a checkpoint."""
    state = opened(checkpoint)
    meta = {
        "layers": len(state["layers"]),
        "steps": state["step"],
        "scale": scale,
        "shift": shift,
        **notes,
    }
    return dump({k: np.asarray(v) for k, v in arrays(state["mean"]).items()}, meta)


def main(arguments: list[str] | None = None) -> int:
    """Write the file; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.reranker.export", description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scale", type=float, default=1.0, help="of the logit, by `calibrate`")
    parser.add_argument("--shift", type=float, default=0.0)
    parser.add_argument("--notes", type=json.loads, default={}, help="JSON, kept in the file")
    options = parser.parse_args(arguments)
    data = exported(options.checkpoint, options.scale, options.shift, options.notes)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_bytes(data)
    print(f"{options.out}: {len(data) / 1e6:.2f} MB")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
