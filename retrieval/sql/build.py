"""An intent -> one SELECT over the declared tables, as a tree: `build`.

It says nothing of whose rows they are: `guard` cuts every table to the caller's, in what is made
here as in any other statement. Values come in as literals of the tree, never as text.

Output: the unit of time (its first day), the groups, then the number; one number for each period
where several are compared. Sums of nothing are 0; averages and extremes of nothing are NULL.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from sqlglot import exp

from indexing.errors import SqlRefused
from retrieval.sql.dialects import Dialect, dialect_of
from retrieval.sql.intent import Bound, Column, Condition, Intent
from retrieval.sql.joins import Path, nearest, path_to
from retrieval.sql.schema import Aggregate, Source, Table
from retrieval.sql.timecolumns import TimeColumn

OPERATORS: dict[str, type[exp.Binary]] = {
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "=": exp.EQ,
}
FUNCTIONS: dict[Aggregate, type[exp.Func]] = {
    "count": exp.Count,
    "sum": exp.Sum,
    "avg": exp.Avg,
    "min": exp.Min,
    "max": exp.Max,
}


def build(intent: Intent, source: Source, *, now: datetime) -> exp.Select:
    """Return the statement of an intent. ``now`` bounds which changes of the clock matter.

    Raises `SqlRefused` for what the declared schema cannot answer.
    """
    return _Statement(intent, source, dialect_of(source.url), now).select()


def compares(intent: Intent) -> bool:
    """Tell whether periods stand side by side, rather than filter what a unit of time groups."""
    return len(intent.periods) > 1 and intent.per is None


@dataclass
class _Statement:
    """A statement in the making: which tables were needed so far, by how they are reached."""

    intent: Intent
    source: Source
    dialect: Dialect
    now: datetime
    aliases: dict[Path, str] = field(default_factory=lambda: {(): "t0"})
    bucketed: TimeColumn | None = None

    def select(self) -> exp.Select:
        intent = self.intent
        if intent.per:
            self.bucketed = self._time()
        buckets = [self.bucketed.bucket(intent.per)] if intent.per and self.bucketed else []
        groups = [self._dimension(column) for column in intent.group_by]
        keys = [*buckets, *groups]
        numbers = self._numbers()
        names = [*([intent.per] if intent.per else []), *group_names(intent)]
        names += number_names(intent)
        outputs = [
            exp.alias_(value, name, quoted=True)
            for value, name in zip([*keys, *numbers], names, strict=True)
        ]
        query = exp.Select(expressions=outputs)
        query.set("group", exp.Group(expressions=[key.copy() for key in keys]) if keys else None)
        order = self._order(buckets, groups)
        query.set("order", exp.Order(expressions=order) if order else None)
        conditions = self._conditions()
        if conditions:
            query = query.where(*conditions, copy=False)
        if intent.top is not None:
            if intent.top < 1 or not keys:
                raise SqlRefused("the largest of what is asked for, but nothing is grouped")
            query = query.limit(intent.top, copy=False)
        return self._joined(query)

    @property
    def table(self) -> Table:
        return self._declared(self.intent.table)

    def _declared(self, name: str) -> Table:
        try:
            return self.source.table(name)
        except KeyError:
            raise SqlRefused(f"{self.source.name} declares no table {name}") from None

    def _numbers(self) -> list[exp.Expr]:
        intent = self.intent
        whole: list[exp.Expr | None] = [None]
        if compares(intent):
            whole = [self._time().within(period) for period in intent.periods]
        if not intent.share:
            return [self._number(condition) for condition in whole]
        if intent.aggregate not in ("count", "sum"):
            raise SqlRefused(f"a share of an {intent.aggregate} has no meaning")
        part = self._all(intent.share)
        return [self._share(part, condition) for condition in whole]

    def _share(self, part: exp.Expr, condition: exp.Expr | None) -> exp.Expr:
        """Return the percentage of the whole; NULL where the whole is empty or zero."""
        both = part if condition is None else exp.and_(condition, part)
        top = exp.cast(self._number(both), exp.DType.DOUBLE)
        bottom = exp.Nullif(this=self._number(condition), expression=exp.Literal.number(0))
        hundred = exp.Mul(this=exp.Literal.number("100.0"), expression=top)
        return exp.Div(this=exp.Paren(this=hundred), expression=bottom)

    def _number(self, condition: exp.Expr | None) -> exp.Expr:
        """Return the aggregate over the rows of which a condition holds."""
        intent = self.intent
        if intent.distinct is not None:
            if intent.aggregate != "count" or intent.measure is not None:
                raise SqlRefused("only the number of different values can be asked for")
            value = _where(condition, self._dimension(intent.distinct))
            return exp.Count(this=exp.Distinct(expressions=[value]))
        if intent.measure is None:
            if intent.aggregate != "count":
                raise SqlRefused(f"{intent.aggregate} of which number is not said")
            if condition is None:
                return exp.Count(this=exp.Star())
            return exp.Count(this=_where(condition, exp.Literal.number(1)))
        value = _where(condition, self._measure(intent.measure))
        found: exp.Expr = FUNCTIONS[intent.aggregate](this=value)
        if intent.aggregate == "sum":
            return exp.Coalesce(this=found, expressions=[exp.Literal.number(0)])
        return found

    def _conditions(self) -> list[exp.Expr]:
        intent = self.intent
        found = [self._condition(condition) for condition in intent.conditions]
        found += [self._bound(bound) for bound in intent.bounds]
        if intent.periods:
            time = self._time()
            found.append(exp.or_(*(time.within(period) for period in intent.periods)))
        return found

    def _all(self, conditions: Sequence[Condition]) -> exp.Expr:
        return exp.and_(*(self._condition(condition) for condition in conditions))

    def _condition(self, condition: Condition) -> exp.Expr:
        """A row without a value has none of the values: it satisfies the negated condition."""
        if not condition.values:
            raise SqlRefused(f"no value of {condition.column.name} is named")
        if any("\0" in value for value in condition.values):
            raise SqlRefused("a value with a zero character")
        column = self._dimension(condition.column)
        values: list[exp.Expr] = [exp.Literal.string(value) for value in condition.values]
        inside = exp.In(this=column, expressions=values)
        if not condition.negated:
            return inside
        missing = exp.Is(this=column.copy(), expression=exp.Null())
        return exp.or_(missing, exp.Not(this=inside))

    def _bound(self, bound: Bound) -> exp.Expr:
        if not math.isfinite(bound.number):
            raise SqlRefused("a bound is a finite number")
        number = int(bound.number) if bound.number == int(bound.number) else bound.number
        column = self._measure(bound.column)
        return OPERATORS[bound.operator](this=column, expression=exp.convert(number))

    def _order(self, buckets: Sequence[exp.Expr], groups: Sequence[exp.Expr]) -> list[exp.Expr]:
        """By time where nothing else is asked, else by the number; equals by their names."""
        intent = self.intent
        order: list[exp.Expr] = []
        if not (buckets or groups):
            return order
        if not buckets or intent.top is not None:
            order.append(_ordered(self._ranked(), desc=not intent.ascending))
        order += [_ordered(bucket.copy()) for bucket in buckets]
        collation = exp.to_identifier(self.dialect.collation, quoted=True)
        for group in groups:
            text = exp.cast(group.copy(), exp.DType.TEXT)
            order.append(_ordered(exp.Collate(this=text, expression=collation.copy())))
        return order

    def _ranked(self) -> exp.Expr:
        """Return the number that groups are ordered by: over all periods where some compare."""
        if self.intent.share:
            return self._share(self._all(self.intent.share), None)
        return self._number(None)

    def _measure(self, column: Column) -> exp.Column:
        table = self._declared(column.table)
        found = {measure.name: measure.column for measure in table.measures}
        return self._column(column, found.get(column.name))

    def _dimension(self, column: Column) -> exp.Column:
        table = self._declared(column.table)
        found = {dimension.name: dimension.column for dimension in table.dimensions}
        return self._column(column, found.get(column.name))

    def _column(self, column: Column, name: str | None) -> exp.Column:
        if name is None:
            raise SqlRefused(f"{column.table} declares no {column.name}")
        return self._reach(path_to(self.source, self.table, column.table), name)

    def _time(self) -> TimeColumn:
        """Return the time of a row: its own, else of the nearest table that it refers to."""
        path = nearest(self.source, self.table, lambda table: bool(table.time_column))
        if path is None:
            raise SqlRefused(f"{self.table.name} has no time")
        table = self.source.table(path[-1].table) if path else self.table
        column = self._reach(path, table.time_column)
        ends = [self.now, *(period.end for period in self.intent.periods if period.end)]
        zone = ZoneInfo(self.source.timezone)
        starts = [period.start for period in self.intent.periods if period.start]
        bounded = starts and len(starts) == len(self.intent.periods)
        since = min(starts) if bounded else None
        return TimeColumn(column, table.time_format, zone, self.dialect, max(ends), since)

    def _reach(self, path: Path, name: str) -> exp.Column:
        for length in range(1, len(path) + 1):
            self.aliases.setdefault(path[:length], f"t{len(self.aliases)}")
        return _quoted(self.aliases[path], name)

    def _joined(self, query: exp.Select) -> exp.Select:
        """Add the table and what it was found to need: a row without a reference stays."""
        query = query.from_(self._from(self.table.name, "t0"), copy=False)
        for path, alias in list(self.aliases.items())[1:]:
            here = self.aliases[path[:-1]]
            same = exp.EQ(
                this=_quoted(here, path[-1].column), expression=_quoted(alias, path[-1].key)
            )
            other = self._from(path[-1].table, alias)
            query = query.join(other, on=same, join_type="LEFT", copy=False)
        return query

    def _from(self, table: str, alias: str) -> exp.Table | exp.Subquery:
        named = _named(table, alias)
        if self.bucketed is not None and self.bucketed.column.table == alias:
            return self.bucketed.with_local(named)
        return named


def group_names(intent: Intent) -> list[str]:
    """Return the names of the group columns: the dimension's, with its table where two share it."""
    names = [column.name for column in intent.group_by]
    return [
        f"{column.table}_{column.name}".replace(".", "_")
        if names.count(column.name) > 1
        else column.name
        for column in intent.group_by
    ]


def number_names(intent: Intent) -> list[str]:
    """Return the names of the columns of numbers, one a period where several compare."""
    name: str = intent.aggregate
    if intent.distinct is not None:
        name = f"distinct_{intent.distinct.name}"
    elif intent.measure is not None:
        name = f"{intent.aggregate}_{intent.measure.name}"
    if intent.share:
        name = "share"
    if not compares(intent):
        return [name]
    return [f"{name}_{number}" for number in range(1, len(intent.periods) + 1)]


def _where(condition: exp.Expr | None, value: exp.Expr) -> exp.Expr:
    """Return the value where the condition holds, else NULL, which no aggregate counts."""
    return value if condition is None else exp.Case().when(condition.copy(), value, copy=False)


def _ordered(value: exp.Expr, desc: bool = False) -> exp.Ordered:
    return exp.Ordered(this=value, desc=desc, nulls_first=False)


def _quoted(table: str, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=table)


def _named(table: str, alias: str) -> exp.Table:
    schema, _, name = table.rpartition(".")
    return exp.table_(name, schema or None, quoted=True, alias=alias)
