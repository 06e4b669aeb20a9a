"""The kinds of database and how each is opened: `CONNECTORS`. Errors of drivers end in them."""

from collections.abc import Callable

from retrieval.sql.dialects import DialectName
from retrieval.sql.duckdb_source import DuckdbConnector
from retrieval.sql.postgres_source import PostgresConnector
from retrieval.sql.run import Connector
from retrieval.sql.schema import Source
from retrieval.sql.sqlite_source import SqliteConnector

CONNECTORS: dict[DialectName, Callable[[Source], Connector]] = {
    "sqlite": SqliteConnector,
    "postgres": PostgresConnector,
    "duckdb": DuckdbConnector,
}
