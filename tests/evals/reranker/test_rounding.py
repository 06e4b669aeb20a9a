"""Weights are rounded so that products stay, and wide channels are multiplied apart."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from evals.reranker.batches import Row
from indexing import e5
from retrieval.rerank.built_in import pair_tokenizer
from retrieval.rerank.trained import quantised

torch = pytest.importorskip("torch", reason="the extra `train` is not installed")

from evals.reranker.model import CrossEncoder, Shape  # noqa: E402
from evals.reranker.rounding import MOST, Seen, compensated, watched  # noqa: E402


def seen_in(inputs: e5.Array) -> Seen:
    width = inputs.shape[1]
    seen = Seen(np.zeros((width + 1, width + 1)), np.zeros(width, np.float32))
    seen.add(torch.from_numpy(inputs))
    return seen


@pytest.fixture
def inputs() -> e5.Array:
    """Inputs [500, 64] that hang together, one channel of them wide and nearly constant."""
    chance = np.random.default_rng(1)
    made = chance.normal(size=(500, 12)) @ chance.normal(size=(12, 64))
    made += 0.1 * chance.normal(size=made.shape)
    made[:, 5] = 40 + chance.normal(size=500)
    return made.astype(np.float32)


def test_products_stay_nearer_than_where_each_weight_is_rounded(inputs: e5.Array) -> None:
    chance = np.random.default_rng(2)
    matrix = chance.normal(size=(32, 64)).astype(np.float32)
    bias = chance.normal(size=32).astype(np.float32)
    wanted = inputs @ matrix.T + bias
    whole, scale, moved = compensated(matrix, bias, seen_in(inputs).moments)
    assert whole.dtype == np.int8
    assert np.abs(whole).max() <= 63
    plain, same = quantised(matrix)
    assert scale == pytest.approx(same)
    off = [
        np.abs(inputs @ (each * scale[:, None]).T + b - wanted).mean()
        for each, b in ((whole, moved), (plain, bias))
    ]
    assert off[0] < 0.3 * off[1]


def test_what_is_rounded_already_stays(inputs: e5.Array) -> None:
    plain, scale = quantised(np.random.default_rng(3).normal(size=(8, 64)).astype(np.float32))
    bias = np.zeros(8, np.float32)
    matrix = plain * scale[:, None]
    whole, same, moved = compensated(matrix, bias, seen_in(inputs).moments)
    assert (whole == plain).all()
    assert same == pytest.approx(scale)
    assert moved == pytest.approx(bias, abs=1e-4)


def test_a_row_of_zeros_stays(inputs: e5.Array) -> None:
    whole, scale, bias = compensated(
        np.zeros((2, 64), np.float32), np.ones(2, np.float32), seen_in(inputs).moments
    )
    assert not whole.any()
    assert np.isfinite(scale).all()
    assert bias == pytest.approx([1, 1])


def test_only_channels_far_wider_than_most_are_named(inputs: e5.Array) -> None:
    assert seen_in(inputs).wide() == [5]
    alike = np.random.default_rng(4).uniform(-1, 1, size=(500, 64)).astype(np.float32)
    assert seen_in(alike).wide() == []
    many = alike.copy()
    many[:, :20] *= 30  # no few channels, so none is left to the others by taking them away
    assert seen_in(many).wide() == []
    assert MOST == 8


def test_every_layer_is_watched_without_the_padding(
    file: e5.E5File, kept: Sequence[int], rows: list[Row]
) -> None:
    pieces, scores = [file.pieces[i] for i in kept], [float(file.scores[i]) for i in kept]
    tokenizer: Any = pair_tokenizer(pieces, scores)
    model = CrossEncoder(file, kept, Shape((0,))).eval()
    found = watched(model, rows[:3], tokenizer)
    assert found.keys() == {f"layers.0.{part}" for part in ("qkv", "out", "wide", "narrow")}
    counts = {int(seen.moments[-1, -1]) for seen in found.values()}
    assert len(counts) == 1  # the last moment counts the ones: tokens
    texts = [(q, p.shown()) for _, q, passages in rows[:3] for p in passages]
    most = sum(len(one.ids) for one in tokenizer.encode_batch(texts))
    assert 0.5 * most < counts.pop() <= 1.5 * most
    assert not model.layers[0].qkv._forward_pre_hooks
