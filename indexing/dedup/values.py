"""Numbers, dates, times, amounts and codes -> one spelling each: what must agree to the letter.

"два" is 2, "5 тыс." is 5000, "8 мая 2026" is 2026-05-08, "6 вечера" is 18:00, "$5" is 5 USD. Units
are not converted, and what has two readings (05/08/2026) stays as it was written.
"""

import re
from collections.abc import Callable
from decimal import Decimal

_UNITS = {
    "one один одна одно одного одной одному одним одну": 1,
    "two два две двух двум двумя двое двоих": 2,
    "three три трех трем тремя трое троих": 3,
    "four четыре четырех четырем четырьмя четверо": 4,
    "five пять пяти пятью пятеро": 5,
    "six шесть шести шестью": 6,
    "seven семь семи семью": 7,
    "eight восемь восьми восемью": 8,
    "nine девять девяти девятью": 9,
    "ten десять десяти десятью": 10,
    "eleven одиннадцать одиннадцати": 11,
    "twelve двенадцать двенадцати": 12,
    "thirteen тринадцать тринадцати": 13,
    "fourteen четырнадцать четырнадцати": 14,
    "fifteen пятнадцать пятнадцати": 15,
    "sixteen шестнадцать шестнадцати": 16,
    "seventeen семнадцать семнадцати": 17,
    "eighteen восемнадцать восемнадцати": 18,
    "nineteen девятнадцать девятнадцати": 19,
    "twenty двадцать двадцати двадцатью": 20,
    "thirty тридцать тридцати тридцатью": 30,
    "forty сорок сорока": 40,
    "fifty пятьдесят пятидесяти": 50,
    "sixty шестьдесят шестидесяти": 60,
    "seventy семьдесят семидесяти": 70,
    "eighty восемьдесят восьмидесяти": 80,
    "ninety девяносто девяноста": 90,
    "сто ста": 100,
    "двести двухсот": 200,
    "триста трехсот": 300,
    "четыреста четырехсот": 400,
    "пятьсот пятисот": 500,
    "шестьсот шестисот": 600,
    "семьсот семисот": 700,
    "восемьсот восьмисот": 800,
    "девятьсот девятисот": 900,
}
_SCALES = {
    "hundred": 100,
    "thousand тысяча тысячи тысяч тысячу тыс": 1000,
    "million миллион миллиона миллионов млн mln": 10**6,
    "billion миллиард миллиарда миллиардов млрд bln": 10**9,
}
_ORDINALS = {
    "first перв": 1,
    "second втор": 2,
    "third треть": 3,
    "fourth четверт": 4,
    "fifth пят": 5,
    "sixth шест": 6,
    "seventh седьм": 7,
    "eighth восьм": 8,
    "ninth девят": 9,
    "tenth десят": 10,
}
_MONTHS = (
    "jan(?:uary)?|янв(?:ар[ья])?",
    "feb(?:ruary)?|фев(?:рал[ья])?",
    "mar(?:ch)?|марта?",
    "apr(?:il)?|апр(?:ел[ья])?",
    "may|ма[йя]",
    "june?|июн[ья]",
    "july?|июл[ья]",
    "aug(?:ust)?|авг(?:уста?)?",
    "sept?(?:ember)?|сен(?:тябр[ья])?",
    "oct(?:ober)?|окт(?:ябр[ья])?",
    "nov(?:ember)?|ноя(?:бр[ья])?",
    "dec(?:ember)?|дек(?:абр[ья])?",
)
_CURRENCIES = {
    "USD": r"\$|usd|dollars?|доллар(?:а|ов|ы)?|долл",
    "EUR": r"€|eur|euros?|евро",
    "RUB": r"₽|rub|rubles?|roubles?|рубл(?:ь|я|ей|и)|руб|р(?=\.)",
    "GBP": r"£|gbp",
    "KZT": r"₸|kzt|тенге",
    "CNY": r"cny|yuan|юан(?:ь|я|ей|и)",
}


def _spread(table: dict[str, int]) -> dict[str, int]:
    return {word: value for words, value in table.items() for word in words.split()}


