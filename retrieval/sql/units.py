"""Units after a number: "10 минут" against a measure kept in seconds, "$100" against roubles."""

from collections.abc import Mapping

_KINDS: Mapping[str, Mapping[float, str]] = {
    "time": {
        0.001: "ms мс миллисекунда миллисекунды миллисекунд millisecond milliseconds",
        1: "s sec сек секунда секунды секунд секунду second seconds",
        60: "min мин минута минуты минут минуту minute minutes",
        3600: "h час часа часов hour hours",
    },
    "length": {
        1: "m метр метра метров meter meters metre metres",
        1000: "km км километр километра километров kilometer kilometers kilometre kilometres",
    },
    "weight": {
        1: "g грамм грамма граммов gram grams",
        1000: "kg кг килограмм килограмма килограммов kilogram kilograms",
    },
    "rub": {1: "rub руб рублей рубля рубль рублям р ₽ ruble rubles rouble roubles"},
    "usd": {1: "usd $ доллар доллара долларов dollar dollars bucks"},
    "eur": {1: "eur € евро euro euros"},
}
_UNITS = {
    word: (kind, factor)
    for kind, factors in _KINDS.items()
    for factor, words in factors.items()
    for word in words.split()
}


def known(word: str) -> bool:
    """Tell whether a word is a unit."""
    return word in _UNITS


def converted(number: float, unit: str, wanted: str) -> float | None:
    """Return a number of one unit in another; None where one does not become the other.

    >>> converted(2, "часа", "min"), converted(100, "$", "RUB")
    (120.0, None)
    """
    if not unit:
        return number
    if unit not in _UNITS or wanted.casefold() not in _UNITS:
        return None
    (kind, factor), (other, per) = _UNITS[unit], _UNITS[wanted.casefold()]
    return number * factor / per if kind == other else None


def same_kind(unit: str, wanted: str) -> bool:
    """Tell whether a number in a unit can be compared with a measure in another."""
    return converted(1, unit, wanted) is not None
