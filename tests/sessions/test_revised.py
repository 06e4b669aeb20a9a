"""A value that is said without its name: what it is of, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.index import Index
from sessions.digest import gather
from sessions.log import TurnLog
from sessions.notes import ended, note_turns, notes_of
from sessions.revised import Dialogue
from sessions.snapshot import read_snapshot
from sessions.speech import read_lines
from sessions.types import LoggedTurn
from tests.sessions.spoken import entry, line, talk, words


def values(*said: str) -> dict[str, str]:
    """Return the facts of a conversation."""
    turns = talk(*said)
    found = notes_of(read_lines(turns), dialogue=Dialogue(turns))
    return {note.name: note.value for note in found if "/" not in note.name}


EURO = "My budget is 2,500 euros."


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ((EURO, "Noted: a budget of 2,500 euros.", "Make it 3,100 euros."), "3,100 euros"),
        ((EURO, "Is the budget still 2,500 euros?", "No, 3,100."), "3,100"),
        ((EURO, "What is your budget now?", "3,100 euros"), "3,100 euros"),
        ((EURO, "Noted.", "Make it 3,100 euros, my aunt chips in."), "3,100 euros"),
        ((EURO, "Ok.", "About the budget: let's make it 3,100."), "3,100"),
        ((EURO, "Ok.", "I changed my mind on the budget. Make it 3,100."), "3,100"),
        ((EURO, "Ok.", "Raise the budget to 3,100 euros, please."), "3,100 euros"),
        (("Бюджет 2 500 евро.", "Бюджет записал.", "Пусть будет 3 100."), "3 100"),
        (("Бюджет 2 500 евро.", "Бюджет 2 500, верно?", "Нет, 3 100 евро."), "3 100 евро"),
        (("Бюджет 300 тысяч.", "Хорошо.", "Подними бюджет до 350 тысяч."), "350 тысяч"),
    ],
)
def test_a_new_value_is_of_what_was_named_before_it(said: tuple[str, ...], found: str) -> None:
    assert values(*said) == {"budget": found}


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (("My bank: Hertz.", "Which bank is it?", "Actually, National now."), {"bank": "National"}),
        (
            ("Our car rental is Hertz.", "Hertz for the car rental.", "Actually, National now."),
            {"car rental": "National"},
        ),
        (("Мой регион: Север.", "Какой регион?", "Теперь Сибирь."), {"регион": "Сибирь"}),
        (("Дедлайн 15 мая.", "Дедлайн 15 мая, понял.", "Давай на 20 мая."), {"deadline": "20 мая"}),
        (
            ("My budget is 900, my size is L.", "Ok.", "Make it XL."),
            {"budget": "900", "size": "XL"},
        ),
        (("My deadline is 15 May.", "Deadline, size?", "Make it 20 May."), {"deadline": "20 May"}),
    ],
)
def test_of_what_was_named_the_form_of_the_value_tells(
    said: tuple[str, ...], found: dict[str, str]
) -> None:
    assert values(*said) == found


@pytest.mark.parametrize(
    "said",
    [
        (EURO, "A room is 120 euros.", "Make it 150 euros."),
        (EURO, "Your budget is set. A room is 120 euros.", "Make it 150 euros."),
        (EURO, "How many nights do you stay?", "Make it 5."),
        (EURO, "How many people, 4?", "No, 6."),
        (EURO, "What about the budget?", "If we make it 3,100, maybe."),
        (EURO, "What about the budget?", "Make it 3,100 or 3,300."),
        (EURO, "What is the budget of Anna?", "Make it 3,100."),
        (EURO, "What is Anna's budget?", "3,100"),
        (EURO, "What budget does Anna have?", "3,100"),
        (EURO, "Is her budget 900?", "No, 3,100."),
        (EURO, "The budget is fine.", "Make it shorter."),
        (EURO, "The budget is fine.", "Make it 3 pages."),
        (EURO, "Ok.", "Find a hotel.", "Here are three.", "Make it 5."),
        (EURO, "Do you have any favorite recipes?", "Definitely!"),
        (EURO, "And what is your plan now?", "Also, I can host competitions."),
    ],
)
def test_nothing_is_guessed(said: tuple[str, ...]) -> None:
    assert values(*said) == {"budget": "2,500 euros"}


_ENGLISH = ["make it", "no,", "the budget", "to", "now", "3,100", "L", "size", "is", "Anna", "?"]
_RUSSIAN = ["пусть будет", "бюджет", "на", "3 100", "теперь", "евро", ".", ":"]
_PIECE = st.sampled_from(_ENGLISH) | st.sampled_from(_RUSSIAN)


@given(st.lists(_PIECE | st.text(max_size=4), min_size=1, max_size=9).map(" ".join))
def test_a_value_of_any_sentence_is_a_span_of_it(text: str) -> None:
    before = talk(EURO, "Is the budget right, and the size?")
    said = [*before, LoggedTurn(3, entry("user", text, 3), 1)]
    for slot in Dialogue(said, {"region": "Northwest"}).slots(line("other", text, 3)):
        assert slot.value
        assert slot.value in text


def test_two_things_of_one_form_leave_it_open() -> None:
    said = ("My budget is 900 and my salary is 5000.", "Budget and salary, noted.", "Make it 7000.")
    assert values(*said) == {"budget": "900", "salary": "5000"}


def test_a_value_is_word_for_word_and_says_its_turn() -> None:
    turns = talk(EURO, "Is the budget right?", "No, 3,100.")
    (note,) = notes_of(read_lines(turns), dialogue=Dialogue(turns))
    assert (note.value, note.seq) == ("3,100", 3)
    assert note.value in turns[2].entry.text


def test_what_was_named_in_an_earlier_batch_is_known_by_its_value() -> None:
    turns = talk("Which region goes into the heading?", "Actually, National now.", start=40)
    turns = [turn for turn in turns if turn.entry.role == "user"][-1:]
    said = line("decision", "Actually, National now.", 41, of="Which region goes into the heading?")
    assert notes_of([said], dialogue=Dialogue(turns)) == ()
    (note,) = notes_of([said], dialogue=Dialogue(turns, {"region": "Northwest"}))
    assert (note.name, note.value) == ("region", "National")


def test_what_was_ended_and_given_again_without_its_name_holds() -> None:
    turns = talk("I no longer work at Northwest.", "Who is your employer?", "Now Google.")
    lines = [line("fact", "I no longer work at Northwest.", 1)]
    assert ended(lines, Dialogue(turns)) == ("employer",)
    lines.append(line("fact", "Now Google.", 3, of="Who is your employer?"))
    assert ended(lines, Dialogue(turns)) == ()


def test_the_old_value_is_replaced_in_what_a_context_shows(index: Index) -> None:
    log = TurnLog(index, words)
    said = [entry("user", EURO, 1), entry("assistant", "A budget of 2,500 euros, noted.", 2)]
    log.append("ann", "s", said)
    note_turns(log, "ann", "s")
    log.append("ann", "s", [entry("user", "Make it 3,100 euros, my aunt chips in.", 3)])
    note_turns(log, "ann", "s")
    read = read_snapshot(index, "ann", "s", 3, 20)
    assert [(note.name, note.value, note.seq) for note in read.notes] == [
        ("budget", "3,100 euros", 3)
    ]
    assert [(old.value, old.by.value) for old in read.replaced[1]] == [
        ("2,500 euros", "3,100 euros")
    ]
    assert gather(None, read.last)  # the digest still has both sentences, word for word