_unit, _scale, _ordinal = _spread(_UNITS), _spread(_SCALES), _spread(_ORDINALS)
_any = "|".join(sorted(_unit | _scale, key=len, reverse=True))
_first = "|".join(sorted(_unit, key=len, reverse=True))
_WRITTEN = re.compile(rf"(?<![\w-])(?:{_first})(?:(?:-|\s+(?:and\s+)?)(?:{_any}))*(?![\w-])", re.I)
_WORD = re.compile(r"[^\W\d_]+")
_RU_ORDINAL = "|".join(word for word in _ordinal if word > "z")
_EN_ORDINAL = "|".join(word for word in _ordinal if word < "z")
_ORDINAL = re.compile(
    rf"(?<![\w-])(?:({_RU_ORDINAL})(?:ый|ий|ой|ая|ья|ое|ье|ого|его|ей|ому|ему|ым|им|ом|ем|ую|ью)"
    rf"|(?<!\d )({_EN_ORDINAL}))(?![\w-])",
    re.I,
)

NUMBER = (
    r"\d{1,3}(?: \d{3})+(?!\d)(?:[.,]\d+)?|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])|\d+(?:[.,]\d+)?"
)
_scaled = "|".join(sorted(_scale, key=len, reverse=True))
_month = "|".join(f"(?:{month})" for month in _MONTHS)
_currency = "|".join(_CURRENCIES.values())
_year = r"(?:,?\s+(?P<{}>\d{{4}})(?:\s*(?:года|году|год|г\b\.?))?)?"

PATTERNS: dict[str, str] = {
    "link": r"\w+://\S*[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|www\.\S*[\w/]|(?:[\w-]+\.)+[a-z]{2,}/[\w./?=&-]*",
    "phone": r"\+\d[\d ()-]{6,}\d",
    "iso": r"(?P<iso_y>\d{4})-(?P<iso_m>\d\d)-(?P<iso_d>\d\d)(?![\w-])",
    "dotted": r"(?<![\w.])(?P<dot_d>\d\d?)\.(?P<dot_m>\d\d?)\.(?P<dot_y>\d{4})(?![\w.]\w)",
    "day_month": rf"(?P<dm_d>\d\d?)(?:st|nd|rd|th|-?го|-?е)?\s+(?:of\s+)?(?P<dm_m>{_month})\b\.?"
    + _year.format("dm_y"),
    "month_day": rf"(?P<md_m>{_month})\.?\s+(?P<md_d>\d\d?)(?:st|nd|rd|th)?(?![\w:])"
    + _year.format("md_y"),
    "clock": r"(?P<cl_h>\d\d?)(?:[:.](?P<cl_m>\d\d))?\s*"
    r"(?P<cl_half>[ap]\.?m\b\.?|утра|дня|вечера|ночи)(?!\w)"
    r"|(?P<at_h>\d\d?):(?P<at_m>\d\d)(?::00)?(?![\w:])",
    "money": rf"(?P<mo_sign>[$€₽£₸]|(?:usd|eur|rub|gbp)\s)\s?(?P<mo_n>{NUMBER})"
    rf"(?:\s?(?P<mo_s>{_scaled}|k|к|m)\b)?"
    rf"|(?P<mu_n>{NUMBER})\s*(?:(?P<mu_s>{_scaled}|k|к)\b\.?)?\s*(?P<mu_sign>{_currency})(?!\w)\.?",
    "percent": rf"(?P<pc>{NUMBER})\s*(?:%|percent\b|per cent\b|процент(?:а|ов|ы)?\b)",
    "scaled": rf"(?P<sc_n>{NUMBER})\s*(?P<sc_s>{_scaled})\b\.?",
}
"""Name -> pattern of a value, in the order in which they are tried; match without case."""

Groups = dict[str, str | None]


def digits(text: str) -> str:
    """Return the text with written numbers in digits.

    >>> digits("двадцать пять раз, two thousand euros, первый этаж")
    '25 раз, 2000 euros, 1-й этаж'
    """
    text = _WRITTEN.sub(lambda found: _read(_WORD.findall(found.group().casefold())), text)
    return _ORDINAL.sub(lambda f: f"{_ordinal[(f[1] or f[2]).casefold()]}-й", text)


