"""What the guard refuses, what it makes of what it lets through, and that it lets no name in."""

import random
from dataclasses import replace

import pytest
import sqlglot
from sqlglot import exp

from evals.sql_attacks import COMMANDS, Writer
from evals.sql_databases import source_of
from indexing.errors import SqlRefused, UserRequired
from retrieval.sql.dialects import dialect_of
from retrieval.sql.guard import guard
from retrieval.sql.schema import Dimension, Reference, Source, Table

URLS = {"sqlite": "sqlite:///shop.db", "postgres": "postgresql://h/d", "duckdb": "duckdb:///d"}
REFUSED = (
    "SELECT secret FROM orders",
    "SELECT * FROM secrets",
    'SELECT "secret" FROM orders',
    "SELECT rowid FROM orders",
    "SELECT orders FROM orders",
    "SELECT * FROM main.secrets",
    "SELECT id FROM orders UNION SELECT id FROM secrets",
    "SELECT id FROM orders WHERE id IN (SELECT id FROM secrets)",
    "SELECT (SELECT MAX(secret) FROM secrets) FROM orders",
    "WITH a AS (SELECT * FROM secrets) SELECT * FROM a",
    "SELECT x FROM (WITH secrets AS (SELECT 1 AS x) SELECT x FROM secrets) s, secrets",
    "SELECT note FROM orders LIMIT -1",
    "SELECT note FROM orders LIMIT (SELECT 1)",
    "SELECT note FROM orders FOR UPDATE",
    "SELECT id FROM orders WHERE note LIKE '%a%b%'",
    "SELECT id FROM orders WHERE note LIKE note",
    "SELECT CAST(note AS regclass) FROM orders",
    "SELECT pg_sleep(1) FROM orders",
    "SELECT load_extension('x') FROM orders",
    "SELECT note || note FROM orders",
    "SELECT ROW_NUMBER() OVER () FROM orders",
    "SELECT id FROM orders o FULL JOIN items i ON o.id = i.order_id",
    "SELECT id FROM orders NATURAL JOIN items",
    'SELECT id AS "a b" FROM orders',
    "SELECT ?, :a FROM orders",
)


@pytest.mark.parametrize("dialect", URLS)
@pytest.mark.parametrize("statement", REFUSED)
def test_refused(statement: str, dialect: str) -> None:
    with pytest.raises(SqlRefused):
        guard(statement, source_of(URLS[dialect]), "u1", 10)


@pytest.mark.parametrize("dialect", URLS)
def test_commands_are_refused_or_read_declared_tables(dialect: str) -> None:
    source = source_of(URLS[dialect])
    for statement in COMMANDS:
        try:
            checked = guard(statement, source, "u1", 10)
        except SqlRefused:
            continue
        assert_cut(checked.sql, dialect, "u1")


@pytest.mark.parametrize("dialect", URLS)
def test_every_table_of_random_statements_is_cut(dialect: str) -> None:
    writer = Writer(random.Random(3), dialect_of(URLS[dialect]).name)
    let_through = 0
    for _ in range(80):
        try:
            checked = guard(writer.statement(3), source_of(URLS[dialect]), "it's me", 10)
        except SqlRefused:  # a nearer table of the same alias may lack a column
            continue
        assert_cut(checked.sql, dialect, "it's me")
        let_through += 1
    assert let_through > 50


