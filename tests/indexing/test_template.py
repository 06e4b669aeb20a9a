"""Headers, dates, the blend of two views, and what has to be embedded."""

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunking.tokens import count, tiktoken_spans
from chunking.turns import turns
from chunking.types import Chunk, Session, Turn
from indexing.template import (
    HEADER_TOKENS,
    JOIN_TOKENS,
    Factors,
    Views,
    blend,
    clip,
    day,
    dense_texts,
    sparse_fields,
    views,
)

SPANS = tiktoken_spans()
AT = datetime(2026, 5, 8, 23, 30, tzinfo=timezone(timedelta(hours=3)))


def chunk(text: str = "Текст.", **fields: object) -> Chunk:
    return Chunk("s", 0, 0, len(text), text, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "dense", "before"),
    [
        (chunk("Bare."), "Bare.", ""),
        (chunk("Body.", title="Doc"), "Doc: Body.", ""),
        (chunk("Body.", title="Doc", headings=("Doc", "Part")), "Doc › Part: Body.", ""),
        (chunk("Body.", headings=("A", "B")), "A › B: Body.", ""),
        (chunk("hi", speaker="Ann", role="user"), "Ann: hi", ""),
        (chunk("hi", role="assistant"), "assistant: hi", ""),
        (chunk("hi", role="user", at=AT), "8 May 2026 user: hi", ""),
        (chunk("привет", role="user", at=AT), "8 мая 2026 user: привет", ""),
        (chunk("hi", speaker="Аня", at=AT), "8 мая 2026 Аня: hi", ""),
        (chunk("hi", role="user", before="bot: да?"), "user: hi", "bot: да?"),
        (
            chunk("hi", role="user", at=AT, before="bot: да?"),
            "8 May 2026 user: hi",
            "8 мая 2026 bot: да?",
        ),
    ],
)
def test_a_chunk_is_told_with_who_when_and_where(made: Chunk, dense: str, before: str) -> None:
    view = views(made, SPANS)
    assert (view.dense, view.dense_before) == (dense, before)
    assert (view.text, view.before) == (made.text, made.before)


def test_a_header_is_cut_and_the_text_is_not() -> None:
    made = chunk("слово " * 300, title="очень длинный заголовок " * 100)
    view = views(made, SPANS)
    assert count(view.header, SPANS) == HEADER_TOKENS
    assert made.title.startswith(view.header)
    assert view.dense == f"{view.header}: {made.text}"


@given(st.text(min_size=1, max_size=400), st.text(min_size=1, max_size=400))
def test_a_header_adds_no_more_tokens_than_there_is_room_for(title: str, text: str) -> None:
    view = views(chunk(text, title=title), SPANS)
    added = count(view.dense, SPANS) - count(text, SPANS)
    assert added <= HEADER_TOKENS + JOIN_TOKENS


def test_a_file_name_is_found_by_its_words_only() -> None:
    shown = views(chunk("x", headings=("Оплата",)), SPANS, name="refund-policy")
    assert (shown.dense, shown.header) == ("Оплата: x", "refund-policy Оплата")
    titled = chunk("x", title="Возвраты", headings=("Оплата",))
    assert views(titled, SPANS, name="refund-policy") == views(titled, SPANS)


@given(st.text(max_size=80), st.integers(1, 20))
def test_clip_keeps_a_beginning_of_so_many_tokens(text: str, limit: int) -> None:
    kept = clip(text, SPANS, limit)
    assert text.startswith(kept)
    assert (kept == text) == (len(SPANS(text)) <= limit or SPANS(text)[limit - 1][1] == len(text))


@pytest.mark.parametrize(
    ("month", "english", "russian"),
    [
        (1, "January", "января"),
        (3, "March", "марта"),
        (8, "August", "августа"),
        (12, "December", "декабря"),
    ],
)
def test_dates_are_in_the_language_of_the_text(month: int, english: str, russian: str) -> None:
    moment = datetime(2026, month, 1, tzinfo=UTC)
    assert day(moment, "hi") == f"1 {english} 2026"
    assert day(moment, "hi, Аня") == f"1 {russian} 2026"


def test_dates_are_in_their_own_time_zone() -> None:
    assert day(datetime(2026, 5, 9, 0, 30, tzinfo=timezone(timedelta(hours=3))), "") == "9 May 2026"


def test_blend_is_the_normalised_weighted_sum() -> None:
    own, before = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    length = (1.0**2 + 0.5**2) ** 0.5
    assert blend(own, before, 0.5).tolist() == pytest.approx([1.0 / length, 0.5 / length])
    assert blend(own, None, 0.5) is own
    assert blend(own, before, 0.0) is own


def test_blend_of_opposite_views_keeps_its_own() -> None:
    own = np.array([1, 0], np.float32)
    assert blend(own, -own, 1.0).tolist() == [1.0, 0.0]


def test_sparse_fields_count_the_turn_before_by_its_factor() -> None:
    view = Views("", "", "Ann", "hi", "bot: yes")
    assert sparse_fields(view, Factors()) == [("Ann", 1.0), ("hi", 1.0), ("bot: yes", 0.5)]
    assert sparse_fields(view, Factors(sparse_before=0.0)) == [("Ann", 1.0), ("hi", 1.0)]
    assert sparse_fields(Views("", "", "", "hi", ""), Factors()) == [("hi", 1.0)]


def session(*said: tuple[str, str]) -> Session:
    made = [
        Turn(str(i), "user", text, speaker, AT + timedelta(minutes=i) - timedelta(hours=1))
        for i, (speaker, text) in enumerate(said)
    ]
    return Session("s", tuple(made))


def test_in_a_session_nothing_is_embedded_twice() -> None:
    made = session(("Аня", "Где заказ?"), ("Bot", "It is on its way."), ("Аня", "  Спасибо!\n"))
    found = [views(c, SPANS) for c in turns(made, SPANS)]
    assert [view.dense_before for view in found[1:]] == [view.dense for view in found[:-1]]
    assert dense_texts(found) == [view.dense for view in found]


def test_dense_texts_are_each_once_and_in_order() -> None:
    a, b = Views("own", "before", "", "", ""), Views("other", "own", "", "", "")
    assert dense_texts([a, b, a]) == ["before", "own", "other"]
    assert dense_texts([]) == []
