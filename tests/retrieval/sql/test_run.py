"""The second line: what runs cannot write, ends in time, says little when it fails."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlglot import exp

from evals.sql_attacks import SLOW
from evals.sql_databases import Shop, connect, fill, source_of
from evals.sql_hostile import digest
from indexing.errors import ConfigError, SourceUnavailable, SqlError, SqlFailed, SqlTimeout
from retrieval.sql.guard import Checked, guard
from retrieval.sql.run import Databases
from retrieval.sql.schema import Measure, Source, Table

UNCHECKED = (
    "DELETE FROM orders",
    "UPDATE orders SET note = ''",
    "DROP TABLE items",
    "CREATE TABLE t (a INTEGER)",
    "INSERT INTO customers VALUES (9, 'x')",
    "CREATE TEMP TABLE t (a INTEGER)",
    "SELECT 1; DELETE FROM orders",
    "PRAGMA query_only = 0",
    "COPY orders TO '/tmp/letopis-must-not-be'",
    "ATTACH ':memory:' AS other",
    "SET lock_configuration = false",
)


@pytest.mark.parametrize("statement", UNCHECKED)
def test_what_passes_by_the_guard_cannot_write(
    statement: str, shop_url: str, kind: str, databases: Databases
) -> None:
    before = digest(shop_url)
    forged = Checked(exp.Select(), statement, "shop", 10)
    temporary = kind != "sqlite" and ("TEMP" in statement or "ATTACH" in statement)
    setting = kind == "postgres" and statement.startswith("SET")
    if not (temporary or setting):
        with pytest.raises(SqlError):
            databases.run(forged, source_of(shop_url), 5)
    assert digest(shop_url) == before


def test_undeclared_tables_are_denied_by_sqlite_itself(shop_urls: dict[str, str]) -> None:
    with closing(Databases()) as opened:
        for question in ("SELECT secret FROM secrets", "SELECT name FROM sqlite_master"):
            forged = Checked(exp.Select(), question, "shop", 10)
            with pytest.raises(SqlFailed):
                opened.run(forged, source_of(shop_urls["sqlite"]), 5)


def test_a_view_is_read_and_what_is_behind_it_is_not(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'shop.db'}"
    with closing(sqlite3.connect(tmp_path / "shop.db")) as made:
        made.executescript(
            "CREATE TABLE behind (owner TEXT, n INTEGER, secret TEXT);"
            "INSERT INTO behind VALUES ('u1', 5, 'x'), ('u2', 7, 'y');"
            "CREATE VIEW shown AS SELECT owner, n FROM behind WHERE n > 1;"
        )
    numbers = (Measure("n", "n"),)
    source = Source("shop", url, (Table("shown", key="", tenant_column="owner", measures=numbers),))
    with closing(Databases()) as opened:
        checked = guard("SELECT SUM(n) AS s FROM shown", source, "u1", 5)
        assert opened.run(checked, source, 5).rows == ((5,),)
        for question in (
            "SELECT n FROM behind",
            "SELECT secret FROM behind",
            "WITH shown AS (SELECT secret FROM behind) SELECT * FROM shown",
            "SELECT shown.secret FROM (SELECT secret FROM behind) AS shown",
            "SELECT n FROM shown WHERE n IN (SELECT n FROM behind)",
        ):
            with pytest.raises(SqlFailed):
                opened.run(Checked(exp.Select(), question, "shop", 10), source, 5)


@pytest.mark.parametrize("statement", SLOW)
def test_a_statement_that_never_ends_is_stopped(
    statement: str, shop_url: str, databases: Databases
) -> None:
    source = source_of(shop_url)
    with pytest.raises(SqlTimeout):
        databases.run(guard(statement, source, "u1", 10), source, 0.05)
    after = guard("SELECT COUNT(*) FROM orders", source, "u1", 10)
    assert databases.run(after, source, 30).rows == ((40,),)


def test_more_rows_than_the_limit_are_said_to_be_there(shop_url: str, databases: Databases) -> None:
    source = source_of(shop_url)
    cut = databases.run(guard("SELECT id FROM orders", source, "u1", 39), source, 30)
    whole = databases.run(guard("SELECT id FROM orders", source, "u1", 40), source, 30)
    asked = databases.run(guard("SELECT id FROM orders LIMIT 3", source, "u1", 40), source, 30)
    assert (len(cut.rows), cut.truncated) == (39, True)
    assert (len(whole.rows), whole.truncated) == (40, False)
    assert (len(asked.rows), asked.truncated) == (3, False)


def test_an_error_does_not_quote_rows(shop_url: str, kind: str, databases: Databases) -> None:
    source = source_of(shop_url)
    checked = guard("SELECT CAST(note AS INTEGER) FROM orders", source, "u1", 10)
    if kind == "sqlite":  # it makes a number of any text
        assert databases.run(checked, source, 30).rows[0] == (0,)
        return
    with pytest.raises(SqlFailed) as caught:
        databases.run(checked, source, 30)
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_another_users_rows_raise_no_error(shop_url: str, databases: Databases) -> None:
    """Order 1 is u2's: a condition that would fail on it is not evaluated on it."""
    source = source_of(shop_url)
    mine = guard("SELECT COUNT(*) FROM orders WHERE 1 / (id - 1) >= 0", source, "u1", 10)
    assert databases.run(mine, source, 30).rows == ((40,),)


