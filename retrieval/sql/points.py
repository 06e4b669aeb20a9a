"""Words that name one place in the calendar -> `Point`: a day, month, quarter, half, season, year.

Both languages in one pattern each; what a pattern takes is listed in docs/sql.md. Forms that name
different times to different people ("за последний квартал", "last June", 04/03/2026) are not read.
"""

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta

from retrieval.sql.dates import Point, around, day, fixed, months

_MONTHS = (
    r"январ(?:[ьяею]|ем|ск\w+)|january|jan", r"феврал(?:[ьяею]|ем|ьск\w+)|february|feb",
    r"март(?:[аеу]|ом|овск\w+)?|march|mar", r"апрел(?:[ьяею]|ем|ьск\w+)|april|apr",
    r"ма(?:[йяею]|ем|йск\w+)|may", r"июн(?:[ьяею]|ем|ьск\w+)|june|jun",
    r"июл(?:[ьяею]|ем|ьск\w+)|july|jul", r"август(?:[аеу]|ом|овск\w+)?|august|aug",
    r"сентябр(?:[ьяею]|ем|ьск\w+)|september|sept|sep",
    r"октябр(?:[ьяею]|ем|ьск\w+)|october|oct",
    r"ноябр(?:[ьяею]|ем|ьск\w+)|november|nov", r"декабр(?:[ьяею]|ем|ьск\w+)|december|dec",
)  # fmt: skip
_WEEKDAYS = (
    r"понедельника?|monday", r"вторника?|tuesday", r"сред[уы]|wednesday", r"четверга?|thursday",
    r"пятниц[уы]|friday", r"суббот[уы]|saturday", r"воскресень[ея]|sunday",
)  # fmt: skip
_MONTH_AT = [(re.compile(rf"(?:{pattern})\Z"), n) for n, pattern in enumerate(_MONTHS, 1)]
_WEEKDAY_AT = [(re.compile(rf"(?:{pattern})\Z"), n) for n, pattern in enumerate(_WEEKDAYS)]

MONTH_NAMES = "|".join(_MONTHS)
MONTH = rf"(?P<month>{MONTH_NAMES})\b\.?"
DAY = r"(?P<day>\d{1,2})(?:-?(?:го|е|ое|ого|st|nd|rd|th))?(?![\d.,%]*\d)"
_LAST_YEAR = r"(?P<ago>прошл|текущ|эт|позапрошл)\w+\s+года|(?P<en_ago>last|this)\s+year"
_YEAR_WORD = r"\s*(?:года?|году|г\b\.?)"
YEAR = (
    rf"(?:,?\s+(?:of\s+|in\s+)?"
    rf"(?:(?P<year>(?:19|20)\d\d)\b(?:-?го)?(?:{_YEAR_WORD})?|{_LAST_YEAR}))?"
)
_NTH = (
    r"(?P<nth>перв\w+|втор\w+|трет\w+|четверт\w+|first|second|third|fourth|iv|i{1,3}"
    r"|[1-4](?:-?(?:й|м|ый|ом|го|st|nd|rd|th))?)"
)

