from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from indexing.dense import Matrix
from retrieval.vectors import QueryVectors

from .conftest import AxisEmbedder


class Counting(AxisEmbedder):
    def __init__(self, name: str = "axes") -> None:
        self.name = name  # type: ignore[misc]
        self.asked: list[str] = []

    def query(self, text: str) -> Matrix:
        self.asked.append(text)
        return super().query(text)


def ask(vectors: QueryVectors, embedder: Counting, texts: Sequence[str]) -> list[bool]:
    """Return which of the texts were not embedded again."""
    kept = []
    for text in texts:
        before = len(embedder.asked)
        vectors.of(embedder, text)
        kept.append(len(embedder.asked) == before)
    return kept


def test_a_question_is_embedded_once() -> None:
    embedder, vectors = Counting(), QueryVectors()
    assert ask(vectors, embedder, ["cat", "cat", "dog", "cat"]) == [False, True, False, True]
    assert embedder.asked == ["cat", "dog"]
    assert np.array_equal(vectors.of(embedder, "cat"), embedder.query("cat")[0])


def test_the_least_recently_used_goes_first() -> None:
    embedder, vectors = Counting(), QueryVectors(2)
    assert ask(vectors, embedder, ["a", "b", "a", "c", "a", "b"]) == [
        False, False, True, False, True, False,
    ]  # fmt: skip
    assert len(vectors) == 2


def test_models_do_not_share_vectors_and_none_can_be_changed() -> None:
    vectors = QueryVectors()
    assert [ask(vectors, Counting(name), ["cat"]) for name in ("one", "two")] == [[False]] * 2
    vector = vectors.of(Counting("two"), "cat")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1


def test_a_cache_of_none_keeps_none() -> None:
    embedder, vectors = Counting(), QueryVectors(0)
    assert ask(vectors, embedder, ["a", "a"]) == [False, False]


def test_many_threads_keep_the_bound() -> None:
    embedder, vectors = Counting(), QueryVectors(5)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: vectors.of(embedder, f"cat {i % 9}"), range(400)))
    assert len(vectors) <= 5


def test_no_text_of_a_question_is_kept() -> None:
    vectors = QueryVectors()
    vectors.of(Counting(), "a very private question about a cat")
    assert "private" not in repr(vars(vectors))
