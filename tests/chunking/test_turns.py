from datetime import UTC, datetime

import pytest

from chunking.errors import ChunkingError
from chunking.turns import turns
from chunking.types import Chunk, Session, TokenSpans, Turn

AT = datetime(2024, 5, 1, 12, tzinfo=UTC)


def test_a_turn_is_a_chunk_with_the_turn_before(words: TokenSpans) -> None:
    session = Session(
        "s",
        (
            Turn("t1", "user", "Где мой заказ?", "Анна", AT),
            Turn("t2", "assistant", "  В пути.\n"),
            Turn("t3", "user", "Спасибо!", "Анна"),
        ),
    )
    assert turns(session, words) == [
        Chunk("t1", 0, 0, 14, "Где мой заказ?", speaker="Анна", role="user", at=AT),
        Chunk("t2", 0, 2, 9, "В пути.", role="assistant", before="Анна: Где мой заказ?"),
        Chunk("t3", 0, 0, 8, "Спасибо!", speaker="Анна", role="user", before="assistant: В пути."),
    ]


def test_blank_turns_are_skipped(words: TokenSpans) -> None:
    session = Session(
        "s",
        (
            Turn("t1", "user", " \n"),
            Turn("t2", "user", "Hi", "Ann"),
            Turn("t3", "tool", ""),
            Turn("t4", "user", "Bye", "Bob"),
        ),
    )
    assert [(c.source_id, c.before) for c in turns(session, words)] == [
        ("t2", ""),
        ("t4", "Ann: Hi"),
    ]


def test_a_long_turn_is_cut_and_every_part_has_the_turn_before(words: TokenSpans) -> None:
    session = Session(
        "s", (Turn("t1", "user", "Go", "Ann"), Turn("t2", "user", "a b c d e", "Bob"))
    )
    parts = [c for c in turns(session, words, size=3, overlap=1) if c.source_id == "t2"]
    assert [(c.ordinal, c.text, c.before) for c in parts] == [
        (0, "a b c", "Ann: Go"),
        (1, "c d e", "Ann: Go"),
    ]


@pytest.mark.parametrize(("limit", "before"), [(0, ""), (2, "Ann: d e"), (5, "Ann: a b c d e")])
def test_of_a_long_turn_the_end_is_before_the_next(
    words: TokenSpans, limit: int, before: str
) -> None:
    session = Session(
        "s", (Turn("t1", "user", "a b c d e", "Ann"), Turn("t2", "user", "Hm", "Bob"))
    )
    assert turns(session, words, before_tokens=limit)[-1].before == before


def test_of_a_text_without_spaces_the_end_starts_inside_a_word(spans: TokenSpans) -> None:
    said = "明天下午三点在办公室见面讨论合同的细节" * 9 + " ok"
    session = Session("s", (Turn("t1", "user", said, "Li"), Turn("t2", "user", "好", "Wu")))
    before = turns(session, spans, before_tokens=12)[-1].before.removeprefix("Li: ")
    assert said.endswith(before)
    assert len(before) > 2


def test_nothing_crosses_sessions(words: TokenSpans) -> None:
    turns(Session("s1", (Turn("t1", "user", "secret", "Ann"),)), words)
    (chunk,) = turns(Session("s2", (Turn("t2", "user", "hello", "Bob"),)), words)
    assert chunk.before == ""


def test_an_empty_session_gives_nothing(words: TokenSpans) -> None:
    assert turns(Session("s", ()), words) == []


@pytest.mark.parametrize(
    ("size", "overlap", "before_tokens"), [(0, 0, 0), (4, 4, 0), (4, -1, 0), (4, 0, -1)]
)
def test_limits_that_cannot_be(
    words: TokenSpans, size: int, overlap: int, before_tokens: int
) -> None:
    with pytest.raises(ChunkingError):
        turns(Session("s", ()), words, size, overlap, before_tokens)
