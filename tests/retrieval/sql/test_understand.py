"""Questions -> intents over the sample schemas; what must not be understood; what any text does."""

import unicodedata
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evals.sql.ops import ops
from evals.sql.score import load
from evals.sql.shop import shop
from retrieval.sql.intent import Bound, Column, Condition, Intent, Period
from retrieval.sql.schema import Dimension, Source, Table
from retrieval.sql.understand import follow_up, understand
from retrieval.sql.words import LONGEST

MOSCOW = ZoneInfo("Europe/Moscow")
NOW = datetime(2026, 5, 15, 14, 30, tzinfo=MOSCOW)
SHOP, OPS = shop("sqlite://"), ops("sqlite://")
TOTAL = Column("orders", "total")
STATUS = Column("orders", "status")
APRIL = (datetime(2026, 4, 1, tzinfo=MOSCOW), datetime(2026, 5, 1, tzinfo=MOSCOW))
MAY = (APRIL[1], datetime(2026, 6, 1, tzinfo=MOSCOW))


def meant(question: str) -> Intent | None:
    return understand(question, (SHOP,), NOW).intent


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "Сколько отменённых заказов было за апрель?",
            Intent(
                "shop",
                "orders",
                periods=(Period(*APRIL, "за апрель"),),
                conditions=(Condition(STATUS, ("cancelled",)),),
            ),
        ),
        (
            "compare spending in April and May",
            Intent(
                "shop",
                "orders",
                "sum",
                TOTAL,
                periods=(Period(*APRIL, "in april"), Period(*MAY, "may")),
            ),
        ),
        (
            "топ-5 товаров по выручке",
            Intent(
                "shop",
                "items",
                "sum",
                Column("items", "amount"),
                group_by=(Column("products", "product"),),
                top=5,
            ),
        ),
        (
            "which city had the fewest orders",
            Intent("shop", "orders", group_by=(Column("orders", "city"),), top=1, ascending=True),
        ),
        (
            "сколько покупок не из Москвы дороже 5 тысяч",
            Intent(
                "shop",
                "orders",
                conditions=(Condition(Column("orders", "city"), ("Moscow",), True),),
                bounds=(Bound(TOTAL, ">", 5000),),
            ),
        ),
        (
            "What percent of my app orders were cancelled?",
            Intent(
                "shop",
                "orders",
                conditions=(Condition(Column("orders", "channel"), ("app",)),),
                share=(Condition(STATUS, ("cancelled",)),),
            ),
        ),
        (
            "сколько разных брендов в категории книги",
            Intent(
                "shop",
                "products",
                distinct=Column("products", "brand"),
                conditions=(Condition(Column("products", "category"), ("books",)),),
            ),
        ),
        (
            "средний чек по каналам и месяцам",
            Intent(
                "shop",
                "orders",
                "avg",
                TOTAL,
                group_by=(Column("orders", "channel"),),
                per="month",
            ),
        ),
        ("самый дешёвый заказ", Intent("shop", "orders", "min", TOTAL)),
        (
            "сколько тикетов по отменённым заказам",
            Intent("shop", "tickets", conditions=(Condition(STATUS, ("cancelled",)),)),
        ),
        (
            "Сколько обращений ждали ответа дольше 2 часов?",
            Intent(
                "shop", "tickets", bounds=(Bound(Column("tickets", "reply_minutes"), ">", 120),)
            ),
        ),
        (
            "количество заказов от 2 до 5 тысяч рублей",
            Intent("shop", "orders", bounds=(Bound(TOTAL, ">=", 2000), Bound(TOTAL, "<=", 5000))),
        ),
        (
            "сравни Москву и Казань по сумме заказов",
            Intent(
                "shop",
                "orders",
                "sum",
                TOTAL,
                conditions=(Condition(Column("orders", "city"), ("Moscow", "Kazan")),),
                group_by=(Column("orders", "city"),),
            ),
        ),
    ],
)
def test_what_a_question_means(question: str, expected: Intent) -> None:
    assert meant(question) == expected


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("сколько заказов у Петрова", ("петрова",)),
        ("orders of user bob", ("user", "bob")),
        ("How many orders do all users have?", ("users",)),
        ("сколько заказов в Новосибирске", ("новосибирске",)),
        ("сколько заказов было не в апреле", ("не",)),
        ("how many orders in early May", ("early",)),
        ("сколько заказов в первую неделю мая", ("первую", "неделю")),
        ("how many items in that order", ("that",)),
        ("сколько не только отменённых заказов", ("не только",)),
        ("how many tickets opened in May", ("opened",)),
        ("сколько заказов по понедельникам", ("по", "понедельникам")),
        ("median order value", ("median",)),
        ("сколько заказов у всех", ("у всех",)),
        ("сколько у всех заказов в апреле", ("у всех",)),
        ("сколько заказов для всех?", ("для всех",)),
    ],
)
def test_a_word_that_nobody_knows_leaves_no_intent(question: str, missing: tuple[str, ...]) -> None:
    found = understand(question, (SHOP,), NOW)
    assert found.intent is None
    assert found.missing == missing


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("почему отменили заказ", "reasons"),
        ("how many orders will I make", "reasons"),
        ("на сколько выросла выручка", "difference"),
        ("сколько заказов в день", "rate"),
        ("сколько в среднем я трачу в месяц", "rate"),
        ("average spending per month", "average"),
        ("среднее число заказов", "count"),
        ("сколько заказов с книгами", "orders have no category"),
        ("сколько товаров в мае", "products has no time"),
        ("заказы за апрель", "what to compute"),
        ("какие товары в категории книги", "a list"),
        ("топ-5 товаров", "most of what"),
        ("How many orders over $100?", "what the number bounds"),
        ("сколько клиентов сделали больше 3 заказов", "how many rows"),
        ("какая доля отменённых заказов из Москвы", "which part"),
        ("сколько заказов не из Москвы и Казани", "negation"),
        ("общая оценка обращений", "averaged"),
        ("в каком городе самый дорогой чек", "whether one"),
        ("какая категория самая дорогая", "whether one"),
        ("сколько стоит заказ", "what one costs"),
        ("сколько заказов вчера в апреле", "two times"),
        ("как дела", "no declared word"),
        ("", "no question"),
    ],
)
def test_what_is_not_sure_is_not_guessed(question: str, reason: str) -> None:
    found = understand(question, (SHOP,), NOW)
    assert found.intent is None
    assert reason in found.reason