def _read(words: list[str]) -> str:
    """Return the numbers that a run of number words spells: "двадцать пять шесть" is 25 and 6."""
    numbers: list[int] = []
    total = current = 0
    room = 0  # the next word must be less than this to belong to the number
    for word in words:
        if word == "and":
            continue
        if word in _scale:
            factor = _scale[word]
            total, current = (
                (total, current * 100)
                if factor == 100
                else (
                    total + current * factor,
                    0,
                )
            )
            room = factor
            continue
        value = _unit[word]
        if (room and value >= room) or (not room and current):
            numbers.append(total + current)
            total = current = 0
        current += value
        room = 100 if value >= 100 else 10 if value >= 20 else 0
    return " ".join(map(str, [*numbers, total + current]))


def number(text: str, russian: bool) -> str:
    """Return a number with a point and no groups; "1,500" is 1.5 thousand in English only."""
    text = text.replace(" ", "")
    grouped = re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", text)
    if grouped and (not russian or text.count(",") > 1 or "." in text):
        return text.replace(",", "")
    return text.replace(",", ".")


def value(kind: str, found: Groups, russian: bool) -> str | None:
    """Return the one spelling of a value that a pattern found; None where it is none after all."""
    read: dict[str, Callable[[], str | None]] = {
        "iso": lambda: _date(found["iso_y"], found["iso_m"], found["iso_d"]),
        "dotted": lambda: _date(found["dot_y"], found["dot_m"], found["dot_d"]),
        "day_month": lambda: _date(found["dm_y"], _month_of(found["dm_m"]), found["dm_d"]),
        "month_day": lambda: _date(found["md_y"], _month_of(found["md_m"]), found["md_d"]),
        "clock": lambda: _clock(found),
        "money": lambda: _money(found, russian),
        "percent": lambda: f"{_plain(found['pc'], None, russian)}%",
        "scaled": lambda: _plain(found["sc_n"], found["sc_s"], russian),
    }
    return read[kind]()


def _date(year: str | None, month: str | None, day: str | None) -> str | None:
    if not month or not day or not (1 <= int(month) <= 12 and 1 <= int(day) <= 31):
        return None
    return f"{year or '-'}-{int(month):02}-{int(day):02}"


def _month_of(name: str | None) -> str:
    matches = (re.fullmatch(month, name or "", re.I) for month in _MONTHS)
    return str(next(i for i, found in enumerate(matches, 1) if found))


def _clock(found: Groups) -> str | None:
    hour, minute = int(found["cl_h"] or found["at_h"] or 0), found["cl_m"] or found["at_m"] or "00"
    half = (found["cl_half"] or "").casefold()
    if hour > 23 or int(minute) > 59 or (half and hour > 12):
        return None
    late = half.startswith("p") or half in ("дня", "вечера") or (half == "ночи" and hour > 8)
    if half:
        hour = hour % 12 + (12 if late and not (half == "ночи" and hour == 12) else 0)
    return f"{hour:02}:{minute}"


def _money(found: Groups, russian: bool) -> str:
    sign = (found["mo_sign"] or found["mu_sign"] or "").strip()
    code = next(c for c, names in _CURRENCIES.items() if re.fullmatch(names, sign, re.I))
    amount = found["mo_n"] or found["mu_n"]
    return f"{_plain(amount, found['mo_s'] or found['mu_s'], russian)} {code}"


def _plain(text: str | None, scale: str | None, russian: bool) -> str:
    """Return a number times its scale, without trailing zeros; "1.500" can be two, and stays."""
    word = (scale or "").casefold()
    factor = {"k": 1000, "к": 1000, "m": 10**6}.get(word) or _scale.get(word, 1)
    plain = number(text or "0", russian)
    if factor == 1 and re.fullmatch(r"\d{1,3}\.\d{3}", plain):
        return plain
    exact = Decimal(plain) * factor
    return format(exact.normalize(), "f")
