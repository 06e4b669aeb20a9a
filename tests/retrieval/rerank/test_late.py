"""MaxSim over token vectors, by hand."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from configs.rerank_settings import RerankSettings
from configs.rerankers import Given, build_reranker
from indexing.dense import Matrix, Tokens
from retrieval.rerank.late import MIDDLE, SCALE, LateInteraction, alike
from tests.conftest import TinyEmbedder

VECTORS = {"red": (1, 0), "crimson": (4, 3), "blue": (0, 2)}


class WordEmbedder(TinyEmbedder):
    """A vector a word, not of length 1."""

    name = "words"
    tokenizer: Any = None

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        found = []
        for text in texts:
            rows = np.array([VECTORS[word] for word in text.split()], np.float32).reshape(-1, 2)
            found.append(Tokens(np.zeros((len(rows), 2), np.int64), rows))
        return found


def sigmoid(value: float) -> float:
    return float(1 / (1 + np.exp(-SCALE * (value - MIDDLE))))


def test_each_word_of_the_question_looks_for_the_one_most_like_it() -> None:
    reranker = LateInteraction(WordEmbedder())
    scores = reranker.scores("red blue", ["crimson", "blue red", "blue", ""])
    wanted = [(0.8 + 0.6) / 2, 1.0, (0.0 + 1.0) / 2, 0.0]
    assert scores == pytest.approx([sigmoid(value) for value in wanted], abs=1e-5)
    assert reranker.scores("red", []).shape == (0,)
    assert reranker.name == "late/words"


def test_no_token_is_like_nothing() -> None:
    empty: Matrix = np.empty((0, 2), np.float32)
    one = np.ones((1, 2), np.float32)
    assert alike(empty, one) == alike(one, empty) == 0.0


def test_it_is_a_kind_that_takes_the_products_own_embedder(tmp_path: Any) -> None:
    stage = build_reranker(RerankSettings(kind="late"), Given(tmp_path, WordEmbedder()))
    assert stage is not None
    done = stage.rerank("red", ["blue", "crimson"])
    assert done.scores[1] == pytest.approx(sigmoid(0.8), abs=1e-5)
    without = build_reranker(RerankSettings(kind="late"), Given(tmp_path, TinyEmbedder()))
    assert without is not None
    assert "token vectors" in without.rerank("red", ["blue"]).note
