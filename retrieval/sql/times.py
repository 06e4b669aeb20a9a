"""Time expressions of a question, Russian and English -> half-open, aware `Period`s.

`points` reads single places in the calendar; here they become ranges ("с 1 по 15 мая"), open ends
("since March") and rolling spans ("за последние 30 дней"). A month or day without a year is the
latest that does not begin in the future. "до" and "before" exclude what they name, "по" and
"to" include it. What is not surely a time stays unread, for the caller to miss.
"""

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta, tzinfo

from retrieval.sql import amounts, points
from retrieval.sql.dates import Point, Span, around, day, joined, rolling
from retrieval.sql.intent import Period
from retrieval.sql.words import folded


@dataclass(frozen=True, slots=True)
class Found:
    """A period and where its words are in the `folded` text."""

    period: Period
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Read:
    """Days (or moments) read at ``at``; None: open. ``point``: it was one place in the calendar."""

    start: date | datetime | None
    stop: date | datetime | None
    at: int
    end: int
    point: Point | None = None


_WORD = re.compile(r"(?<!\w)\w")
_N = r"(?P<count>\d{1,4}|[a-zа-я]+)"
_RU_UNIT = (
    r"(?P<unit>дн(?:я|ей|и)|день|сут(?:ок|ки)|недел[юиь]|месяц(?:а|ев|ы)?|год(?:а|ы)?|лет"
    r"|полгода|час(?:а|ов|ы)?)\b"
)
_EN_UNIT = r"(?P<unit>days?|weeks?|months?|years?|hours?)\b"
_STEMS = (
    ("day", "дн де су da"),
    ("week", "не we"),
    ("month", "ме mo mt"),
    ("quarter", "кв qu qt"),
    ("half", "по"),
    ("year", "го ле ye yt"),
    ("hour", "ча ho"),
)
_UNITS = {stem: unit for unit, stems in _STEMS for stem in stems.split()}

_ROLLING = (
    re.compile(rf"(?:(?:за|в\s+течение)\s+)?(?:последн|минувш|прошедш)\w+\s+(?:{_N}\s+)?{_RU_UNIT}"),
    re.compile(rf"за\s+(?:{_N}\s+)?{_RU_UNIT}(?!\s+(?:назад|до|после))"),
    re.compile(rf"(?:(?:in|over|during|for|within|of|from)\s+)?(?:the\s+)?(?:last|past)\s+{_N}\s+{_EN_UNIT}"),
    re.compile(rf"(?:in|over|during|for|within|of|from)\s+the\s+(?:last|past)\s+{_EN_UNIT}"),
    re.compile(rf"(?:the\s+)?past\s+{_EN_UNIT}"),
)  # fmt: skip
_TO_DATE = re.compile(r"(?P<unit>year|month|quarter|week)[\s-]to[\s-]date\b|ytd\b|mtd\b|qtd\b")
_BEGINNING = re.compile(
    r"(?:с|from|since)\s+(?:the\s+)?(?:(?:самого\s+)?начала|(?:beginning|start)\s+of)\s+"
    r"(?:(?:эт\w+|текущ\w+|the|this)\s+)?(?P<unit>недел|месяц|квартал|год|week|month|quarter|year)\w*"
)

