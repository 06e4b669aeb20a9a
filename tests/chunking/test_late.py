"""Windows that join without a seam, and token vectors pooled over exact spans."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunking.errors import ChunkingError
from chunking.late import Floats, Spans, Window, covering, plan, pool
from chunking.types import TokenSpans

TEXTS = st.text(st.sampled_from("а бв. гd\n!"), max_size=400)
WORDS = "one two three four five six seven eight nine ten"


def spans_of(text: str, spans: TokenSpans) -> Spans:
    return np.array(spans(text), np.int64).reshape(-1, 2)


def joined(windows: tuple[Window, ...], tokens: Spans, said: Floats) -> Floats:
    """Return the vector of each token, where every token of window ``i`` says ``said[i]``."""
    out = np.zeros((len(tokens), said.shape[1]), np.float32)
    for window, vector in zip(windows, said, strict=True):
        inside = (tokens[:, 0] < window.end) & (tokens[:, 1] > window.start)
        here = tokens[inside]
        added, _ = pool(window, here, np.tile(vector, (len(here), 1)), tokens)
        out += added
    return out


# windows


def test_a_text_that_fits_is_one_window_whose_share_is_all(words: TokenSpans) -> None:
    (window,) = plan(f"  {WORDS} \n", words, size=10, overlap=3)
    assert window == Window(2, 2 + len(WORDS), 2, 2 + len(WORDS))
    assert window.share(np.array([2.0, 20.0, 1.0 + len(WORDS)])).tolist() == [1, 1, 1]


def test_windows_spelled_out(words: TokenSpans) -> None:
    first, second, third = plan("a b c d e f g h", words, size=4, overlap=2)
    assert first == Window(0, 7, 0, 4)  # a b c d; c and d are also in the next
    assert second == Window(4, 11, 7, 8)
    assert third == Window(8, 15, 11, 15)
    at = np.array([0.5, 4.0, 5.5, 7.0, 9.5])
    assert first.share(at).tolist() == [1, 1, 0.5, 0, 0]
    assert second.share(at).tolist() == [0, 0, 0.5, 1, 0.5]


def test_a_blank_text_has_no_window(words: TokenSpans) -> None:
    assert plan("", words, 8, 2) == plan(" \n ", words, 8, 2) == ()


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (4, 4), (4, -1)])
def test_windows_that_cannot_be_are_refused(words: TokenSpans, size: int, overlap: int) -> None:
    with pytest.raises(ChunkingError):
        plan("a b", words, size, overlap)


@given(TEXTS, st.integers(2, 12), st.data())
def test_windows_fit_cover_and_share_every_token(
    spans: TokenSpans, text: str, size: int, data: st.DataObject
) -> None:
    windows = plan(text, spans, size, data.draw(st.integers(1, size - 1)))
    assert all(len(spans(text[w.start : w.end])) <= size for w in windows)
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(windows))
    solid = np.array([i for i, letter in enumerate(text) if not letter.isspace()])
    shares = [window.share(solid + 0.5) for window in windows]
    for window, share in zip(windows, shares, strict=True):
        outside = (solid + 0.5 < window.start) | (solid + 0.5 > window.end)
        assert (share >= 0).all()
        assert (share[outside] == 0).all()
    if len(solid):
        np.testing.assert_allclose(np.sum(shares, axis=0), 1, atol=1e-5)


@given(TEXTS, st.integers(0, 400), st.integers(1, 80))
def test_covering_is_every_window_that_shares_a_character(
    spans: TokenSpans, text: str, start: int, length: int
) -> None:
    windows = plan(text, spans, 6, 3)
    expected = [w for w in windows if w.start < start + length and w.end > start]
    assert list(covering(windows, start, start + length)) == expected


# pooling


def test_pooling_spelled_out() -> None:
    window = Window(0, 7, 0, 7)
    tokens = np.array([[0, 3], [4, 7]])  # "one two"
    vectors = np.array([[2, 0], [0, 3]], np.float32)
    chunks = np.array([[0, 3], [0, 7], [0, 5], [3, 4]])
    sums, counts = pool(window, tokens, vectors, chunks)
    assert sums.tolist() == [[2, 0], [2, 3], [2, pytest.approx(1.0)], [0, 0]]
    assert counts.tolist() == [1, 2, pytest.approx(4 / 3), 0]  # a third of "two" is in "one t"


def test_a_token_without_width_counts_for_nothing() -> None:
    vectors = np.ones((1, 2), np.float32)
    sums, counts = pool(Window(0, 3, 0, 3), np.array([[1, 1]]), vectors, np.array([[0, 3]]))
    assert (sums.tolist(), counts.tolist()) == ([[0, 0]], [0])


def test_vectors_without_their_spans_are_refused() -> None:
    with pytest.raises(ChunkingError, match="2 token vectors, but spans of shape"):
        pool(
            Window(0, 1, 0, 1), np.array([[0, 1]]), np.ones((2, 2), np.float32), np.array([[0, 1]])
        )


# the join rule


def test_from_one_window_to_the_next_vectors_change_in_small_equal_steps(
    words: TokenSpans,
) -> None:
    text = " ".join("w" * 40)
    windows = plan(text, words, size=25, overlap=10)
    assert len(windows) == 2
    tokens = spans_of(text, words)
    levels = joined(windows, tokens, np.array([[0], [1]], np.float32))[:, 0]
    assert (levels[0], levels[-1]) == (0, 1)
    steps = np.diff(levels)
    assert steps.min() >= 0
    assert steps.max() <= 1.1 / 10  # a seam would be one step of 1


def test_without_an_overlap_there_is_the_seam(words: TokenSpans) -> None:
    text = " ".join("w" * 40)
    windows = plan(text, words, size=25, overlap=0)
    tokens = spans_of(text, words)
    levels = joined(windows, tokens, np.array([[0], [1]], np.float32))[:, 0]
    assert np.diff(levels).max() == 1


@given(st.integers(30, 120), st.integers(6, 20), st.integers(0, 100), st.integers(2, 25), st.data())
def test_a_vector_does_not_jump_when_a_boundary_moves_by_one_token(
    words: TokenSpans, count: int, size: int, first: int, length: int, data: st.DataObject
) -> None:
    text = " ".join("w" * count)
    tokens = spans_of(text, words)
    first = min(first, count - length - 1)
    windows = plan(text, words, size, size // 2)
    seed = data.draw(st.integers(0, 99))
    said = np.random.default_rng(seed).normal(size=(len(windows), 4)).astype(np.float32)
    vectors = joined(windows, tokens, said)
    start, ends = tokens[first, 0], tokens[first + length - 1 : first + length + 1, 1]
    chunks = np.array([[start, end] for end in ends])
    total, counts = np.zeros((2, 4)), np.zeros(2)
    for window, vector in zip(windows, said, strict=True):
        inside = (tokens[:, 0] < window.end) & (tokens[:, 1] > window.start)
        here = tokens[inside]
        sums, found = pool(window, here, np.tile(vector, (len(here), 1)), chunks)
        total += sums
        counts += found
    np.testing.assert_allclose(counts, [length, length + 1], rtol=1e-5)
    before, after = total / counts[:, None]
    largest = np.linalg.norm(vectors, axis=1).max()
    assert np.linalg.norm(after - before) <= 2 * largest / (length + 1) + 1e-5
