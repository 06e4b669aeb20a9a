"""DuckDB as a source: a read-only file, no other files, no extensions, and a watch."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy.engine import make_url

from indexing.errors import MissingExtra, SourceUnavailable, SqlFailed, SqlTimeout
from retrieval.sql.pooled import (
    CHECK_TIMEOUT,
    POOL,
    Found,
    failed,
    identity,
    late,
    no_row_of,
    unique,
)
from retrieval.sql.run import Record
from retrieval.sql.schema import Source

if TYPE_CHECKING:
    import duckdb


AGAIN = 0.02
"""Seconds between two interrupts of a statement whose time is over."""


class DuckdbConnector:
    """A DuckDB file: read only, no other files, no extensions, settings locked.

    While it is open no other process can write to the file: `close` lets go of it.
    """

    def __init__(self, source: Source) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise MissingExtra("duckdb", "duckdb") from error
        self._duckdb = duckdb
        self._source = source
        self._free = threading.BoundedSemaphore(POOL)
        self._file = file = Path(make_url(source.url).database or "").expanduser()
        self._opened = identity(file)
        if not file.is_file():
            raise SourceUnavailable(f"source {source.name}: its file is not there")
        try:
            self._root = duckdb.connect(str(file), read_only=True, config=_duckdb_config())
            self._lock_down()
        except duckdb.Error as error:
            raise SourceUnavailable(f"source {source.name}: {type(error).__name__}") from None

    def _lock_down(self) -> None:
        """Set what the config cannot, once: a process opens a file of DuckDB once for all."""
        zone = self._source.timezone
        asked = "SELECT current_setting('lock_configuration'), current_setting('TimeZone')"
        locked, set_zone = self._root.execute(asked).fetchall()[0]
        if not locked:
            self._root.execute("LOAD icu")
            self._root.execute("SET GLOBAL TimeZone = '" + zone.replace("'", "''") + "'")
            self._root.execute("SET enable_external_access = false")
            self._root.execute("SET lock_configuration = true")
        elif set_zone != zone:
            raise SourceUnavailable(
                f"source {self._source.name}: its file is open here in the zone {set_zone}"
            )

    def rows(self, sql: str, timeout: float, limit: int) -> Found:
        """Run a statement; another thread interrupts it when the time is over."""
        end = time.monotonic() + timeout
        if not self._free.acquire(timeout=timeout):
            raise SqlTimeout(late(self._source, timeout))
        try:
            try:
                cursor = self._root.cursor()
            except self._duckdb.Error as error:  # closed meanwhile
                raise SourceUnavailable(failed(self._source, error)) from None
            try:
                with _interrupting(cursor, end):
                    return self._fetched(cursor, sql, limit)
            except self._duckdb.InterruptException:
                raise SqlTimeout(late(self._source, timeout)) from None
            except self._duckdb.Error as error:
                raise SqlFailed(failed(self._source, error)) from None
            finally:
                cursor.close()
        finally:
            self._free.release()

    def _fetched(self, cursor: "duckdb.DuckDBPyConnection", sql: str, limit: int) -> Found:
        cursor.execute(sql)
        found: list[Record] = cursor.fetchmany(limit)
        return tuple(str(column[0]) for column in cursor.description or ()), found

    def columns(self, table: str) -> frozenset[str]:
        """Ask the table for no row."""
        names, _ = self.rows(no_row_of(table, "duckdb"), CHECK_TIMEOUT, 1)
        return frozenset(names)

    def unique(self, table: str, column: str) -> bool:
        """Look for a value that comes twice."""
        return unique(self, table, column, "duckdb")

    def current(self) -> bool:
        """Tell whether the file is still the one that was opened."""
        return identity(self._file) == self._opened

    def close(self) -> None:
        """Close the file."""
        self._root.close()


@contextmanager
def _interrupting(cursor: "duckdb.DuckDBPyConnection", end: float) -> Iterator[None]:
    """Interrupt what runs from ``end`` on, again and again: before it starts that has no effect."""
    done = threading.Event()

    def watch() -> None:
        if not done.wait(max(0.0, end - time.monotonic())):
            cursor.interrupt()
            while not done.wait(AGAIN):
                cursor.interrupt()

    watcher = threading.Thread(target=watch, name="letopis-sql-timeout", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()


def _duckdb_config() -> dict[str, str | bool | int | float | list[str]]:
    return {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "memory_limit": "1GB",
        "temp_directory": "",  # nothing is spilled to the disk
    }
