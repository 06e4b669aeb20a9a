"""PostgreSQL as a source: read-only transactions that are rolled back, and its own timeout."""

import time

from sqlalchemy import create_engine
from sqlalchemy.engine import make_url

from indexing.errors import MissingExtra, SourceUnavailable, SqlFailed, SqlTimeout
from retrieval.sql.pooled import (
    CHECK_TIMEOUT,
    POOL,
    WAIT,
    Found,
    borrowed,
    failed,
    late,
    no_row_of,
    unique,
)
from retrieval.sql.schema import Source


class PostgresConnector:
    """PostgreSQL: each statement in a read-only transaction that is rolled back."""

    def __init__(self, source: Source) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise MissingExtra("psycopg", "postgres") from error
        self._canceled = psycopg.errors.QueryCanceled
        self._error = psycopg.Error
        self._source = source
        self._engine = create_engine(
            make_url(source.url).set(drivername="postgresql+psycopg"),
            pool_size=POOL,
            max_overflow=0,
            pool_timeout=WAIT,
            pool_pre_ping=True,
            connect_args={"connect_timeout": 5, "application_name": "letopis"},
        )

    def rows(self, sql: str, timeout: float, limit: int) -> Found:
        """Run a statement; the server stops it when the time is over."""
        end = time.monotonic() + timeout
        with borrowed(self._engine.raw_connection, end, self._source, self._error) as connection:
            left = max(1, int((end - time.monotonic()) * 1000))
            try:
                connection.execute(self._preamble(left))
                cursor = connection.execute(sql, prepare=True)  # prepared: never two statements
                names = tuple(column.name for column in cursor.description or ())
                return names, cursor.fetchmany(limit)
            except self._canceled:
                raise SqlTimeout(late(self._source, timeout)) from None
            except self._error as error:
                if connection.closed:
                    raise SourceUnavailable(failed(self._source, error)) from None
                raise SqlFailed(failed(self._source, error)) from None
            finally:
                if not connection.closed:
                    connection.rollback()

    def columns(self, table: str) -> frozenset[str]:
        """Ask the table for no row."""
        names, _ = self.rows(no_row_of(table, "postgres"), CHECK_TIMEOUT, 1)
        return frozenset(names)

    def unique(self, table: str, column: str) -> bool:
        """Look for a value that comes twice."""
        return unique(self, table, column, "postgres")

    def current(self) -> bool:
        """A server is what it is; connections that it has closed are found by `pool_pre_ping`."""
        return True

    def close(self) -> None:
        """Close the pooled connections."""
        self._engine.dispose()

    def _preamble(self, milliseconds: int) -> str:
        zone = self._source.timezone.replace("'", "''")
        return (
            "SET TRANSACTION READ ONLY; "
            f"SET LOCAL statement_timeout = {milliseconds}; "
            f"SET LOCAL timezone = '{zone}'; "
            "SET LOCAL standard_conforming_strings = on; "
            "SET LOCAL default_transaction_read_only = on"
        )