def test_a_question_that_two_sources_can_answer_has_no_intent() -> None:
    assert understand("how much did I spend", (SHOP,), NOW).intent
    found = understand("how much did I spend", (SHOP, OPS), NOW)
    assert found.intent is None
    assert found.reason == "several sources can answer: shop, ops"
    assert understand("сколько заказов вчера", (SHOP, OPS), NOW).intent


def test_people_are_not_counted() -> None:
    people = Table("users", ("пользователь", "user"), tenant_column="id")
    found = understand("сколько пользователей", (Source("crm", "sqlite://", (people,)),), NOW)
    assert found.intent is None
    assert found.reason == "other people are not counted"


def test_a_word_of_two_columns_as_near_is_ambiguous() -> None:
    deals = Table(
        "deals",
        ("deal",),
        dimensions=(
            Dimension("buyer", "buyer", values={"acme": ("Acme",)}),
            Dimension("seller", "seller", values={"acme": ("Acme",)}),
        ),
    )
    found = understand("how many deals of Acme", (Source("crm", "sqlite://", (deals,)),), NOW)
    assert found.intent is None
    assert found.reason.startswith("it is not sure which is meant: deals.buyer acme")


APRIL_ORDERS = understand("сколько отменённых заказов в апреле", (SHOP,), NOW).intent