_SINCE = re.compile(
    r"(?:(?:начиная\s+)?со?|since|starting\s+(?:from|in|on)|from(?=.{1,40}\bonwards?\b)|начиная)\s+(?:the\s+)?(?:начала\s+)?"
)
_BEFORE = re.compile(
    r"(?:до|before|until|till|раньше|ранее|through(?=(?P<through>.)))\s+(?:the\s+)?(?P<whole>конца\s+|the\s+end\s+of\s+|end\s+of\s+)?"
)
_AFTER = re.compile(r"(?:после|after|позже|позднее)\s+(?:the\s+)?")
_IN = re.compile(
    r"(?:в\s+течение|во?|на|за|in|on|during|for|of|within|from)\s+(?:the\s+)?(?:month\s+of\s+)?|the\s+"
)
_FROM = re.compile(
    r"(?P<lead>за\s+период\s+с|в\s+период\s+с|со?|от|from|between|между|во?|за|in)\s+(?:the\s+)?"
)
_TO = re.compile(r"\s*(?:(?P<dash>-)|\s(?P<word>по|до|to|and|и|until|till|through))\s*(?:the\s+)?")
_DAYS = re.compile(
    rf"(?:(?P<lead>со?|от|from|between|между)\s+)?(?:the\s+)?(?P<first>\d{{1,2}})(?:-?(?:го|е|ое|ого|st|nd|rd|th))?"
    rf"\s*(?P<to>-|\s(?:по|до|to|and|и))\s*(?=(?:the\s+)?{points.DAY}\s+(?:of\s+)?{points.MONTH})"
)  # fmt: skip
_MONTH_DAYS = re.compile(
    rf"(?:(?P<lead>from|between|on|in)\s+)?(?={points.MONTH}\s+\d)(?P<name>\w+)\.?\s+(?P<first>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"\s*(?P<to>-|\s(?:to|and|through))\s*(?P<last>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s+(?:{points.MONTH_NAMES}))"
    r"(?:,?\s+(?P<year>(?:19|20)\d\d)\b)?"
)  # fmt: skip
_MONTH = re.compile(points.MONTH)
_NOW = re.compile(
    r"\s+(?:по\s+(?:сей\s+день|настоящее\s+время|сегодня(?:шний\s+день)?)|onwards?|till\s+now|until\s+now|to\s+date)\b"
)
_TWO = re.compile(
    r"(?:(?:на|в|in)\s+)?(?P<a>эт\w+|прошл\w+|this|last)\s+(?:и|and|vs\.?|против|versus)\s+"
    r"(?:(?:на|в)\s+)?(?P<b>эт\w+|прошл\w+|this|last)\s+"
    r"(?P<unit>недел|месяц|квартал|год|week|month|quarter|year)\w*"
)
_WITH = re.compile(
    r"(?:\w*(?:ем|ом)|\w*(?:шл|эт|ущ)[ыи]м|\w*\s+неделей)\b|\w+\s+(?:неделей|месяцем|кварталом|годом)"
)
_WITH_LEAD = re.compile(r"со?\s+(?=\w)")
_LINK = re.compile(
    r"(?:\s|,|\b(?:и|а|с|к|и\s+за|и\s+в|против|по\s+сравнению\s+с|чем|than|and|vs\.?|versus|to|with|against|compared\s+(?:to|with))\b)+"
)

_BEGINS = re.compile(
    r"(?:за|во?|на|со?|от|до|после|позже|позднее|раньше|ранее|между|начиная|эт\w+|прошл\w+"
    r"|последн\w+|минувш\w+|прошедш\w+|in|on|of|for|from|the|this|last|past|since|starting|before"
    r"|until|till|through|after|between|over|during|within|year|month|quarter|week|[ymq]td)\b"
    rf"|{points.BEGINNINGS}"
)
"""What every expression begins with; see `points.BEGINNINGS`."""


def periods(text: str, now: datetime, zone: tzinfo) -> tuple[Found, ...]:
    """Return the periods in a text, in order, their words disjoint.

    ``now`` is aware; days begin at midnight of ``zone``, weeks on Monday. "The last 30 days" are
    30 days with today as the last, "the last 2 hours" end now.
    """
    line = folded(text)
    capitals = text if len(line) == len(text[: len(line)]) else ""
    today = now.astimezone(zone).date()
    found: list[_Read] = []
    for word in _WORD.finditer(line):
        at = word.start()
        if found and at < found[-1].end:
            continue
        linked = bool(found) and bool(_LINK.fullmatch(line, found[-1].end, at))
        reads = _read(line, at, today, now, linked or (at > 0 and capitals[at : at + 1].isupper()))
        if linked and len(reads) == 1:
            found[-1], reads = _beside(found[-1], reads[0], today)
        found += reads
    return tuple(
        Found(
            Period(
                _aware(read.start, zone),
                _aware(read.stop, zone),
                " ".join(line[read.at : read.end].split()),
            ),
            read.at,
            read.end,
        )
        for read in found
    )


