"""Values with a format of their own: phones, addresses, numbers, dates, codes.

Each takes the text after the copula and returns the value, or None: "my phone is dead".
"""

import re

from indexing.subjects.lists import STATES
from indexing.subjects.words import fold

_PHONE = re.compile(r"\+?[\d(][\d\s().-]{4,20}\d")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_UNIT = (
    r"kg|kgs|kilos?|kilograms?|lbs?|pounds?|cm|m|met(?:er|re)s?|ft|feet|in|inches|usd|eur|gbp|rub"
    r"|euros?|dollars?|bucks|rubles?|k|thousand|million|years|кг|кило|килограмм\w*|см|м|метр\w*"
    r"|сантиметр\w*|руб|рубл\w+|тыс|тысяч\w?|млн|миллион\w*|доллар\w*|евро|тенге|лет|года?|р"
    r"|(?:a|per) (?:day|week|month|year)|в (?:день|неделю|месяц|год)"
)
_NUMBER = re.compile(
    rf"[$€£₽]?\d[\d\s.,]*(?:[$€£₽]|[kкm]\b)?(?: ?(?:{_UNIT})\b\.?){{0,3}}", re.IGNORECASE
)
_SHOE = re.compile(r"\d{2}(?:[.,]5)?")
_SIZE = re.compile(r"(?:[2-6]?X{0,3}[SML]|\d{2}(?:[.,]5)?)(?:-(?:X{0,3}[SML]|\d{2}))?")
_CODE = re.compile(r"(?=\S*\d)[\w./#-]{1,30}")
_ZONE = re.compile(
    r"(?:UTC|GMT|МСК|MSK)(?: ?[+-−]\d{1,2}(?::\d\d)?)?|[A-Z][a-z]+/[A-Z]\w+|[A-Z]{2,4}T"
)
_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december|"
    "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|январ|феврал|март|апрел|ма[йя]|июн|июл|август|"
    "сентябр|октябр|ноябр|декабр"
)
_DATE = re.compile(
    rf"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day,? )?(?:the )?"
    rf"(?:\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTHS})[а-я]{{0,3}}|(?:{_MONTHS}) \d{{1,2}}"
    rf"(?:st|nd|rd|th)?)(?:,? \d{{4}}(?: года?)?)?|\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{1,4}}"
    r"|\d{1,2}[./]\d{2}",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(r"[A-Z][a-z]+(?: [A-Z][a-z]+)?|[А-ЯЁа-яё]+ий|иврит|хинди|урду|эсперанто")
_DIET = re.compile(
    r"vegan|vegetarian|pescatarian|flexitarian|fruitarian|keto|paleo|halal|kosher|gluten-free"
    r"|веган(?:ка|ом|кой)?|вегетариан(?:ец|ка|цем|кой)|пескетариан(?:ец|ка)"
    r"|сыроед(?:ка)?|веганская|кето",
    re.IGNORECASE,
)


def _matching(pattern: re.Pattern[str], text: str) -> str | None:
    return text if pattern.fullmatch(text) else None


def phone(text: str) -> str | None:
    """Return a number of at least six digits."""
    return text if _PHONE.fullmatch(text) and sum(map(str.isdigit, text)) >= 6 else None


def email(text: str) -> str | None:
    """Return an address with an @."""
    return _matching(_EMAIL, text)


def number(text: str) -> str | None:
    """Return a quantity with up to three words of unit: "$2,500", "300 тысяч рублей"."""
    return _matching(_NUMBER, text)


def size(text: str) -> str | None:
    """Return a size of clothes or shoes: "XL", "42", "38.5"."""
    return _matching(_SIZE, text)


def shoe(text: str) -> str | None:
    """Return a size of shoes: "42", "38.5"."""
    return _matching(_SHOE, text)


def code(text: str) -> str | None:
    """Return one token with a digit in it."""
    return _matching(_CODE, text)


def date(text: str) -> str | None:
    """Return a calendar date, "14 марта" or "May 3, 1990"; "next week" is none."""
    bare = text.removeprefix("on ").removeprefix("the ")
    return _matching(_DATE, bare)


def zone(text: str) -> str | None:
    """Return a time zone: "UTC+5", "CET", "Europe/Lisbon"."""
    return _matching(_ZONE, text)


def handle(text: str) -> str | None:
    """Return one Latin token of a user name or a web address."""
    token = text.lstrip("@")
    plausible = re.fullmatch(r"[A-Za-z0-9_./:-]{2,60}", token) and fold(token) not in STATES
    return token if plausible else None


def language(text: str) -> str | None:
    """Return the name of a language: "Spanish", "Brazilian Portuguese", "татарский"."""
    return _matching(_LANGUAGE, text)


def diet(text: str) -> str | None:
    """Return a way of eating from a closed list."""
    return _matching(_DIET, re.sub(r"^an? ", "", text))
