"""Declared sources hold together, and are what the database has."""

import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from configs.settings import Settings
from configs.sql import build_limits, build_sources, build_writer, check_source, source_states
from configs.sql_settings import SqlSettings
from indexing.errors import ConfigError
from indexing.remember import remember
from indexing.types import user_scope
from retrieval.sql import sqlite_source
from retrieval.sql.run import Databases
from retrieval.sql.schema import Dimension, Measure, Reference
from tests.conftest import PartsMaker

TOML = """
row_limit = 50
timeout_ms = 500

[[sources]]
name = "shop"
url = "env:SHOP_URL"
timezone = "Europe/Moscow"

[[sources.tables]]
name = "orders"
synonyms = ["order", "заказ"]
tenant_column = "user_id"
time_column = "created_at"

[[sources.tables.measures]]
name = "amount"
column = "amount_rub"
synonyms = ["сумма"]
unit = "RUB"

[[sources.tables.dimensions]]
name = "status"
values = {paid = ["оплачен", "paid"]}

[[sources.tables.references]]
column = "customer_id"
table = "customers"

[[sources.tables]]
name = "customers"
"""


def settings(**changes: Any) -> SqlSettings:
    """Return the settings above; ``changes`` are of the first table."""
    chosen = tomllib.loads(TOML)
    chosen["sources"][0]["tables"][0] |= changes
    return SqlSettings.model_validate(chosen)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "shop.sqlite"
    monkeypatch.setenv("SHOP_URL", f"sqlite:///{file}")
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            "CREATE TABLE customers (id INTEGER);"
            "CREATE TABLE orders (id INTEGER, user_id TEXT, created_at TEXT, amount_rub REAL,"
            " status TEXT, customer_id INTEGER);"
        )
    return file


def test_settings_become_a_source(file: Path) -> None:
    source = build_sources(settings())["shop"]
    orders = source.table("orders")
    assert source.url == f"sqlite:///{file}"
    assert source.timezone == "Europe/Moscow"
    assert orders.measures == (Measure("amount", "amount_rub", ("сумма",), unit="RUB"),)
    assert orders.dimensions == (
        Dimension("status", "status", values={"paid": ("оплачен", "paid")}),
    )
    assert orders.references == (Reference("customer_id", "customers", "id"),)
    assert build_limits(settings()).timeout == 0.5
    assert build_writer(settings()) is None


def test_a_url_is_not_shown() -> None:
    chosen = tomllib.loads(TOML)
    chosen["sources"][0]["url"] = "postgresql://reader:password@db/shop"
    assert "password" not in repr(SqlSettings.model_validate(chosen))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"references": [{"column": "a", "table": "none"}]}, "none, which is not declared"),
        ({"references": [{"column": "a", "table": "customers", "key": "b"}]}, "to the key"),
        ({"measures": [{"name": "a"}, {"name": "a"}]}, "two things alike"),
        ({"measures": [{"name": "a"}, {"name": "A"}]}, "differ by case"),
        ({"name": "customers"}, "two tables have one name"),
    ],
)
@pytest.mark.usefixtures("file")
def test_what_contradicts_itself(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        build_sources(settings(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "orders; DROP TABLE x"},
        {"name": "a.b.c"},
        {"tenant_column": 'user"id'},
        {"measure": []},
        {"time_format": "julian"},
        {"key": "a b"},
    ],
)
def test_what_is_no_name_or_no_setting(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        settings(**changes)


def test_an_unset_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOP_URL", raising=False)
    with pytest.raises(ConfigError, match="SHOP_URL is not set"):
        build_sources(settings())


def test_two_sources_of_one_name() -> None:
    chosen = tomllib.loads(TOML)
    chosen["sources"][0]["url"] = "sqlite:///x"
    chosen["sources"] *= 2
    with pytest.raises(ConfigError, match="two are named"):
        build_sources(SqlSettings.model_validate(chosen))


@pytest.mark.usefixtures("file")
def test_the_database_has_what_is_declared() -> None:
    with closing(Databases()) as databases:
        assert check_source(build_sources(settings())["shop"], databases)
        with pytest.raises(ConfigError, match="orders has no column owner"):
            check_source(build_sources(settings(tenant_column="owner"))["shop"], databases)
        with pytest.raises(ConfigError, match="no table purchases"):
            check_source(build_sources(settings(name="purchases"))["shop"], databases)


def test_a_key_that_comes_twice_would_count_rows_twice(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript("INSERT INTO customers VALUES (1), (1)")
    with closing(Databases()) as databases, pytest.raises(ConfigError, match="not unique"):
        check_source(build_sources(settings())["shop"], databases)


def test_a_database_that_a_writer_holds_is_not_said_to_lack_tables(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_source, "CHECK_TIMEOUT", 0.01)
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        with closing(Databases()) as databases:
            assert not check_source(build_sources(settings())["shop"], databases)


def test_a_file_of_another_kind_is_not_said_to_lack_tables(file: Path) -> None:
    file.write_text("not a database, and longer than a header of one would have to be" * 20)
    with closing(Databases()) as databases:
        assert not check_source(build_sources(settings())["shop"], databases)


def test_a_database_that_is_not_there_yet(file: Path) -> None:
    file.unlink()
    with closing(Databases()) as databases:
        assert not check_source(build_sources(settings())["shop"], databases)


def test_the_states_of_the_sources_are_told(file: Path, tmp_path: Path) -> None:
    shop, wrong = settings().sources[0], settings(name="purchases").sources[0]
    gone = shop.model_copy(update={"name": "gone", "url": f"sqlite:///{tmp_path / 'nowhere.db'}"})
    chosen = SqlSettings(sources=(shop, wrong.model_copy(update={"name": "wrong"}), gone))
    assert source_states(Settings(sql=chosen)) == {
        "shop": "ok",
        "wrong": "SQL source wrong: no table purchases",
        "gone": "cannot be reached",
    }


@pytest.mark.usefixtures("file")
def test_a_wrong_source_keeps_nobody_from_writing(make_parts: PartsMaker) -> None:
    parts = make_parts(sql=settings(name="purchases"))
    remember(parts.index, user_scope("ann"), "the gate code is 4711")
    result = parts.retriever.retrieve("how many purchases do I have?", "ann")
    assert "no table purchases" in result.trace.notes[0]
