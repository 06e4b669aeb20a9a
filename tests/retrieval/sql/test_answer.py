"""What an answer says of itself: words, units of time, columns."""

import doctest
from datetime import UTC, datetime, timedelta, timezone
from types import ModuleType

import pytest

from evals.sql_databases import source_of
from indexing.errors import SqlRefused, UserRequired
from retrieval.sql import answer as answers
from retrieval.sql import dialects, tenants, timecolumns, wording, writer
from retrieval.sql.answer import answer
from retrieval.sql.intent import Bound, Column, Condition, Intent, Period
from retrieval.sql.run import Databases
from retrieval.sql.types import Limits
from retrieval.sql.wording import period_words, understood

NOW = datetime(2026, 7, 1, tzinfo=UTC)
STATUS = Column("orders", "status")


@pytest.mark.parametrize("module", [answers, dialects, tenants, timecolumns, wording, writer])
def test_examples(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0


def test_words_name_every_part() -> None:
    intent = Intent(
        "shop",
        "items",
        "sum",
        Column("items", "price"),
        conditions=(Condition(STATUS, ("paid",), negated=True),),
        bounds=(Bound(Column("items", "price"), ">=", 10),),
        share=(Condition(Column("items", "kind"), ("book",)),),
        group_by=(Column("customers", "city"),),
        per="month",
        top=3,
        ascending=True,
    )
    assert understood(intent, source_of("sqlite:///x"), "u1") == (
        "percentage of the sum of price of items where kind is book, status is not paid, "
        "price >= 10, by city, per month, the smallest 3, user u1"
    )


def test_shared_rows_are_nobodys() -> None:
    assert understood(Intent("shop", "customers"), source_of("sqlite:///x"), "u1") == (
        "count of customers"
    )


def test_words_of_periods() -> None:
    moscow = timezone(timedelta(hours=3))
    start = datetime(2026, 4, 1, tzinfo=moscow)
    assert period_words(Period(start, start + timedelta(days=30))) == "2026-04-01 to 2026-04-30"
    assert period_words(Period(None, start)) == "until 2026-03-31"
    assert period_words(Period(None, start + timedelta(hours=1))) == "before 2026-04-01 01:00:00"
    assert period_words(Period(start, start + timedelta(hours=5))) == (
        "2026-04-01 until before 2026-04-01 05:00:00"
    )
    assert period_words(Period(None, None)) == "at any time"


def test_groups_of_compared_periods_stand_side_by_side(shop_url: str, databases: Databases) -> None:
    march = datetime(2026, 3, 1, tzinfo=UTC)
    periods = (
        Period(march, march + timedelta(days=31)),
        Period(march + timedelta(days=31), march + timedelta(days=61)),
    )
    intent = Intent("shop", "orders", periods=periods, group_by=(STATUS,))
    sources = {"shop": source_of(shop_url)}
    found = answer(intent, sources, databases, user_id="u1", now=NOW)
    assert found.columns == ("status", "2026-03-01 to 2026-03-31", "2026-04-01 to 2026-04-30")


def test_a_cut_answer_says_so(shop_url: str, databases: Databases) -> None:
    intent = Intent("shop", "orders", per="day")
    sources = {"shop": source_of(shop_url)}
    found = answer(intent, sources, databases, user_id="u1", now=NOW, limits=Limits(2, 30))
    assert (len(found.rows), found.truncated, found.value) == (2, True, None)


def test_without_a_user_or_a_source(shop_url: str, databases: Databases) -> None:
    sources = {"shop": source_of(shop_url)}
    with pytest.raises(UserRequired):
        answer(Intent("shop", "orders"), sources, databases, user_id=None, now=NOW)
    with pytest.raises(SqlRefused, match="no SQL source"):
        answer(Intent("other", "orders"), sources, databases, user_id="u1", now=NOW)
    found = answer(Intent("shop", "customers"), sources, databases, user_id=None, now=NOW)
    assert found.value == 3
