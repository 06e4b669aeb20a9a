"""Statements that must not get through, and random ones that may: input of `evals.sql_hostile`."""

# ruff: noqa: S608 - here statements are made of texts on purpose

import random
from collections.abc import Iterator

from retrieval.sql.dialects import DialectName

EXPRESSIONS = (
    *("user_id", "note", "secret", "rowid", "ctid", "tableoid", "oid", "*", "o.*", "orders"),
    *("(SELECT secret FROM secrets)", "(SELECT MAX(note) FROM orders)", "sqlite_version()"),
    *("(SELECT note FROM orders WHERE user_id = 'u2' LIMIT 1)", "version()", "current_user"),
    *("load_extension('x')", "readfile('/etc/passwd')", "writefile('x', 'y')", "pg_sleep(9)"),
    *("pg_read_file('/etc/passwd')", "pg_catalog.pg_sleep(9)", "getenv('HOME')", "query('x')"),
    *("current_setting('data_directory')", "set_config('a.b', 'c', false)", "lo_import('x')"),
    *("nextval('s')", "txid_current()", "dblink('a', 'b')", "query_to_xml('SELECT 1', 1, 1, '')"),
    *("randomblob(1000000000)", "zeroblob(1000000000)", "hex(randomblob(9))", "repeat('a', 9)"),
    *("printf('%99999999d', 1)", "generate_series(1, 1000000000)", "range(1000000000)"),
    *(
        "group_concat(note)",
        "string_agg(note, ',')",
        "array_agg(note)",
        "json_agg(o)",
        "list(note)",
    ),
    *("to_json(o)", "row_to_json(o)", "o::text", "note || note", "x'6e6f7465'", "$$note$$"),
    *("E'\\x6e'", "U&'\\006e'", "CAST('pg_authid' AS regclass)", "'secrets'::regclass", "?", ":a"),
    *("$1", "@@version", "ROW_NUMBER() OVER ()", "SUM(amount) OVER ()", "COLUMNS('.*')"),
    *("note COLLATE NOCASE", "note GLOB '*'", "note REGEXP 'a'", "note ~ '(a+)+$'"),
    *("note LIKE '%a%a%a%'", "note SIMILAR TO 'a'", "date('now')", "strftime(note, note)"),
    *("EXISTS(SELECT 1 FROM secrets)", "COUNT(*) FILTER (WHERE 1 = 1)", "ARRAY[1]", "note[1]"),
)
SOURCES = (
    *("secrets", "main.secrets", "public.secrets", "sqlite_master", "sqlite_schema"),
    *("pg_catalog.pg_authid", "pg_tables", "information_schema.tables", "pg_stat_activity"),
    *("duckdb_settings()", "duckdb_tables", "duckdb_secrets()", "pragma_table_info('orders')"),
    *("read_csv('/etc/passwd')", "read_text('/etc/passwd')", "glob('*')", "'/etc/passwd'"),
    *('"/etc/passwd"', "read_parquet('x')", "sqlite_scan('x', 'y')", "query_table('orders')"),
    *("generate_series(1, 1000000000)", "range(1000000000)", "json_each('[1]')", "dbstat"),
    *("LATERAL (SELECT * FROM secrets) s", "(VALUES (1)) v", "unnest(ARRAY[1])", "fts3tokenize"),
    *(
        "(SELECT * FROM secrets) s",
        "(WITH orders AS (SELECT * FROM secrets) SELECT * FROM orders) s",
    ),
    *("orders TABLESAMPLE SYSTEM (10)", "ONLY orders", "orders FOR UPDATE", "temp.orders"),
    *("orders o NATURAL JOIN secrets", "orders o FULL JOIN items i ON 1 = 1", "ORDERS, SECRETS"),
    *('"secrets"', "[secrets]", "`secrets`", '"SECRETS"', "\uff53ecrets", "secret\u017f"),
    *("orders AS secrets, secrets AS orders", "other.main.orders", "orders INDEXED BY i"),
)
FILTERS = (
    *("user_id = 'u2'", "1 = 1", "user_id = 'u1' OR 1 = 1", "NOT (user_id = 'u1')", "TRUE"),
    *("user_id <> 'u1'", "user_id LIKE '%'", "user_id IN ('u1', 'u2')", "user_id IS NOT NULL"),
    *(
        "user_id LIKE 'u1%'",
        "LOWER(user_id) = 'u1'",
        "user_id = 'U1'",
        "user_id BETWEEN '' AND 'z'",
    ),
    *("id IN (SELECT id FROM orders)", "id IN (SELECT order_id FROM items)"),
    *("EXISTS (SELECT 1 FROM orders p WHERE p.user_id <> orders.user_id)",),
    *(
        "1 = 1 -- AND",
        "1 = 1 /* comment */",
        "1 = 1) OR (1 = 1",
        "1 = 1 UNION SELECT secret FROM secrets",
    ),
    *("1 = 1; DROP TABLE orders", "1 = 1 GROUP BY user_id", "amount / (quantity - 3) > 0"),
    *("CAST(note AS INTEGER) > 0", "amount * 9223372036854775807 > 0", "1 / 0 = 1"),
    *("1 = 1 LIMIT -1", "1 = 1 LIMIT 1000000000", "1 = 1 LIMIT (SELECT 1)", "1 = 1 LIMIT NULL"),
    *("1 = 1 LIMIT ALL", "1 = 1 OFFSET 0", "1 = 1 FETCH FIRST 9 ROWS WITH TIES", "1 = 1 FOR SHARE"),
    *(
        "1 = 1 ORDER BY (SELECT secret FROM secrets)",
        "1 = 1 ORDER BY 1 DESC",
        "1 = 1 QUALIFY 1 = 1",
    ),
)
COMMANDS = (
    *("DROP TABLE orders", "DELETE FROM orders", "UPDATE orders SET note = ''", "VACUUM"),
    *("INSERT INTO orders (id) VALUES (1)", "REPLACE INTO orders (id) VALUES (1)", "BEGIN"),
    *(
        "CREATE TABLE t (a INT)",
        "CREATE TABLE t AS SELECT * FROM orders",
        "ALTER TABLE orders ADD x INT",
    ),
    *("TRUNCATE orders", "ATTACH 'x' AS y", "DETACH main", "PRAGMA writable_schema = 1", "COMMIT"),
    *("PRAGMA query_only = 0", "COPY orders TO '/tmp/x'", "COPY orders FROM '/tmp/x'", "REINDEX"),
    *(
        "EXPORT DATABASE '/tmp/x'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET lock_configuration = false",
    ),
    *(
        "SET SESSION AUTHORIZATION postgres",
        "RESET ALL",
        "GRANT ALL ON orders TO public",
        "SHOW ALL",
    ),
    *("DO $$ BEGIN END $$", "CALL pg_sleep(9)", "EXPLAIN ANALYZE SELECT 1", "EXPLAIN SELECT 1"),
    *(
        "SELECT * INTO t FROM orders",
        "SELECT 1 INTO OUTFILE '/tmp/x'",
        "TABLE secrets",
        "VALUES (1)",
    ),
    *(
        "FROM secrets",
        "FROM orders SELECT secret",
        "SUMMARIZE secrets",
        "DESCRIBE secrets",
        "NOTIFY a",
    ),
    *("WITH d AS (DELETE FROM orders RETURNING *) SELECT * FROM d", "PIVOT orders ON status", ""),
    *("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT COUNT(*) FROM r",),
    *(
        "SELECT 1; SELECT 2",
        "SELECT 1;;",
        ";",
        "(SELECT secret FROM secrets)",
        "SELECT",
        "\0",
        "\ufeff",
    ),
    *("SELECT note FROM orders UNION ALL SELECT secret FROM secrets", "SELECT /*+ hint */ 1"),
    *("SELECT note FROM orders EXCEPT SELECT note FROM orders WHERE user_id = 'u1'", "LISTEN a"),
    "SELECT " + "(" * 500 + "1" + ")" * 500,
    "SELECT " + "1 + " * 9000 + "1",
    "SELECT " + "NOT " * 3000 + "1 = 1",
    "SELECT note FROM orders WHERE " + " OR ".join(["1 = 1"] * 3000),
    "SELECT amount AS a0"
    + "".join(f", a{n} + a{n} AS a{n + 1}" for n in range(30))
    + " FROM orders WHERE a30 > 1 GROUP BY a30 HAVING a30 > 1",
    "WITH a0 AS (SELECT * FROM orders)"
    + "".join(f", a{n + 1} AS (SELECT * FROM a{n} x, a{n} y)" for n in range(30))
    + " SELECT * FROM a30",
    "WITH orders AS (SELECT * FROM orders) SELECT * FROM orders",
    "WITH secrets AS (SELECT * FROM orders) SELECT * FROM (SELECT * FROM secrets) s",
    "WITH a AS (SELECT * FROM b), b AS (SELECT * FROM orders) SELECT * FROM a",
    "SELECT * FROM (WITH secrets AS (SELECT 1 AS x) SELECT x FROM secrets) s, secrets",
    "WITH a AS (SELECT 1 AS x), a AS (SELECT secret FROM secrets) SELECT * FROM a",
)
SLOW = (
    "SELECT COUNT(*) FROM orders a, orders b, orders c, orders d, orders e, orders f "
    "WHERE a.amount + b.amount > c.amount + d.amount + e.quantity - f.quantity",
    "SELECT a.note, COUNT(DISTINCT b.id + c.id) FROM orders a, orders b, orders c, items d, "
    "items e GROUP BY a.note",
    "SELECT MAX(LOWER(a.note)) FROM orders a, orders b, orders c, items d, items e, items f "
    "WHERE a.note LIKE '%zz%' OR b.note LIKE '%u1' ORDER BY 1",
    "SELECT a.id, b.id FROM items a, items b, items c, items d ORDER BY a.price * b.price, c.price",
    "SELECT COUNT(*) FROM items a WHERE a.price < (SELECT COUNT(*) FROM items b, items c, orders d "
    "WHERE b.price + c.price > a.price + d.quantity)",
)
"""Allowed, but over the caller's own rows they take forever."""


