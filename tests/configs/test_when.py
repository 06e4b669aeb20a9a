"""How often something runs: intervals, cron lines, never; and what is neither."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.settings import load
from configs.when import UNITS, when
from indexing.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15m", timedelta(minutes=15)),
        (" 1.5 h ", timedelta(minutes=90)),
        ("2w", timedelta(days=14)),
        ("0 3 * * *", "0 3 * * *"),
        ("*/5  9-17 * * mon-fri", "*/5 9-17 * * mon-fri"),
        ("", None),
        ("  ", None),
    ],
)
def test_what_is_written_is_what_is_meant(text: str, expected: object) -> None:
    assert when(text) == expected


@pytest.mark.parametrize(
    "text", ["daily", "15", "m", "0s", "9999w", "* * * *", "0 3 * * ; ls", "-5m"]
)
def test_what_is_neither_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match=r"interval"):
        when(text)


@given(st.integers(1, 50), st.sampled_from(sorted(UNITS)))
def test_an_interval_is_its_number_of_units(number: int, unit: str) -> None:
    assert when(f"{number}{unit}") == timedelta(**{UNITS[unit]: number})


@given(st.text(max_size=30))
def test_any_text_is_one_of_three_or_refused(text: str) -> None:
    try:
        found = when(text)
    except ValueError:
        return
    assert found is None or isinstance(found, str | timedelta)


def test_a_wrong_schedule_is_refused_by_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LETOPIS_SCHEDULE__EXPIRE", "sometimes")
    with pytest.raises(ConfigError, match=r"schedule\.expire: 'sometimes' is neither"):
        load()
