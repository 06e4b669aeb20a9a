import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from configs.retrieval_settings import RetrievalSettings, ScopeSettings
from configs.settings import Settings, load
from indexing.dense import Matrix, normalize
from indexing.sparse import term_id, terms


class HashEmbedder:
    """Unit sums of one fixed random vector a term; counts the passages it was asked for."""

    def __init__(self, name: str = "hash", seed: int = 0) -> None:
        self.name = name
        self.dim = 64
        self.max_tokens = 506
        self.tokenizer = None
        self.embedded = 0
        self.asked = 0
        self._seed = seed

    def passages(self, texts: Sequence[str]) -> Matrix:
        self.embedded += len(texts)
        return np.stack([self._vector(text) for text in texts])

    def query(self, text: str) -> Matrix:
        self.asked += 1
        return self._vector(text)[np.newaxis]

    def _vector(self, text: str) -> Matrix:
        rows = [
            np.random.default_rng((term_id(term), self._seed)).standard_normal(self.dim)
            for term in terms(text) or [""]
        ]
        total: Matrix = np.sum(rows, axis=0, keepdims=True).astype(np.float32)
        row: Matrix = normalize(total)[0]
        return row


@pytest.fixture
def make() -> type[HashEmbedder]:
    """The class, for tests that need several of its kind."""
    return HashEmbedder


@pytest.fixture
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings without thresholds: cosines of the hash embedder are not E5's."""
    scope = ScopeSettings()
    policies = RetrievalSettings().model_copy(
        update={"global_": scope, "user": scope, "session": scope, "least_confidence": 0.0}
    )
    chosen = load(data_dir=tmp_path / "unused", cache_dir=tmp_path / "cache")
    return chosen.model_copy(update={"retrieval": policies})


WriteSet = Callable[..., Path]


@pytest.fixture
def write_set(tmp_path: Path) -> WriteSet:
    """Write a set in BEIR layout below ``tmp_path / "data"``; return its folder."""

    def write(
        name: str,
        documents: dict[str, str | dict[str, Any]],
        queries: dict[str, str | dict[str, Any]],
        qrels: dict[str, dict[str, int]],
    ) -> Path:
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        for file, entries in (("corpus", documents), ("queries", queries)):
            lines = (
                {"_id": key} | ({"text": value} if isinstance(value, str) else value)
                for key, value in entries.items()
            )
            text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
            (folder / f"{file}.jsonl").write_text(text + "\n", encoding="utf-8")
        rows = [f"{q}\t{d}\t{score}" for q, held in qrels.items() for d, score in held.items()]
        (folder / "qrels.tsv").write_text(
            "\n".join(["query-id\tcorpus-id\tscore", *rows]) + "\n", encoding="utf-8"
        )
        return folder

    return write


@pytest.fixture
def library(write_set: WriteSet) -> Path:
    """A set of documents in two languages; returns the data folder."""
    folder = write_set(
        "library",
        {
            "ru-orders": "Все заказы старше тридцати дней уходят в архив каждую ночь.",
            "ru-tea": "Зелёный чай заваривают при восьмидесяти градусах.",
            "ru-ship": "Пароход отходит от третьего причала в полдень.",
            "en-invoice": "Invoice BX-4471-A was paid in March.",
            "en-garden": {"title": "Garden", "text": "Roses were planted along the wall."},
            "en-ship": "The ferry leaves from pier nine at noon.",
        },
        {
            "q1": "архив заказов",
            "q2": "BX-4471-A",
            "q3": "when were the roses planted",
            "q4": "никто об этом не спросит",
        },
        {"q1": {"ru-orders": 1}, "q2": {"en-invoice": 1}, "q3": {"en-garden": 1}},
    )
    return folder.parent


@pytest.fixture
def chats(write_set: WriteSet) -> Path:
    """A set of two conversations with the same words; returns the data folder."""
    then, later = "1:56 pm on 8 May, 2023", "9:00 am on 9 May, 2023"

    def turn(conv: str, speaker: str, when: str, text: str, caption: str | None = None) -> Any:
        return {
            "text": text,
            "speaker": speaker,
            "session_date_time": when,
            "blip_caption": caption,
            "conv": conv,
        }

    folder = write_set(
        "chats",
        {
            "a1": turn("a", "Ann", then, "The locker code is 4417."),
            "a2": turn("a", "Bob", then, "Thanks, I wrote it down."),
            "a3": turn("a", "Ann", later, "Look at this!", "a red bicycle"),
            "b1": turn("b", "Eve", then, "The locker code is 9950."),
            "b2": turn("b", "Dan", then, "My bicycle is blue."),
            "b3": turn("b", "Eve", then, "Good night."),
            "b4": turn("b", "Dan", then, "See you on Monday."),
        },
        {
            "qa": {"text": "What is the locker code?", "conv": "a", "category": "single_hop"},
            "qb": {"text": "What is the locker code?", "conv": "b", "category": "single_hop"},
            "qc": {"text": "Who showed a bicycle?", "conv": "a", "category": "open_domain"},
        },
        {"qa": {"a1": 1}, "qb": {"b1": 1}, "qc": {"a3": 1}},
    )
    return folder.parent
