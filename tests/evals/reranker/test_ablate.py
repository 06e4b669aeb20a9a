"""Arms of the ablation: what differs, how they are trained, ranked and compared."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evals.reranker.batches import Row
from evals.reranker.candidates import Candidate, Question
from indexing import e5
from retrieval.rerank.built_in import pair_tokenizer
from retrieval.rerank.types import Scores

pytest.importorskip("torch", reason="the extra `train` is not installed")

from evals.reranker import ablate
from evals.reranker.ablate import ARMS, BASE, COLUMNS, CROSSED, Scorer, Sets, plan_of, table
from evals.reranker.model import CrossEncoder
from evals.reranker.train import SHARES, Plan

ASKED = "Who sold the boat?"
SAID = ("Tom: the boat is red", "Ann: I sold it", "Ann: tea")


def question(conv: str) -> Question:
    held = [Candidate([str(at)], 3.0 - at, text) for at, text in enumerate(SAID)]
    return Question("q", ASKED, conv, "", held)


class Likes:
    """Gives one passage a high score, all others a low one."""

    name, max_tokens, call_tokens, remote = "likes", 100, 100, False
    tokenizer: Any = None

    def __init__(self, liked: str) -> None:
        self.liked = liked

    def scores(self, query: str, passages: Sequence[str]) -> Scores:
        return np.array([0.99 if self.liked in text else 0.01 for text in passages])


def test_every_arm_changes_one_thing() -> None:
    base = plan_of(ARMS[BASE], 300)
    assert base.steps == 300
    assert base.decay == 100
    assert all(base.shares[source] == 0 for source in CROSSED)
    assert {k: v for k, v in base.shares.items() if v} == {
        k: v for k, v in SHARES.items() if k not in CROSSED
    }
    for name in ARMS.keys() - {BASE}:
        plan = plan_of(ARMS[name], 300)
        differ = {part for part in Plan.__slots__ if getattr(plan, part) != getattr(base, part)}
        assert len(differ) == 1, name
    assert plan_of(ARMS["and lists of both languages"], 300).shares == SHARES
    assert plan_of(ARMS["without talk"], 300).shares["talks-en"] == 0


@pytest.mark.parametrize("conv", ["", "1"])
def test_arms_are_compared_with_the_first(conv: str, tmp_path: Path) -> None:
    sets = Sets({"set": [question(conv)]}, {"set": {"q": {"1": 1}}})
    liked = {"good": "sold", "bad": "tea"}
    found = list(table(sets, ["good", "bad"], lambda arm, _: Likes(liked[arm]), tmp_path))
    assert all(len(row) == len(COLUMNS) for row in found)
    assert [row[0] for row in found] == ["not reranked", "good", "bad"]
    assert [row[3] for row in found] == ["63.09", "100.00", "50.00"]
    assert found[1][5:] == ("", "", "")
    assert float(found[2][5]) < 0


def test_a_model_scores_in_the_order_given_and_pads_without_a_trace(
    file: e5.E5File, kept: Sequence[int]
) -> None:
    plan = Plan(1, 1, layers=(0,))
    tokenizer = pair_tokenizer(
        [file.pieces[i] for i in kept], [float(file.scores[i]) for i in kept]
    )
    scorer = Scorer("x", CrossEncoder(file, kept, plan.shape).eval(), tokenizer)
    texts = [*SAID, "the boat " * 20]
    together = scorer.scores(ASKED, texts)
    alone = [scorer.scores(ASKED, [text])[0] for text in texts]
    assert together == pytest.approx(alone, abs=1e-5)
    assert len(set(alone)) == len(alone)


def test_an_arm_is_trained_once(
    file: e5.E5File,
    kept: Sequence[int],
    rows: list[Row],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tokenizer = pair_tokenizer(
        [file.pieces[i] for i in kept], [float(file.scores[i]) for i in kept]
    )
    monkeypatch.setattr(ablate, "start", lambda shape: (CrossEncoder(file, kept, shape), tokenizer))
    monkeypatch.setitem(ARMS, BASE, {"layers": (0,), "negatives": 3, "size": 2})
    first = ablate.trained(BASE, tmp_path, 3, rows, rows)
    again = ablate.trained(BASE, tmp_path, 3, rows, rows)
    assert "at step 3 of 3" in capsys.readouterr().out
    assert first.scores(ASKED, SAID) == pytest.approx(again.scores(ASKED, SAID))


def test_all_questions_of_several_sets_are_compared_too(tmp_path: Path) -> None:
    right = {"q": {"1": 1}}
    sets = Sets({"a": [question("")], "b": [question("1")]}, {"a": right, "b": right})
    liked = {"good": "sold", "bad": "tea"}
    found = list(table(sets, ["good", "bad"], lambda arm, _: Likes(liked[arm]), tmp_path))
    assert [row[1] for row in found] == ["a", "b", "all"] * 3
    assert [row[2] for row in found[-3:]] == ["1", "1", "2"]
    assert found[-1][5] == "-50.00"