def attacks() -> Iterator[str]:
    """Yield every hand-written statement and every payload in its place."""
    yield from COMMANDS
    yield from (f"SELECT {payload} FROM orders o" for payload in EXPRESSIONS)
    yield from (
        f"SELECT COUNT(*) FROM orders o WHERE {payload} IS NOT NULL" for payload in EXPRESSIONS
    )
    yield from (f"SELECT * FROM {payload}" for payload in SOURCES)
    yield from (f"SELECT COUNT(*) FROM orders, {payload}" for payload in SOURCES)
    yield from (f"SELECT note FROM orders WHERE {payload}" for payload in FILTERS)
    yield from (
        "SELECT COUNT(*), SUM(i.price) FROM items i JOIN orders ON orders.id = i.order_id "
        f"WHERE {payload}"
        for payload in FILTERS
    )


NUMBERS = {"orders": ("amount", "quantity", "id"), "items": ("price", "id"), "customers": ("id",)}
TEXTS = {"orders": ("user_id", "note", "status"), "items": ("kind",), "customers": ("city",)}


class Writer:
    """Random SELECTs over the shop, nested, joined, filtered in every way that is allowed.

    Their answers do not depend on the order of rows, so two databases can be compared.
    """

    def __init__(self, dice: random.Random, dialect: DialectName) -> None:
        self.dice = dice
        self.dialect = dialect

    def statement(self, depth: int = 2) -> str:
        """Return a statement that groups or counts."""
        tables, body = self._from(depth)
        alias = self.dice.choice(list(tables))
        number = f"{alias}.{self.dice.choice(NUMBERS[tables[alias]])}"
        text = f"{alias}.{self.dice.choice(TEXTS[tables[alias]])}"
        function = self.dice.choice(("COUNT", "SUM", "MIN", "MAX", "COUNT(DISTINCT"))
        value = f"{function}({number})" if "DISTINCT" not in function else f"{function} {number})"
        where = f" WHERE {self._condition(tables, depth)}" if self.dice.random() < 0.8 else ""
        match self.dice.randrange(4):
            case 0:
                return f"SELECT {value}, COUNT(*) AS n FROM {body}{where}"
            case 1:
                having = self.dice.choice(("", " HAVING COUNT(*) > 1", " HAVING 1 = 1 OR 1 = 2"))
                return f"SELECT {text}, {value} FROM {body}{where} GROUP BY {text}{having}"
            case 2:
                return f"SELECT DISTINCT {text} FROM {body}{where}"
            case _:
                inner = f"SELECT {text} AS x, {number} AS y FROM {body}{where}"
                name = self.dice.choice(("q", "orders", "secrets"))
                outer = f"SELECT MAX(x), MIN(y), COUNT(*) FROM {name} AS orders"
                return f"WITH {name} AS ({inner}) {outer}"

    def _from(self, depth: int) -> tuple[dict[str, str], str]:
        tables = {"a": self.dice.choice(("orders", "orders", "items"))}
        body = f"{self._table(tables['a'], depth)} AS a"
        if self.dice.random() < 0.5:
            tables["b"] = self.dice.choice(list(NUMBERS))
            join = self.dice.choice(("JOIN", "LEFT JOIN"))
            other = self._table(tables["b"], depth)
            body += f" {join} {other} AS b ON {self.dice.choice(('a.id = b.id', 'a.id < b.id'))}"
        return tables, body

    def _table(self, name: str, depth: int) -> str:
        if depth == 0 or self.dice.random() < 0.6:
            return self.dice.choice((name, f'"{name}"', name.upper()))
        condition = self._condition({name: name}, depth - 1)
        return f"(SELECT * FROM {name} WHERE {condition})"

    def _condition(self, tables: dict[str, str], depth: int) -> str:
        alias = self.dice.choice(list(tables))
        number = f"{alias}.{self.dice.choice(NUMBERS[tables[alias]])}"
        text = f"{alias}.{self.dice.choice(TEXTS[tables[alias]])}"
        simple = (
            f"{number} > {self.dice.randrange(20)}",
            f"{text} <> 'canary of u1'",
            f"{text} LIKE '%u2%'",
            f"{text} IN ('u2', 'paid', 'book', 'Omsk')",
            f"NOT ({text} = 'u1')",
            f"{number} IS NULL",
            "1 = 1",
        )
        chosen = self.dice.choice(simple)
        if depth == 0:
            return chosen
        other = self._condition(tables, depth - 1)
        table = self.dice.choice(("orders", "items"))
        inner = self._condition({"z": table}, depth - 1)
        return self.dice.choice(
            (
                chosen,
                f"({chosen} OR {other})",
                f"({chosen} AND NOT ({other}))",
                f"EXISTS (SELECT 1 FROM {table} z WHERE z.id <> {number} AND {inner})",
                f"{number} NOT IN (SELECT z.id FROM {table} z WHERE {inner})",
                f"{number} < (SELECT COUNT(*) FROM {table} z WHERE {inner})",
            )
        )
