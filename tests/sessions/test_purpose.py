import pytest

from sessions.purpose import LONGEST, purpose, said_before
from sessions.types import Entry
from tests.sessions.turns import call, result, turn


def test_each_turn_has_the_users_word_before_it() -> None:
    turns = [turn(4, "user", "And Riga?"), call(5, "a"), result(6, "a"), turn(7, "user", "So?")]
    assert said_before(turns, "Hello") == {
        4: "Hello",
        5: "And Riga?",
        6: "And Riga?",
        7: "And Riga?",
    }


@pytest.mark.parametrize(
    ("arguments", "looked_for"),
    [
        ('{"query": "ferry", "limit": 20, "open": true}', "And Riga? ferry 20"),
        ('{"where": {"town": ["Riga", "Tartu"]}}', "And Riga? Riga Tartu"),
        ("town=Riga", "And Riga? town=Riga"),
        ("", "And Riga?"),
        ("[" * 100_000, "And Riga? " + "[" * LONGEST),
    ],
)
def test_a_result_is_for_the_words_before_it_and_the_values_of_its_call(
    arguments: str, looked_for: str
) -> None:
    assert purpose(Entry("tool", "…", arguments=arguments), "And Riga?") == looked_for


def test_what_people_write_is_for_nothing_else() -> None:
    assert purpose(Entry("user", "Read this"), "And Riga?") == ""
    assert purpose(Entry("assistant", "It is far"), "And Riga?") == "And Riga?"
