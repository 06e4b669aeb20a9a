"""SQLite as a source: a read-only file, `query_only`, an authorizer, and a clock in its machine."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from sqlalchemy.engine import make_url
from sqlalchemy.pool import QueuePool

from indexing.errors import SourceUnavailable, SqlFailed, SqlTimeout
from retrieval.sql.pooled import (
    CHECK_TIMEOUT,
    POOL,
    WAIT,
    Found,
    borrowed,
    failed,
    identity,
    late,
    no_row_of,
    unique,
)
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
        self._opened = identity(self._file)
        self._readable = {
            table.name.rpartition(".")[2].lower(): {
                column.lower() for column in columns_of(source, table)
            }
            for table in source.tables
        }
        self._behind: dict[str, frozenset[tuple[str, str]]] = {}
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
        connection = self._plain(CHECK_TIMEOUT)
        try:
            found = connection.execute(no_row_of(table, "sqlite"))
            return frozenset(column[0] for column in found.description)
        except sqlite3.Error as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:  # held, damaged, no database at all
                raise SourceUnavailable(failed(self._source, error)) from None
            raise SqlFailed(failed(self._source, error)) from None
        finally:
            connection.close()

    def unique(self, table: str, column: str) -> bool:
        """Look for a value that comes twice."""
        return unique(self, table, column, "sqlite")

    def current(self) -> bool:
        """Tell whether the file is still the one that was opened."""
        return identity(self._file) == self._opened

    def close(self) -> None:
        """Close the pooled connections."""
        self._pool.dispose()

    def _plain(self, wait: float = BUSY) -> sqlite3.Connection:
        if not self._file.is_file():
            raise SourceUnavailable(f"source {self._source.name}: its file is not there")
        try:
            return sqlite3.connect(
                f"{self._file.resolve().as_uri()}?mode=ro",
                uri=True,
                timeout=wait,
                check_same_thread=False,
                isolation_level=None,
            )
        except sqlite3.Error as error:
            raise SourceUnavailable(f"source {self._source.name}: {type(error).__name__}") from None

    def _guarded(self) -> sqlite3.Connection:
        connection = self._plain()
        if not self._behind:
            self._behind = {name: _behind(connection, name) for name in self._readable}
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA trusted_schema = 0")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_authorizer(self._authorize)
        return connection

    def _authorize(
        self, action: int, first: str | None, second: str | None, _: str | None, view: str | None
    ) -> int:
        """Allow reading declared columns, what a declared view reads for itself, and the functions
        of the grammar; nothing else."""
        allowed = action == sqlite3.SQLITE_SELECT
        if action == sqlite3.SQLITE_READ:
            table, column = (first or "").lower(), (second or "").lower()
            allowed = column in {*self._readable.get(table, ()), ""} and table in self._readable
            allowed |= (table, column) in self._behind.get((view or "").lower(), ())
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = (second or "").lower() in FUNCTIONS
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _fetched(connection: sqlite3.Connection, sql: str, limit: int) -> Found:
    with closing(connection.execute(sql)) as cursor:
        return tuple(column[0] for column in cursor.description), cursor.fetchmany(limit)


def _behind(connection: sqlite3.Connection, name: str) -> frozenset[tuple[str, str]]:
    """Return the tables and columns that a view reads, nothing for a table."""
    found: set[tuple[str, str]] = set()

    def note(
        action: int, first: str | None, second: str | None, _: object, view: str | None
    ) -> int:
        if action == sqlite3.SQLITE_READ and view is not None:
            found.add(((first or "").lower(), (second or "").lower()))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(note)
    try:
        connection.execute(no_row_of(name, "sqlite")).close()
    except sqlite3.Error:
        return frozenset()  # asked for, it is reported
    finally:
        connection.set_authorizer(None)
    return frozenset(found)
