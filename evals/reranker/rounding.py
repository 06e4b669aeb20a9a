"""Round weights so that what they are multiplied with comes out as before.

Does: gather what each matrix of a model is multiplied with, name the channels of a wide range,
round column by column, each column's error made good by the columns after it and by the bias:
GPTQ, Frantar et al. (2023), arXiv:2210.17323. Does not: change the model, write a file.

Channels of a wide range take the 8 bits that activations have from all others, so they are
multiplied apart: LLM.int8(), Dettmers et al. (2022), arXiv:2208.07339.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from evals.reranker.batches import Row, parts
from evals.reranker.model import CrossEncoder
from indexing.e5 import Array
from retrieval.rerank.trained import RANGE

DAMPED = 0.01
"""Share of the mean square that is added to all, so that the moments can be inverted."""
MOST, WIDE = 8, 1.5
"""Channels that are multiplied apart at most: those over so many times the next one's largest."""


@dataclass
class Seen:
    """What a matrix was multiplied with: ``moments`` [in + 1, in + 1], sums of products of inputs
    and of 1; ``largest`` [in], the largest magnitude of each channel."""

    moments: Array
    largest: Array

    def add(self, rows: Tensor) -> None:
        """Count inputs [n, in]."""
        whole = torch.cat([rows, torch.ones(len(rows), 1)], dim=1)
        self.moments += (whole.T @ whole).numpy()
        self.largest = np.maximum(self.largest, rows.abs().amax(dim=0).numpy())

    def wide(self) -> list[int]:
        """Return the channels of a wide range, widest first."""
        order = np.argsort(-self.largest)
        bound = WIDE * self.largest[order[MOST]]
        return [int(channel) for channel in order[:MOST] if self.largest[channel] > bound]


def watched(model: CrossEncoder, rows: Sequence[Row], tokenizer: Any) -> dict[str, Seen]:
    """Return what each linear layer of the encoder, by name, is multiplied with in lists."""
    found: dict[str, Seen] = {}
    mask = torch.empty(0)
    hooks = []
    for name, layer in model.layers.named_modules():
        if isinstance(layer, nn.Linear):
            width = layer.in_features
            seen = Seen(np.zeros((width + 1, width + 1)), np.zeros(width, np.float32))
            found[f"layers.{name}"] = seen

            def hook(_: nn.Module, inputs: tuple[Tensor], seen: Seen = seen) -> None:
                seen.add(inputs[0][mask])  # without the padding

            hooks.append(layer.register_forward_pre_hook(hook))
    with torch.no_grad():
        for part in parts(list(rows), tokenizer, Random(1)):  # noqa: S311
            inputs = [torch.from_numpy(each) for each in part.inputs]
            mask = inputs[1].bool()
            model(*inputs)
    for each in hooks:
        each.remove()
    return found


def compensated(matrix: Array, bias: Array, moments: Array) -> tuple[Array, Array, Array]:
    """Return a matrix [out, in] as integers of -63..63, the scale of each row, and the bias.

    ``moments`` are those of `Seen`. Columns that matter most are rounded first.
    """
    scale = np.abs(matrix).max(axis=1) / RANGE
    scale = np.where(scale == 0, 1, scale)
    size = matrix.shape[1]
    order = np.append(np.argsort(-np.diag(moments)[:size], kind="stable"), size)
    damped = moments + np.eye(size + 1) * DAMPED * np.diag(moments)[:size].mean()
    inverse = np.linalg.inv(damped[np.ix_(order, order)])
    upper = np.linalg.cholesky(inverse).T
    left = np.concatenate([matrix, bias[:, None]], axis=1)[:, order].astype(np.float64)
    whole = np.zeros(matrix.shape, np.int8)
    for at, column in enumerate(order[:-1]):
        rounded = np.clip(np.rint(left[:, at] / scale), -RANGE, RANGE)
        whole[:, column] = rounded
        error = (left[:, at] - rounded * scale) / upper[at, at]
        left[:, at:] -= np.outer(error, upper[at, at:])
    return whole, scale.astype(np.float32), left[:, -1].astype(np.float32)
