"""The sample databases: three users' rows by a seeded generator, the same on every machine.

`build_sqlite` writes both into files for the answers to be read from; `gold` opens them with views
of one user's rows (``my_orders``, ``my_items``, …, each with ``day``, ``month`` and ``year``), in
which the gold SQL of the questions is written.
"""

import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from indexing.errors import MissingExtra
from retrieval.sql.schema import Source

USER = "u1"
NOW = datetime(2026, 5, 15, 14, 30, tzinfo=ZoneInfo("Europe/Moscow"))
"""When all questions are asked: a Friday."""

_FIRST = datetime(2025, 1, 1)
_LAST = datetime(2026, 5, 15, 11, 0)
_USERS = (USER, "u2", "u10")
_ORDERS = 700  # a user
_RUNS = 900

Row = tuple[object, ...]

TABLES: Mapping[str, Mapping[str, str]] = {
    "shop": {
        "orders": "id INTEGER PRIMARY KEY, user_id TEXT, created_at TEXT, total DOUBLE, "
        "delivery_cost DOUBLE, status TEXT, city TEXT, channel TEXT, payment TEXT",
        "products": "id INTEGER PRIMARY KEY, name TEXT, category TEXT, brand TEXT, price DOUBLE",
        "items": "id INTEGER PRIMARY KEY, order_id INTEGER, product_id INTEGER, quantity INTEGER, "
        "amount DOUBLE",
        "tickets": "id INTEGER PRIMARY KEY, user_id TEXT, order_id INTEGER, opened_at TEXT, "
        "topic TEXT, state TEXT, rating INTEGER, reply_minutes DOUBLE",
    },
    "ops": {
        "runs": "id INTEGER PRIMARY KEY, owner TEXT, started_at TIMESTAMP, agent TEXT, "
        "outcome TEXT, cost DOUBLE, tokens INTEGER, minutes DOUBLE",
        "calls": "id INTEGER PRIMARY KEY, run_id INTEGER, called_at TIMESTAMP, tool TEXT, "
        "status TEXT, latency_ms DOUBLE",
        "alerts": "id INTEGER PRIMARY KEY, owner TEXT, raised_at BIGINT, severity TEXT, "
        "service TEXT, state TEXT",
    },
}
_VIEWS = {
    "shop": """
        CREATE TEMP VIEW my_orders AS
            SELECT *,
                substr(created_at, 1, 10) AS day,
                substr(created_at, 1, 7) AS month,
                substr(created_at, 1, 4) AS year
            FROM orders WHERE user_id = 'u1';
        CREATE TEMP VIEW my_items AS
            SELECT i.*, p.name, p.category, p.brand, o.status, o.city, o.day, o.month, o.year
            FROM items i JOIN my_orders o ON o.id = i.order_id
            JOIN products p ON p.id = i.product_id;
        CREATE TEMP VIEW my_tickets AS
            SELECT *,
                substr(opened_at, 1, 10) AS day,
                substr(opened_at, 1, 7) AS month,
                substr(opened_at, 1, 4) AS year
            FROM tickets WHERE user_id = 'u1';
    """,
    "ops": """
        CREATE TEMP VIEW my_runs AS
            SELECT *,
                substr(started_at, 1, 10) AS day,
                substr(started_at, 1, 7) AS month,
                substr(started_at, 1, 4) AS year
            FROM runs WHERE owner = 'u1';
        CREATE TEMP VIEW my_calls AS
            SELECT c.*, r.agent,
                substr(called_at, 1, 10) AS day,
                substr(called_at, 1, 7) AS month,
                substr(called_at, 1, 4) AS year
            FROM calls c JOIN my_runs r ON r.id = c.run_id;
        CREATE TEMP VIEW my_alerts AS
            SELECT *,
                substr(datetime(raised_at, 'unixepoch'), 1, 10) AS day,
                substr(datetime(raised_at, 'unixepoch'), 1, 7) AS month,
                substr(datetime(raised_at, 'unixepoch'), 1, 4) AS year
            FROM alerts WHERE owner = 'u1';
    """,
}


def build_sqlite(folder: Path, make: Mapping[str, Callable[[str], Source]]) -> dict[str, Source]:
    """Write the databases as SQLite files; return their sources by name."""
    found = {}
    for name, source in make.items():
        file = folder / f"{name}.db"
        with sqlite3.connect(file) as database:
            for table, columns in TABLES[name].items():
                database.execute(f"CREATE TABLE {table} ({columns})")
                rows = _ROWS[name]()[table]
                marks = ", ".join("?" * len(rows[0]))
                database.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608
        database.close()
        found[name] = source(f"sqlite:///{file}")
    return found


def build_duckdb(folder: Path, make: Mapping[str, Callable[[str], Source]]) -> dict[str, Source]:
    """Write the databases as DuckDB files; return their sources. Raises `MissingExtra`."""
    try:
        import duckdb
    except ImportError as error:
        raise MissingExtra("duckdb", "duckdb") from error
    found = {}
    for name, source in make.items():
        file = folder / f"{name}.duckdb"
        with duckdb.connect(str(file)) as database:
            for table, columns in TABLES[name].items():
                database.execute(f"CREATE TABLE {table} ({columns})")
                rows = _ROWS[name]()[table]
                values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
                database.execute(f"INSERT INTO {table} VALUES {values}")  # noqa: S608
        found[name] = source(f"duckdb:///{file}")
    return found


