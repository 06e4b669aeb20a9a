"""When a digest is due, what it takes up, and that what lasts is never lost."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.errors import ConfigError
from sessions.digest import DigestPolicy, due, fold, gather, merged, over_cap, to_fold, within
from sessions.digest_text import as_json, as_text
from sessions.types import LASTING, Digest, Line, LineKind, LoggedTurn
from tests.sessions.spoken import START, calling, line, result, talk, texts, words

POLICY = DigestPolicy(messages=6, keep=3, tokens=1000, cap_tokens=60)
NOW = START + timedelta(minutes=1)


def _digest(*lines: Line, number: int = 1, **more: object) -> Digest:
    through = max((one.seq for one in lines), default=0)
    return Digest("s", "u", number, through, START, START, (), tuple(lines), **more)  # type: ignore[arg-type]


def test_is_due_by_messages_then_keeps_the_last() -> None:
    turns = talk(*["Some words here."] * 7)
    assert due(turns[:6], POLICY, NOW) is None
    assert due(turns, POLICY, NOW) == "messages"
    assert [turn.seq for turn in to_fold(turns, POLICY, "messages")] == [1, 2, 3, 4]


def test_is_due_by_tokens_and_keeps_no_more_than_half_of_them() -> None:
    turns = [replace(turn, tokens=400) for turn in talk("a", "b", "c")]
    assert due(turns[:2], POLICY, NOW) is None
    assert due(turns, POLICY, NOW) == "tokens"
    assert [turn.seq for turn in to_fold(turns, POLICY, "tokens")] == [1, 2]


def test_is_due_when_idle_and_at_the_close_with_all_turns() -> None:
    turns = talk("One.", "Two.")
    assert due(turns, POLICY, NOW) is None
    assert due(turns, POLICY, NOW + POLICY.idle + timedelta(minutes=1)) == "idle"
    assert due(turns, POLICY, NOW, closing=True) == "close"
    assert to_fold(turns, POLICY, "idle") == to_fold(turns, POLICY, "close") == tuple(turns)
    assert due([], POLICY, NOW, closing=True) is None


def test_a_call_that_waits_stays_unless_the_session_is_closed() -> None:
    turns = [*talk("Look it up."), calling(2, "a", "b"), result(3, "a")]
    assert [turn.seq for turn in to_fold(turns, POLICY, "idle")] == [1]
    assert [turn.seq for turn in to_fold(turns, POLICY, "close")] == [1, 2, 3]


@pytest.mark.parametrize("wrong", [{"keep": 31}, {"keep": -1}, {"tokens": 0}, {"cap_tokens": 0}])
def test_a_policy_of_wrong_numbers_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        DigestPolicy(**wrong)


@st.composite
def _turns(draw: st.DrawFn) -> list[LoggedTurn]:
    """Talk with calls of one to three tools and all their results."""
    found: list[LoggedTurn] = []
    for _ in range(draw(st.integers(1, 8))):
        calls = [f"c{len(found)}-{n}" for n in range(draw(st.integers(0, 3)))]
        if not calls:
            found += talk("Some words.", start=len(found) + 1)
            continue
        found.append(calling(len(found) + 1, *calls))
        for call in draw(st.permutations(calls)):
            found.append(result(len(found) + 1, call))
    return found


@given(_turns(), st.integers(0, 6), st.integers(1, 60))
def test_no_digest_tears_a_call_from_its_results(
    turns: list[LoggedTurn], keep: int, tokens: int
) -> None:
    taken = to_fold(turns, DigestPolicy(messages=6, keep=keep, tokens=tokens), "messages")
    assert list(taken) == turns[: len(taken)]
    asked = {call.call_id for turn in taken for call in turn.entry.calls}
    assert asked == {turn.entry.call_id for turn in taken if turn.entry.role == "tool"}


def test_what_is_said_is_kept_word_for_word_and_greetings_are_not() -> None:
    turns = talk(
        "Hello there!",
        "Hi! How can I help?",
        "We decided to use Postgres for the orders service.",
        "Great, thanks!",
        "My budget is 300 000 rubles.",
    )
    digest = fold(None, turns, DigestPolicy(), words, session_id="s", user_id="u")
    assert (digest.number, digest.through) == (1, 5)
    assert (digest.started_at, digest.ended_at) == (turns[0].entry.at, turns[4].entry.at)
    assert "We decided to use Postgres for the orders service." in texts(digest.lines)
    assert "My budget is 300 000 rubles." in texts(digest.lines)
    assert not {"Hello there!", "Hi! How can I help?", "Great, thanks!"} & {*texts(digest.lines)}


def test_russian_is_kept_word_for_word() -> None:
    turns = talk(
        "Привет!",
        "Здравствуйте! Чем помочь?",
        "Решили взять Postgres вместо Mongo.",
        "Хорошо, записал.",
        "Мой бюджет 300 тысяч рублей.",
    )
    text = as_text(fold(None, turns, DigestPolicy(), words, session_id="s", user_id="u")).text
    assert "Решили взять Postgres вместо Mongo." in text
    assert "Мой бюджет 300 тысяч рублей." in text
    assert "Привет" not in text
    assert text.startswith("Сводка реплик 1–5, 3 мая 2026\n")


def test_twenty_digests_later_every_decision_number_and_name_is_there() -> None:
    facts = [f"The invoice of {name} is INV-{n}." for n, name in enumerate(["Anna", "Boris"] * 10)]
    policy = DigestPolicy(cap_tokens=80)
    digest: Digest | None = None
    said: list[str] = []
    seq = 1
    for number, fact in enumerate(facts):
        turns = talk(
            f"user: We decided to release version 2.{number} on 1{number % 10} May.",
            "assistant: Understood, the weather is fine and the coffee is hot.",
            f"user: {fact}",
            start=seq,
        )
        seq += len(turns)
        said += [turns[0].entry.text, fact]
        digest = fold(digest, turns, policy, words, session_id="s", user_id="u")
    assert digest is not None
    assert digest.number == 20
    kept = texts(digest.lines)
    assert [text for text in said if text not in kept] == []
    assert over_cap(digest, policy, words) > 0


_KINDS = st.sampled_from([*LASTING, "other", "outside"])
_TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
_LINES = st.lists(st.builds(line, _KINDS, _TEXT, st.integers(1, 99)), max_size=12)


@given(st.lists(_LINES, min_size=1, max_size=20), st.integers(1, 40))
def test_lasting_lines_of_any_text_outlive_any_number_of_digests(
    rounds: list[list[Line]], cap: int
) -> None:
    held: tuple[Line, ...] = ()
    for lines in rounds:
        before = [one for one in merged([*held, *lines]) if one.kind in LASTING]
        held = within(merged([*held, *lines]), cap, words)
        assert [one for one in held if one.kind in LASTING] == before
    assert merged(held) == held


def test_the_later_line_on_a_subject_ends_the_earlier() -> None:
    old, new = line("fact", "I work at Northwest.", 1), line("fact", "I work at Google.", 5)
    other = line("fact", "My wife works at Northwest.", 3)
    assert merged([old, new, other]) == (other, new)
    again = line("fact", "I work at Northwest.", 9)
    assert texts(merged([old, other, new, again])) == [other.text, again.text]


def test_a_decision_against_what_was_decided_ends_it() -> None:
    first = line("decision", "We decided on Postgres instead of MySQL.", 1)
    second = line("decision", "We switched from Postgres to CockroachDB.", 4)
    assert merged([first, second]) == (second,)


def test_the_assistant_does_not_end_what_the_user_says() -> None:
    own = line("fact", "My budget is 300.", 1)
    other = line("fact", "My budget is 500.", 2, role="assistant")
    assert merged([own, other]) == (own, other)


def test_the_same_words_stand_once_and_an_idea_with_its_answer_is_not_another_s() -> None:
    first, again = line("fact", "The code is A-1.", 1), line("fact", "the code is A-1", 7)
    assert merged([first, again]) == (first,)
    no = line("rejected", "No.", 3, of="Include archived projects?")
    other = line("rejected", "No.", 5, of="Send it by post?")
    assert merged([no, other]) == (no, other)
    light, lasting = line("other", "Version 2 it is.", 1), line("decision", "Version 2 it is.", 3)
    assert merged([light, lasting]) == (lasting,)


def test_an_open_question_leaves_with_its_answer() -> None:
    asked = gather(None, talk("Which database do we use for the orders service?"))
    assert [one.kind for one in asked] == ["unresolved"]
    digest = _digest(*asked)
    later = talk(
        "user: We decided to use Postgres as the database for the orders service.", start=3
    )
    left = gather(digest, later)
    assert [one.kind for one in left] == ["decision"]


def test_of_live_data_that_is_said_again_the_last_stays() -> None:
    said = [line("outside", "The price is 5.", seq, "tool") for seq in (2, 9)]
    assert merged(said) == (said[1],)
    facts = [line("fact", "The price is 5.", seq) for seq in (2, 9)]
    assert merged(facts) == (facts[0],)


def test_the_cap_takes_what_others_say_first_and_what_the_user_says_last() -> None:
    lasting = line("decision", "one two three four", 1)
    live = line("outside", "the price is 5", 2)
    light = line("other", "a b c d", 3, weight=0.1)
    heavy = line("other", "e f g h", 4, weight=0.9)
    theirs = replace(line("other", "i j k l", 5, weight=1.0), role="assistant")
    lines = (lasting, live, light, heavy, theirs)
    assert within(lines, 40, words) == lines
    assert within(lines, 32, words) == (lasting, live, light, heavy)
    assert within(lines, 24, words) == (lasting, light, heavy)
    assert within(lines, 16, words) == (lasting, heavy)
    assert within(lines, 1, words) == (lasting,)


def test_says_by_how_much_what_lasts_passes_the_cap() -> None:
    digest = _digest(line("decision", "one two three four", 1))
    assert over_cap(digest, DigestPolicy(cap_tokens=8), words) == 0
    assert over_cap(digest, DigestPolicy(cap_tokens=5), words) == 3


def test_text_is_dated_and_says_what_was_rejected() -> None:
    digest = _digest(
        line("decision", "We take Postgres.", 2),
        line("rejected", "No.", 4, of="Include archived projects?"),
        line("other", "The team likes it.", 6),
    )
    assert as_text(replace(digest, topics=("Postgres",))).text == (
        "Digest of turns 1–6, 3 May 2026\n"
        "Topics: Postgres\n"
        "Decisions:\n"
        "- We take Postgres.\n"
        "Rejected:\n"
        "- Include archived projects? — No.\n"
        "Also said:\n"
        "- The team likes it."
    )


def test_lines_have_their_own_day_where_there_are_several() -> None:
    digest = _digest(line("decision", "We take Postgres.", 2), line("fact", "It is 7.", 60 * 24))
    text = as_text(replace(digest, ended_at=START + timedelta(days=1))).text
    assert text == (
        "Digest of turns 1–1440, 3 May 2026 – 4 May 2026\n"
        "Decisions:\n- [3 May 2026] We take Postgres.\n"
        "Facts:\n- [4 May 2026] It is 7."
    )


@given(_LINES, st.integers(0, 80))
def test_text_fits_its_limit_and_is_the_same_each_time(lines: list[Line], limit: int) -> None:
    digest = _digest(*lines, summary="Some prose.")
    cut = as_text(digest, words, limit)
    assert words(cut.text) <= limit
    assert cut == as_text(digest, words, limit)
    whole = as_text(digest)
    assert (cut.text == whole.text) == (cut.dropped == 0)


def test_a_limit_takes_others_before_decisions_and_says_how_many() -> None:
    kinds: tuple[LineKind, ...] = ("other", "decision", "outside", "fact")
    digest = _digest(*(line(kind, f"It says {kind} here.", n) for n, kind in enumerate(kinds, 1)))
    cut = as_text(digest, words, 34)
    assert "decision here" in cut.text
    assert "fact here" in cut.text
    assert "other here" not in cut.text
    assert cut.text.endswith("more lines are left out)")
    assert cut.dropped > 0


def test_json_has_its_shape() -> None:
    digest = _digest(
        line("decision", "We take Postgres.", 2),
        line("unresolved", "Who pays?", 3),
        line("fact", "The code is A-1.", 4),
        line("other", "It rains.", 5),
    )
    found = as_json(digest)
    assert list(found)[:9] == [
        "session_id",
        "user_id",
        "started_at",
        "ended_at",
        "summary",
        "topics",
        "decisions",
        "unresolved",
        "facts",
    ]
    assert found["decisions"] == ["We take Postgres."]
    assert found["unresolved"] == ["Who pays?"]
    assert found["facts"] == ["The code is A-1."]
    assert found["summary"] == "It rains."
    assert found["started_at"] == "2026-05-03T09:00:00+00:00"
