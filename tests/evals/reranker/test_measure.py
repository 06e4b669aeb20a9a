"""Candidates kept in a file, and what a reranker's scores make of their order."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evals.reranker import candidates
from evals.reranker.candidates import Candidate, Question
from evals.reranker.measure import first_half, order, rows, scored
from retrieval.rerank.types import Scores

HELD = [
    Candidate(["a"], 3.0, "Ann: one", "Ann", "one", "Tom: zero"),
    Candidate(["b", "c"], 2.0, "Tom: three words here", "Tom", "three words here"),
    Candidate(["d"], 1.0, "x", "", "x"),
]


class ByLength:
    """Longer passages answer better; keeps what it was asked."""

    name, max_tokens, call_tokens, remote = "length", 100, 100, False
    tokenizer: Any = None

    def __init__(self) -> None:
        self.asked: list[str] = []

    def scores(self, query: str, passages: Sequence[str]) -> Scores:
        self.asked += passages
        return np.array([1 - 1 / (1 + len(text)) for text in passages])


def question(key: str = "q", conv: str = "1") -> Question:
    return Question(key, "which?", conv, "", HELD)


def test_candidates_survive_the_file(tmp_path: Path) -> None:
    candidates.write(tmp_path / "x.jsonl", [question(), question("r")])
    assert candidates.read(tmp_path / "x.jsonl") == [question(), question("r")]


def test_only_the_first_are_scored_and_read_with_the_turn_before() -> None:
    reranker = ByLength()
    found = scored(reranker, [question()], top=2, before=True)
    assert reranker.asked == ["Ann: one Tom: zero", "Tom: three words here"]
    assert found["q"] == pytest.approx([18 / 19, 21 / 22])
    assert order(question(), found["q"], 0.0) == ["a", "b", "c", "d"]
    assert order(question(), found["q"], 2.0) == ["b", "c", "a", "d"]


def test_a_row_says_what_a_weight_does() -> None:
    scores = {"q": [1 / 2, 3 / 4, 2 / 3]}
    found = list(rows("set", [question()], scores, {"q": {"b": 1}}))
    assert found[0][:3] == ("set", "0", "1")
    by_weight = {row[1]: float(row[3]) for row in found}
    assert by_weight["0"] == pytest.approx(63.09)
    assert by_weight["2.5"] == pytest.approx(100)
    assert found[0][5] == ""
    assert found[-1][5] == "1.0000"


def test_the_first_half_is_of_conversations() -> None:
    asked = [question(str(n), str(n % 4)) for n in range(8)]
    assert {one.conv for one in first_half(asked)} == {"0", "1"}
    assert first_half([question("a", ""), question("b", "")]) != []
