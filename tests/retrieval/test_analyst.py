import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from indexing.errors import ConfigError, ModelError
from indexing.types import GLOBAL, Memory
from retrieval.analyst import Analyst
from retrieval.retriever import Retriever
from retrieval.sql.run import Databases
from retrieval.sql.schema import Dimension, Measure, Source, Table
from retrieval.sql.types import Limits
from retrieval.types import Narrow

from .conftest import NOW

Put = Callable[..., Memory]

ORDERS = Table(
    "orders",
    ("order", "заказ"),
    tenant_column="user_id",
    time_column="placed_at",
    time_format="text",
    measures=(Measure("amount", "amount", ("revenue", "сумма", "потратил")),),
    dimensions=(
        Dimension("status", "status", ("статус",), {"paid": ("оплачен",), "lost": ("потерян",)}),
    ),
)

ROWS = [
    ("ann", "2026-02-03T10:00:00+00:00", 100.0, "paid"),
    ("ann", "2026-02-20T10:00:00+00:00", 50.5, "lost"),
    ("ann", "2026-01-20T10:00:00+00:00", 7.0, "paid"),
    ("bob", "2026-02-05T10:00:00+00:00", 999.0, "paid"),
]


@pytest.fixture
def source(tmp_path: Path) -> Source:
    path = tmp_path / "shop.sqlite"
    with sqlite3.connect(path) as database:
        database.execute(
            "CREATE TABLE orders (id INTEGER PRIMARY KEY, user_id TEXT, placed_at TEXT,"
            " amount REAL, status TEXT)"
        )
        database.executemany(
            "INSERT INTO orders (user_id, placed_at, amount, status) VALUES (?, ?, ?, ?)", ROWS
        )
    return Source("shop", f"sqlite:///{path}", (ORDERS,))


@pytest.fixture
def analyst(source: Source) -> Iterator[Analyst]:
    found = Analyst({"shop": source}, Databases())
    yield found
    found.close()


@pytest.fixture
def both(retriever: Retriever, analyst: Analyst) -> Retriever:
    return replace(retriever, analyst=analyst)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("сколько у меня заказов за февраль?", 2),
        ("how many orders did I place last month?", 2),
        ("how many paid orders do I have?", 2),
        ("какая сумма заказов за февраль?", 150.5),
    ],
)
def test_a_number_is_answered_from_the_database(
    both: Retriever, put: Put, question: str, value: float
) -> None:
    put("сколько заказов: cat")
    result = both.retrieve(question, "ann")
    (answer,) = result.answers
    assert answer.value == value
    assert result.hits == ()
    assert result.trace.route == "sql"
    assert "user ann" in answer.understood
    (part,) = result.trace.parts
    assert (part.went, part.label) == ("sql", "analytical")
    assert result.trace.reason == part.reason


def test_nobody_counts_anothers_orders(both: Retriever) -> None:
    assert both.retrieve("how many orders do I have?", "bob").answers[0].value == 1
    assert both.retrieve("how many orders do I have?", "eve").answers[0].value == 0


def test_both_halves_of_a_mixed_question_are_answered(both: Retriever, put: Put) -> None:
    put("the cat tower came with a broken leg, complain")
    result = both.retrieve("how many orders in February, and what did I complain about?", "ann")
    assert [answer.value for answer in result.answers] == [2]
    assert [hit.memory.text for hit in result] == ["the cat tower came with a broken leg, complain"]
    assert result.trace.route == "sql+vector"
    assert [part.went for part in result.trace.parts] == ["sql", "vector"]
    assert result.query == "how many orders in February, and what did I complain about?"


@pytest.mark.parametrize(
    "question",
    [
        "сколько заказов в феврале, и на какую сумму?",
        "how many orders in February, and for what revenue?",
    ],
)
def test_two_numbers_of_the_same_rows(both: Retriever, question: str) -> None:
    result = both.retrieve(question, "ann")
    assert [answer.value for answer in result.answers] == [2, 150.5]
    assert [answer.understood for answer in result.answers] == [
        "count of orders, 2026-02-01 to 2026-02-28, user ann",
        "sum of amount of orders, 2026-02-01 to 2026-02-28, user ann",
    ]
    assert result.trace.route == "sql"


def test_nobody_counts_the_orders_of_all(both: Retriever, put: Put) -> None:
    put("сколько заказов у всех: cat")
    assert both.retrieve("сколько заказов у всех?", "ann").answers == ()


def test_what_is_not_understood_is_not_guessed(both: Retriever, put: Put) -> None:
    kept = put("the blue orders: two")
    result = both.retrieve("how many blue orders do I have?", "ann")
    assert result.answers == ()
    assert [hit.memory.id for hit in result] == [kept.id]
    assert result.trace.route == "vector"
    assert "not understood: «blue»" in result.trace.reason


def test_without_a_user_there_are_no_rows_of_users(both: Retriever, put: Put) -> None:
    put("orders are shipped daily", GLOBAL)
    result = both.retrieve("how many orders are there?", None)
    assert result.answers == ()
    assert len(result.hits) == 1
    assert any("not answered from a database" in note for note in result.trace.notes)