def _literal(cell: object) -> str:
    return repr(cell) if isinstance(cell, int | float | str) else "NULL"


def gold(file: Path, name: str) -> sqlite3.Connection:
    """Open a SQLite file with the views of the user who asks."""
    database = sqlite3.connect(file)
    database.executescript(_VIEWS[name])
    return database


def _shop() -> dict[str, list[Row]]:
    chance = random.Random(20260515)  # noqa: S311
    categories, brands = (
        ("electronics", "books", "clothes", "home"),
        ("Aurora", "Borealis", "Cirrus"),
    )
    products: list[Row] = [
        (
            number,
            f"{brands[number % 3]} {categories[number % 4]} {number}",
            categories[number % 4],
            brands[number % 3],
            round(chance.uniform(200, 9000), 2),
        )
        for number in range(1, 25)
    ]
    orders: list[Row] = []
    items: list[Row] = []
    tickets: list[Row] = []
    for user in _USERS:
        for moment in _moments(chance, _ORDERS):
            number = len(orders) + 1
            total = 0.0
            for _ in range(chance.randint(1, 4)):
                product = products[int(len(products) * chance.random() ** 1.5)]
                quantity = chance.randint(1, 3)
                amount = round(quantity * float(str(product[4])) * chance.uniform(0.2, 0.6), 2)
                total += amount
                items.append((len(items) + 1, number, product[0], quantity, amount))
            orders.append(
                (
                    number,
                    user,
                    moment.isoformat(),
                    round(total, 2),
                    round(chance.uniform(0, 500), 2),
                    _pick(
                        chance, "delivered cancelled returned shipped paid new", 9, 3, 2, 2, 2, 1
                    ),
                    _pick(chance, "Moscow|Saint Petersburg|Kazan", 5, 3, 2),
                    _pick(chance, "web app phone", 4, 5, 1),
                    _pick(chance, "card cash sbp", 5, 2, 3),
                )
            )
            if chance.random() < 0.5:
                opened = min(moment + timedelta(hours=chance.uniform(1, 90)), _LAST)
                tickets.append(
                    (
                        len(tickets) + 1,
                        user,
                        number,
                        opened.replace(microsecond=0).isoformat(),
                        _pick(chance, "delivery payment quality", 5, 2, 3),
                        _pick(chance, "closed open waiting", 6, 3, 1),
                        chance.randint(1, 5),
                        round(chance.uniform(1, 400), 1),
                    )
                )
    return {"orders": orders, "products": products, "items": items, "tickets": tickets}


def _ops() -> dict[str, list[Row]]:
    chance = random.Random(20260516)  # noqa: S311
    runs: list[Row] = []
    calls: list[Row] = []
    alerts: list[Row] = []
    for user in _USERS:
        for moment in _moments(chance, _RUNS):
            number = len(runs) + 1
            runs.append(
                (
                    number,
                    user,
                    moment.isoformat(" "),
                    _pick(chance, "researcher coder planner", 5, 3, 2),
                    _pick(chance, "success failed aborted", 6, 3, 1),
                    round(chance.uniform(0.01, 4), 4),
                    chance.randint(500, 40_000),
                    round(chance.uniform(0.5, 90), 2),
                )
            )
            for _ in range(chance.randint(0, 4)):
                called = min(moment + timedelta(minutes=chance.uniform(0, 40)), _LAST)
                calls.append(
                    (
                        len(calls) + 1,
                        number,
                        called.replace(microsecond=0).isoformat(" "),
                        _pick(chance, "search browser database calculator", 5, 3, 2, 1),
                        _pick(chance, "ok error timeout", 7, 2, 1),
                        round(chance.uniform(5, 5000), 1),
                    )
                )
            if chance.random() < 0.6:
                alerts.append(
                    (
                        len(alerts) + 1,
                        user,
                        int(moment.replace(tzinfo=UTC).timestamp()),
                        _pick(chance, "low medium high critical", 4, 3, 2, 2),
                        _pick(chance, "api billing auth", 5, 3, 2),
                        _pick(chance, "resolved active", 3, 1),
                    )
                )
    return {"runs": runs, "calls": calls, "alerts": alerts}


_ROWS: Mapping[str, Callable[[], dict[str, list[Row]]]] = {"shop": _shop, "ops": _ops}


def _moments(chance: random.Random, count: int) -> Iterator[datetime]:
    """Yield moments, most of them of late: questions about yesterday need rows too."""
    for _ in range(count):
        days = chance.choices((3, 14, 90, (_LAST - _FIRST).days), (10, 15, 35, 40))[0]
        yield (_LAST - timedelta(days=days * chance.random())).replace(microsecond=0)


def _pick(chance: random.Random, names: str, *weights: int) -> str:
    choices: Sequence[str] = names.split("|") if "|" in names else names.split()
    return chance.choices(choices, weights)[0]
