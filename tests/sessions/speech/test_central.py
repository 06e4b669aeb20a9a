"""LexRank against its formula spelled out."""

import numpy as np
import pytest

from sessions.speech.central import BLOCK, DAMPING, centrality


def test_two_alike_and_a_stray_one() -> None:
    # The two pass their rank r to each other, the stray one its s to all three alike:
    # s = (1 - d)/3 + d*s/3 and r = s + d*r, so s/r = 1 - d.
    assert centrality(["red boat", "red boat", "green hill"]) == pytest.approx(
        [1.0, 1.0, 1 - DAMPING], abs=0.01
    )


def test_a_chain_is_the_formula() -> None:
    texts = ["boat harbour", "harbour crane", "crane driver"]
    idf = {"boat": np.log(4), "harbour": np.log(2.5), "crane": np.log(2.5), "driver": np.log(4)}
    rows = np.array([[idf[w] if w in text.split() else 0.0 for w in idf] for text in texts])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    steps = rows @ rows.T - np.eye(3)
    steps /= steps.sum(axis=1, keepdims=True)
    rank = np.linalg.solve(np.eye(3) - DAMPING * steps.T, np.full(3, (1 - DAMPING) / 3))
    assert centrality(texts) == pytest.approx(list(rank / rank.max()), abs=0.02)


def test_none_one_and_more_than_a_block() -> None:
    assert centrality([]) == []
    assert centrality(["alone"]) == [1.0]
    found = centrality([f"sentence {n % 7} of boat" for n in range(BLOCK + 5)])
    assert len(found) == BLOCK + 5
    assert max(found[BLOCK:]) == 1.0
