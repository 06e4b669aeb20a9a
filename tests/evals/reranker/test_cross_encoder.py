"""A trained file becomes a model in the cache, once; what is damaged is named."""

import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from evals.reranker.cross_encoder import NAME, trained_reranker
from evals.reranker.trained import dump, parse, quantised
from indexing.e5 import HIDDEN, INNER, Array
from indexing.errors import ModelError


def untrained() -> dict[str, Array]:
    """Return the arrays of one layer drawn at random, and a head of late interaction alone."""
    chance = np.random.default_rng(1)
    zeros, ones = np.zeros(HIDDEN, np.float32), np.ones(HIDDEN, np.float32)
    arrays: dict[str, Array] = {
        "sides": np.zeros((2, HIDDEN), np.float32),
        "late": np.array([10.0, -5.0], np.float32),
        "pooled.w": np.zeros((HIDDEN, HIDDEN), np.float32),
        "pooled.b": zeros,
        "first.w": np.zeros((1, HIDDEN), np.float32),
        "first.b": np.zeros(1, np.float32),
        "weigh.w": np.zeros((1, HIDDEN), np.float32),
    }
    shapes = dict.fromkeys(("q", "k", "v", "ao"), (HIDDEN, HIDDEN))
    for part, shape in (shapes | {"fi": (INNER, HIDDEN), "fo": (HIDDEN, INNER)}).items():
        drawn = chance.normal(scale=0.02, size=shape).astype(np.float32)
        arrays[f"l0.{part}.w"], arrays[f"l0.{part}.w.scale"] = quantised(drawn)
        arrays[f"l0.{part}.b"] = np.zeros(shape[0], np.float32)
    for part in ("aln", "oln"):
        arrays[f"l0.{part}.w"], arrays[f"l0.{part}.b"] = ones, zeros
    return arrays


@pytest.fixture(scope="module")
def data() -> bytes:
    return dump(untrained(), {"layers": 1, "scale": 1.0, "shift": 0.0})


def test_the_model_is_made_once_and_reads_question_and_passage(data: bytes, tmp_path: Path) -> None:
    reranker = trained_reranker(data, tmp_path, threads=1)
    same, other = reranker.scores("the red kayak", ["the red kayak", "кофе с молоком"])
    assert 0 < other < same < 1
    made = (tmp_path / NAME / "model.onnx").stat().st_mtime_ns
    again = trained_reranker(data, tmp_path, threads=1)
    assert (tmp_path / NAME / "model.onnx").stat().st_mtime_ns == made
    assert again.name == reranker.name
    assert again.scores("a", ["b"]) == pytest.approx(reranker.scores("a", ["b"]))


def test_the_file_survives_being_written(data: bytes) -> None:
    held = parse(data)
    assert held.layers == 1
    wanted = untrained()
    assert held.tensors.keys() == wanted.keys()
    assert all((held.tensors[name] == array).all() for name, array in wanted.items())


def test_a_damaged_file_is_named(data: bytes) -> None:
    for damaged in (b"", data[: len(data) // 2], b"x" * 100):
        with pytest.raises(ModelError, match="damaged"):
            parse(damaged)
    without = BytesIO()
    with zipfile.ZipFile(without, "w") as archive:
        archive.writestr("late.npy", b"")
    with pytest.raises(ModelError, match="damaged"):
        parse(without.getvalue())
