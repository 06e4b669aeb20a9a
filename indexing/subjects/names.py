"""The nominative of a person's name, lower-cased: one key for Анна, Анны and Анне.

Does: the genitive and dative that the frames meet, by endings. Does not: know gender, so it takes
the reading that the case makes likely; a wrong guess is a key of its own, never somebody else's.
"""

from indexing.subjects.lists import GENERIC
from indexing.subjects.words import fold

_SOFT = frozenset(
    [
        "ан",
        "ван",
        "вар",
        "вас",
        "дар",
        "дун",
        "жен",
        "кат",
        "кол",
        "наст",
        "ол",
        "пет",
        "пол",
        "сон",
        "степ",
        "тан",
        "тол",
        "фед",
        "фен",
        "юл",
    ]
)
"""Stems whose dative in -е comes from -я (Ане: Аня); other stems take -а (Анне: Анна)."""

_FLEETING = {"павл": "павел", "льв": "лев", "любов": "любовь"}
_HARD = "гкхжшчщ"
_VOWELS = "аеиоуыэюя"


def nominative(name: str, case: str = "nominative") -> str:
    """Return each word of the name in the nominative, casefolded, ё as е.

    ``case`` is "nominative", "genitive" or "dative"; Latin words stay.

    >>> nominative("Анны Петровой", "genitive"), nominative("Игорю", "dative")
    ('анна петрова', 'игорь')
    """
    words = name.casefold().replace("ё", "е").split()
    rule = {"genitive": _genitive, "dative": _dative}.get(case)
    return " ".join(rule(word) if rule else word for word in words)


def _genitive(word: str) -> str:
    base, last = word[:-1], word[-1:]
    if word.endswith("ого"):
        return word[:-3] + ("ий" if word[-4:-3] in _HARD else "ый")
    if word.endswith("ой"):
        return word[:-2] + ("ая" if word.endswith("ской") else "а")
    if last == "а":
        return _FLEETING.get(base, base)
    if last == "я":
        return base + ("й" if base[-1:] in _VOWELS else "ь")
    if last == "ы":
        return base + "а"
    if last == "и":
        return _FLEETING.get(base) or base + ("а" if base[-1:] in _HARD else "я")
    return word


def _dative(word: str) -> str:
    base, last = word[:-1], word[-1:]
    if word.endswith("ому"):
        return word[:-3] + ("ий" if word[-4:-3] in _HARD else "ый")
    if word.endswith("ой"):
        return _genitive(word)
    if last == "у":
        return _FLEETING.get(base, base)
    if last == "ю":
        return base + ("й" if base[-1:] in _VOWELS else "ь")
    if last == "е":
        return base + ("я" if base in _SOFT or base[-1:] in _VOWELS else "а")
    if last == "и":
        return base + "я"
    return word


def is_name(name: str) -> bool:
    """Tell a name from a common noun or pronoun that only begins the sentence."""
    return not any(fold(word) in GENERIC for word in name.split())
