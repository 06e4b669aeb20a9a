import time
from datetime import UTC, datetime

import pytest

from chunking.errors import ChunkingError
from chunking.fixed import fixed
from chunking.tokens import count, tiktoken_spans
from chunking.types import Document, Heading, TokenSpans


def texts(text: str, words: TokenSpans, size: int, overlap: int = 0) -> list[str]:
    return [chunk.text for chunk in fixed(Document("d", text), words, size, overlap)]


def test_a_window_ends_at_a_sentence_in_its_last_quarter(words: TokenSpans) -> None:
    text = "a b c d e f g. H i j k l m n"
    assert texts(text, words, 8) == ["a b c d e f g.", "H i j k l m n"]


def test_a_paragraph_wins_over_a_later_sentence(words: TokenSpans) -> None:
    text = "a b c d e f g h i j k l m n\n\nO. P q r"
    assert texts(text, words, 16) == ["a b c d e f g h i j k l m n", "O. P q r"]


def test_without_a_better_place_it_ends_at_a_word(words: TokenSpans) -> None:
    assert texts("a b c d e f g", words, 3) == ["a b c", "d e f", "g"]


def test_neighbours_share_whole_words(words: TokenSpans) -> None:
    assert texts("a b c d e f g", words, 4, 2) == ["a b c d", "c d e f", "e f g"]


def test_a_text_that_fits_is_one_chunk_without_the_space_around(words: TokenSpans) -> None:
    (chunk,) = fixed(Document("d", "\n  a b \n"), words, 2, 1)
    assert (chunk.start, chunk.end, chunk.text) == (3, 6, "a b")


def test_a_long_word_is_cut_into_windows() -> None:
    spans = tiktoken_spans()
    word = "абракадабра" * 9_091
    start = time.perf_counter()
    chunks = fixed(Document("d", word), spans, 256, 64)
    assert time.perf_counter() - start < 5
    assert max(count(chunk.text, spans) for chunk in chunks) <= 256
    assert chunks[-1].end == len(word)


def test_a_chunk_carries_title_time_and_the_headings_at_its_start(words: TokenSpans) -> None:
    text = "intro one\n# A\nalpha beta\n## B\ngamma delta\n# C\nlast"
    at = datetime(2024, 5, 1, tzinfo=UTC)
    headings = tuple(
        Heading(text.index(f"# {name}") - (level - 1), level, name)
        for name, level in (("A", 1), ("B", 2), ("C", 1))
    )
    chunks = fixed(Document("d", text, "Guide", headings, "u", at), words, 4, 0)
    assert [(chunk.text, chunk.headings) for chunk in chunks] == [
        ("intro one\n# A", ()),
        ("alpha beta\n## B", ("A",)),
        ("gamma delta\n# C", ("A", "B")),
        ("last", ("C",)),
    ]
    assert {(chunk.title, chunk.at, chunk.source_id) for chunk in chunks} == {("Guide", at, "d")}


@pytest.mark.parametrize("text", ["", " \r\n\t\u00a0"])
def test_a_blank_document_gives_nothing(words: TokenSpans, text: str) -> None:
    assert fixed(Document("d", text), words) == []


def test_text_that_no_token_covers_is_kept() -> None:
    assert [c.text for c in fixed(Document("d", " \x00\x00 "), lambda text: [], 4, 0)] == [
        "\x00\x00"
    ]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (4, 4), (4, 5), (4, -1)])
def test_sizes_that_cannot_be(words: TokenSpans, size: int, overlap: int) -> None:
    with pytest.raises(ChunkingError):
        fixed(Document("d", "a"), words, size, overlap)


def test_a_large_text_takes_linear_time(words: TokenSpans) -> None:
    text = "Слово за словом, фраза за фразой. Then a line.\r\n" * 40_000
    start = time.perf_counter()
    assert len(fixed(Document("d", text), words)) > 1_000
    assert time.perf_counter() - start < 8


def test_a_chunk_knows_the_page_it_starts_on(words: TokenSpans) -> None:
    document = Document("d", "a b\nc d\ne f", pages=(0, 4, 8))
    assert [(c.text, c.page) for c in fixed(document, words, 3, 0)] == [
        ("a b\nc", 1),
        ("d\ne f", 2),
    ]
    assert [chunk.page for chunk in fixed(Document("d", "a b"), words, 4, 0)] == [0]
