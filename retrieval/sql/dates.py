"""Calendar arithmetic: what a named day, month or year is when no year was said.

Dates only; `times` reads the words and makes aware periods of these.
"""

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

Span = tuple[date, date]
"""Days ``[first, last)``."""

_YEARS_BACK = 8  # one leap year more than any 29 February needs


@dataclass(frozen=True, slots=True)
class Point:
    """A part of the calendar as said: its span in a given year, and the year if it is known.

    ``relative``: the year follows from today ("last week"), nobody said it.
    """

    spans: Callable[[int], Span | None]
    year: int | None = None
    relative: bool = False

    def resolve(self, today: date) -> Span | None:
        """Return the span; without a year the latest that does not begin after ``today``."""
        if self.year is not None:
            return self.spans(self.year)
        for year in range(today.year, today.year - _YEARS_BACK, -1):
            found = self.spans(year)
            if found and found[0] <= today:
                return found
        return None


def fixed(start: date, end: date, relative: bool = True) -> Point:
    """Return a point that needs no year."""
    return Point(lambda _: (start, end), start.year, relative)


def day(month: int, number: int, year: int | None = None) -> Point:
    """Return a day of a month."""

    def spans(year: int) -> Span | None:
        if not 1 <= number <= monthrange(year, month)[1]:
            return None
        start = date(year, month, number)
        return start, start + timedelta(1)

    return Point(spans, year)


def months(first: int, count: int, year: int | None = None) -> Point:
    """Return ``count`` months from month ``first`` on: a month, quarter, half, season or year."""

    def spans(year: int) -> Span:
        start = date(year, first, 1)
        return start, shifted(start, count)

    return Point(spans, year)


def shifted(day: date, count: int) -> date:
    """Return the same day ``count`` months on; the last day of the month where there is none.

    >>> shifted(date(2026, 3, 31), -1)
    datetime.date(2026, 2, 28)
    """
    years, month = divmod(day.month - 1 + count, 12)
    year = day.year + years
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def around(unit: str, today: date, back: int = 0) -> Span:
    """Return the day, week (from Monday), month, quarter or year of today, ``back`` units ago."""
    if unit in ("day", "week"):
        length = 7 if unit == "week" else 1
        start = today - timedelta(today.weekday() if unit == "week" else 0)
        start -= timedelta(length * back)
        return start, start + timedelta(length)
    length = {"month": 1, "quarter": 3, "year": 12}[unit]
    first = date(today.year, (today.month - 1) // length * length + 1, 1)
    start = shifted(first, -length * back)
    return start, shifted(start, length)


def rolling(unit: str, today: date, count: int) -> Span:
    """Return the last ``count`` days, weeks, months or years, today included.

    >>> rolling("day", date(2026, 5, 15), 30), rolling("month", date(2026, 5, 15), 1)[0]
    ((datetime.date(2026, 4, 16), datetime.date(2026, 5, 16)), datetime.date(2026, 4, 16))
    """
    end = today + timedelta(1)
    if unit in ("day", "week"):
        return end - timedelta(count * (7 if unit == "week" else 1)), end
    return shifted(end, -count * {"month": 1, "year": 12}[unit]), end


def joined(first: Point, last: Point, today: date) -> tuple[Span, Span] | None:
    """Return the ends of a range; an end without a year takes the other's, or the year beside it
    that keeps them in order. Without any year it is the latest whose last month has begun."""
    if first.year is None and last.year is not None:
        end = last.spans(last.year)
        starts = (first.spans(year) for year in (last.year, last.year - 1))
        start = next((found for found in starts if end and found and found[0] <= end[0]), None)
    else:
        start = first.resolve(today)
        end = _after(last, start)
        yearless = first.year is None and last.year is None
        if yearless and start and end and end[0] >= shifted(today.replace(day=1), 1):
            start = first.resolve(start[0] - timedelta(1))
            end = _after(last, start)
    return (start, end) if start and end else None


def _after(last: Point, start: Span | None) -> Span | None:
    """Return the first span of the end of a range that does not begin before its start."""
    years = () if start is None else (start[0].year, start[0].year + 1)
    ends = (last.spans(last.year if last.year is not None else year) for year in years)
    return next((found for found in ends if start and found and found[0] >= start[0]), None)