@pytest.mark.parametrize(
    ("clause", "aggregate", "measure"),
    [
        ("на какую сумму?", "sum", "total"),
        ("for what total amount?", "sum", "total"),
        ("какой средний чек?", "avg", "total"),
        ("what was the delivery fee?", "sum", "delivery_cost"),
    ],
)
def test_a_clause_of_one_measure_asks_of_the_rows_before(
    clause: str, aggregate: str, measure: str
) -> None:
    assert APRIL_ORDERS is not None
    found = follow_up(clause, APRIL_ORDERS, SHOP, NOW)
    assert found == replace(APRIL_ORDERS, aggregate=aggregate, measure=Column("orders", measure))


@pytest.mark.parametrize(
    "clause",
    [
        "сколько заказов?",
        "на какую сумму в мае?",
        "на какую сумму из Москвы?",
        "какая оценка обращений?",
        "сколько всего?",
        "какой средний чек по городам?",
        "how many tickets?",
        "самый дорогой?",
        "на какую сумму у Петрова?",
    ],
)
def test_a_clause_that_names_more_than_a_measure_does_not(clause: str) -> None:
    assert APRIL_ORDERS is not None
    assert follow_up(clause, APRIL_ORDERS, SHOP, NOW) is None


def test_nothing_follows_what_was_picked_among_groups() -> None:
    picked = understand("в каком городе больше всего заказов", (SHOP,), NOW).intent
    assert picked is not None
    assert picked.top == 1
    assert follow_up("на какую сумму?", picked, SHOP, NOW) is None


def test_all_of_things_are_not_all_people() -> None:
    assert meant("средний чек для всех заказов") == meant("средний чек заказов")


ANSWERED = [one.text for one in load("dev") if one.schema == "shop" and meant(one.text) is not None]


@given(st.sampled_from(ANSWERED), st.integers(0, 30), st.sampled_from(["Петров", "bob", "zzqx"]))
def test_no_unknown_word_is_overlooked(question: str, at: int, stranger: str) -> None:
    words = question.split()
    words.insert(min(at, len(words)), stranger)
    found = understand(" ".join(words), (SHOP,), NOW)
    assert found.intent is None


@pytest.mark.parametrize("change", ["upper", "nfd", "spaces", "e", "dots"])
@pytest.mark.parametrize("question", ANSWERED)
def test_spelling_does_not_matter(question: str, change: str) -> None:
    changed = {
        "upper": question.upper(),
        "nfd": unicodedata.normalize("NFD", question),
        "spaces": question.replace(" ", " \u00a0 "),
        "e": question.replace("ё", "е"),
        "dots": f"{question}!!",
    }[change]
    if change == "upper" and "may" in question.casefold():
        return  # a capital tells the month from the verb
    assert meant(changed) == meant(question)


@given(st.text(max_size=200) | st.lists(st.sampled_from(ANSWERED), max_size=3).map(" ".join))
def test_any_text_has_an_understanding(text: str) -> None:
    found = understand(text, (SHOP, OPS), NOW)
    assert found.reason
    assert (found.intent is None) == (found.confidence == 0)


def test_a_long_text_is_not_read() -> None:
    text = "сколько заказов " * LONGEST
    assert understand(text, (SHOP,), NOW).reason.startswith("the text is too long")


RUNS = Table(
    "runs",
    ("run",),
    tenant_column="owner",
    dimensions=(
        Dimension("tool", "tool", ("tool",), {"search": ("search",)}),
        Dimension("end", "end", (), {"failed": ("fail",)}, tells=False),
    ),
    time_column="at",
    unlike=("bought",),
    called="runs of tools",
)
PAGES = Table("pages", ("document",), tenant_column="owner", time_column="at", shared="")
OWN_PAGES = Table("own_pages", ("document",), tenant_column="owner", time_column="at")
KEPT = Source("kept", "sqlite://", (RUNS, PAGES, OWN_PAGES))


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("how many times did search fail?", "runs"),
        ("how many runs failed?", "runs"),
        ("how many times did I fail?", ""),
        ("how many failed?", ""),
        ("how many runs were bought?", ""),
        ("how many documents are there?", "pages"),
        ("how many documents do I have?", "own_pages"),
    ],
)
def test_which_rows_a_word_alone_can_mean(question: str, table: str) -> None:
    found = understand(question, (KEPT,), NOW).intent
    assert (found.table if found else "") == table