_ORDINAL = (("перв", "first"), ("втор", "second"), ("трет", "third"), ("четверт", "fourth"))
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4}
_SEASONS = {"весн": 3, "spring": 3, "лет": 6, "summer": 6, "осен": 9, "autumn": 9, "fall": 9}
_UNIT = (
    r"(?P<unit>недел(?:[юеи]|ей)|месяц(?:[ае]|ем)?|квартал(?:[ае]|ом)?|год(?:[ау]|ом)?"
    r"|week|month|quarter|year)\b"
)
_STEMS = (("week", "не we"), ("month", "ме mo"), ("quarter", "кв qu"), ("year", "го ye"))
_UNITS = {stem: unit for unit, stems in _STEMS for stem in stems.split()}
_HALF = (
    rf"{_NTH}\s+(?:полугоди\w*|half(?:\s+of\s+the\s+year"
    rf"|(?=\s+(?:of\s+)?(?:(?:19|20)\d\d|last\s+year|this\s+year)))){YEAR}"
)
_SEASON = (
    rf"(?P<season>весной|летом|осенью|весну|осень|(?<=за )лето|spring|summer|autumn|fall)\b{YEAR}"
)
_WHICH = (
    r"(?P<which>прошл\w+|предыдущ\w+|позапрошл\w+|эт(?:ой|ом|от|у|а|ого|им)|текущ\w+"
    rf"|last|previous|this|current)\s+(?:календарн\w+\s+|calendar\s+)?{_UNIT}"
)
_NEAR = (
    r"(?P<near>позавчера\w*|вчера(?:шн\w+)?|сегодня(?:шн\w+)?"
    r"|(?:the\s+)?day\s+before\s+yesterday|yesterday|today)\b"
)
_BARE_YEAR = (
    r"(?P<y>(?:19|20)\d\d)\b(?!\s*(?:руб|₽|\$|€|%|доллар|евро|usd|eur|rub|dollar)"
    r"|[.,-]\d|-(?!(?:м|ом|го|й)\b)\w)"
)

BEGINNINGS = (
    r"\d|[qh][1-4]|i|янв|фев|мар|апр|ма[йяею]|июн|июл|авг|сен|окт|ноя|дек"
    r"|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
    r"|пон|вто|сре|чет|пят|суб|вос|mon|tue|wed|thu|fri|sat|sun"
    r"|пер|тре|fir|sec|thi|fou|вес|лет|осе|spr|sum|aut|fal"
    r"|про|пре|поз|эт|тек|las|pre|cur|вче|сег|yes|tod|day|the"
)
"""What every point begins with: most words of a question do not, and cost one look."""

_BEGINS = re.compile(BEGINNINGS)

Found = re.Match[str]


def month_number(said: str) -> int:
    """Return 1 to 12 for a month's name that `MONTH` matched."""
    return next(n for pattern, n in _MONTH_AT if pattern.match(said))


def _year(found: Found, today: date) -> int | None:
    if found["year"]:
        return int(found["year"])
    ago = found["ago"] or found["en_ago"]
    if not ago:
        return None
    return today.year - {"прошл": 1, "last": 1, "позапрошл": 2}.get(ago, 0)


def _nth(said: str) -> int:
    if said[0].isdigit():
        return int(said[0])
    ordinal = next((n for n, s in enumerate(_ORDINAL, 1) if said.startswith(s)), 0)
    return ordinal or _ROMAN[said]


def _iso(found: Found, today: date) -> Point | None:
    return _exact(int(found["y"]), int(found["m"]), int(found["d"]))


def _dotted(found: Found, today: date) -> Point | None:
    number, month = int(found["d"]), int(found["m"])
    if not found["y"]:
        return day(month, number) if 1 <= month <= 12 else None
    return _exact(int(found["y"]), month, number)


def _exact(year: int, month: int, number: int) -> Point | None:
    try:
        start = date(year, month, number)
    except ValueError:
        return None
    return fixed(start, start + timedelta(1), relative=False)


def _date(found: Found, today: date) -> Point | None:
    return day(month_number(found["month"]), int(found["day"]), _year(found, today))


def _month(found: Found, today: date) -> Point | None:
    return months(month_number(found["month"]), 1, _year(found, today))


def _numbered_month(found: Found, today: date) -> Point | None:
    year, month = int(found["y"]), int(found["m"])
    season = "-" in found[0] and month == (year + 1) % 100  # 2001-02 may be two years
    return None if season else months(month, 1, year)


def _quarter(found: Found, today: date) -> Point | None:
    return months(3 * _nth(found["nth"]) - 2, 3, _year(found, today))


def _half(found: Found, today: date) -> Point | None:
    nth = _nth(found["nth"])
    return months(6 * nth - 5, 6, _year(found, today)) if nth <= 2 else None


def _season(found: Found, today: date) -> Point | None:
    said = next(stem for stem in _SEASONS if found["season"].startswith(stem))
    return months(_SEASONS[said], 3, _year(found, today))


