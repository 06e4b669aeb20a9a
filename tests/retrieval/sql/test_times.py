"""Time expressions: what each means on a Friday in May, and what holds for any text and day."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sql.times import periods
from retrieval.sql.words import folded

MOSCOW = ZoneInfo("Europe/Moscow")
NOW = datetime(2026, 5, 15, 14, 30, tzinfo=MOSCOW)


def said(text: str, now: datetime = NOW, zone: ZoneInfo = MOSCOW) -> list[str]:
    """The periods as days "first..last", the last not included; open ends are empty."""
    return [
        "..".join(f"{end:%Y-%m-%d}" if end else "" for end in (one.period.start, one.period.end))
        for one in periods(text, now, zone)
    ]


@pytest.mark.parametrize("text", ["с 15 по 1 мая", "from 15 to 1 May", "May 15-1", "15-1 мая 2025"])
def test_days_of_a_month_in_the_wrong_order_are_no_year(text: str) -> None:
    assert all(
        one.period.end - one.period.start < timedelta(days=32)
        for one in periods(text, NOW, MOSCOW)
        if one.period.start and one.period.end
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("за апрель", "2026-04-01..2026-05-01"),
        ("в апреле 2025", "2025-04-01..2025-05-01"),
        ("апрельские заказы", "2026-04-01..2026-05-01"),
        ("с 1 по 15 мая", "2026-05-01..2026-05-16"),
        ("1-15 апреля 2025 года", "2025-04-01..2025-04-16"),
        ("между 3 и 10 июня", "2025-06-03..2025-06-11"),
        ("с 28 апреля по 3 мая", "2026-04-28..2026-05-04"),
        ("с ноября по январь", "2025-11-01..2026-02-01"),
        ("с декабря 2024 по март 2025", "2024-12-01..2025-04-01"),
        ("в январе-марте 2026", "2026-01-01..2026-04-01"),
        ("с марта", "2026-03-01.."),
        ("с начала мая", "2026-05-01.."),
        ("до июня", "..2025-06-01"),
        ("до конца апреля", "..2026-05-01"),
        ("после 5 мая", "2026-05-06.."),
        ("в прошлом квартале", "2026-01-01..2026-04-01"),
        ("в первом квартале 2025", "2025-01-01..2025-04-01"),
        ("во II квартале", "2026-04-01..2026-07-01"),
        ("в четвёртом квартале", "2025-10-01..2026-01-01"),
        ("за первое полугодие", "2026-01-01..2026-07-01"),
        ("за последние 30 дней", "2026-04-16..2026-05-16"),
        ("за последнюю неделю", "2026-05-09..2026-05-16"),
        ("за последний месяц", "2026-04-16..2026-05-16"),
        ("за три месяца", "2026-02-16..2026-05-16"),
        ("на прошлой неделе", "2026-05-04..2026-05-11"),
        ("на этой неделе", "2026-05-11..2026-05-18"),
        ("позавчера", "2026-05-13..2026-05-14"),
        ("вчера", "2026-05-14..2026-05-15"),
        ("сегодня", "2026-05-15..2026-05-16"),
        ("5 дней назад", "2026-05-10..2026-05-11"),
        ("в среду", "2026-05-13..2026-05-14"),
        ("в прошлые выходные", "2026-05-09..2026-05-11"),
        ("летом", "2025-06-01..2025-09-01"),
        ("в этом году", "2026-01-01..2027-01-01"),
        ("в 2025 году", "2025-01-01..2026-01-01"),
        ("в 2025-м", "2025-01-01..2026-01-01"),
        ("с начала года", "2026-01-01..2026-05-16"),
        ("в июне прошлого года", "2025-06-01..2025-07-01"),
        ("12.05.2026", "2026-05-12..2026-05-13"),
        ("с 01.04 по 10.04", "2026-04-01..2026-04-11"),
        ("29 февраля", "2024-02-29..2024-03-01"),
        ("last month", "2026-04-01..2026-05-01"),
        ("in the last month", "2026-04-16..2026-05-16"),
        ("in the last 30 days", "2026-04-16..2026-05-16"),
        ("over the past two weeks", "2026-05-02..2026-05-16"),
        ("past week", "2026-05-09..2026-05-16"),
        ("since March", "2026-03-01.."),
        ("from March onwards", "2026-03-01.."),
        ("orders from April", "2026-04-01..2026-05-01"),
        ("before June", "..2025-06-01"),
        ("through May 5", "..2026-05-06"),
        ("between May 3 and May 10", "2026-05-03..2026-05-11"),
        ("from 1 to 15 May", "2026-05-01..2026-05-16"),
        ("May 3-10", "2026-05-03..2026-05-11"),
        ("Q2 2026", "2026-04-01..2026-07-01"),
        ("second quarter of 2025", "2025-04-01..2025-07-01"),
        ("the first half of 2025", "2025-01-01..2025-07-01"),
        ("year to date", "2026-01-01..2026-05-16"),
        ("in June last year", "2025-06-01..2025-07-01"),
        ("on 2026-04-03", "2026-04-03..2026-04-04"),
        ("May 3rd, 2026", "2026-05-03..2026-05-04"),
        ("10 days ago", "2026-05-05..2026-05-06"),
        ("за 2026-04", "2026-04-01..2026-05-01"),
        ("for 2025-10", "2025-10-01..2025-11-01"),
        ("в 10.2025", "2025-10-01..2025-11-01"),
        ("с 2025-10 по 2026-03", "2025-10-01..2026-04-01"),
        ("с апреля по июнь", "2025-04-01..2025-07-01"),
        ("с 10 мая по 20 июня", "2025-05-10..2025-06-21"),
        ("с 1 по 31 мая", "2026-05-01..2026-06-01"),
        ("с октября 2026 по март", "2026-10-01..2027-04-01"),
    ],
)
def test_one_period(text: str, expected: str) -> None:
    assert said(text) == [expected]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("апрель против мая", "2026-04-01..2026-05-01", "2026-05-01..2026-06-01"),
        ("в мае по сравнению с апрелем", "2026-05-01..2026-06-01", "2026-04-01..2026-05-01"),
        ("апрель и май 2025", "2025-04-01..2025-05-01", "2025-05-01..2025-06-01"),
        ("апрель и апрель прошлого года", "2026-04-01..2026-05-01", "2025-04-01..2025-05-01"),
        ("на этой и прошлой неделе", "2026-05-11..2026-05-18", "2026-05-04..2026-05-11"),
        ("April vs May", "2026-04-01..2026-05-01", "2026-05-01..2026-06-01"),
        ("Q1 vs Q2 2025", "2025-01-01..2025-04-01", "2025-04-01..2025-07-01"),
    ],
)
def test_two_periods(text: str, first: str, last: str) -> None:
    assert said(text) == [first, last]


@pytest.mark.parametrize(
    "text",
    [
        "may I ask how many orders",
        "May I ask",
        "this may be",
        "march on",
        "a second",
        "от 100 до 500 рублей",
        "до 2000",
        "from 2000 to 3000",
        "orders over 2000",
        "за последний квартал",
        "04/03/2026",
        "30.02.2026",
        "за 13.2026",
        "за 2026-13",
        "2001-02",  # a season of two years
        "на май",
        "about May",
        "",
    ],
)
def test_no_period(text: str) -> None:
    assert said(text) == []


def test_hours_end_now() -> None:
    (found,) = periods("за последние 3 часа", NOW, MOSCOW)
    assert (found.period.start, found.period.end) == (NOW - timedelta(hours=3), NOW)


def test_the_day_is_that_of_the_zone() -> None:
    late = datetime(2026, 5, 14, 22, 30, tzinfo=UTC)  # 01:30 on the 15th in Moscow
    assert said("вчера", late) == ["2026-05-14..2026-05-15"]
    assert said("вчера", late, ZoneInfo("UTC")) == ["2026-05-13..2026-05-14"]


def test_days_across_a_change_of_clocks_begin_at_midnight() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    (found,) = periods("29.03.2026", NOW, berlin)
    start, end = found.period.start, found.period.end
    assert start is not None
    assert end is not None
    assert (start.hour, end.hour) == (0, 0)
    assert end.astimezone(UTC) - start.astimezone(UTC) == timedelta(hours=23)


def test_the_words_are_told() -> None:
    text = "Сколько заказов С Марта?"
    (found,) = periods(text, NOW, MOSCOW)
    assert found.period.said == "с марта"
    assert folded(text)[found.start : found.end] == "с марта"


_WORDS = st.sampled_from(
    (
        *(
            "с",
            "по",
            "до",
            "в",
            "за",
            "и",
            "май",
            "мая",
            "мае",
            "апреля",
            "1",
            "15",
            "2025",
            "2026",
        ),
        *("году", "прошлой", "неделе", "последние", "30", "дней", "вчера", "12.05.2026", "-", ","),
        *("may", "in", "from", "to", "between", "and", "since", "last", "month", "q2", "vs"),
    )
)
_TEXTS = st.lists(_WORDS, max_size=12).map(" ".join) | st.text(max_size=80)


@given(
    _TEXTS,
    st.datetimes(datetime(2000, 3, 1), datetime(2090, 1, 1)),
    st.sampled_from(["UTC", "Europe/Berlin", "Asia/Kathmandu", "America/Santiago"]),
)
def test_periods_are_ordered_disjoint_aware_and_not_empty(
    text: str, now: datetime, name: str
) -> None:
    zone = ZoneInfo(name)
    found = periods(text, now.replace(tzinfo=UTC), zone)
    ends = [place for one in found for place in (one.start, one.end)]
    assert ends == sorted(ends)
    for one in found:
        start, end = one.period.start, one.period.end
        assert one.start < one.end
        assert start is not None or end is not None
        assert all(moment.tzinfo is not None for moment in (start, end) if moment)
        assert start is None or end is None or start < end


@given(st.dates(date(2001, 1, 1), date(2090, 12, 31)), st.integers(1, 12))
def test_a_month_without_a_year_is_the_latest_that_has_begun(day: date, month: int) -> None:
    names = "январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре"
    now = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    (found,) = periods(f"в {names.split()[month - 1]}", now, ZoneInfo("UTC"))
    start = found.period.start
    assert start is not None
    assert start.month == month
    assert start <= now < start.replace(year=start.year + 1)


@given(st.dates(date(2001, 1, 1), date(2090, 12, 31)), st.integers(1, 12), st.integers(1, 12))
def test_a_range_of_months_without_a_year_has_begun_to_its_last(
    day: date, first: int, last: int
) -> None:
    froms = "января февраля марта апреля мая июня июля августа сентября октября ноября декабря"
    tos = "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь"
    text = f"с {froms.split()[first - 1]} по {tos.split()[last - 1]}"
    (found,) = periods(text, datetime(day.year, day.month, day.day, 12, tzinfo=UTC), UTC)
    start, end = found.period.start, found.period.end
    assert start is not None
    assert end is not None
    ended = (end - timedelta(days=1)).date()
    assert (start.month, ended.month) == (first, last)
    assert ended.replace(day=1) <= day < ended.replace(day=1, year=ended.year + 1)


@given(st.dates(date(2001, 1, 1), date(2090, 12, 31)), st.integers(2, 400))
def test_the_last_days_are_that_many_and_today_is_one(day: date, count: int) -> None:
    zone = ZoneInfo("Europe/Berlin")
    now = datetime(day.year, day.month, day.day, 12, tzinfo=zone)
    (found,) = periods(f"за последние {count} дней", now, zone)
    start, end = found.period.start, found.period.end
    assert start is not None
    assert end is not None
    assert (end.date() - start.date()).days == count
    assert end.date() == day + timedelta(1)
