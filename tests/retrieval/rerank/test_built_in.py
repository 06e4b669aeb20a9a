"""A trained file becomes a model in the cache, once; what is damaged is named."""

import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from configs.settings import load
from indexing.e5 import HIDDEN, INNER, Array
from indexing.errors import ModelError
from retrieval.rerank.built_in import NAME, built_in_reranker, shipped, trained_reranker
from retrieval.rerank.trained import dump, parse, quantised
from retrieval.rerank.types import PairTooLong, Reranker


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
    made = (next(tmp_path.glob(f"{NAME}-*/")) / "model.onnx").stat().st_mtime_ns
    again = trained_reranker(data, tmp_path, threads=1)
    assert (next(tmp_path.glob(f"{NAME}-*/")) / "model.onnx").stat().st_mtime_ns == made
    assert again.name == reranker.name
    assert again.scores("a", ["b"]) == pytest.approx(reranker.scores("a", ["b"]))


def test_it_reads_no_more_tokens_than_it_is_told(data: bytes, tmp_path: Path) -> None:
    short = trained_reranker(data, tmp_path, threads=1, max_tokens=64)
    assert short.max_tokens == 64
    with pytest.raises(PairTooLong):
        short.scores("word " * 70, ["word"])


def test_two_files_have_a_folder_each(data: bytes, tmp_path: Path) -> None:
    other = dump(untrained(), {"layers": 1, "scale": 2.0, "shift": 0.0})
    names = {trained_reranker(each, tmp_path, threads=1).name for each in (data, other)}
    folders = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert len(names) == len(folders) == 2


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


@pytest.mark.parametrize("meta", [{}, [1], {"layers": 1, "scale": "x", "shift": 0.0}])
def test_a_file_that_says_too_little_is_named(meta: Any) -> None:
    with pytest.raises(ModelError, match="damaged"):
        parse(dump(untrained(), meta))
    arrays = untrained()
    del arrays["late"]
    with pytest.raises(ModelError, match="it has no late"):
        parse(dump(arrays, {"layers": 1, "scale": 1.0, "shift": 0.0}))


MEGABYTES = 15
"""What the trained file may take in the repository."""

ASKED = {
    "When did Ann adopt the dog?": (
        "12 May 2026 Ann: We took the puppy home from the shelter yesterday!",
        "12 May 2026 Tom: Did you adopt the dog, Ann?",
        "3 June 2026 Ann: I painted the kitchen green.",
    ),
    "Куда Марина ездила в отпуск?": (
        "2 июля 2026 Марина: Мы две недели провели на Байкале, жили в палатке.",
        "2 июля 2026 Олег: Марина, ты уже была в отпуске?",
        "5 июля 2026 Марина: Купила новый велосипед.",
    ),
    "How many days do I have to return a purchase?": (
        "Возврат: Товар принимают обратно в течение четырнадцати дней.",
        "Доставка: Курьер привозит заказ на следующий день.",
        "Оплата: Принимаем карты и наличные.",
    ),
    "Кто написал роман о белом ките?": (
        "Moby-Dick: Herman Melville wrote the novel about the white whale in 1851.",
        "Whales: The blue whale is the largest animal that has ever lived.",
        "Novels: The novel is a long work of narrative fiction.",
    ),
}


@pytest.fixture(scope="module")
def reranker() -> Reranker:
    return built_in_reranker(load().cache_dir.expanduser() / "models")


@pytest.mark.parametrize("question", ASKED)
def test_the_answer_is_the_likeliest_in_both_languages_and_across_them(
    question: str, reranker: Reranker
) -> None:
    scores = reranker.scores(question, ASKED[question])
    assert scores.argmax() == 0, scores


def test_what_is_about_something_else_is_improbable(reranker: Reranker) -> None:
    questions = list(ASKED)
    for question, other in zip(questions, questions[1:] + questions[:1], strict=True):
        (own, *_), (answer, *_) = ASKED[question], ASKED[other]
        mine, theirs = reranker.scores(question, [own, answer])
        assert theirs < 0.02 < mine


def test_the_file_is_small_and_says_how_it_was_made() -> None:
    data = shipped()
    assert len(data) <= MEGABYTES * 1e6
    trained = parse(data)
    assert {"layers", "steps", "scale", "shift", "seed", "command"} <= trained.meta.keys()
