"""Settings -> the SQL route: sources that hold together, checked against their databases."""

import os

from configs.settings import Settings
from configs.sql_settings import SqlSettings, SqlSourceSettings, TableSettings
from indexing.errors import ConfigError, MissingExtra, SourceUnavailable, SqlFailed, SqlTimeout
from retrieval.sql.dialects import Dialect, dialect_of
from retrieval.sql.run import Databases
from retrieval.sql.schema import Dimension, Measure, Reference, Source, Table
from retrieval.sql.tenants import columns_of
from retrieval.sql.types import Limits
from retrieval.sql.writer import EndpointWriter, SqlWriter

VARIABLE = "env:"


def build_sources(settings: SqlSettings) -> dict[str, Source]:
    """Return the sources by name. Raises `ConfigError` for what contradicts itself."""
    found: dict[str, Source] = {}
    for chosen in settings.sources:
        if chosen.name in found:
            raise ConfigError(f"sql.sources: two are named {chosen.name!r}")
        found[chosen.name] = _source(chosen)
    return found


def build_limits(settings: SqlSettings) -> Limits:
    """Return what one answer may cost."""
    return Limits(settings.row_limit, settings.timeout_ms / 1000)


def build_writer(settings: SqlSettings) -> SqlWriter | None:
    """Return the model that writes SQL, or None where there is none."""
    chosen = settings.writer
    if not chosen.url:
        return None
    return EndpointWriter(chosen.url, chosen.model, chosen.api_key, chosen.timeout)


def check_source(source: Source, databases: Databases) -> bool:
    """Compare what is declared with the database; False where it cannot be reached.

    Raises `ConfigError` for a table or a column that is not there, and for a reference to a column
    whose values are not unique: its rows would be counted several times.
    """
    try:
        connector = databases.connector(source)
        for table in source.tables:
            try:
                there = connector.columns(table.name)
            except SqlFailed:
                raise ConfigError(f"SQL source {source.name}: no table {table.name}") from None
            _check_columns(source, table, there)
            for reference in table.references:
                if not connector.unique(reference.table, reference.key):
                    raise ConfigError(
                        f"SQL source {source.name}: {table.name}.{reference.column} refers to "
                        f"{reference.table}.{reference.key}, whose values are not unique"
                    )
    except (SourceUnavailable, SqlTimeout):
        return False
    return True


def source_states(settings: Settings) -> dict[str, str]:
    """Return by source whether it can be asked: ``ok``, or why not. Raises `ConfigError`."""
    databases = Databases()
    try:
        return {
            name: _state(source, databases) for name, source in build_sources(settings.sql).items()
        }
    finally:
        databases.close()


def _state(source: Source, databases: Databases) -> str:
    try:
        return "ok" if check_source(source, databases) else "cannot be reached"
    except (ConfigError, MissingExtra) as error:
        return str(error)


def _check_columns(source: Source, table: Table, there: frozenset[str]) -> None:
    fold = dialect_of(source.url).fold
    known = {fold(column) for column in there}
    for column in columns_of(source, table):
        if fold(column) not in known:
            raise ConfigError(f"SQL source {source.name}: {table.name} has no column {column}")


def _source(chosen: SqlSourceSettings) -> Source:
    url = chosen.url
    if url.startswith(VARIABLE):
        url = os.environ.get(url.removeprefix(VARIABLE), "")
        if not url:
            raise ConfigError(f"SQL source {chosen.name}: {chosen.url} is not set")
    dialect = dialect_of(url)
    by_name = {table.name: table for table in chosen.tables}
    if len({dialect.fold(name) for name in by_name}) < len(chosen.tables):
        raise ConfigError(f"SQL source {chosen.name}: two tables have one name")
    tables = tuple(_table(chosen.name, table, by_name) for table in chosen.tables)
    source = Source(chosen.name, url, tables, chosen.timezone)
    for table in tables:
        _check_names(source, table, dialect)
    return source


def _table(source: str, chosen: TableSettings, by_name: dict[str, TableSettings]) -> Table:
    references = []
    for reference in chosen.references:
        other = by_name.get(reference.table)
        where = f"SQL source {source}: {chosen.name}.{reference.column}"
        if other is None:
            raise ConfigError(f"{where} refers to {reference.table}, which is not declared")
        if not other.key or reference.key not in ("", other.key):
            raise ConfigError(f"{where} has to refer to the key of {reference.table}")
        references.append(Reference(reference.column, reference.table, other.key))
    return Table(
        chosen.name,
        chosen.synonyms,
        chosen.key,
        chosen.tenant_column,
        chosen.time_column,
        chosen.time_format,
        tuple(
            Measure(m.name, m.column or m.name, m.synonyms, m.aggregate, m.unit)
            for m in chosen.measures
        ),
        tuple(
            Dimension(d.name, d.column or d.name, d.synonyms, d.values) for d in chosen.dimensions
        ),
        tuple(references),
    )


def _check_names(source: Source, table: Table, dialect: Dialect) -> None:
    for kind in (table.measures, table.dimensions):
        names = [part.name for part in kind]
        if len(set(names)) < len(names):
            raise ConfigError(f"SQL source {source.name}: {table.name} names two things alike")
    columns = columns_of(source, table)
    if len({dialect.fold(column) for column in columns}) < len(columns):
        raise ConfigError(f"SQL source {source.name}: columns of {table.name} differ by case only")
