"""Times that people type: with a zone as they are, without one by the setting, or refused."""

from datetime import UTC, datetime

import pytest

from indexing.errors import ConfigError, InvalidInput
from letopis.times import read_time

GOOD = {
    ("2027-01-31T18:00+03:00", ""): datetime(2027, 1, 31, 15, tzinfo=UTC),
    ("2027-01-31T18:00Z", "Europe/Moscow"): datetime(2027, 1, 31, 18, tzinfo=UTC),
    ("2027-01-31", "Europe/Moscow"): datetime(2027, 1, 30, 21, tzinfo=UTC),
    (" 2027-01-31 18:00 ", "UTC"): datetime(2027, 1, 31, 18, tzinfo=UTC),
    ("2026-07-01T12:00", "Europe/Berlin"): datetime(2026, 7, 1, 10, tzinfo=UTC),
    ("2026-12-01T12:00", "Europe/Berlin"): datetime(2026, 12, 1, 11, tzinfo=UTC),
    # an hour that comes twice is the first one, one that never comes is as if clocks had not moved
    ("2026-10-25T02:30", "Europe/Berlin"): datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
    ("2026-03-29T02:30", "Europe/Berlin"): datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
}


@pytest.mark.parametrize(("text", "zone"), GOOD)
def test_a_time_is_one_moment(text: str, zone: str) -> None:
    moment = read_time(text, "--at", zone)
    assert moment is not None
    assert moment.astimezone(UTC) == GOOD[text, zone]


def test_no_time_is_none() -> None:
    assert read_time(None, "--at", "") is None


@pytest.mark.parametrize("text", ["2027-01-31", "2027-01-31T18:00"])
def test_a_time_without_a_zone_is_refused_and_says_what_to_write(text: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_time(text, "--at", "")
    assert str(caught.value) == (
        f"--at '{text}' has no zone; write one, as 2027-01-31T18:00+03:00, or set ingest.timezone"
    )


@pytest.mark.parametrize(
    "text", ["", "tomorrow", "31.01.2027", "2027-02-30", "0001-01-01T00:00+14:00"]
)
def test_what_is_no_time_is_refused_by_the_name_of_the_option(text: str) -> None:
    with pytest.raises(InvalidInput, match="--until"):
        read_time(text, "--until", "UTC")


def test_an_unknown_zone_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigError, match="names no time zone"):
        read_time("2027-01-31", "--at", "Mars/Olympus")
