"""Where a question is cut in two, and where it must not be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.clauses import MAX_CHARACTERS, clauses

CUT = [
    ("How many orders in April, and what did I complain about?", 1),
    ("Сколько заказов было в мае и что я писал про доставку?", 1),
    ("Сколько заказов было в мае, а о чём я жаловался?", 1),
    ("How many orders were there in May? What did I say?", 1),
    ("What did I order in May and how much did I spend in June?", 1),
    ("Покажи возвраты за май, а также напомни, что я обещал", 1),
    ("How many orders are late, why is Anna angry and what did I promise?", 1),
    ("How many orders in May and when did I move? And what did Anna say?", 2),
]

WHOLE = [
    "How many orders and returns were there in May?",
    "сколько заказов и возвратов было в мае?",
    "How many orders were late and were refunded?",
    "How many orders which were late and which were refunded?",
    "В скольких городах, где живут клиенты и где есть склад, идёт дождь?",
    "Show every shop and how many people it employs",
    "Сколько заказов было в мае и что в них было?",
    "How many orders in May, and how many did they return?",
    "I like tea and what else?",
    "Сколько раз я писал, что заказ опоздал, и что возврат не дошёл?",
    "Who wrote “How many and what do I know”?",
    "How many orders and why?",
    "What?",
    "",
]


@pytest.mark.parametrize(("question", "cuts"), CUT)
def test_two_questions_are_cut(question: str, cuts: int) -> None:
    parts = clauses(question)
    assert len(parts) == cuts + 1
    assert all(part and part in question for part in parts)


@pytest.mark.parametrize("question", WHOLE)
def test_one_question_stays_whole(question: str) -> None:
    assert clauses(question) == (question,)


def test_parts_are_the_words_of_the_question_and_nothing_else() -> None:
    assert clauses("Сколько заказов было в мае и что я писал про «чай и что к нему»?") == (
        "Сколько заказов было в мае",
        "что я писал про «чай и что к нему»?",
    )
    assert clauses("How many late? What did I say?") == ("How many late?", "What did I say?")


def test_a_long_text_is_left_whole() -> None:
    text = "How many orders in May and what did I say? " * MAX_CHARACTERS
    assert clauses(text) == (text,)


@given(st.text(alphabet="how many what сколько что and и, ?.«»\n", max_size=200))
def test_parts_stand_in_the_text_in_order(text: str) -> None:
    end = 0
    for part in clauses(text):
        end = text.index(part, end) + len(part)
