"""What was asked of a database, in words for a person: `understood`."""

from datetime import datetime, time, timedelta

from retrieval.sql.intent import Condition, Intent, Period
from retrieval.sql.schema import Source
from retrieval.sql.tenants import owned


def understood(intent: Intent, source: Source, user_id: str | None) -> str:
    """Say what is counted, when, of what and whose. The last day of a period is part of it.

    >>> from datetime import UTC
    >>> from retrieval.sql.intent import Column
    >>> from retrieval.sql.schema import Table
    >>> shop = Source("shop", "sqlite:///shop.db", (Table("orders", tenant_column="user_id"),))
    >>> april = Period(datetime(2026, 4, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC))
    >>> understood(Intent("shop", "orders", periods=(april,)), shop, "u1")
    'count of orders, 2026-04-01 to 2026-04-30, user u1'
    >>> paid = Condition(Column("orders", "status"), ("paid", "sent"))
    >>> total = Intent("shop", "orders", "sum", Column("orders", "amount"), conditions=(paid,))
    >>> understood(total, shop, "u1")
    'sum of amount of orders, status is paid or sent, user u1'
    """
    table = source.table(intent.table)
    parts = [_number(intent, table.called or table.name)]
    parts += [_condition(c) for c in intent.conditions if not _is_idle(c, source)]
    parts += [f"{b.column.name} {b.operator} {b.number:g}" for b in intent.bounds]
    if intent.periods:
        parts.append(" against ".join(period_words(period) for period in intent.periods))
    if intent.group_by:
        parts.append("by " + ", ".join(column.name for column in intent.group_by))
    if intent.per:
        parts.append(f"per {intent.per}")
    if intent.top is not None:
        parts.append(f"the {'smallest' if intent.ascending else 'largest'} {intent.top}")
    if user_id is not None and owned(source, table):
        parts.append(f"user {user_id}")
    return ", ".join(parts)


def period_words(period: Period) -> str:
    """Write a half-open period with its last day, or to the second where it is not whole days.

    >>> from datetime import UTC
    >>> period_words(Period(datetime(2026, 3, 1, tzinfo=UTC), None))
    'since 2026-03-01'
    >>> period_words(Period(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)))
    '2026-03-01'
    """
    start = None if period.start is None else _moment(period.start)
    if period.end is None:
        return "at any time" if start is None else f"since {start}"
    whole = period.end.time() == time()
    last = _moment(period.end - timedelta(days=1) if whole else period.end)
    if start is None:
        return f"until {last}" if whole else f"before {last}"
    if start == last:
        return start
    return f"{start} to {last}" if whole else f"{start} until before {last}"


def _moment(moment: datetime) -> str:
    if moment.time() == time():
        return moment.date().isoformat()
    return moment.replace(tzinfo=None).isoformat(" ", "seconds")


def _number(intent: Intent, rows: str) -> str:
    if intent.distinct is not None:
        what = f"number of different {intent.distinct.name} of {rows}"
    elif intent.measure is not None:
        what = f"{intent.aggregate} of {intent.measure.name} of {rows}"
    else:
        what = f"{intent.aggregate} of {rows}"
    if not intent.share:
        return what
    part = " and ".join(_condition(condition) for condition in intent.share)
    return f"percentage of the {what} where {part}"


def _is_idle(condition: Condition, source: Source) -> bool:
    """Tell whether a condition holds of all rows: it is there for words that say nothing more."""
    table = source.table(condition.column.table)
    idle = {d.name for d in table.dimensions if not d.tells and len(d.values) == 1}
    return condition.column.name in idle and not condition.negated


def _condition(condition: Condition) -> str:
    values = " or ".join(condition.values)
    return f"{condition.column.name} is {'not ' if condition.negated else ''}{values}"
