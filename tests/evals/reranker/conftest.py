"""The real weights with few words, so that a model is made in a moment."""

from collections.abc import Sequence
from datetime import date

import pytest

from evals.reranker.batches import Row
from evals.reranker.texts import Passage
from indexing import e5
from indexing.weights import source_file


@pytest.fixture(scope="session")
def file() -> e5.E5File:
    return e5.parse(source_file().read_bytes())


@pytest.fixture(scope="session")
def kept(file: e5.E5File) -> Sequence[int]:
    """The special pieces and the most frequent ones."""
    return e5.russian_english(file.pieces)[:3000]


@pytest.fixture
def rows() -> list[Row]:
    said = ["I sold the boat", "We moved to the sea", "no", "The cat is ill", "Tea?"]
    passages = tuple(Passage(text, "Ann", date(2026, 5, day)) for day, text in enumerate(said, 1))
    turned = [passages[n:] + passages[:n] for n in range(5)]
    return [("made-en", f"what about {one[0].text}", one) for one in turned] * 4
