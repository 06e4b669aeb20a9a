"""A shop of several users in SQLite, PostgreSQL or DuckDB, for tests and evals of the SQL route.

Every order is kept with its time in four forms. Texts of a row name its owner (`canary`), so a row
of somebody else is seen in any answer. A table that is not declared lies beside.
"""

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from sqlalchemy.engine import make_url

from retrieval.sql.dialects import DialectName, dialect_of
from retrieval.sql.schema import Dimension, Measure, Reference, Source, Table, TimeFormat

STATUSES = ("paid", "sent", "returned")
CITIES = ("Moscow", "Kazan", "Omsk")
FORMS: dict[str, TimeFormat] = {
    "created_at": "timestamp",
    "day": "date",
    "said": "text",
    "seconds": "epoch",
}
"""The columns that hold one and the same time."""


@dataclass(frozen=True, slots=True)
class Order:
    """One order; ``at`` is aware and whole seconds, None where it is not known."""

    id: int
    user_id: str
    at: datetime | None
    amount: float | None
    quantity: int
    status: str | None
    customer_id: int | None


@dataclass(frozen=True, slots=True)
class Item:
    """A part of an order; its table has no owner of its own."""

    id: int
    order_id: int
    price: int
    kind: str


@dataclass(frozen=True, slots=True)
class Shop:
    """Rows of all users. Customers 1, 2, 3 live in the `CITIES`, in that order."""

    orders: tuple[Order, ...]
    items: tuple[Item, ...] = ()

    def of(self, user_id: str) -> "Shop":
        """Return the shop as if there were this user only."""
        orders = tuple(order for order in self.orders if order.user_id == user_id)
        ids = {order.id for order in orders}
        return Shop(orders, tuple(item for item in self.items if item.order_id in ids))


def canary(user_id: str) -> str:
    """Return the text that every order of a user carries."""
    return f"canary of {user_id}"


def random_shop(dice: random.Random, users: Sequence[str], orders: int = 60) -> Shop:
    """Return orders of these users over half a year, and one to three items of each."""
    since = datetime(2026, 1, 1, tzinfo=UTC)
    made: list[Order] = []
    items: list[Item] = []
    for number in range(1, orders + 1):
        at = since + timedelta(seconds=dice.randrange(180 * 86_400))
        amount = dice.choice((None, *range(1, 40))) if dice.random() < 0.9 else dice.random()
        order = Order(
            number,
            users[number % len(users)],
            at if dice.random() < 0.95 else None,
            None if amount is None else float(amount),
            dice.randrange(1, 9),
            dice.choice((*STATUSES, None)),
            dice.choice((1, 2, 3, None)),
        )
        made.append(order)
        for _ in range(dice.randrange(1, 4)):
            kind = dice.choice(("book", "toy"))
            items.append(Item(len(items) + 1, number, dice.randrange(1, 99), kind))
    return Shop(tuple(made), tuple(items))


def source_of(url: str, form: str = "created_at", zone: str = "UTC") -> Source:
    """Return what is declared of the shop; ``form`` is the column that its times are read from."""
    statuses: dict[str, tuple[str, ...]] = dict.fromkeys(STATUSES, ())
    orders = Table(
        "orders",
        tenant_column="user_id",
        time_column=form,
        time_format=FORMS[form],
        measures=(Measure("amount", "amount"), Measure("quantity", "quantity")),
        dimensions=(
            Dimension("status", "status", values=statuses),
            *(Dimension(name, name) for name in ("note", *FORMS)),
        ),
        references=(Reference("customer_id", "customers"),),
    )
    items = Table(
        "items",
        measures=(Measure("price", "price"),),
        dimensions=(Dimension("kind", "kind"),),
        references=(Reference("order_id", "orders"),),
    )
    customers = Table("customers", dimensions=(Dimension("city", "city"),))
    return Source("shop", url, (orders, items, customers), zone)


TYPES: dict[DialectName, dict[str, str]] = {
    "sqlite": {"REAL": "REAL", "TIME": "TIMESTAMP"},
    "postgres": {"REAL": "NUMERIC", "TIME": "TIMESTAMP"},
    "duckdb": {"REAL": "DOUBLE", "TIME": "TIMESTAMPTZ"},
}
TABLES = {
    "customers": "id INTEGER PRIMARY KEY, city TEXT",
    "orders": "id INTEGER PRIMARY KEY, user_id TEXT, created_at TIME, day DATE, said TEXT, "
    "seconds DOUBLE PRECISION, amount REAL, quantity INTEGER, status TEXT, note TEXT, "
    "customer_id INTEGER",
    "items": "id INTEGER PRIMARY KEY, order_id INTEGER, price INTEGER, kind TEXT",
    "secrets": "id INTEGER, secret TEXT",
}


def fill(url: str, shop: Shop, zone: str = "UTC") -> None:
    """Create the tables in an empty database and write the shop's rows."""
    kind = dialect_of(url).name
    local = ZoneInfo(zone)
    rows: dict[str, list[tuple[Any, ...]]] = {
        "customers": [(number, city) for number, city in enumerate(CITIES, 1)],
        "orders": [_row(order, local) for order in shop.orders],
        "items": [(item.id, item.order_id, item.price, item.kind) for item in shop.items],
        "secrets": [(1, canary("nobody"))],
    }
    with closing(connect(url)) as connection:
        if kind == "duckdb":
            connection.execute("LOAD icu")
        cursor = connection.cursor()
        if kind == "duckdb":
            cursor.execute(f"SET TimeZone = '{zone}'")
        for table, columns in TABLES.items():
            for name, own in TYPES[kind].items():
                columns = columns.replace(f" {name}", f" {own}")
            cursor.execute(f"CREATE TABLE {table} ({columns})")
            if rows[table]:
                mark = "%s" if kind == "postgres" else "?"
                marks = ", ".join([mark] * len(rows[table][0]))
                cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", rows[table])  # noqa: S608
        connection.commit()


def connect(url: str) -> Any:
    """Open a database for writing, with its own driver."""
    address = make_url(url)
    match dialect_of(url).name:
        case "sqlite":
            return sqlite3.connect(address.database or "")
        case "duckdb":
            import duckdb

            return duckdb.connect(address.database or "")
        case _:
            import psycopg

            plain = address.set(drivername="postgresql").render_as_string(hide_password=False)
            return psycopg.connect(plain)


def driver_error(url: str) -> type[Exception]:
    """Return what the driver of `connect` raises."""
    match dialect_of(url).name:
        case "sqlite":
            return sqlite3.Error
        case "duckdb":
            import duckdb

            return duckdb.Error
        case _:
            import psycopg

            return psycopg.Error


def _row(order: Order, local: ZoneInfo) -> tuple[Any, ...]:
    """Return a row; every third text of a time has no zone, every third an offset, the rest Z."""
    wall = None if order.at is None else order.at.astimezone(local).replace(tzinfo=None)
    times: tuple[Any, ...] = (None, None, None, None)
    if order.at is not None and wall is not None:
        eastern = order.at.astimezone(ZoneInfo("Asia/Tokyo")).isoformat()
        zulu = order.at.astimezone(UTC).isoformat().replace("+00:00", "Z")
        said = (wall.isoformat(" "), eastern, zulu)[order.id % 3]
        times = (wall.isoformat(" "), wall.date().isoformat(), said, order.at.timestamp())
    return (
        *(order.id, order.user_id, *times, order.amount, order.quantity, order.status),
        *(canary(order.user_id), order.customer_id),
    )