def _this(found: Found, today: date) -> Point | None:
    back = 1 if found["which"].startswith(("прошл", "предыдущ", "last", "previous")) else 0
    back = 2 if found["which"].startswith("позапрошл") else back
    return fixed(*around(_UNITS[found["unit"][:2]], today, back))


_DAYS_AGO = (("позавчера", 2), ("вчера", 1), ("сегодня", 0), ("day before", 2), ("yesterday", 1))


def _near(found: Found, today: date) -> Point | None:
    back = next((n for said, n in _DAYS_AGO if found["near"].startswith(said)), 0)
    return fixed(*around("day", today, back))


def _ago(found: Found, today: date) -> Point | None:
    count = int(found["count"])
    return fixed(*around("day", today, count)) if count <= 3660 else None


def _weekend(found: Found, today: date) -> Point | None:
    start, end = around("week", today, 1)
    return fixed(start + timedelta(5), end)


def _weekday(found: Found, today: date) -> Point | None:
    number = next(n for pattern, n in _WEEKDAY_AT if pattern.match(found["weekday"]))
    return fixed(*around("day", today, (today.weekday() - number) % 7))


def _bare_year(found: Found, today: date) -> Point | None:
    return months(1, 12, int(found["y"]))


Reader = Callable[[Found, date], Point | None]

_READERS: Mapping[str, Reader] = {
    r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)\b(?!\w)": _iso,
    r"(?P<d>\d{1,2})\.(?P<m>\d\d)(?:\.(?P<y>\d{4}))?(?![\w%]|\.\d|\s*(?:[₽$€%]|руб))": _dotted,
    r"(?<![\d.-])(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])(?![\w-]|\.\d)": _numbered_month,
    r"(?<![\d.-])(?P<m>0[1-9]|1[0-2])\.(?P<y>(?:19|20)\d\d)(?![\w-]|\.\d)": _numbered_month,
    rf"{DAY}\s+(?:of\s+)?{MONTH}{YEAR}": _date,
    rf"{MONTH}\s+(?:the\s+)?{DAY}(?!\s*(?:%|₽|руб)){YEAR}": _date,
    rf"{MONTH}(?:\s+месяц\w*)?{YEAR}": _month,
    rf"q(?P<nth>[1-4])\b{YEAR}": _quarter,
    rf"{_NTH}\s+(?:квартал\w*|quarter)\b{YEAR}": _quarter,
    rf"h(?P<nth>[12])\b{YEAR}": _half,
    _HALF: _half,
    _SEASON: _season,
    _WHICH: _this,
    _NEAR: _near,
    r"(?P<count>\d{1,4})\s+(?:дн\w+\s+назад|days?\s+ago)\b": _ago,
    r"(?:прошлые\s+выходные|прошлых\s+выходных|last\s+weekend)\b": _weekend,
    rf"(?P<weekday>{'|'.join(_WEEKDAYS)})\b": _weekday,
    _BARE_YEAR: _bare_year,
}  # fmt: skip
_COMPILED = tuple((re.compile(pattern), reader) for pattern, reader in _READERS.items())

_NEED = (_weekday, _bare_year)
_YEAR_AFTER = re.compile(
    r"-(?:м|ом|й)(?!\w)|\s*(?:-(?:м|ом|го|й)\s+)?(?:года?|году|годом|годы|годах|годами|г\b\.?)(?!\w)"
)


def read(text: str, at: int, today: date) -> tuple[Point, int, bool] | None:
    """Return the point named at an offset of a folded text, where its words end, and whether they
    say nothing without a preposition ("2025", "Monday", "may"). None: no point."""
    if not _BEGINS.match(text, at):
        return None
    for pattern, reader in _COMPILED:
        found = pattern.match(text, at)
        if found is None:
            continue
        point = reader(found, today)
        if point is None:
            continue
        end, weak = found.end(), reader in _NEED
        if reader is _bare_year and (word := _YEAR_AFTER.match(text, end)):
            end, weak = word.end(), False
        if reader is _dotted:
            weak = found["y"] is None
        if reader is _month and found["month"] in ("may", "march", "mar"):
            weak = point.year is None
        return point, end, weak
    return None
