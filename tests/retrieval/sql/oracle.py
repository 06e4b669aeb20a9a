"""What an intent asks, counted in plain Python over the rows of a shop: no SQL, no database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import groupby
from zoneinfo import ZoneInfo

from evals.sql_databases import CITIES, Shop
from retrieval.sql.answer import unit_name
from retrieval.sql.build import compares
from retrieval.sql.intent import Column, Condition, Intent, Period, Unit
from retrieval.sql.wording import period_words

Value = str | float | int | None


@dataclass(frozen=True, slots=True)
class Row:
    at: datetime | None
    values: dict[tuple[str, str], Value]


def rows_of(shop: Shop, table: str) -> list[Row]:
    """Return the rows of a table, each with all that its references lead to."""
    orders = {}
    for order in shop.orders:
        city = None if order.customer_id is None else CITIES[order.customer_id - 1]
        orders[order.id] = Row(
            order.at,
            {
                ("orders", "amount"): order.amount,
                ("orders", "quantity"): order.quantity,
                ("orders", "status"): order.status,
                ("customers", "city"): city,
            },
        )
    if table == "orders":
        return list(orders.values())
    return [
        Row(
            orders[item.order_id].at,
            {
                **orders[item.order_id].values,
                ("items", "price"): item.price,
                ("items", "kind"): item.kind,
            },
        )
        for item in shop.items
    ]


def expected(intent: Intent, shop: Shop, zone: ZoneInfo, whole_days: bool) -> list[list[Value]]:
    """Return the rows of the answer. ``whole_days``: the time column keeps days only."""

    def within(row: Row, period: Period) -> bool:
        if row.at is None:
            return False
        at = row.at
        if whole_days:
            local = row.at.astimezone(zone)
            at = datetime(local.year, local.month, local.day, tzinfo=zone)
        after = period.start is None or at >= period.start
        return after and (period.end is None or at < period.end)

    rows = [row for row in rows_of(shop, intent.table) if _kept(intent, row)]
    if intent.periods:
        rows = [row for row in rows if any(within(row, period) for period in intent.periods)]
    if intent.per is None and not intent.group_by:
        if not compares(intent):
            return [[_number(intent, rows)]]
        return [
            [period_words(p), _number(intent, [row for row in rows if within(row, p)])]
            for p in intent.periods
        ]

    def key(row: Row) -> tuple[Value, ...]:
        unit = [_first_day(row.at, intent.per, zone)] if intent.per else []
        return (*unit, *(_value(row, column) for column in intent.group_by))

    found = []
    for group, members in groupby(sorted(rows, key=lambda r: _by_name(key(r))), key=key):
        of_group = list(members)
        numbers = [_number(intent, of_group)]
        if compares(intent):
            numbers = [
                _number(intent, [row for row in of_group if within(row, period)])
                for period in intent.periods
            ]
        found.append((group, numbers, _number(intent, of_group)))
    found.sort(key=lambda entry: _by_name(entry[0]))
    if intent.per is None or intent.top is not None:
        found.sort(key=lambda entry: _by_size(entry[2], intent.ascending))
    return [[*_named(group, intent.per), *numbers] for group, numbers, _ in found[: intent.top]]


def _named(group: Sequence[Value], unit: Unit | None) -> list[Value]:
    if unit is None:
        return list(group)
    return [unit_name(group[0], unit), *group[1:]]


def _kept(intent: Intent, row: Row) -> bool:
    compare: dict[str, Callable[[float, float], bool]] = {
        "<": lambda a, b: a < b,
        "<=": lambda a, b: a <= b,
        ">": lambda a, b: a > b,
        ">=": lambda a, b: a >= b,
        "=": lambda a, b: a == b,
    }
    for bound in intent.bounds:
        value = _value(row, bound.column)
        if not isinstance(value, int | float) or not compare[bound.operator](value, bound.number):
            return False
    return all(_holds(condition, row) for condition in intent.conditions)


def _holds(condition: Condition, row: Row) -> bool:
    return (_value(row, condition.column) in condition.values) != condition.negated


def _value(row: Row, column: Column) -> Value:
    return row.values[column.table, column.name]


def _number(intent: Intent, rows: Sequence[Row]) -> Value:
    if not intent.share:
        return _aggregate(intent, rows)
    whole = _aggregate(intent, rows)
    part = _aggregate(intent, [r for r in rows if all(_holds(c, r) for c in intent.share)])
    assert isinstance(whole, int | float)
    assert isinstance(part, int | float)
    return 100 * part / whole if whole else None


def _aggregate(intent: Intent, rows: Sequence[Row]) -> Value:
    if intent.distinct is not None:
        return len({_value(row, intent.distinct) for row in rows} - {None})
    if intent.measure is None:
        return len(rows)
    values = [v for row in rows if isinstance(v := _value(row, intent.measure), int | float)]
    match intent.aggregate:
        case "count":
            return len(values)
        case "sum":
            return sum(values)
        case "avg":
            return sum(values) / len(values) if values else None
        case "min":
            return min(values, default=None)
        case "max":
            return max(values, default=None)


def _first_day(at: datetime | None, unit: Unit, zone: ZoneInfo) -> str | None:
    if at is None:
        return None
    day: date = at.astimezone(zone).date()
    match unit:
        case "week":
            day -= timedelta(days=day.weekday())
        case "month":
            day = day.replace(day=1)
        case "quarter":
            day = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            day = day.replace(month=1, day=1)
    return day.isoformat()


def _by_name(group: Sequence[Value]) -> list[tuple[bool, str]]:
    return [(value is None, str(value)) for value in group]


def _by_size(number: Value, ascending: bool) -> tuple[bool, float]:
    if not isinstance(number, int | float):
        return True, 0
    # Sums of the same numbers in another order differ in the last bits: equal to nine digits.
    rounded = float(f"{number:.9g}")
    return False, rounded if ascending else -rounded
