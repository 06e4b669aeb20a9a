"""A time column in a statement: whether it lies in a period, and which day, month … it is in.

A time without a zone is in the source's zone. PostgreSQL and DuckDB convert in a session of that
zone (`run` sets it), so only wall-clock times are written here. SQLite keeps no zones: text with
an offset and seconds are converted by the zone's own transitions, written as a CASE, and text that
is no ISO 8601 time lies in no period. SQLite compares to the second.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from sqlglot import exp

from retrieval.sql.dialects import Dialect
from retrieval.sql.intent import Period, Unit
from retrieval.sql.schema import TimeFormat

FARTHEST_OFFSET = timedelta(days=2)
"""No two wall clocks of the world are that far apart."""

UTC_SECONDS, LOCAL = "letopis_utc", "letopis_local"


@dataclass(frozen=True, slots=True)
class TimeColumn:
    """``column`` as kept by ``format`` in ``zone``.

    ``since`` and ``until``: rows before and after do not matter to `bucket`; no ``since``: all do.
    """

    column: exp.Column
    format: TimeFormat
    zone: ZoneInfo
    dialect: Dialect
    until: datetime
    since: datetime | None = None

    def within(self, period: Period) -> exp.Expr:
        """Return the condition that a row's time lies in the half-open period."""
        bounds = ((exp.GTE, period.start), (exp.LT, period.end))
        found = [self._compared(kind, moment) for kind, moment in bounds if moment is not None]
        return exp.and_(*found) if found else exp.true()

    def bucket(self, unit: Unit) -> exp.Expr:
        """Return the first day of the row's day, week (Monday), month, quarter or year."""
        if self.dialect.name == "sqlite":
            return self._sqlite_bucket(unit)
        wall = exp.cast(self._instant(), exp.DType.TIMESTAMP)
        start = exp.TimestampTrunc(this=wall, unit=exp.var(unit.upper()))
        return exp.cast(start, exp.DType.DATE)

    def _compared(self, kind: type[exp.Binary], moment: datetime) -> exp.Expr:
        if self.format == "epoch":
            return kind(this=self.column.copy(), expression=_number(moment.timestamp()))
        if self.format == "date":
            day: exp.Expr = exp.Literal.string(_first_day(moment).isoformat())
            if self.dialect.name != "sqlite":
                day = exp.cast(day, exp.DType.DATE)
            return kind(this=self.column.copy(), expression=day)
        if self.dialect.name == "sqlite":
            return self._sqlite_compared(kind, moment)
        if self.format == "text":
            written = moment.astimezone(UTC).isoformat()
            bound = exp.cast(exp.Literal.string(written), exp.DType.TIMESTAMPTZ)
        else:
            wall = moment.astimezone(self.zone).replace(tzinfo=None)
            bound = exp.cast(exp.Literal.string(wall.isoformat(" ")), exp.DType.TIMESTAMP)
        return kind(this=self._instant(), expression=bound)

    def _instant(self) -> exp.Expr:
        """Return the column as a type of time (PostgreSQL, DuckDB)."""
        column = self.column.copy()
        if self.format == "epoch":
            return exp.UnixToTime(this=column)
        if self.format != "text":
            return column
        if self.dialect.name == "duckdb":
            return exp.TryCast(this=column, to=exp.DataType.build("timestamptz"))
        dated = exp.Like(this=column, expression=exp.Literal.string("____-__-__%"))
        return exp.Case().when(dated, exp.cast(column.copy(), exp.DType.TIMESTAMPTZ))

    def _sqlite_compared(self, kind: type[exp.Binary], moment: datetime) -> exp.Expr:
        """Compare seconds; beside it the text itself, roughly: for its index and its form."""
        instant = _ceil(moment)
        wall = int(instant + _offset(self.zone, moment))
        rough = moment.astimezone(UTC) + (-1 if kind is exp.GTE else 1) * FARTHEST_OFFSET
        day = exp.Literal.string(rough.date().isoformat())
        bound: exp.Expr = exp.Literal.number(wall)
        if wall != instant:
            bound = (
                exp.Case().when(self._zoned(self.column), exp.Literal.number(instant)).else_(bound)
            )
        return exp.and_(
            kind(this=self.column.copy(), expression=day),
            kind(this=_seconds(self.column), expression=bound),
        )

    def _zoned(self, column: exp.Column) -> exp.Expr:
        """Return the condition that a text ends in an offset from UTC."""
        ends = ("%Z", "%+__:__", "%-__:__")
        likes = (exp.Like(this=column.copy(), expression=exp.Literal.string(end)) for end in ends)
        return exp.or_(*likes)

    def _sqlite_bucket(self, unit: Unit) -> exp.Expr:
        if self.format == "date":
            return _start(unit, self.column)
        if self._changes():
            return _start(unit, exp.column(LOCAL, table=self.column.table), "unixepoch")
        return _start(unit, self._utc(self.column), "unixepoch")

    def with_local(self, table: exp.Table) -> exp.Table | exp.Subquery:
        """Return the table with what `bucket` needs of it: seconds of the zone's wall clock.

        They are columns of subqueries, lest the zone's history be written many times.
        """
        if self.dialect.name != "sqlite" or self.format == "date" or not self._changes():
            return table
        column = exp.column(exp.to_identifier(self.column.name, quoted=True))
        utc = exp.column(UTC_SECONDS)
        case = exp.Case()
        for since, offset in reversed(self._changes()[1:]):  # most rows are recent: they end early
            at_least = exp.GTE(this=utc.copy(), expression=exp.Literal.number(since))
            case = case.when(at_least, _number(offset), copy=False)
        shift = case.else_(_number(self._changes()[0][1]), copy=False)
        local: exp.Expr = exp.Add(this=utc.copy(), expression=shift)
        if self.format != "epoch":
            local = exp.Case().when(self._zoned(column), local).else_(utc.copy())
        plain = exp.table_(table.this.copy(), table.args.get("db"))
        inner = _extended(plain, self._utc(column), UTC_SECONDS).subquery("utc_times")
        return _extended(inner, local, LOCAL).subquery(table.alias)

    def _utc(self, column: exp.Column) -> exp.Expr:
        if self.format == "epoch":
            return exp.cast(column.copy(), exp.DType.BIGINT)
        return _seconds(column)

    def _changes(self) -> tuple[tuple[int, int], ...]:
        """Return the zone's offsets; nothing where it is always zero."""
        changes = transitions(self.zone, self.until.year)
        if self.since is not None:
            start = self.since.timestamp()
            before = [change for change in changes if change[0] <= start][-1:]
            changes = (*before, *(change for change in changes if change[0] > start))
        if changes == ((0, 0),):
            return ()
        return changes if len(changes) > 1 else ((changes[0][0] - 1, changes[0][1]), *changes)