def _aware(moment: date | datetime | None, zone: tzinfo) -> datetime | None:
    if isinstance(moment, datetime):
        return moment.astimezone(zone)
    return datetime.combine(moment, time.min, zone) if moment else None


def _read(line: str, at: int, today: date, now: datetime, sure: bool) -> list[_Read]:
    """Return what is said at an offset; ``sure``: a bare "may" or "2025" is a time here."""
    if not _BEGINS.match(line, at):
        return []
    for reader in (_rolling, _to_date, _days, _month_days, _range, _open):
        if found := reader(line, at, today, now):
            return [found]
    return _two(line, at, today) or _point(line, at, today, sure)


def _rolling(line: str, at: int, today: date, now: datetime) -> _Read | None:
    for pattern in _ROLLING:
        if found := pattern.match(line, at):
            break
    else:
        return None
    said = found.groupdict().get("count") or "1"
    count = int(said) if said.isdigit() else amounts.word(said)
    unit = _UNITS[found["unit"][:2]]
    if not count or (count == 1 and unit == "day" and not found["unit"].startswith("су")):
        return None
    if unit == "hour":
        return _Read(now - timedelta(hours=count), now, at, found.end())
    if count > {"day": 36600, "week": 5200, "month": 1200}.get(unit, 100):
        return None
    unit, count = ("month", 6 * count) if unit == "half" else (unit, count)
    return _Read(*rolling(unit, today, count), at, found.end())


def _to_date(line: str, at: int, today: date, now: datetime) -> _Read | None:
    found = _BEGINNING.match(line, at) or _TO_DATE.match(line, at)
    if found is None:
        return None
    unit = _UNITS[(found["unit"] or found[0])[:2]]
    return _Read(around(unit, today)[0], today + timedelta(1), at, found.end())


def _days(line: str, at: int, today: date, now: datetime) -> _Read | None:
    """Read "с 1 по 15 мая", "between 3 and 10 June", "1-15 мая"."""
    found = _DAYS.match(line, at)
    if found is None or (found["to"].strip() in ("and", "и") and found["lead"] not in _BETWEEN):
        return None
    read = points.read(line, found.end(), today)
    if read is None:
        return None
    last, end, _ = read
    named = _MONTH.search(line, found.end(), end)
    if named is None:
        return None
    first = day(points.month_number(named["month"]), int(found["first"]))
    return None if _backwards(first, last) else _ranged(first, last, found["to"], at, end, today)


def _month_days(line: str, at: int, today: date, now: datetime) -> _Read | None:
    """Read "May 3-10", "from May 1 to 15, 2026"."""
    found = _MONTH_DAYS.match(line, at)
    if found is None or (found["to"].strip() == "and" and found["lead"] != "between"):
        return None
    month = points.month_number(found["month"])
    year = int(found["year"]) if found["year"] else None
    first, last = day(month, int(found["first"])), day(month, int(found["last"]), year)
    if _backwards(first, last):
        return None
    return _ranged(first, last, found["to"], at, found.end(), today)


def _backwards(first: Point, last: Point) -> bool:
    """Tell whether two days of one month are in the wrong order: "с 15 по 1 мая" is no year."""
    start, end = first.spans(LEAP), last.spans(LEAP)
    return start is not None and end is not None and start > end


LEAP = 2024
"""A year that has every day."""

_TOWARDS = re.compile(r"(?<!\w)(?:на|к|ко|около|ближе\s+к|about|around|as\s+of)\s+(?:the\s+)?\Z")
_NO_LEADS = ("the", "from")
_BETWEEN = ("between", "между")


