"""What a question is routed to, in both languages, and that it is quick to say for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.route import EDGE, route, vocabulary
from retrieval.sql.schema import Dimension, Measure, Source, Table

SHOP = Source(
    "shop",
    "sqlite://",
    (
        Table(
            "orders",
            ("заказ", "purchase"),
            measures=(Measure("revenue", "amount", ("выручка",)),),
            dimensions=(Dimension("status", "status", ("статус",), {"RT": ("возврат", "return")}),),
        ),
        Table("halls", ("зал",), dimensions=(Dimension("seats", "seats", ("место",)),)),
    ),
)

ANALYTICAL = [
    "How many orders did I place in April?",
    "How often do we meet?",
    "number of errors per week",
    "What is the average length of my sessions?",
    "Which shop had the fewest returns?",
    "Show the authors with at least two books.",
    "Which teams played more than once?",
    "List the invoices sorted by date.",
    "How much did I spend on coffee?",
    "Which room is larger than any room upstairs?",
    "top 5 products",
    "What percentage of parcels came late?",
    "How many “Blue Line” trains run on Sundays?",
    "Remind me how many tickets I closed.",
    "Сколько у меня заказов за апрель?",
    "Напомни, сколько билетов я купил",
    "Скольких клиентов мы потеряли?",
    "Как часто падает поиск?",
    "Какое число участников было на встречах?",
    "Какова средняя цена билета?",
    "В каком месяце было больше всего возвратов?",
    "Самый длинный созвон за неделю",
    "Какие авторы написали не менее двух книг?",
    "Покажи счета по убыванию суммы",
    "Сколько денег я потратил на кофе?",
    "Кто прочитал больше книг, чем любой другой сотрудник?",
    "Наибольшая скидка в мае",
    "Старейший дом на улице",
    "Какой процент посылок опоздал?",
]

LOOKUP = [
    "How much does delivery cost?",
    "How old is my dog?",
    "How far is the office?",
    "How many years did the war last?",
    "What is the phone number of the clinic?",
    "What is her last name?",
    "Which meetings did we have last month?",
    "List the tickets with a price over 5000.",
    "How many students does Harvard have?",
    "Сколько стоит доставка?",
    "Сколько лет моей собаке?",
    "Какое сегодня число?",
    "Какой номер телефона у клиники?",
    "Кто ведёт проект?",
    "Какие встречи были на последней неделе?",
    "Билеты дороже 5000: какие они?",
    "Сколько мест на стадионе Лужники?",
]

FACTUAL = [
    "Why did I spend the most in May?",
    "What is my latest order about?",
    "What did Anna say about the number of bugs?",
    "How do I sort a list?",
    "Remind me of the talk with Anna",
    "Напомни разговор с Анной",
    "Почему в мае было больше всего возвратов?",
    "О чём мой последний заказ?",
    "Что я писал про количество ошибок?",
    "Как отсортировать список?",
]


@pytest.mark.parametrize("question", ANALYTICAL)
def test_a_computation_is_analytical(question: str) -> None:
    assert route(question).label == "analytical"


@pytest.mark.parametrize("question", LOOKUP)
def test_something_stored_is_a_lookup(question: str) -> None:
    assert route(question).label == "lookup"


@pytest.mark.parametrize("question", FACTUAL)
def test_what_was_said_how_or_why_is_factual(question: str) -> None:
    assert route(question).label == "factual"


def test_the_reason_names_the_words_it_rests_on() -> None:
    found = route("Сколько у меня заказов за апрель?", vocabulary([SHOP]))
    assert found.reason == "counts: «сколько у меня заказов»; registered: «заказов»"
    # 0.9 for the words; a registered word halves what is left of the doubt
    assert (route("Сколько у меня заказов?").confidence, found.confidence) == (0.9, 0.95)


def test_a_reason_says_when_nothing_registered_is_named() -> None:
    found = route("How many moons does Mars have?", vocabulary([SHOP]))
    assert found.reason == "counts: «how many moons»; no registered word"


def test_a_stored_number_is_counted_where_a_table_has_it() -> None:
    question = "Сколько мест на стадионе Лужники?"
    assert route(question).label == "lookup"
    assert route(question, vocabulary([SHOP])).label == "analytical"


def test_a_registered_word_makes_a_weak_cue_enough() -> None:
    assert route("compare revenue of April and May").label == "factual"
    assert route("compare revenue of April and May", vocabulary([SHOP])).label == "analytical"


@pytest.mark.parametrize("word", ["заказами", "orders", "Выручкой", "returns", "статусе"])
def test_the_vocabulary_knows_every_form_of_every_name(word: str) -> None:
    known = vocabulary([SHOP])
    assert known is not None
    assert route(f"сколько {word}", known).reason.endswith(f"registered: «{word.lower()}»")


def test_no_source_is_no_vocabulary() -> None:
    assert vocabulary([]) is None


def test_the_last_n_days_are_a_period_and_no_ranking() -> None:
    assert "extreme" not in route("meetings of the last 20 days").kinds()
    assert "extreme" not in route("встречи за последние 20 дней").kinds()
    assert "extreme" in route("show the last 20 meetings").kinds()
    assert "extreme" in route("последние 20 встреч").kinds()


def test_words_in_quotes_are_names() -> None:
    assert route("Who wrote “How many orders”?").label == "lookup"
    assert route("Кто написал «Сколько заказов»?").label == "lookup"


def test_a_question_at_the_end_of_a_long_text_is_seen() -> None:
    text = "слово " * EDGE
    assert route(f"{text} Сколько заказов было в мае?").label == "analytical"


@given(st.text(max_size=3 * EDGE))
def test_any_text_gets_a_label_and_a_reason_and_the_same_again(text: str) -> None:
    found = route(text, vocabulary([SHOP]))
    assert found == route(text, vocabulary([SHOP]))
    assert 0 <= found.confidence <= 1
    assert found.reason
