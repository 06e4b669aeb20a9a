"""Every kind of database gives what plain Python counts, for every form of time."""

import random
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.engine import URL

from evals.sql_databases import CITIES, FORMS, STATUSES, Shop, fill, random_shop, source_of
from indexing.errors import SqlRefused
from retrieval.sql.answer import answer
from retrieval.sql.build import build
from retrieval.sql.intent import Bound, Column, Condition, Intent, Period
from retrieval.sql.run import Databases
from retrieval.sql.schema import Reference, Source, Table
from retrieval.sql.types import Limits
from tests.retrieval.sql.databases import KINDS, empty
from tests.retrieval.sql.oracle import expected

NOW = datetime(2026, 7, 1, tzinfo=UTC)
ZONES = ("UTC", "America/New_York", "Asia/Kolkata")
AMOUNT, QUANTITY = Column("orders", "amount"), Column("orders", "quantity")
STATUS, CITY = Column("orders", "status"), Column("customers", "city")
PRICE, KIND = Column("items", "price"), Column("items", "kind")


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory, sql_server: URL | None) -> Any:
    """Random shops, each in every kind of database, their times kept in another zone."""
    with ExitStack() as stack:
        made = []
        for number, zone in enumerate(ZONES):
            shop = random_shop(random.Random(number), ("u1", "u2"), orders=50)
            urls = []
            for kind in KINDS:
                folder = tmp_path_factory.mktemp(kind)
                urls += stack.enter_context(empty(kind, folder, sql_server))
                fill(urls[-1], shop, zone)
            for form in FORMS:
                asked = [
                    (source_of(url, form, zone), stack.enter_context(closing(Databases())))
                    for url in urls
                ]
                made.append((shop, zone, form, asked))
        yield made


def periods(zone: ZoneInfo, whole_days: bool) -> st.SearchStrategy[Period]:
    first = datetime(2026, 1, 1, tzinfo=zone)

    def made(start: int | None, days: int, seconds: int) -> Period:
        if start is None:
            return Period(None, first + timedelta(days=days))
        begin = first + timedelta(days=start, seconds=0 if whole_days else seconds)
        return Period(begin, begin + timedelta(days=days))

    start = st.one_of(st.none(), st.integers(0, 180))
    return st.builds(made, start, st.integers(1, 90), st.integers(0, 86_399))


@st.composite
def intents(draw: st.DrawFn, zone: ZoneInfo, whole_days: bool) -> Intent:
    table = draw(st.sampled_from(["orders", "items"]))
    measures = [AMOUNT, QUANTITY] if table == "orders" else [PRICE, QUANTITY]
    dimensions = [STATUS, CITY] if table == "orders" else [STATUS, CITY, KIND]
    values = {STATUS: STATUSES, CITY: CITIES, KIND: ("book", "toy")}

    def condition() -> st.SearchStrategy[Condition]:
        return st.sampled_from(dimensions).flatmap(
            lambda column: st.builds(
                Condition,
                st.just(column),
                st.lists(st.sampled_from(values[column]), min_size=1, max_size=2).map(tuple),
                st.booleans(),
            )
        )

    share = draw(st.lists(condition(), max_size=1).map(tuple))
    aggregates = ["count", "sum"] if share else ["count", "sum", "avg", "min", "max"]
    aggregate = draw(st.sampled_from(aggregates))
    measure = draw(st.sampled_from(measures)) if aggregate != "count" else None
    distinct = None
    if aggregate == "count" and draw(st.booleans()):
        distinct = draw(st.sampled_from(dimensions))
    group_by = draw(st.lists(st.sampled_from(dimensions), max_size=2, unique=True).map(tuple))
    per = draw(st.sampled_from([None, "day", "week", "month", "quarter", "year"]))
    bound = st.builds(
        Bound,
        st.sampled_from(measures),
        st.sampled_from(["<", "<=", ">", ">=", "="]),
        st.sampled_from([3, 7.5, 20.0, 1e3]),
    )
    return Intent(
        "shop",
        table,
        aggregate,
        measure,
        distinct,
        draw(st.lists(periods(zone, whole_days), max_size=3).map(tuple)),
        draw(st.lists(condition(), max_size=2).map(tuple)),
        draw(st.lists(bound, max_size=1).map(tuple)),
        share,
        group_by,
        per,
        draw(st.sampled_from([None, 1, 3])) if group_by or per else None,
        draw(st.booleans()),
    )


def rounded(rows: Any) -> list[list[Any]]:
    return [[float(f"{c:.8g}") if isinstance(c, float | int) else c for c in row] for row in rows]


