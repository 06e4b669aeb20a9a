from datetime import UTC, datetime
from pathlib import Path

import pytest

from evals.chat import is_turn, said, sessions
from evals.datasets import Entry, load
from evals.errors import DataMalformed


def test_a_conversation_is_cut_into_sessions_by_time(chats: Path) -> None:
    found = sessions(load("chats", chats).documents.values())
    assert {conv: [len(s.turns) for s in held] for conv, held in found.items()} == {
        "a": [2, 1],
        "b": [4],
    }
    first = found["a"][0]
    assert first.session_id == "1:56 pm on 8 May, 2023"
    assert [turn.turn_id for turn in first.turns] == ["a1", "a2"]
    assert first.turns[0].speaker == "Ann"
    assert first.turns[0].at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_a_caption_is_part_of_what_was_said() -> None:
    assert said(Entry("1", "Look!", extra={"blip_caption": "a dog"})) == "Look! [photo: a dog]"
    assert said(Entry("1", "Hi", extra={"blip_caption": None})) == "Hi"


def test_a_document_without_a_speaker_is_no_turn() -> None:
    assert is_turn(Entry("1", "Hi", extra={"conv": "a", "speaker": "Ann"}))
    assert not is_turn(Entry("1", "Hi", extra={"conv": "a"}))
    assert not is_turn(Entry("1", "Hi", extra={"speaker": "Ann"}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9, tzinfo=UTC)),
        ("2023-09-13T10:00:00+03:00", datetime(2023, 9, 13, 7, tzinfo=UTC)),
        ("2023-09-13T10:00:00", datetime(2023, 9, 13, 10, tzinfo=UTC)),
        ("", None),
    ],
)
def test_times_are_locomos_or_iso_in_utc(text: str, expected: datetime | None) -> None:
    entry = Entry("1", "Hi", extra={"conv": "a", "speaker": "Ann", "session_date_time": text})
    assert sessions([entry])["a"][0].turns[0].at == expected


def test_a_time_that_is_neither_is_named() -> None:
    extra = {"conv": "a", "speaker": "Ann", "session_date_time": "yesterday"}
    with pytest.raises(DataMalformed, match="document '7': session_date_time 'yesterday'"):
        sessions([Entry("7", "Hi", extra=extra)])
