"""A model that writes SQL for a question: `SqlWriter`. What it writes is trusted with nothing.

It is told what is declared (names, kinds, values of dimensions), and no row. Its statement runs
through `guard` as any other.
"""

import re
from datetime import datetime
from typing import Protocol

from indexing.errors import ModelError
from retrieval.completions import ChatModel
from retrieval.sql.dialects import dialect_of
from retrieval.sql.schema import Source, Table
from retrieval.sql.tenants import columns_of

LONGEST = 40_000
"""Characters of an answer that are looked at."""

_FENCE = re.compile(r"```(?:\w+\n)?(.*?)```", re.DOTALL)


class SqlWriter(Protocol):
    """Whatever turns a question into SQL over a source's tables."""

    def write(self, question: str, source: Source, now: datetime) -> str:
        """Return a statement; empty: the source cannot answer it. Raises `ModelError`."""
        ...


class EndpointWriter:
    """Writes what a `ChatModel` answers."""

    def __init__(self, url: str, model: str, api_key: str = "", timeout: float = 10.0) -> None:
        self._model = ChatModel(url, model, api_key, timeout, section="sql.writer")

    def write(self, question: str, source: Source, now: datetime) -> str:
        """Ask the model once. Raises `ModelError` when it does not answer with text."""
        try:
            text = self._model.answer(instructions(source, now), question)
        except ModelError as error:
            raise ModelError(f"SQL writer {self._model.url}: {error}") from error
        if text is None:
            raise ModelError(f"SQL writer {self._model.url} sent no statement")
        return statement_in(text)

    def close(self) -> None:
        """Close the connections."""
        self._model.close()


def statement_in(text: str) -> str:
    """Return the statement of a model's answer; empty where it says that there is none.

    >>> statement_in("```sql" + chr(10) + "SELECT COUNT(*) FROM orders;" + chr(10) + "```")
    'SELECT COUNT(*) FROM orders'
    >>> statement_in("NONE")
    ''
    """
    text = text[:LONGEST]
    fenced = _FENCE.search(text)
    statement = (fenced.group(1) if fenced else text).strip().rstrip(";").strip()
    return "" if statement.upper() == "NONE" else statement


def instructions(source: Source, now: datetime) -> str:
    """Return what a model is told: the dialect, the rules, the declared tables, the time."""
    tables = "\n".join(_described(source, table) for table in source.tables)
    return (
        f"Write one {dialect_of(source.url).name} SELECT that answers the question, and nothing "
        "else. Use these tables and columns only. Rows of other users are already left out: do "
        "not filter by user. Group by columns, not by aliases. No UNION, no window functions, no "
        "functions of the current time: "
        f"it is {now.isoformat(' ', 'seconds')}, write times as literals "
        f"(times without a zone are in {source.timezone}). "
        "If the tables cannot answer the question, write NONE.\n\n" + tables
    )


def _described(source: Source, table: Table) -> str:
    lines = [f"table {table.name} ({', '.join(columns_of(source, table))})"]
    if table.time_column:
        lines.append(f"  {table.time_column}: time, kept as {table.time_format}")
    lines += [f"  {m.column}: number{f' in {m.unit}' if m.unit else ''}" for m in table.measures]
    for dimension in table.dimensions:
        values = ", ".join(map(repr, dimension.values))
        lines.append(f"  {dimension.column}: {f'one of {values}' if values else 'any value'}")
    lines += [f"  {r.column} refers to {r.table}.{r.key}" for r in table.references]
    return "\n".join(lines)
