"""SQLite as a source: a read-only file, `query_only`, an authorizer, and a clock in its machine."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.pool import QueuePool

from indexing.errors import SourceUnavailable, SqlFailed, SqlTimeout
from retrieval.sql.pooled import POOL, WAIT, Found, borrowed, failed, late, no_row_of, unique
from retrieval.sql.schema import Source
from retrieval.sql.tenants import columns_of

CHECK_EVERY = 1000
"""Steps of the machine between two looks at the clock."""

BUSY = 0.02
"""Seconds of one wait for a writer of the file; then the caller's time is looked at."""

LONGEST_VALUE = 1_000_000
"""Bytes of one text, and of a statement."""

FUNCTIONS = {
    *("count", "sum", "avg", "min", "max", "coalesce", "nullif", "round", "lower", "upper"),
    *("strftime", "date", "like"),
}


class SqliteConnector:
    """A SQLite file, opened with ``mode=ro``, ``query_only`` and an authorizer."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._file = Path(make_url(source.url).database or "").expanduser()
        self._readable = {
            table.name.rpartition(".")[2].lower(): {
                column.lower() for column in columns_of(source, table)
            }
            for table in source.tables
        }
        self._pool = QueuePool(
            self._guarded,  # type: ignore[arg-type]  # a driver's connection, which has no base
            pool_size=POOL,
            max_overflow=0,
            timeout=WAIT,
            reset_on_return=None,  # each statement is a transaction of its own
        )

    def rows(self, sql: str, timeout: float, limit: int) -> Found:
        """Run a statement; the machine stops itself when the time is over."""
        end = time.monotonic() + timeout
        with borrowed(self._pool.connect, end, self._source, sqlite3.Error) as connection:
            connection.set_progress_handler(lambda: time.monotonic() > end, CHECK_EVERY)
            try:
                while True:
                    try:
                        return _fetched(connection, sql, limit)
                    except sqlite3.OperationalError as error:
                        if time.monotonic() > end:
                            raise SqlTimeout(late(self._source, timeout)) from None
                        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                            raise SqlFailed(failed(self._source, error)) from None
            except sqlite3.Error as error:
                raise SqlFailed(failed(self._source, error)) from None
            finally:
                connection.set_progress_handler(None, 0)

    def columns(self, table: str) -> frozenset[str]:
        """Ask the table for no row, on a connection of its own."""
        connection = self._plain()
        try:
            found = connection.execute(no_row_of(table, "sqlite"))
            return frozenset(column[0] for column in found.description)
        except sqlite3.Error as error:
            raise SqlFailed(failed(self._source, error)) from None
        finally:
            connection.close()

    def unique(self, table: str, column: str) -> bool:
        """Look for a value that comes twice."""
        return unique(self, table, column, "sqlite")

    def close(self) -> None:
        """Close the pooled connections."""
        self._pool.dispose()

    def _plain(self) -> sqlite3.Connection:
        if not self._file.is_file():
            raise SourceUnavailable(f"source {self._source.name}: its file is not there")
        try:
            return sqlite3.connect(
                f"{self._file.resolve().as_uri()}?mode=ro",
                uri=True,
                timeout=BUSY,
                check_same_thread=False,
                isolation_level=None,
            )
        except sqlite3.Error as error:
            raise SourceUnavailable(f"source {self._source.name}: {type(error).__name__}") from None

    def _guarded(self) -> sqlite3.Connection:
        connection = self._plain()
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA trusted_schema = 0")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_authorizer(self._authorize)
        return connection

    def _authorize(self, action: int, first: str | None, second: str | None, *_: object) -> int:
        """Allow reading declared columns and the functions of the grammar, nothing else."""
        allowed = action == sqlite3.SQLITE_SELECT
        if action == sqlite3.SQLITE_READ:
            columns = self._readable.get((first or "").lower())
            allowed = columns is not None and (second or "").lower() in {*columns, ""}
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = (second or "").lower() in FUNCTIONS
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _fetched(connection: sqlite3.Connection, sql: str, limit: int) -> Found:
    with closing(connection.execute(sql)) as cursor:
        return tuple(column[0] for column in cursor.description), cursor.fetchmany(limit)
