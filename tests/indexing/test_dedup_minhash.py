"""MinHash: the estimate against the true overlap, bands, and the same bands everywhere."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from indexing.dedup import bands, signature, similarity
from indexing.dedup.minhash import ROWS, SIZE, shingles

ROOT = Path(__file__).parents[2]
WORDS = st.lists(
    st.sampled_from(["чай", "кофе", "лимон", "сахар", "tea", "coffee", "lemon"]), max_size=9
)


def test_shingles_are_the_pieces_of_words() -> None:
    assert shingles("Чай, 5.") == {" чай", "чай ", " 5 "}
    assert shingles("?!") == set()


@given(WORDS)
def test_order_and_case_of_words_do_not_matter(words: list[str]) -> None:
    one, other = signature(" ".join(words)), signature(" ".join(reversed(words)).upper())
    assert np.array_equal(one, other)
    assert bands(one) == bands(other)
    assert similarity(one, other) == (1.0 if words else 0.0)


def test_similarity_estimates_the_share_of_common_shingles() -> None:
    errors = []
    for shared in range(0, 60, 3):
        a = " ".join(f"a{i * 7919}" for i in range(60))
        b = " ".join(f"{'a' if i < shared else 'b'}{i * 7919}" for i in range(60))
        one, other = shingles(a), shingles(b)
        true = len(one & other) / len(one | other)
        errors.append(similarity(signature(a), signature(b)) - true)
    assert abs(np.mean(errors)) < 0.05
    assert np.abs(errors).max() < 0.25  # four standard errors of 64 permutations


def test_an_empty_signature_has_no_band_and_resembles_nothing() -> None:
    empty = signature("…")
    assert empty.shape == (0,)
    assert list(bands(empty)) == []
    assert similarity(empty, empty) == 0.0


def test_strangers_share_no_band() -> None:
    one, other = signature("Люблю зелёный чай"), signature("The budget is 500 dollars")
    assert len(bands(one)) == SIZE // ROWS
    assert set(bands(one)).isdisjoint(bands(other))


def test_bands_are_the_same_in_another_process() -> None:
    text = "Заказан артикул BX-4471-A"
    code = f"from indexing.dedup import *; print(*bands(signature({text!r})))"
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONIOENCODING": "utf-8"}
    told = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    assert told.stdout.decode().split() == list(bands(signature(text)))


def test_bands_are_stored_so_they_never_change() -> None:
    stored = ["0:a3a559c3", "1:c77d172f", "2:3d3e4478"]
    assert list(bands(signature("green tea")))[:3] == stored
