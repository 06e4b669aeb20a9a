"""Values that are names or phrases: persons, places, firms, titles.

Each takes the text after the copula and returns the value without quotes, or None.
"""

import re

from indexing.subjects.formats import code
from indexing.subjects.lists import CITIES, EMPLOYERS, FIRM_WORDS, NOT_NAMES, STATES, TOOLS
from indexing.subjects.places import PLACES
from indexing.subjects.words import fold, folded

MAX_WORDS = 6

_QUOTED = re.compile(r"[«“\"]([^«»“”\"]{1,60})[»”\"]")
_NAME_WORD = r"[A-ZА-ЯЁ][\w'’&.+-]*"
_PROPER = re.compile(
    rf"(?:the )?{_NAME_WORD}"
    rf"(?: (?:(?:de|da|do|del|la|le|of|am|van|von|der|du|на) )?{_NAME_WORD}){{0,3}}(?: \d+)?"
)
_ADJECTIVE = re.compile(r"(?:less|ous|ful|able|ible|ing|ed|ая|ое|ые|ый|ий|ой|ым|им)$")
_WORDS_TOO = folded("bath,chile,cork,georgia,jordan,nice,perm,split,turkey,york")
"""Places whose small letter makes another word."""

_LINKS = re.compile(
    r"\b(?:and|or|but|not|until|till|because|if|when|while|и|или|но|не|до|пока|если|когда|потому)\b"
    r"|[,;:?!()]",
    re.IGNORECASE,
)


def _names_tool(name: str) -> bool:
    return any(fold(word) in TOOLS for word in name.split())


def unquoted(text: str) -> tuple[str, bool]:
    """Return the text without the quotes around the whole of it, and whether it had them."""
    match = _QUOTED.fullmatch(text)
    return (match[1].strip(), True) if match else (text, False)


def proper(text: str) -> str | None:
    """Return a name of one to five capitalised words, or whatever stands in quotes."""
    bare, was_quoted = unquoted(text)
    bare = re.sub(r"^an? (?=[A-ZА-ЯЁ])", "", bare)
    if was_quoted:
        return bare
    if not _PROPER.fullmatch(bare):
        return None
    return None if fold(bare.split()[0]) in NOT_NAMES else bare


def person(text: str) -> str | None:
    """Return the name of a person: "Айгуль", "Dr. Helen Cho"; not "ASAP"."""
    name = proper(text)
    return name if name and not name.isupper() and not re.search(r"\d|\bthe\b", name) else None


def full_name(text: str) -> str | None:
    """Return a name of at least two words: "My boss is German" shows why."""
    name = person(text)
    return name if name and " " in name else None


def place(text: str) -> str | None:
    """Return a place: a name, "Paris, France", no program, no code; a known one in any case."""
    if text.islower() and (text in PLACES - _WORDS_TOO or fold(text) in CITIES):
        return text
    head, _, rest = text.partition(", ")
    name = proper(head)
    if not name or unquoted(head)[1] or (rest and not proper(rest)):
        return None
    odd = re.search(r"\d|[a-zа-я][A-ZА-Я]|[+#&]", name) or (name.isupper() and len(name) > 3)
    return None if odd or _names_tool(name) else text


def known_place(text: str) -> str | None:
    """Return a place that is on the list, or one with its country."""
    head, _, rest = text.partition(", ")
    known = head.removeprefix("the ").casefold() in PLACES or rest.casefold() in PLACES
    return place(text) if known else None


def cyrillic_place(text: str) -> str | None:
    """Return a place written in Cyrillic, or a known one."""
    return place(text) if re.match(r"[А-Яа-яЁё]", text) else known_place(text)


def firm(text: str) -> str | None:
    """Return the name of a firm; a program is one as well ("I work at Slack")."""
    return proper(text) or (text if fold(text) in EMPLOYERS else None)


def known_firm(text: str) -> str | None:
    """Return a firm that shows itself: known, in quotes, or with a word such as "Labs"."""
    bare, was_quoted = unquoted(text)
    shown = was_quoted or bare.split()[-1].casefold().strip(".") in FIRM_WORDS
    if fold(bare) in EMPLOYERS:
        return bare
    return proper(text) if shown and not _names_tool(bare) else None


def joined_firm(text: str) -> str | None:
    """Return a firm after "перешла в": known, or a Cyrillic name that is no program."""
    name = proper(text)
    if name and re.match(r"[А-ЯЁ]", name) and not _names_tool(name):
        return None if fold(name.split()[0]) in CITIES else name
    return known_firm(text)


def address(text: str) -> str | None:
    """Return a postal address: it has a digit and a name."""
    if re.search(r"\b(?:minutes?|same|from|away|минут\w*|на время)\b", text, re.IGNORECASE):
        return None
    named = re.search(r"\d", text) and re.search(r"[A-ZА-ЯЁ]\w+|\bул", text)
    return text if named and len(text.split()) <= 12 and not re.search(r"[;!?]", text) else None


def phrase(text: str) -> str | None:
    """Return a free phrase of up to six words that joins no two things and is no mere state."""
    bare, _ = unquoted(text)
    bare = re.sub(r"^(?:an?|the) ", "", bare)
    words = bare.split()
    if not words or len(words) > MAX_WORDS or _LINKS.search(bare):
        return None
    return None if fold(words[0]) in STATES else bare


def title(text: str) -> str | None:
    """Return a job title: not one adjective ("meaningless", "смешная"), no place of work in it."""
    found = phrase(text)
    if found and re.search(r" (?:at|in|for|with|on|в|на|для|с) ", found):
        return None
    alone = found and " " not in found
    return None if alone and _ADJECTIVE.search(text.casefold()) else found


def distinct(text: str) -> str | None:
    """Return a phrase that shows itself as a name: a capital, a digit or quotes."""
    bare, was_quoted = unquoted(text)
    shown = was_quoted or re.match(r"(?:an? )?[A-ZА-ЯЁ\d]", bare)
    return (proper(text) or code(text)) if shown else None
