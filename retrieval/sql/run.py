"""Run checked statements on warm, read-only connections, each within its time: `Databases`.

The guard has decided what may run; a second, independent line is here: connections that cannot
write, an authorizer (SQLite), no files and no extensions (DuckDB), a transaction that is rolled
back (PostgreSQL). How each database is opened is in `connections`.
"""

import math
import threading
import time
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Protocol

from indexing.errors import SqlFailed
from retrieval.sql.dialects import dialect_of
from retrieval.sql.guard import Checked
from retrieval.sql.schema import Source
from retrieval.sql.types import Cell

Record = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """What a statement returned; ``truncated``: there is more than its row limit."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated: bool
    milliseconds: float


class Connector(Protocol):
    """The connections to one database. Errors are `SqlError`."""

    def rows(self, sql: str, timeout: float, limit: int) -> tuple[tuple[str, ...], list[Record]]:
        """Return the names of the columns and at most ``limit`` rows, within seconds."""
        ...

    def columns(self, table: str) -> frozenset[str]:
        """Return the columns that a table has. Raises `SqlFailed` where there is no such table."""
        ...

    def unique(self, table: str, column: str) -> bool:
        """Tell whether no value of a column comes twice; True where that takes too long."""
        ...

    def current(self) -> bool:
        """Tell whether what is open is still what the source names: files get replaced."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...


class Databases:
    """The sources' connections, opened at first use and kept. Threads may share one."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[Source, Connector]] = {}
        self._lock = threading.Lock()

    def run(self, checked: Checked, source: Source, timeout: float) -> Rows:
        """Run a statement within ``timeout`` seconds.

        Raises `SqlTimeout`, `SqlFailed`, `SourceUnavailable`, `MissingExtra`.
        """
        if checked.source != source.name:
            raise SqlFailed("a statement runs on the source that it was checked for")
        since = time.monotonic()
        names, found = self.connector(source).rows(checked.sql, timeout, checked.row_limit + 1)
        kept = tuple(tuple(map(plain_cell, row)) for row in found[: checked.row_limit])
        spent = (time.monotonic() - since) * 1000
        return Rows(names, kept, len(found) > checked.row_limit, spent)

    def connector(self, source: Source) -> Connector:
        """Return the connections of a source. Raises `SourceUnavailable` or `MissingExtra`."""
        from retrieval.sql.connections import CONNECTORS

        with self._lock:
            known, connector = self._open.get(source.name, (None, None))
            if connector is None or known != source or not connector.current():
                if connector is not None:
                    del self._open[source.name]
                    connector.close()
                connector = CONNECTORS[dialect_of(source.url).name](source)
                self._open[source.name] = (source, connector)
            return connector

    def close(self) -> None:
        """Close all connections; a later call opens them again."""
        with self._lock:
            for _, connector in self._open.values():
                connector.close()
            self._open.clear()


def plain_cell(value: object) -> Cell:
    """Return a value as plain data, alike from every database."""
    match value:
        case None | bool() | int() | str():
            return value
        case float() | Decimal() if not math.isfinite(value):
            return None
        case float():
            return value
        case Decimal():
            return int(value) if value == value.to_integral_value() else float(value)
        case datetime():
            return value.isoformat(" ")
        case date():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return str(value)