def assert_cut(sql: str, dialect: str, user_id: str) -> None:
    """Read the statement anew: each real table lies in a query of its own that names the user."""
    tree = sqlglot.parse_one(sql, dialect=dialect)
    assert isinstance(tree, exp.Select)
    assert int(tree.args["limit"].expression.name) <= 11
    expressions = {cte.alias for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if table.name in expressions:
            continue
        query = table.find_ancestor(exp.Select)
        assert query is not None
        assert "joins" not in query.args
        assert table.name in {"orders", "items", "customers"}
        if table.name == "orders":
            literals = {node.name for node in query.args["where"].find_all(exp.Literal)}
            assert literals == {user_id}
            assert not list(query.args["where"].find_all(exp.Or, exp.Not))
        elif table.name == "items":
            assert query.args["where"].find(exp.In).args["query"].find(exp.Table).name == "orders"


def test_the_statement_that_runs() -> None:
    checked = guard(
        "select count(*) from orders o where 1=1 or o.id=2", source_of(URLS["sqlite"]), "u1", 9
    )
    assert checked.sql == (
        'SELECT COUNT(*) AS "column_1" FROM (SELECT "id" AS "id" FROM "orders" '
        'WHERE "user_id" = \'u1\' AND CAST("user_id" AS TEXT) COLLATE "BINARY" = \'u1\') AS "o" '
        'WHERE 1 = 1 OR "o"."id" = 2 LIMIT 10'
    )


def test_equal_tables_at_two_depths_are_both_cut() -> None:
    inner = "SELECT 1 FROM orders z WHERE z.note <> 'x'"
    statement = f"SELECT COUNT(*) FROM orders z WHERE EXISTS ({inner} AND EXISTS ({inner}))"
    assert guard(statement, source_of(URLS["sqlite"]), "u1", 9).sql.count("COLLATE") == 3


def test_a_table_expression_may_bear_the_name_of_a_table() -> None:
    statement = "WITH orders AS (SELECT id FROM orders) SELECT COUNT(*) FROM orders"
    sql = guard(statement, source_of(URLS["sqlite"]), "u1", 9).sql
    assert sql.count('"orders" WHERE') == 1
    assert 'FROM "cte_0"' in sql


@pytest.mark.parametrize("user_id", [None, ""])
def test_without_a_user_only_shared_tables(user_id: str | None) -> None:
    source = source_of(URLS["sqlite"])
    assert "customers" in guard("SELECT city FROM customers", source, user_id, 9).sql
    for table in ("orders", "items"):
        with pytest.raises(UserRequired):
            guard(f"SELECT COUNT(*) FROM {table}", source, user_id, 9)


def test_a_zero_character_is_refused() -> None:
    source = source_of(URLS["sqlite"])
    with pytest.raises(SqlRefused):
        guard("SELECT COUNT(*) FROM orders", source, "u1\0", 9)
    with pytest.raises(SqlRefused):
        guard("SELECT COUNT(*) FROM orders WHERE note = 'a\0'", source, "u1", 9)


def test_rows_of_two_owners_are_shown_to_who_is_both() -> None:
    users = Table("users", tenant_column="id")
    links = Table("links", references=(Reference("giver", "users"), Reference("taker", "users")))
    source = Source("s", URLS["sqlite"], (users, links))
    sql = guard("SELECT COUNT(*) FROM links", source, "u1", 9).sql
    assert '"giver" IN (SELECT' in sql
    assert ' AND "taker" IN (SELECT' in sql


def test_references_in_a_circle_still_lead_to_the_owner() -> None:
    tree = Table("tree", references=(Reference("parent", "tree"), Reference("shop", "shops")))
    shops = Table("shops", tenant_column="owner", references=(Reference("root", "tree"),))
    sql = guard(
        "SELECT COUNT(*) FROM tree", Source("s", URLS["sqlite"], (tree, shops)), "u1", 9
    ).sql
    assert '"shop" IN (SELECT "id" FROM "shops" WHERE "owner" = \'u1\'' in sql


def test_names_keep_their_case_where_the_database_tells_them_apart() -> None:
    table = Table("Сделки", key="", dimensions=(Dimension("city", "Город"),))
    for url in URLS.values():
        source = Source("s", url, (table,))
        sql = guard('SELECT "Город" FROM "Сделки"', source, None, 9).sql
        assert 'SELECT "Город" AS' in sql
        assert 'FROM "Сделки"' in sql
    deals = (Table("Deals", key=""),)
    assert guard("SELECT 1 FROM DEALS", Source("s", URLS["sqlite"], deals), None, 9)
    with pytest.raises(SqlRefused):
        guard("SELECT 1 FROM Deals", Source("s", URLS["postgres"], deals), None, 9)


def test_a_tree_is_held_to_the_same_rules() -> None:
    source = source_of(URLS["sqlite"])
    with pytest.raises(SqlRefused):
        guard(exp.select(exp.Literal.number("1 FROM secrets --")).from_("orders"), source, "u1", 9)
    with pytest.raises(SqlRefused):
        guard(exp.delete("orders"), source, "u1", 9)


@pytest.mark.parametrize("dialect", URLS)
def test_what_doubles_with_each_step_is_refused(dialect: str) -> None:
    """Written out, either is a thousand million times as long."""
    twice = [f", a{n + 1} AS (SELECT * FROM a{n} x, a{n} y)" for n in range(30)]
    expressions = f"WITH a0 AS (SELECT id FROM orders){''.join(twice)} SELECT COUNT(*) FROM a30"
    sums = "".join(f", a{n} + a{n} AS a{n + 1}" for n in range(30))
    aliases = f"SELECT amount AS a0{sums} FROM orders WHERE a30 > 1"
    for statement in (expressions, aliases):
        with pytest.raises(SqlRefused):
            guard(statement, source_of(URLS[dialect]), "u1", 9)


@pytest.mark.parametrize("dialect", URLS)
def test_shared_rows_are_everybodys_and_no_others(dialect: str) -> None:
    pages = Table("pages", tenant_column="owner", shared="")
    source = Source("shop", URLS[dialect], (pages,))
    mine = guard("SELECT COUNT(*) AS n FROM pages", source, "u1", 5).sql
    assert "= 'u1'" in mine
    assert " OR " in mine
    assert "= ''" in mine
    nobody = guard("SELECT COUNT(*) AS n FROM pages", source, None, 5).sql
    assert "= ''" in nobody
    assert " OR " not in nobody
    with pytest.raises(UserRequired):
        guard(
            "SELECT 1 AS n FROM pages",
            Source("s", URLS[dialect], (replace(pages, shared=None),)),
            None,
            5,
        )