@lru_cache(maxsize=64)
def transitions(zone: ZoneInfo, last_year: int) -> tuple[tuple[int, int], ...]:
    """Return since when (seconds, from 1970 on) a zone had which offset from UTC (seconds).

    >>> transitions(ZoneInfo("UTC"), 2026)
    ((0, 0),)
    >>> transitions(ZoneInfo("Europe/Moscow"), 2026)[-1]  # since 26 October 2014
    (1414274400, 10800)
    """
    end = int(datetime(last_year + 1, 12, 31, tzinfo=UTC).timestamp())
    found = [(0, _offset(zone, _at(0)))]
    for low, high in pairwise(range(0, end, 86_400)):
        after = _offset(zone, _at(high))
        if after != _offset(zone, _at(low)):
            while high - low > 1:
                middle = (low + high) // 2
                if _offset(zone, _at(middle)) == after:
                    high = middle
                else:
                    low = middle
            found.append((high, after))
    return tuple(found)


def _at(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _offset(zone: ZoneInfo, moment: datetime) -> int:
    shift = moment.astimezone(zone).utcoffset()
    assert shift is not None
    return int(shift.total_seconds())


def _ceil(moment: datetime) -> int:
    return int(-(-moment.timestamp() // 1))


def _first_day(moment: datetime) -> date:
    """Return the first day that starts at a moment or later, by its own clock."""
    midnight = moment.timetz().replace(tzinfo=None) == time()
    return moment.date() if midnight else moment.date() + timedelta(days=1)


def _number(value: float) -> exp.Expr:
    """Write a number without an exponent, whole where it is whole."""
    return exp.convert(int(value) if value == int(value) else value)


def _seconds(column: exp.Column) -> exp.Expr:
    text = exp.Anonymous(this="STRFTIME", expressions=[exp.Literal.string("%s"), column.copy()])
    return exp.cast(text, exp.DType.BIGINT)


def _extended(table: exp.Expr, value: exp.Expr, name: str) -> exp.Select:
    outputs = [exp.Star(), exp.alias_(value, name, quoted=True)]
    return exp.Select(expressions=outputs).from_(table, copy=False)


def _start(unit: Unit, moment: exp.Expr, *modifiers: str) -> exp.Expr:
    """Return the first day of a unit as SQLite's DATE counts it."""

    def day(*more: str) -> exp.Expr:
        words = [exp.Literal.string(word) for word in (*modifiers, *more)]
        return exp.Anonymous(this="DATE", expressions=[moment.copy(), *words])

    match unit:
        case "day":
            return day()
        case "week":  # on to Sunday, or stay on it, and back to Monday
            return day("weekday 0", "-6 days")
        case "month" | "year":
            return day(f"start of {unit}")
        case "quarter":
            words = [exp.Literal.string(word) for word in modifiers]
            asked = [exp.Literal.string("%m"), moment.copy(), *words]
            month = exp.cast(exp.Anonymous(this="STRFTIME", expressions=asked), exp.DType.INT)
            case = exp.Case()
            for back, months in ((1, (2, 5, 8, 11)), (2, (3, 6, 9, 12))):
                inside = exp.In(this=month.copy(), expressions=list(map(exp.convert, months)))
                case = case.when(inside, day("start of month", f"-{back} months"), copy=False)
            return case.else_(day("start of month"), copy=False)
