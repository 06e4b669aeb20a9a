"""The weights of a turn's signs: found again where they are known."""

import numpy as np
import pytest

from evals.reranker.candidates import Candidate, Question
from evals.telling import NAMES, Case, across, cases, fit, judged, table
from evals.types import Qrels

TRUE = np.array([1.0, 0.8, -1.5, 0.5, 1.2, 0.3, 0.6])


def made(count: int, seed: int) -> tuple[list[Case], Qrels]:
    """Return questions whose answer is drawn by the true weights."""
    chance = np.random.default_rng(seed)
    found, qrels = [], {}
    for number in range(count):
        rows = chance.normal(size=(12, 1 + len(NAMES)))
        values = np.exp(rows @ TRUE)
        answer = int(chance.choice(12, p=values / values.sum()))
        right = np.zeros(12)
        right[answer] = 1
        documents = [[f"{number}-{place}"] for place in range(12)]
        found.append(Case(str(number), f"c{number % 3}", documents, rows, right))
        qrels[str(number)] = {f"{number}-{answer}": 1}
    return found, qrels


def test_the_fit_finds_the_weights() -> None:
    found, _ = made(3000, 1)
    assert fit(found) == pytest.approx(TRUE, abs=0.12)


def test_a_question_without_an_answer_among_the_first_says_nothing() -> None:
    found, _ = made(60, 2)
    lost = Case("x", "c0", [["x-0"]], np.full((1, 7), 5.0), np.zeros(1))
    assert fit([*found, lost]) == pytest.approx(fit(found))


def test_signs_that_tell_raise_the_measures() -> None:
    found, qrels = made(240, 3)
    values = judged(found, TRUE, qrels)
    fused = judged(found, np.array([1.0, *[0.0] * 6]), qrels)
    assert np.mean([v["nDCG@10"] for v in values]) > np.mean([v["nDCG@10"] for v in fused]) + 0.1
    assert len(across(found, qrels)) == len(found)
    lines = table(found[:120], found[120:], TRUE, qrels).splitlines()
    assert len(lines) == 2 + 1 + len(NAMES) + 1
    assert lines[2].startswith("| none |")
    assert lines[-1].startswith("| all |")


def test_a_question_becomes_its_candidates_signs() -> None:
    candidates = [
        Candidate(["d1"], 2.0, "Ann: I moved in 2020", "Ann", "I moved in 2020", "Tom: when?"),
        Candidate(["d2"], 1.0, "Tom: when?", "Tom", "when?"),
    ]
    question = Question("q", "When did Ann move?", "c", "", candidates)
    (case,) = cases([question], {"q": {"d2": 1}})
    assert case.rows[:, 0].tolist() == [1, -1]
    assert case.rows[0, [1, 2, 4, 5, 6]].tolist() == [1, 0, 1, 1, 1]
    assert case.rows[1, [1, 2, 4, 5, 6]].tolist() == [0, 1, 0, 0, 0]
    assert case.right.tolist() == [0, 1]