@given(data=st.data())
@settings(max_examples=50)
def test_all_databases_agree_with_plain_python(shops: Any, data: st.DataObject) -> None:
    shop, zone, form, asked = data.draw(st.sampled_from(shops))
    local, whole_days = ZoneInfo(zone), form == "day"
    intent = data.draw(intents(local, whole_days))
    wanted = rounded(expected(intent, shop.of("u1"), local, whole_days))
    for source, opened in asked:
        found = answer(
            intent, {"shop": source}, opened, user_id="u1", now=NOW, limits=Limits(timeout=60)
        )
        assert rounded(found.rows) == wanted, found.sql


APRIL = Period(datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
NEVER = Period(datetime(2020, 4, 1, tzinfo=UTC), datetime(2020, 5, 1, tzinfo=UTC))


def test_one_number_is_a_value(shop_url: str, databases: Databases, shop: Shop) -> None:
    sources = {"shop": source_of(shop_url)}
    intent = Intent("shop", "orders", periods=(APRIL,))
    found = answer(intent, sources, databases, user_id="u1", now=NOW)
    mine = [order for order in shop.of("u1").orders if order.at and order.at.month == 4]
    assert (found.value, found.columns) == (len(mine), ("count",))
    assert found.understood == "count of orders, 2026-04-01 to 2026-04-30, user u1"


def test_a_period_without_rows_has_its_row(shop_url: str, databases: Databases) -> None:
    sources = {"shop": source_of(shop_url)}
    intent = Intent("shop", "orders", "avg", AMOUNT, periods=(NEVER, APRIL))
    found = answer(intent, sources, databases, user_id="u1", now=NOW)
    assert found.columns == ("period", "avg_amount")
    assert found.rows[0] == ("2020-04-01 to 2020-04-30", None)
    assert found.rows[1][0] == "2026-04-01 to 2026-04-30"
    assert found.value is None


def test_a_share_of_nothing_is_no_number(shop_url: str, databases: Databases) -> None:
    share = (Condition(STATUS, ("paid",)),)
    intent = Intent("shop", "orders", periods=(NEVER,), share=share)
    found = answer(intent, {"shop": source_of(shop_url)}, databases, user_id="u1", now=NOW)
    assert (found.rows, found.value) == (((None,),), None)


@pytest.mark.parametrize("value", ["paid' OR '1'='1", 'a"b', "\\", "%", "'; DROP TABLE orders --"])
def test_a_value_is_never_sql(shop_url: str, databases: Databases, value: str) -> None:
    intent = Intent("shop", "orders", conditions=(Condition(STATUS, (value,)),))
    found = answer(intent, {"shop": source_of(shop_url)}, databases, user_id="u1", now=NOW)
    assert found.value == 0


@pytest.mark.parametrize(
    ("intent", "says"),
    [
        (Intent("shop", "secrets"), "declares no table secrets"),
        (Intent("shop", "orders", "sum"), "which number is not said"),
        (Intent("shop", "orders", "sum", Column("orders", "secret")), "declares no secret"),
        (Intent("shop", "orders", "sum", Column("items", "price")), "no reference to items"),
        (Intent("shop", "orders", group_by=(KIND,)), "no reference to items"),
        (Intent("shop", "customers", per="day"), "has no time"),
        (Intent("shop", "orders", top=3), "nothing is grouped"),
        (Intent("shop", "orders", conditions=(Condition(STATUS, ()),)), "no value"),
        (Intent("shop", "orders", bounds=(Bound(AMOUNT, ">", float("nan")),)), "finite"),
        (
            Intent("shop", "orders", "avg", AMOUNT, share=(Condition(STATUS, ("paid",)),)),
            "a share of an avg",
        ),
    ],
)
def test_what_the_schema_cannot_answer_is_refused(intent: Intent, says: str) -> None:
    with pytest.raises(SqlRefused, match=says):
        build(intent, source_of("sqlite:///shop.db"), now=NOW)


def test_two_ways_to_a_table_are_refused() -> None:
    cities = source_of("sqlite:///x.db").table("customers").dimensions
    trips = Table("trips", references=(Reference("origin", "places"), Reference("goal", "places")))
    source = Source("s", "sqlite:///x.db", (trips, Table("places", dimensions=cities)))
    intent = Intent("s", "trips", group_by=(Column("places", "city"),))
    with pytest.raises(SqlRefused, match="two references"):
        build(intent, source, now=NOW)


def test_a_reference_that_is_not_to_the_key_is_no_way() -> None:
    items = Table("items", references=(Reference("code", "goods", "code"),))
    goods = Table("goods", dimensions=source_of("sqlite:///x").table("customers").dimensions)
    source = Source("s", "sqlite:///x.db", (items, goods))
    with pytest.raises(SqlRefused, match="no reference to goods"):
        build(Intent("s", "items", group_by=(Column("goods", "city"),)), source, now=NOW)