def _range(line: str, at: int, today: date, now: datetime) -> _Read | None:
    """Read "с марта по май", "between May 3 and May 10", "март - май 2025"."""
    lead = _FROM.match(line, at)
    first = points.read(line, lead.end() if lead else at, today)
    to = _TO.match(line, first[1]) if first else None
    if first is None or to is None:
        return None
    word = to["word"] or to["dash"]
    if (word in ("and", "и")) != bool(lead and lead["lead"] in _BETWEEN):
        return None
    if (lead is None or lead["lead"] in ("в", "во", "за", "in")) and (word != "-" or first[2]):
        return None
    last = points.read(line, to.end(), today)
    return _ranged(first[0], last[0], word, at, last[1], today) if last else None


def _ranged(first: Point, last: Point, to: str, at: int, end: int, today: date) -> _Read | None:
    found = joined(first, last, today)
    if found is None:
        return None
    stop = found[1][0] if to.strip() in ("до", "until", "till") else found[1][1]
    return _Read(found[0][0], stop, at, end) if found[0][0] < stop else None


def _open(line: str, at: int, today: date, now: datetime) -> _Read | None:
    """Read "с марта", "since May 5", "до июня", "after the first quarter"."""
    for pattern in (_SINCE, _BEFORE, _AFTER):
        lead = pattern.match(line, at)
        if lead is None:
            continue
        read = points.read(line, lead.end(), today)
        if read is None or _WITH.match(line, lead.end()):
            continue
        span = read[0].resolve(today)
        if span is None or (read[2] and lead[0].split()[0] == "до"):
            continue  # "до 2000" may be a price
        if pattern is _BEFORE:
            return _Read(
                None, span[1] if lead["whole"] or lead["through"] else span[0], at, read[1]
            )
        end = now_said.end() if (now_said := _NOW.match(line, read[1])) else read[1]
        return _Read(span[1] if pattern is _AFTER else span[0], None, at, end)
    return None


def _two(line: str, at: int, today: date) -> list[_Read]:
    """Read "на этой и на прошлой неделе"."""
    found = _TWO.match(line, at)
    if found is None:
        return []
    unit = _UNITS[found["unit"][:2]]
    backs = [int(found[which].startswith(("прошл", "last"))) for which in "ab"]
    first, last = (around(unit, today, back) for back in backs)
    return [
        _Read(*first, at, found.end("a")),
        _Read(*last, found.start("b"), found.end()),
    ]


def _point(line: str, at: int, today: date, sure: bool) -> list[_Read]:
    """Read one place in the calendar, with or without its preposition."""
    lead = _IN.match(line, at) or _WITH_LEAD.match(line, at)
    read = points.read(line, lead.end() if lead else at, today)
    near = _TOWARDS.search(line, max(at - 12, 0), lead.end() if lead else at)
    if read and near and "недел" not in line[at : read[1]]:
        return []  # "на 1 мая", "about May 1" are no days
    if read is None or (read[2] and not sure and (lead is None or lead[0].strip() in _NO_LEADS)):
        return []
    span = read[0].resolve(today)
    return [_Read(*span, at, read[1], read[0])] if span else []


def _beside(first: _Read, second: _Read, today: date) -> tuple[_Read, list[_Read]]:
    """Let one year count for both of two linked points: "April and May 2025"."""
    a, b = first.point, second.point
    if a is None or b is None or a.relative or b.relative or (a.year is None) == (b.year is None):
        return first, [second]
    year = a.year if a.year is not None else b.year
    lacking, other = (first, second) if a.year is None else (second, first)
    span: Span | None = (a if a.year is None else b).spans(year or 0)
    if span is None or span[0] > today or span[0] == other.start:
        return first, [second]
    given = replace(lacking, start=span[0], stop=span[1])
    return (given, [second]) if lacking is first else (first, [given])
