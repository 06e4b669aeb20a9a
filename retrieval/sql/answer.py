"""An intent, or SQL that a model wrote -> its answer: build, guard, run, and say what was asked."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime

from sqlglot import exp

from indexing.errors import SqlRefused
from retrieval.sql.build import build, compares
from retrieval.sql.guard import guard
from retrieval.sql.intent import Intent, Unit
from retrieval.sql.run import Databases, Rows
from retrieval.sql.schema import Source
from retrieval.sql.types import USUAL, Answer, Cell, Limits
from retrieval.sql.wording import period_words, understood


def answer(
    intent: Intent,
    sources: Mapping[str, Source],
    databases: Databases,
    *,
    user_id: str | None,
    now: datetime,
    limits: Limits = USUAL,
) -> Answer:
    """Answer an intent. Raises `SqlError` (`indexing.errors`) or `MissingExtra`."""
    if intent.source not in sources:
        raise SqlRefused(f"no SQL source is named {intent.source}")
    source = sources[intent.source]
    tree = build(intent, source, now=now)
    words = understood(intent, source, user_id)
    found = answer_statement(tree, source, databases, words, user_id=user_id, limits=limits)
    return _shaped(found, intent)


def answer_statement(
    statement: str | exp.Expr,
    source: Source,
    databases: Databases,
    words: str,
    *,
    user_id: str | None,
    limits: Limits = USUAL,
) -> Answer:
    """Answer a statement of any origin; ``words`` is what it is taken to ask.

    A statement that makes its numbers up, reading nothing, is refused. Raises `SqlError`
    (`indexing.errors`) or `MissingExtra`.
    """
    checked = guard(statement, source, user_id, limits.rows)
    if not any(output.find(exp.Column, exp.AggFunc) for output in checked.tree.expressions):
        raise SqlRefused("the statement answers with a constant")
    rows = databases.run(checked, source, limits.timeout)
    return Answer(
        source.name,
        rows.columns,
        rows.rows,
        _value(rows),
        checked.sql,
        words,
        truncated=rows.truncated,
        milliseconds=rows.milliseconds,
    )


def _value(rows: Rows) -> int | float | None:
    if len(rows.rows) != 1 or len(rows.columns) != 1:
        return None
    value = rows.rows[0][0]
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _shaped(found: Answer, intent: Intent) -> Answer:
    """Name units of time as people do, and lay compared periods out as rows."""
    if intent.per is not None:
        rows = tuple((unit_name(row[0], intent.per), *row[1:]) for row in found.rows)
        return replace(found, rows=rows)
    if not compares(intent):
        return found
    labels = [period_words(period) for period in intent.periods]
    if intent.group_by:
        return replace(found, columns=(*found.columns[: -len(labels)], *labels), value=None)
    name = found.columns[0].removesuffix("_1")
    pairs = tuple(zip(labels, found.rows[0], strict=True))
    return replace(found, columns=("period", name), rows=pairs, value=None)


def unit_name(first_day: Cell, unit: Unit) -> Cell:
    """Return what people call a unit of time by its first day; weeks go by their Monday.

    >>> [unit_name("2026-04-01", unit) for unit in ("day", "month", "quarter", "year")]
    ['2026-04-01', '2026-04', '2026-Q2', '2026']
    """
    if not isinstance(first_day, str):
        return first_day
    day = date.fromisoformat(first_day[:10])
    match unit:
        case "month":
            return f"{day:%Y-%m}"
        case "quarter":
            return f"{day.year}-Q{(day.month + 2) // 3}"
        case "year":
            return str(day.year)
        case _:
            return day.isoformat()
