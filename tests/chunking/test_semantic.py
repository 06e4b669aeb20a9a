import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from chunking.errors import ChunkingError
from chunking.semantic import semantic
from chunking.types import Document, Heading, TokenSpans

_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)


def document(text: str) -> Document:
    headings = (Heading(m.start(), len(m[1]), m[2]) for m in _HEADING.finditer(text))
    return Document("d", text, headings=tuple(headings))


def pairs(text: str, spans: TokenSpans, size: int) -> list[tuple[str, tuple[str, ...]]]:
    return [(chunk.text, chunk.headings) for chunk in semantic(document(text), spans, size)]


def test_sections_are_chunks_with_their_path(words: TokenSpans) -> None:
    text = "# Доставка\n\nМы возим всё.\n\n## Сроки\n\nТри дня.\n\n# Возврат\n\nДве недели."
    assert pairs(text, words, 8) == [
        ("# Доставка\n\nМы возим всё.", ("Доставка",)),
        ("## Сроки\n\nТри дня.", ("Доставка", "Сроки")),
        ("# Возврат\n\nДве недели.", ("Возврат",)),
    ]


def test_a_heading_without_text_joins_the_deeper_one(words: TokenSpans) -> None:
    text = "# A\n\n## B\n\none two three\n\n# C\n\n# D\n\nfour five"
    assert pairs(text, words, 8) == [
        ("# A\n\n## B\n\none two three", ("A", "B")),
        ("# C", ("C",)),
        ("# D\n\nfour five", ("D",)),
    ]


def test_a_tiny_section_joins_the_next_sibling(words: TokenSpans) -> None:
    text = "# Log\n\nAll that was done here in this year.\n\n## 1.1\n\nFix.\n\n## 1.0\n\nFirst one."
    assert pairs(text, words, 40) == [
        ("# Log\n\nAll that was done here in this year.", ("Log",)),
        ("## 1.1\n\nFix.\n\n## 1.0\n\nFirst one.", ("Log",)),
    ]


def test_a_tiny_section_never_joins_its_parents_sibling(words: TokenSpans) -> None:
    text = "# A\n\none two three four five six\n\n## B\n\nx\n\n# C\n\ny"
    assert [path for _, path in pairs(text, words, 40)] == [("A",), ("A", "B"), ("C",)]


def test_a_tiny_text_before_the_first_heading_takes_its_path(words: TokenSpans) -> None:
    assert pairs("Updated today.\n\n# A\n\none two", words, 40) == [
        ("Updated today.\n\n# A\n\none two", ("A",))
    ]


def test_paragraphs_are_packed_evenly(words: TokenSpans) -> None:
    text = "\n\n".join(["a b c."] * 4)
    assert [chunk for chunk, _ in pairs(text, words, 9)] == ["a b c.\n\na b c."] * 2


def test_a_long_paragraph_is_cut_between_sentences(words: TokenSpans) -> None:
    text = "# H\nВ 2020 г. открыли офис. Потом т. е. позже, закрыли. Всё."
    assert pairs(text, words, 8) == [
        ("# H\nВ 2020 г. открыли офис.", ("H",)),
        ("Потом т. е. позже, закрыли. Всё.", ("H",)),
    ]


def test_a_long_sentence_is_cut_as_fixed_does_and_the_heading_goes_with_it(
    words: TokenSpans,
) -> None:
    text = "# A long heading here\n\na b c d e f g"
    chunks = [chunk for chunk, _ in pairs(text, words, 6)]
    assert chunks == ["# A long heading here\n\na", "b c d e f g"]


def test_code_and_tables_stay_whole_while_they_fit(words: TokenSpans) -> None:
    code = "```py\nx = 1\n\ny = 2\n```"
    table = "| a | b |\n| - | - |\n| 1 | 2 |"
    text = f"One two three.\n\n{code}\n\nFour five.\n{table}\nSix seven."
    chunks = [chunk for chunk, _ in pairs(text, words, 16)]
    assert any(code in chunk for chunk in chunks)
    assert any(table in chunk for chunk in chunks)


def test_code_that_does_not_fit_is_cut_at_lines(words: TokenSpans) -> None:
    lines = [f"a{i} = {i}" for i in range(8)]
    text = "```\n" + "\n".join(lines) + "\n```"
    chunks = [chunk for chunk, _ in pairs(text, words, 8)]
    assert len(chunks) > 1
    assert all(line in lines or line == "```" for chunk in chunks for line in chunk.split("\n"))


@settings(deadline=None, derandomize=True)
@given(
    lines=st.lists(st.sampled_from(["# A", "## B", "### C", "one two.", "a b c d e f. G h.", ""])),
    size=st.integers(8, 40),
)
def test_a_heading_is_alone_only_in_an_empty_section(
    words: TokenSpans, lines: list[str], size: int
) -> None:
    text = "\n".join(lines)
    for chunk in semantic(document(text), words, size):
        if all(line.startswith("#") or not line for line in chunk.text.split("\n")):
            level = len(chunk.text.split("\n")[-1].split()[0])
            after = text[chunk.end :].lstrip()
            assert not after or (after.startswith("#") and len(after.split()[0]) <= level)


def cats_and_ships(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.array([[1, 0] if "cat" in text else [0, 1] for text in texts], np.float32)


def test_a_drift_of_topic_is_a_cut(words: TokenSpans) -> None:
    text = "The cat eats. A cat sleeps. My cat runs. A ship sails. The ship sinks. No ship left."
    cut = semantic(Document("d", text), words, 64, cats_and_ships)
    assert [chunk.text for chunk in cut] == [text[:40], text[41:]]


def test_one_topic_is_one_chunk(words: TokenSpans) -> None:
    text = "The cat eats. A cat sleeps. My cat runs. A cat sails. The cat sinks. No cat left."
    assert len(semantic(Document("d", text), words, 64, cats_and_ships)) == 1


@pytest.mark.parametrize("drift", [-1.0, float("nan")])
def test_a_drift_that_cannot_be(words: TokenSpans, drift: float) -> None:
    with pytest.raises(ChunkingError):
        semantic(Document("d", "a"), words, 8, drift=drift)


def test_a_size_that_cannot_be(words: TokenSpans) -> None:
    with pytest.raises(ChunkingError):
        semantic(Document("d", "a"), words, 0)


def test_a_wrong_number_of_vectors_is_named(words: TokenSpans) -> None:
    with pytest.raises(ChunkingError, match="encode got 2 texts"):
        semantic(Document("d", "One. Two."), words, 8, lambda texts: np.ones((1, 2), np.float32))


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_blank_document_gives_nothing(words: TokenSpans, text: str) -> None:
    assert semantic(Document("d", text, headings=(Heading(0, 1, ""),)), words) == []
