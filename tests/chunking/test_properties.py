"""What holds for every chunker, tokenizer and text."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunking.fixed import fixed
from chunking.semantic import semantic
from chunking.sentences import sentences
from chunking.tokens import count
from chunking.turns import turns
from chunking.types import Chunk, Document, Heading, Session, TokenSpans, Turn

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
FRAGMENTS = [
    *(" ", "\n", "\n\n", "\r\n", "\r\n\r\n", "\r", "\t", "\u00a0", "\x00", "\u200d", "\ufeff"),
    *("Привет, мир!", "т. е. ", "А. С. Пушкин", "v2.18.3. ", "Dr. No", "… ", "«Да!» — ", "ё", "й"),
    *("שלום עולם ", "مرحبا", "中文。", "½", "ﬁ", "ﷺ", "a" * 40, "слово" * 9, "! ", ". ", "? Then "),
    *(FAMILY, "🇷🇺🇩🇪🇫🇷", "👍🏽", "e\u0301\u0323", "и\u0306", "\u0301", "1\ufe0f\u20e3", "\ud800"),
    *(
        "# Title\n",
        "## Part\n",
        "```\ncode\n\n  x = 1\n```\n",
        "| a | b |\n| - | - |\n",
        "- item\n",
    ),
]
TEXTS = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=6), max_size=40).map("".join)
SIZES = st.integers(1, 24)
run = settings(
    deadline=None,
    max_examples=60,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


@st.composite
def documents(draw: st.DrawFn) -> Document:
    text = draw(TEXTS)
    starts = [0, *(i + 1 for i, char in enumerate(text) if char == "\n")]
    some = draw(st.lists(st.sampled_from(starts), unique=True, max_size=5))
    return Document(
        source_id="d",
        text=text,
        title="T",
        headings=tuple(Heading(start, draw(st.integers(1, 3)), f"h{start}") for start in some),
    )


def assert_sound(
    chunks: list[Chunk], text: str, spans: TokenSpans, size: int, again: list[Chunk]
) -> None:
    covered = 0
    for ordinal, chunk in enumerate(chunks):
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text == chunk.text.strip() != ""
        assert count(chunk.text, spans) <= size
        assert chunk.ordinal == ordinal
        assert not text[covered : chunk.start].strip()
        assert chunk.end > covered
        covered = chunk.end
    assert not text[covered:].strip()
    assert [chunk.start for chunk in chunks] == sorted({chunk.start for chunk in chunks})
    assert chunks == again


@run
@given(text=TEXTS)
def test_spans_are_ordered_apart_and_not_empty(spans: TokenSpans, text: str) -> None:
    stop = 0
    for start, end in spans(text):
        assert stop <= start < end <= len(text)
        stop = end
    assert list(spans(text)) == list(spans(text))


@run
@given(document=documents(), size=SIZES, overlap=st.integers(0, 23))
def test_fixed(spans: TokenSpans, document: Document, size: int, overlap: int) -> None:
    overlap = min(overlap, size - 1)
    chunks = fixed(document, spans, size, overlap)
    assert_sound(chunks, document.text, spans, size, fixed(document, spans, size, overlap))


@run
@given(document=documents(), size=SIZES)
def test_semantic(spans: TokenSpans, document: Document, size: int) -> None:
    chunks = semantic(document, spans, size)
    assert_sound(chunks, document.text, spans, size, semantic(document, spans, size))
    assert all(a.end <= b.start for a, b in pairwise(chunks))


def letters(texts: Sequence[str]) -> NDArray[np.float32]:
    """Encode a text as the unit vector of how often it has each of eight kinds of character."""
    counts = [
        [1 + sum(ord(char) % 8 == kind for char in text) for kind in range(8)] for text in texts
    ]
    found = np.array(counts, np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@run
@given(document=documents(), size=SIZES, drift=st.floats(0, 3))
def test_semantic_with_topics(
    spans: TokenSpans, document: Document, size: int, drift: float
) -> None:
    chunks = semantic(document, spans, size, letters, drift)
    assert_sound(
        chunks, document.text, spans, size, semantic(document, spans, size, letters, drift)
    )
    assert all(a.end <= b.start for a, b in pairwise(chunks))


@run
@given(texts=st.lists(TEXTS, max_size=4), size=SIZES, before=st.integers(0, 9))
def test_turns(spans: TokenSpans, texts: list[str], size: int, before: int) -> None:
    said = [Turn(f"t{i}", "user", text, f"S{i}") for i, text in enumerate(texts)]
    session = Session("s", tuple(said))
    chunks = turns(session, spans, size, size // 2, before)
    again = turns(session, spans, size, size // 2, before)
    previous = ""
    for turn in said:
        own = [chunk for chunk in chunks if chunk.source_id == turn.turn_id]
        same = [chunk for chunk in again if chunk.source_id == turn.turn_id]
        assert_sound(own, turn.text, spans, size, same)
        for chunk in own:
            speaker, _, tail = chunk.before.partition(": ")
            assert count(tail, spans) <= before
            assert speaker == (previous if tail else "")
        previous = turn.speaker if own else previous


@run
@given(text=TEXTS)
def test_sentences_cover_the_text(text: str) -> None:
    covered = 0
    for start, end in sentences(text):
        assert text[start:end] == text[start:end].strip() != ""
        assert not text[covered:start].strip()
        assert covered <= start
        covered = end
    assert not text[covered:].strip()


@pytest.mark.parametrize("cluster", [FAMILY, "e\u0301\u0323", "🇷🇺", "👍🏽", "1\ufe0f\u20e3", "й"])
@pytest.mark.parametrize("glue", ["", " ", "\r\n"])
def test_clusters_stay_whole(spans: TokenSpans, cluster: str, glue: str) -> None:
    text = glue.join([cluster] * 40)
    size = max(count(cluster, spans), count(cluster + glue, spans)) + 2
    for overlap in (0, 1):
        for chunk in fixed(Document("d", text), spans, size, overlap):
            assert chunk.text.replace(cluster, "").strip() == ""