def test_a_database_that_is_gone_leaves_the_memory(
    both: Retriever, put: Put, source: Source
) -> None:
    put("orders: see the cat")
    Path(source.url.removeprefix("sqlite:///")).unlink()
    result = both.retrieve("how many orders do I have?", "ann")
    assert result.answers == ()
    assert len(result.hits) == 1
    (note,) = result.trace.notes
    assert note.startswith("not answered from a database")


def test_a_narrowed_answer_is_of_memories(both: Retriever, put: Put) -> None:
    put("orders and a cat")
    narrow = Narrow(kinds=("turn",))
    result = both.retrieve("how many orders do I have?", "ann", narrow=narrow)
    assert (result.answers, len(result.hits)) == ((), 1)
    assert "narrowed" in result.trace.reason


def test_a_budget_and_a_number(both: Retriever, put: Put) -> None:
    put("short cat tale")
    question = "how many orders in February, and what did I complain about?"
    result = both.retrieve(question, "ann", budget=100)
    assert result.trace.route == "sql+full"
    assert (result.answers[0].value, len(result.hits)) == (2, 1)


class Writer:
    """A model that writes whatever it was told to."""

    def __init__(self, statement: str | Exception) -> None:
        self.statement = statement

    def write(self, question: str, source: Source, now: datetime) -> str:
        if isinstance(self.statement, Exception):
            raise self.statement
        return self.statement


UNKNOWN = "how many of my orders were over the mean?"


@pytest.mark.parametrize(
    ("statement", "values"),
    [
        ("SELECT COUNT(*) AS n FROM orders WHERE amount > 40", [2]),
        ("SELECT SUM(amount) FROM orders", [157.5]),
        ("DELETE FROM orders", []),
        ("SELECT COUNT(*) FROM sqlite_master", []),
        ("", []),
        (ModelError("asleep"), []),
    ],
)
def test_a_model_writes_sql_and_the_guard_decides(
    retriever: Retriever,
    put: Put,
    source: Source,
    statement: str | Exception,
    values: list[float],
) -> None:
    put("a cat in orders")
    analyst = Analyst({"shop": source}, Databases(), Limits(), writer=Writer(statement))
    result = replace(retriever, analyst=analyst).retrieve(UNKNOWN, "ann")
    analyst.close()
    assert [answer.value for answer in result.answers] == values
    assert len(result.hits) == (0 if values else 1)


def test_what_is_refused_for_one_source_may_be_written_for_the_next(
    retriever: Retriever, source: Source
) -> None:
    class PerSource:
        def write(self, question: str, source: Source, now: datetime) -> str:
            return "SELECT COUNT(*) FROM " + ("orders" if source.name == "shop" else "elsewhere")

    first = replace(source, name="archive")
    analyst = Analyst({"archive": first, "shop": source}, Databases(), writer=PerSource())
    result = replace(retriever, analyst=analyst).retrieve(UNKNOWN, "ann")
    analyst.close()
    assert [answer.value for answer in result.answers] == [3]
    assert result.trace.notes == ()


def test_a_source_is_asked_as_it_spells_its_users(retriever: Retriever, source: Source) -> None:
    analyst = Analyst({"shop": source}, Databases(), spelt={"shop": str.lower})
    result = replace(retriever, analyst=analyst).retrieve("how many orders do I have?", "ANN")
    analyst.close()
    assert result.answers[0].value == 3


def test_the_route_costs_no_database(analyst: Analyst, source: Source) -> None:
    Path(source.url.removeprefix("sqlite:///")).unlink()
    plan = analyst.plan("how many orders do I have?", NOW)
    assert [part.destination for part in plan.parts] == ["sql"]


def test_a_source_is_compared_with_its_database_once_and_only_when_asked(
    retriever: Retriever, put: Put, source: Source
) -> None:
    put("the cat orders food")
    asked: list[str] = []
    answers = [False, ConfigError("no table orders"), True]

    def check(of: Source) -> bool:
        asked.append(of.name)
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    analyst = Analyst({"shop": source}, Databases(), check=check)
    both = replace(retriever, analyst=analyst)
    both.retrieve("what about the cat?", "ann")
    assert asked == []
    assert both.retrieve("how many orders do I have?", "ann").answers[0].value == 3  # not reached
    wrong = both.retrieve("how many orders do I have?", "ann")
    assert (wrong.answers, len(wrong.hits)) == ((), 1)
    assert wrong.trace.notes == ("not answered from a database: no table orders",)
    for _ in range(2):
        assert both.retrieve("how many orders do I have?", "ann").answers[0].value == 3
    assert asked == ["shop"] * 3
    analyst.close()


def test_clients_of_models_are_closed_too(source: Source) -> None:
    class Client(Writer):
        closed = False

        def close(self) -> None:
            self.closed = True

    writer = Client("")
    Analyst({"shop": source}, Databases(), writer=writer).close()
    assert writer.closed
