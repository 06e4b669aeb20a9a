"""Digests of many sessions as one text: the older, the shorter."""

from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from sessions.ageing import AgeingPolicy, aged
from sessions.digest_text import as_text
from sessions.types import Digest, Line
from tests.sessions.spoken import START, line, words

POLICY = AgeingPolicy()


def _digest(name: str, age: timedelta, *lines: Line) -> Digest:
    ended: datetime = START - age
    return Digest(name, "u", 1, 9, ended, ended, ("a topic",), lines)


def _lines(name: str) -> tuple[Line, ...]:
    return (
        line("decision", f"We take {name}.", 1),
        line("fact", f"The code of {name} is 7.", 2),
        *(
            line("other", f"{name} was said at length {n} times.", n, weight=n / 20)
            for n in range(3, 20)
        ),
    )


def test_the_last_hour_is_in_full() -> None:
    digest = _digest("s", timedelta(minutes=20), *_lines("Postgres"))
    assert aged([digest], START, POLICY, words).text == as_text(digest).text


def test_the_last_day_is_a_fifth_with_what_weighs_most() -> None:
    digest = _digest("s", timedelta(hours=5), *_lines("Postgres"))
    full = words(as_text(digest).text)
    cut = aged([digest], START, POLICY, words)
    assert full / 10 < words(cut.text) <= full / 5 + 10
    assert cut.dropped == full - words(cut.text)
    assert "We take Postgres." in cut.text
    assert "Postgres was said at length 19 times." in cut.text
    assert "Postgres was said at length 3 times." not in cut.text


def test_of_what_is_older_than_a_week_facts_and_decisions_are_left() -> None:
    promise = line("promise", "I will send it.", 30)
    digest = _digest("s", timedelta(days=8), *_lines("Postgres"), promise)
    text = aged([digest], START, POLICY, words).text
    assert [row for row in text.splitlines() if row.startswith("- ")] == [
        "- We take Postgres.",
        "- The code of Postgres is 7.",
    ]
    assert "a topic" not in text


def test_a_share_never_takes_facts_and_decisions() -> None:
    lines = [line("fact", f"The code of part {n} is {n}.", n) for n in range(1, 20)]
    text = aged([_digest("s", timedelta(days=3), *lines)], START, POLICY, words).text
    assert all(one.text in text for one in lines)


def test_a_later_session_ends_what_an_earlier_one_said_and_the_same_stands_once() -> None:
    first = _digest(
        "a",
        timedelta(days=9),
        line("fact", "I work at Northwest.", 1),
        line("fact", "My size is L.", 2),
    )
    last = _digest(
        "b",
        timedelta(hours=2),
        line("fact", "I work at Google.", 1),
        line("fact", "My size is L.", 2),
    )
    text = aged([last, first], START, POLICY, words).text
    assert "Northwest" not in text
    assert text.index("My size is L.") < text.index("I work at Google.")
    assert text.count("My size is L.") == 1


def test_a_digest_without_anything_left_is_not_shown() -> None:
    assert (
        aged([_digest("s", timedelta(days=9), line("other", "Hm.", 1))], START, POLICY, words).text
        == ""
    )
    assert aged([], START, POLICY, words).text == ""


_AGES = st.builds(timedelta, hours=st.integers(0, 400))


@given(st.lists(_AGES, max_size=8), st.integers(1, 300), st.randoms())
def test_is_capped_and_does_not_depend_on_the_order(
    ages: list[timedelta], cap: int, random: object
) -> None:
    digests = [_digest(f"s{n}", age, *_lines(f"P{n}")) for n, age in enumerate(ages)]
    cut = aged(digests, START, AgeingPolicy(cap_tokens=cap), words)
    assert words(cut.text) <= cap
    random.shuffle(digests)  # type: ignore[attr-defined]
    assert aged(digests, START, AgeingPolicy(cap_tokens=cap), words) == cut
