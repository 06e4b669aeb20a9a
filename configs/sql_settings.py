"""The SQL route in the settings file: `[sql]`, and a `[[sql.sources]]` table for each database."""

from collections.abc import Mapping
from typing import Annotated
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from configs.section import Section
from retrieval.sql.schema import Aggregate, TimeFormat


def _name(text: str) -> str:
    if not text.isidentifier() or len(text.encode()) > 63:
        raise ValueError(f"{text!r} is no name: letters, digits and underscores, at most 63 bytes")
    return text


def _table_name(text: str) -> str:
    for part in text.split(".", 1):
        _name(part)
    return text


def _optional_name(text: str) -> str:
    return _name(text) if text else text


def _zone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (LookupError, ValueError, OSError) as error:
        raise ValueError(f"{text!r} is no time zone; write one as Europe/Moscow") from error
    return text


Name = Annotated[str, AfterValidator(_name)]
TableName = Annotated[str, AfterValidator(_table_name)]
OptionalName = Annotated[str, AfterValidator(_optional_name)]
Synonyms = Annotated[
    tuple[str, ...], Field(description="what people call it, in any language; compared by stem")
]


class MeasureSettings(Section):
    """A column of numbers that can be summed, averaged and compared."""

    name: Name = Field(description="what answers call it")
    column: OptionalName = Field("", description="the column; empty: as `name`")
    synonyms: Synonyms = ()
    aggregate: Aggregate = Field("sum", description="where a question does not say which")
    unit: str = Field("", description="what it is counted in, as `RUB`")


class DimensionSettings(Section):
    """A column to filter and group by."""

    name: Name = Field(description="what answers call it")
    column: OptionalName = Field("", description="the column; empty: as `name`")
    synonyms: Synonyms = ()
    values: Mapping[str, tuple[str, ...]] = Field(
        {}, description="stored value -> what people call it, as `{paid = ['оплачен']}`"
    )


class ReferenceSettings(Section):
    """A foreign key to another declared table."""

    column: Name = Field(description="the column of this table")
    table: TableName = Field(description="the other table")
    key: OptionalName = Field("", description="its column; empty: its `key`. Has to be unique")


class TableSettings(Section):
    """A table whose rows can be counted."""

    name: TableName = Field(description="as in the database; may be `schema.table`")
    synonyms: Synonyms = ()
    key: OptionalName = Field("id", description="its primary key; empty: none")
    tenant_column: OptionalName = Field(
        "", description="column with the user's id; empty: by its references, else everybody's"
    )
    time_column: OptionalName = Field("", description="when a row happened")
    time_format: TimeFormat = Field("timestamp", description="how that is kept")
    measures: tuple[MeasureSettings, ...] = Field((), description="its numbers")
    dimensions: tuple[DimensionSettings, ...] = Field((), description="what its rows are told by")
    references: tuple[ReferenceSettings, ...] = Field((), description="its foreign keys")


class SqlSourceSettings(Section):
    """A database that questions may be answered from."""

    name: Name = Field(description="what answers call it")
    url: str = Field(
        repr=False, description="SQLAlchemy's URL of SQLite, PostgreSQL or DuckDB; `env:VARIABLE`"
    )
    timezone: Annotated[str, AfterValidator(_zone)] = Field(
        "UTC", description="zone of times that name none, and of days and months"
    )
    tables: tuple[TableSettings, ...] = Field(min_length=1, description="what may be asked for")


class SqlWriterSettings(Section):
    """A model that writes SQL for questions that the rules do not understand; off by default."""

    url: str = Field("", description="an OpenAI-compatible endpoint, as `http://host/v1`")
    model: str = Field("", description="the model's name there")
    api_key: str = Field("", repr=False, description="the endpoint's key")
    timeout: float = Field(10.0, gt=0, description="seconds that it may take")


class SqlSettings(Section):
    """Questions that are answered by a database; see docs/sql.md."""

    row_limit: int = Field(1000, ge=1, le=100_000, description="most rows of an answer")
    timeout_ms: int = Field(2000, ge=1, description="milliseconds that a statement may take")
    catalog: bool = Field(
        True, description="answer how many messages, sessions, tool calls … the memory has"
    )
    sources: tuple[SqlSourceSettings, ...] = Field(
        (), description="the databases, each a `[[sql.sources]]` table"
    )
    writer: SqlWriterSettings = SqlWriterSettings()
