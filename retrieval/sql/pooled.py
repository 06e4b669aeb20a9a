"""What the connectors of all databases share: a pool's wait, and errors without vendors' texts."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import PoolProxiedConnection
from sqlglot import exp

from indexing.errors import SourceUnavailable, SqlTimeout
from retrieval.sql.dialects import DialectName
from retrieval.sql.run import Connector, Record
from retrieval.sql.schema import Source, Table
from retrieval.sql.tenants import table_node

POOL = 16
"""Connections that one source may hold; a caller that finds none free waits within its time."""

WAIT = 0.02
"""Seconds of one wait for a free connection; then the caller's time is looked at."""

CHECK_TIMEOUT = 5.0
"""Seconds that one look at what is declared may take."""

Found = tuple[tuple[str, ...], list[Record]]
"""Names of columns, and rows."""


def identity(file: Path) -> tuple[int, int] | None:
    """Return what tells a file from another one of its name, None where there is none."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextmanager
def borrowed(
    connect: Callable[[], PoolProxiedConnection], end: float, source: Source, error: type[Exception]
) -> Iterator[Any]:
    """Give a pooled connection of the driver, waiting for a free one until the time is over.

    ``error`` is what the driver raises. Raises `SqlTimeout` or `SourceUnavailable`.
    """
    while True:
        try:
            pooled = connect()
            break
        except PoolTimeout:
            if time.monotonic() > end:
                raise SqlTimeout(f"source {source.name}: all connections are busy") from None
        except (error, SQLAlchemyError) as failure:
            raise SourceUnavailable(f"source {source.name}: {type(failure).__name__}") from None
    try:
        yield pooled.driver_connection
    finally:
        pooled.close()


def no_row_of(table: str, dialect: DialectName) -> str:
    """Return a statement that asks a declared table for its columns and no row."""
    query = exp.select("*").from_(table_node(Table(table))).limit(0)
    return query.sql(dialect=dialect, identify=True)


def unique(connector: Connector, table: str, column: str, dialect: DialectName) -> bool:
    """Tell whether no value of a column comes twice; True where that takes too long to tell."""
    key = exp.column(exp.to_identifier(column, quoted=True))
    more = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
    query = exp.select(exp.Literal.number(1)).from_(table_node(Table(table))).group_by(key)
    query = query.where(key.copy().is_(exp.Null()).not_()).having(more).limit(1)
    try:
        _, found = connector.rows(query.sql(dialect=dialect, identify=True), CHECK_TIMEOUT, 1)
    except SqlTimeout:
        return True
    return not found


def late(source: Source, timeout: float) -> str:
    """Say that a statement was stopped."""
    return f"source {source.name}: no answer within {timeout:g} s"


def failed(source: Source, error: Exception) -> str:
    """Say that a database refused a statement, by its code: its text may quote values."""
    code = getattr(error, "sqlstate", None) or getattr(error, "sqlite_errorname", None) or ""
    return f"source {source.name}: the database refused ({type(error).__name__} {code})".strip()
