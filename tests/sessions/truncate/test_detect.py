import pytest

from sessions.truncate import detect
from tests.sessions.truncate.samples import SAMPLES, WRONG


@pytest.mark.parametrize(("kind", "text"), SAMPLES)
def test_every_sample_is_taken_for_what_it_is(kind: str, text: str) -> None:
    assert detect(text) == kind


def test_what_is_taken_for_something_else_is_known() -> None:
    assert [(kind, detect(text)) for kind, text, _ in WRONG] == [
        ("log", "text"),  # the output of a build, with no time and few levels
        ("text", "code"),  # a configuration file: ``host = db-1``
    ]
    assert len(SAMPLES) + len(WRONG) == 110


def test_a_long_text_is_known_by_its_start_and_its_end() -> None:
    line = "2026-03-01 12:00:00 INFO shop.web GET /cart\n"
    assert detect(line * 20_000) == "log"
    assert detect("code;price\n" + "BX-1;10\n" * 100_000) == "table"


def test_one_enormous_line_is_plain_text() -> None:
    assert detect("x" * 1_000_000) == "text"


def test_deep_json_is_no_error() -> None:
    assert detect("[" * 100_000 + "]" * 100_000) == "text"
