"""Which of the user's things a text names, with or without a value: `named`. Pure.

Attributes with one value at a time (`indexing.subjects.attributes`), and names that have had a
value in the session. Not those of somebody else: "Anna's size", «размер Анны».
"""

import re
from collections.abc import Mapping

from indexing.sparse import terms
from indexing.subjects import formats
from indexing.subjects.attributes import Attribute, attribute
from retrieval.coverage import function_words
from sessions.slots import MAX_NAME_WORDS, OWN

LONGEST = 400
"""Characters of a text that are looked at."""

FORMS = (
    formats.phone, formats.email, formats.date, formats.number, formats.size, formats.shoe,
    formats.code, formats.zone, formats.diet,
)  # fmt: skip
"""Shapes that no other word has: a value of another shape is known only by the one before it."""

_OTHERS = re.compile(r"(?:['’]s|s['’]|\b(?:his|her|their|его|е[её]|их))\s*$", re.IGNORECASE)
_OF = re.compile(r"\s+(?:(?:of|for) (?!me\b|us\b|my\b|our\b|the\b|this\b|[\d$€£])|(?=[А-ЯЁ]))")
_WORD = re.compile(r"[\w/-]+")
_ABOUT_OTHERS = re.compile(
    r"(?<=[^\W\d] )[A-ZА-ЯЁ][a-zа-яё]{2}|\b(?:(?i:he|she|they|он|она|они))\b"
)
"""A name inside a sentence, or a third person: what is named may not be the user's."""


def named(text: str, known: Mapping[str, str]) -> dict[str, Attribute | str]:
    """Return what a text names: keys with their attributes, or with the values they have.

    ``known`` are names with their values: they count beside the attributes. A known name of
    several words is not also the attribute that is one of them.

    >>> list(named("Is the car rental within the budget?", {"car rental": "Hertz"}))
    ['car rental', 'user.budget']
    """
    text = text[:LONGEST]
    said, found = frozenset(terms(text)), dict[str, Attribute | str]()
    longer: set[str] = set()
    for name, value in known.items():
        stems = frozenset(terms(re.sub(r"[_.:]", " ", name)))
        of = attribute(name.replace("_", " "))
        if stems and stems <= said and not _has_form(of) and not name.startswith("decision."):
            found[f"{OWN}{name}" if of else name] = value
            longer |= stems
    words = [] if _ABOUT_OTHERS.search(text) else list(_WORD.finditer(text))
    place = 0
    while place < len(words):
        for end in range(min(place + MAX_NAME_WORDS, len(words)), place, -1):
            span = words[place].start(), words[end - 1].end()
            of = attribute(text[slice(*span)])
            if of and _has_form(of) and not of.slot.endswith(":"):  # "budget for the": of nothing
                alone = frozenset(terms(text[slice(*span)])) - function_words()
                if not (alone <= longer or _is_others(text, *span)):
                    found[f"{OWN}{of.slot}"] = of
                place = end - 1
                break
        place += 1
    return found


def _has_form(of: Attribute | None) -> bool:
    return of is not None and of.shape in FORMS


def _is_others(text: str, start: int, end: int) -> bool:
    """Tell whether a name is of somebody or something else: "Anna's size", «размер Анны»."""
    return bool(_OTHERS.search(text[:start]) or _OF.match(text, end))