def test_threads_share_a_source(shop_url: str, databases: Databases) -> None:
    source = source_of(shop_url)
    found: list[object] = []

    def ask(user_id: str) -> None:
        checked = guard(
            "SELECT DISTINCT user_id, COUNT(*) FROM orders GROUP BY 1", source, user_id, 9
        )
        found.extend((user_id, databases.run(checked, source, 60).rows) for _ in range(5))

    threads = [threading.Thread(target=ask, args=(f"u{n % 2 + 1}",)) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 100
    assert {repr(entry) for entry in found} == {repr((u, ((u, 40),))) for u in ("u1", "u2")}


IDS = ("1", "01", " 1", "1 ", "1.0", "1e0", "+1", "u1", "U1", "u1 ", "\u00e9", "e\u0301", "%", "_")


@pytest.mark.parametrize("column", ["TEXT", "INTEGER", "COLLATE"])
def test_ids_are_compared_exactly(column: str, empty_urls: list[str], kind: str) -> None:
    """Whatever the column's type and collation make equal: only the very id finds its row."""
    types = {
        "TEXT": "TEXT",
        "INTEGER": "INTEGER",
        "COLLATE": {"sqlite": "TEXT COLLATE NOCASE", "duckdb": "TEXT COLLATE NOCASE"}.get(
            kind, "CHAR(8)"
        ),
    }
    stored = ("1",) if column == "INTEGER" else IDS
    if types[column] == "CHAR(8)":  # it keeps no spaces at the end
        stored = tuple(name for name in IDS if name == name.rstrip())
    [url, _] = empty_urls
    with closing(connect(url)) as connection:
        cursor = connection.cursor()
        cursor.execute(f"CREATE TABLE notes (owner {types[column]})")
        mark = "%s" if kind == "postgres" else "?"
        cursor.executemany(f"INSERT INTO notes VALUES ({mark})", [(name,) for name in stored])
        connection.commit()
    source = Source("notes", url, (Table("notes", key="", tenant_column="owner"),))
    with closing(Databases()) as opened:
        for name in IDS:
            checked = guard("SELECT COUNT(*) FROM notes", source, name, 10)
            try:
                count = opened.run(checked, source, 30).rows[0][0]
            except SqlFailed:  # PostgreSQL reads no number in such an id
                assert (kind, column) == ("postgres", "INTEGER")
                count = 0
            assert count == (name in stored), name


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for kind in ("sqlite", "duckdb"):
        source = source_of(f"{kind}:///{tmp_path / 'none'}")
        with closing(Databases()) as opened, pytest.raises(SourceUnavailable):
            opened.run(guard("SELECT 1", source, "u1", 1), source, 1)
    assert not list(tmp_path.iterdir())


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    source = source_of(f"postgresql+psycopg://u:secret@/d?host={tmp_path}")
    with closing(Databases()) as opened, pytest.raises(SourceUnavailable) as caught:
        opened.run(guard("SELECT 1", source, "u1", 1), source, 1)
    assert "secret" not in str(caught.value)


def test_a_file_of_another_kind(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text("not a database, and longer than a header of one would have to be" * 20)
    for kind in ("sqlite", "duckdb"):
        source = source_of(f"{kind}:///{file}")
        with closing(Databases()) as opened, pytest.raises(SqlError):
            opened.run(guard("SELECT COUNT(*) FROM customers", source, "u1", 1), source, 1)


def test_mysql_is_not_offered() -> None:
    with pytest.raises(ConfigError, match="mysql"):
        guard("SELECT 1", Source("s", "mysql://h/d", ()), None, 1)


def test_a_source_is_read_while_another_writes(tmp_path: Path, shop: Shop) -> None:
    url = f"sqlite:///{tmp_path / 'shop.sqlite'}"
    fill(url, shop)
    source = source_of(url)
    with (
        closing(connect(url)) as writer,
        closing(Databases()) as opened,
    ):
        checked = guard("SELECT COUNT(*) FROM orders", source, "u1", 1)
        assert opened.run(checked, source, 30).rows == ((40,),)
        writer.execute("DELETE FROM orders WHERE user_id = 'u1'")
        writer.commit()
        assert opened.run(checked, source, 30).rows == ((0,),)


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_file_that_is_replaced_or_removed(kind: str, tmp_path: Path, shop: Shop) -> None:
    old, new = tmp_path / "shop", tmp_path / "new"
    for file in (old, new):
        fill(f"{kind}:///{file}", shop)
    with closing(connect(f"{kind}:///{new}")) as writer:
        writer.execute("DELETE FROM items")
        writer.execute("DELETE FROM orders WHERE user_id = 'u1'")
        writer.commit()
    source = source_of(f"{kind}:///{old}")
    checked = guard("SELECT COUNT(*) FROM orders", source, "u1", 1)
    with closing(Databases()) as opened:
        assert opened.run(checked, source, 30).rows == ((40,),)
        new.replace(old)
        assert opened.run(checked, source, 30).rows == ((0,),)
        old.unlink()
        with pytest.raises(SourceUnavailable):
            opened.run(checked, source, 30)


def test_a_file_that_a_writer_holds(tmp_path: Path, shop: Shop) -> None:
    url = f"sqlite:///{tmp_path / 'shop.sqlite'}"
    fill(url, shop)
    source = source_of(url)
    checked = guard("SELECT COUNT(*) FROM orders", source, "u1", 1)
    with closing(connect(url)) as writer, closing(Databases()) as opened:
        writer.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SqlTimeout):
            opened.run(checked, source, 0.1)
        writer.rollback()
        assert opened.run(checked, source, 30).rows == ((40,),)
