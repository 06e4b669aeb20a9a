"""Critical facts: names and values word for word, the newest one, by code as by talk."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.errors import InvalidInput
from indexing.index import Index
from sessions.kept import note_history, read_notes
from sessions.log import TurnLog
from sessions.notes import SessionFacts, ended, note_turns, notes_of
from sessions.slots import slots_of
from sessions.types import Entry
from tests.conftest import FixedClock
from tests.sessions.spoken import START, entry, line, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("size: L", {"size": "L"}),
        ("Size L please.", {"size": "L"}),
        ("My size is L.", {"size": "L"}),
        ("The budget is 300 000", {"budget": "300 000"}),
        ("My budget is $2,500, my size is XL", {"budget": "$2,500", "size": "XL"}),
        ("размер L", {"size": "L"}),
        ("Бюджет 300 тысяч.", {"budget": "300 тысяч"}),
        ("У меня бюджет до 300 тысяч на всё", {"budget": "до 300 тысяч"}),
        ("Размер L, а дедлайн 15 мая", {"size": "L", "deadline": "15 мая"}),
        ("I work at Northwest", {"employer": "Northwest"}),
        ("Project code: BX-4471-A", {"project_code": "BX-4471-A"}),
        ("The API limit is 500 requests per minute", {"api limit": "500 requests per minute"}),
        ("We decided on Postgres instead of Mongo.", {"decision.mongo": "Postgres"}),
        ("What if the budget is 300?", {}),
        ("If my budget is 300, is it enough", {}),
        ("budget 300 or 400", {}),
        ("the file size 40", {}),
        ("It is 5 o'clock", {}),
        ("My phone is dead", {}),
        ("Hello there", {}),
        ("", {}),
    ],
)
def test_reads_names_and_values_of_plain_sentences(text: str, found: dict[str, str]) -> None:
    assert {slot.name: slot.value for slot in slots_of(text)} == found


_PIECE = st.sampled_from(
    [
        "my",
        "size",
        "L",
        "budget",
        "is",
        ":",
        "300",
        "000",
        "размер",
        "бюджет",
        "до",
        "and",
        ",",
        "—",
        "I",
    ]
)


@given(st.lists(_PIECE | st.text(max_size=5), max_size=10).map(" ".join))
def test_a_value_is_word_for_word_in_its_sentence(text: str) -> None:
    for slot in slots_of(text):
        assert slot.value
        assert slot.value in text


def test_the_newest_value_of_a_name_counts_and_says_its_turn() -> None:
    lines = [
        line("fact", "My budget is 500.", 7),
        line("fact", "My budget is 300.", 2),
        line("preference", "My favorite color is blue.", 3),
        line("other", "Size L please.", 5),
    ]
    found = [(note.name, note.value, note.kind, note.seq) for note in notes_of(lines)]
    assert found == [
        ("budget", "500", "fact", 7),
        ("favorite.color", "blue", "preference", 3),
        ("size", "L", "fact", 5),
    ]


def test_what_the_assistant_says_is_no_fact_of_the_user() -> None:
    assert notes_of([line("fact", "My budget is 500.", 2, role="assistant")]) == ()


def test_live_data_expires() -> None:
    (note,) = notes_of(
        [line("outside", "The team has 8 people.", 2, role="tool")], timedelta(hours=2)
    )
    assert (note.kind, note.value) == ("outside", "The team has 8 people.")
    assert note.expires_at == START + timedelta(minutes=2, hours=2)


def test_a_rejected_idea_is_recorded_and_never_a_fact() -> None:
    lines = [
        line("constraint", "Scope: Archived projects.", 1),
        line("rejected", "No.", 4, of="What if we include archived projects?"),
        line("constraint", "Scope: Archived projects.", 5),
        line("fact", "Size: L", 6),
    ]
    notes = notes_of(lines)
    assert [(note.kind, note.value) for note in notes] == [
        ("rejected", "What if we include archived projects?"),
        ("fact", "L"),
    ]


def test_what_the_user_ends_is_no_fact_any_more() -> None:
    lines = [
        line("fact", "I work at Northwest.", 1),
        line("fact", "I no longer work at Northwest.", 5),
    ]
    assert notes_of(lines) == ()
    assert ended(lines) == ("employer",)
    assert ended([*lines, line("fact", "I work at Google.", 9)]) == ()


@pytest.fixture
def log(index: Index) -> TurnLog:
    return TurnLog(index, words)


@pytest.fixture
def facts(index: Index) -> SessionFacts:
    return SessionFacts(index, "ann", "s")


def _say(log: TurnLog, *said: str, start: int = 1) -> None:
    log.append("ann", "s", [entry("user", text, n) for n, text in enumerate(said, start)])
    note_turns(log, "ann", "s")


def test_facts_are_used_from_code(log: TurnLog, facts: SessionFacts) -> None:
    _say(log, "My budget is 300 000 rubles.", "My size is L.")
    assert dict(facts) == {"budget": "300 000 rubles", "size": "L"}
    facts["Size"] = "XL"
    facts["colour"] = "blue"
    assert SessionFacts(facts.index, "ann", "s")["size"] == "XL"
    assert list(facts) == ["budget", "size", "colour"]
    del facts["budget"]
    assert "budget" not in facts
    assert len(facts) == 2
    with pytest.raises(KeyError):
        facts["budget"]
    with pytest.raises(KeyError):
        del facts["budget"]
    assert facts.get("") is None


@pytest.mark.parametrize(
    ("name", "value"), [("", "L"), (" ", "L"), ("size", " "), ("n" * 201, "L")]
)
def test_a_fact_without_name_or_value_is_refused(
    facts: SessionFacts, name: str, value: str
) -> None:
    with pytest.raises(InvalidInput):
        facts[name] = value


def test_a_later_turn_supersedes_and_the_earlier_value_is_history(
    log: TurnLog, facts: SessionFacts
) -> None:
    _say(log, "My size is L.")
    _say(log, "My size is XL.", start=2)
    assert facts["size"] == "XL"
    history = note_history(facts.index, "ann", "s", "size")
    assert [(note.value, note.seq) for note in history] == [("L", 1), ("XL", 2)]


def test_what_code_sets_counts_even_if_a_turn_was_said_later_than_now(
    log: TurnLog, facts: SessionFacts, clock: FixedClock
) -> None:
    log.append("ann", "s", [Entry("user", "My size is L.", at=clock.now + timedelta(days=2))])
    note_turns(log, "ann", "s")
    facts["size"] = "XL"
    clock.now += timedelta(days=3)
    assert facts["size"] == "XL"


def test_each_turn_is_looked_at_once_so_a_deleted_fact_stays_deleted(
    log: TurnLog, facts: SessionFacts
) -> None:
    _say(log, "My size is L.")
    del facts["size"]
    assert note_turns(log, "ann", "s") == 0
    _say(log, "My budget is 300.", start=2)
    assert dict(facts) == {"budget": "300"}


def test_a_rejection_takes_a_fact_with_the_idea_away(log: TurnLog, facts: SessionFacts) -> None:
    facts["scope"] = "archived projects"  # by the caller: it stays
    _say(log, "Scope: Archived projects.")
    log.append(
        "ann",
        "s",
        [
            entry("assistant", "What if we include archived projects?", 2),
            entry("user", "No, let's not do that.", 3),
        ],
    )
    note_turns(log, "ann", "s")
    assert "scope" not in facts or facts["scope"] == "archived projects"
    kinds = {note.kind for note in read_notes(facts.index, "ann", "s")}
    assert "rejected" in kinds
    assert all("rejected" not in name for name in facts)


def test_live_data_is_gone_after_its_day(
    log: TurnLog, facts: SessionFacts, clock: FixedClock
) -> None:
    clock.now = START + timedelta(hours=1)
    _say(log, "The project is delayed, the team has 8 people now.")
    held = read_notes(facts.index, "ann", "s")
    assert {note.kind for note in held} == {"outside"}
    assert dict(facts) == {}
    clock.now += timedelta(days=1)
    assert read_notes(facts.index, "ann", "s") == ()
