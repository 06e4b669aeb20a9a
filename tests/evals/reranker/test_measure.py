"""Candidates kept in a file, and what a reranker's scores make of their order."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evals.reranker import candidates
from evals.reranker.candidates import Candidate, Question
from evals.reranker.measure import COLUMNS, candidates_digest, groups, order, rows, scored, section
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
    assert order(question(), found["q"], 30.0) == ["b", "c", "a", "d"]


def test_scores_are_kept_and_a_line_cut_short_is_made_again(tmp_path: Path) -> None:
    file, first, again = tmp_path / "x.scores", ByLength(), ByLength()
    found = scored(first, [question("q"), question("r")], 2, False, file)
    both = [question("q"), question("r")]
    kept = scored(again, both, 2, False, file)
    assert kept["r"] == pytest.approx(found["r"], abs=1e-6)
    assert again.asked == []
    file.write_text(file.read_text()[:-5])
    assert scored(again, both, 2, False, file)["q"] == kept["q"]
    assert len(again.asked) == 2
    assert scored(again, both, 2, False, file)["r"] == kept["r"]
    assert len(again.asked) == 2
    deeper = scored(again, [question("q")], 3, False, file)
    assert len(deeper["q"]) == 3


def test_other_candidates_have_other_scores() -> None:
    assert candidates_digest([question()]) == candidates_digest([question()])
    assert candidates_digest([question()]) != candidates_digest([question("r")])


def test_a_row_says_what_a_weight_does() -> None:
    scores = {"q": [1 / 2, 3 / 4, 2 / 3]}
    found = list(rows("set", [question()], scores, {"q": {"b": 1}}, (1, 3), (0.2, 2.5)))
    assert all(len(row) == len(COLUMNS) for row in found)
    assert [row[1:3] for row in found] == [
        ("", "0"),
        *(("1", "0.2"), ("1", "2.5")),
        *(("3", "0.2"), ("3", "2.5")),
    ]
    assert [float(row[4]) for row in found] == pytest.approx([63.09, 63.09, 63.09, 63.09, 100])
    assert found[0][6:] == ("", "", "")
    assert found[-1][6:] == ("+36.91", "+36.91 to +36.91", "1.0000")
    table = section(["late", "--kept", "x"], found)
    assert "measure late --kept x`" in table
    assert "| set | 3 | 2.5 | 1 | 100.00 |" in table


def test_a_set_is_parted_by_its_conversations_or_else_its_categories() -> None:
    asked = [question(str(n), str(n % 4)) for n in range(8)]
    found = dict(groups("x", asked))
    assert {one.conv for one in found["x 1"]} == {"0", "1"}
    assert {one.conv for one in found["x 2"]} == {"2", "3"}
    assert found["x"] == asked
    assert list(dict(groups("x", [question("a", ""), question("b", "")]))) == ["x"]
    both = [replace(question(c, ""), category=c) for c in "bab"]
    assert {name: len(part) for name, part in groups("x", both)} == {"x, a": 1, "x, b": 2, "x": 3}
