"""What the SQL route knows of a database: declared tables, columns and what people call them.

Nothing that is not declared here can be asked for. Plain data; `configs` makes it from settings,
`guard` enforces it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Aggregate = Literal["count", "sum", "avg", "min", "max"]
TimeFormat = Literal["timestamp", "date", "text", "epoch"]
"""How a time column keeps time: the database's own types, ISO 8601 text, or seconds as a number."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A column of numbers that can be summarised; ``aggregate`` where a question does not say how.

    ``synonyms`` are words or phrases of both languages in any form: they are compared by stem.
    """

    name: str
    column: str
    synonyms: tuple[str, ...] = ()
    aggregate: Aggregate = "sum"
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Dimension:
    """A column to filter and group by. ``values``: stored value -> what people call it.

    ``tells``: a value alone tells which table's rows are meant; "failed" may be said of anything.
    Without it, and with one value only, that is what all rows have ("stored").
    """

    name: str
    column: str
    synonyms: tuple[str, ...] = ()
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tells: bool = True


@dataclass(frozen=True, slots=True)
class Reference:
    """A foreign key: ``column`` of this table is ``key`` of another declared ``table``."""

    column: str
    table: str
    key: str = "id"


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows can be counted. ``synonyms`` are what people call its rows.

    Rows belong to the user whose id ``tenant_column`` holds; empty: they are everybody's. With
    neither a tenant column nor a reference to a table that has one, all callers may see all rows.
    Rows whose tenant column is ``shared`` are everybody's as well (None: there are none).
    ``unlike`` are words that tell of other things than these rows ("documents that I sold").
    Answers call the rows by ``called``, or by the name.
    """

    name: str
    synonyms: tuple[str, ...] = ()
    key: str = "id"
    tenant_column: str = ""
    time_column: str = ""
    time_format: TimeFormat = "timestamp"
    measures: tuple[Measure, ...] = ()
    dimensions: tuple[Dimension, ...] = ()
    references: tuple[Reference, ...] = ()
    shared: str | None = None
    unlike: tuple[str, ...] = ()
    called: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """One database. ``url`` is SQLAlchemy's; ``timezone`` is the zone its times are kept in."""

    name: str
    url: str
    tables: tuple[Table, ...]
    timezone: str = "UTC"

    def table(self, name: str) -> Table:
        """Return a declared table. Raises `KeyError`."""
        return {table.name: table for table in self.tables}[name]
