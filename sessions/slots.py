"""Names and values in a sentence of a user: "size: L", "my budget is 300 000", «размер L». Pure.

Does: what `indexing.subjects` knows, and plain forms of a name right before its value; the value is
a span of the sentence. Does not: guess. A question, a condition or a range has no value.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from indexing.subjects import subject_of
from indexing.subjects.attributes import Attribute, attribute
from sessions.rejected import content

OWN = "user."
"""Begins the keys of what belongs to the user."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A subject's key and its value as written; ``closes`` says that it holds no longer."""

    key: str
    value: str
    closes: bool = False

    @property
    def name(self) -> str:
        """The key as one asks for it: ``budget`` for ``user.budget``."""
        return self.key.removeprefix(OWN)


MAX_NAME_WORDS = 4
MAX_VALUE_WORDS = 8

_CLAUSE = re.compile(r"(?:,(?=\s)|;|\.(?=\s)|\b(?:and|but|и|а|но)\b)\s*", re.IGNORECASE)
_UNSURE = re.compile(
    r"\?|\b(?:if|unless|maybe|perhaps|would|could|might|should|if|если|бы|может|возможно|вдруг)\b",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:please|remember|note|that|the|an?|my|our|is|with|have|wear|need|want|take|i|we|for|so|ok"
    r"|okay|well|yes|now|new|запомни|пожалуйста|у|меня|нас|мне|нам|мо[йяеёи]|наш[аеи]?|нуж(?:ен|на|но"
    r"|ны)|с|на|это|так|да|ну|тогда|теперь|новый|новая|общий|ношу|и|что|какой-то)\b[,:]?\s+)*",
    re.IGNORECASE,
)
_SIGN = r"(?:\s*[:=]\s*|\s+[—–-]\s+(?:это\s+)?)"
_COPULA = r"(?:\s+(?:is|are|was set to|will be|equals|составляет|теперь|now|сейчас|будет|равен)\s+)"
_SEPARATOR = re.compile(rf"(?:{_SIGN}|{_COPULA}|\s+)(?:(?:now|теперь|is|это)\s+)?", re.IGNORECASE)
_STATED = re.compile(
    rf"(?P<name>[^\W\d_][\w/-]*(?:\s+[^\W_][\w/-]*){{0,2}})(?:{_SIGN}|{_COPULA})(?P<value>\S.*)",
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:up to|at most|no more than|under|below|over|about|around|maximum|max|до|около|не (?:больше"
    r"|более|выше)|максимум|примерно|порядка|от)\s+",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\s*(?:or|or so|to|[-–—]|или|до|либо)\b", re.IGNORECASE)
_WORD = re.compile(r"\S+")
END = " \t.!…,;:"
_SHOWN = re.compile(r"\d|^[A-ZА-ЯЁ]{1,4}$|^[«\"“]|^[A-ZА-ЯЁ]")


def slots_of(text: str) -> tuple[Slot, ...]:
    """Return the names that a sentence gives values to, in its order.

    >>> [(slot.name, slot.value) for slot in slots_of("Размер L, а бюджет до 300 тысяч")]
    [('size', 'L'), ('budget', 'до 300 тысяч')]
    """
    if _UNSURE.search(text):
        return ()
    whole = _stated(text)
    if whole:
        return (whole,)
    return tuple({slot.key: slot for slot in _clauses(text)}.values())


def _stated(text: str) -> Slot | None:
    """Return what a plain statement of a known frame is about."""
    found = subject_of(text)
    if found is None or found.value not in text:
        return None
    return Slot(found.key, found.value, found.closes)


def _clauses(text: str) -> Iterator[Slot]:
    start = 0
    cuts = [*((m.start(), m.end()) for m in _CLAUSE.finditer(text)), (len(text), len(text))]
    for end, after in cuts:
        clause = text[start:end].strip(END)
        start = after
        found = (_stated(clause) or _attribute(clause) or _named(clause)) if clause else None
        if found:
            yield found


def _attribute(clause: str) -> Slot | None:
    """Read a known name right before a value that looks like one of its values."""
    lead = _LEAD.match(clause)
    rest = clause[lead.end() :] if lead else clause
    words = list(_WORD.finditer(rest))[:MAX_NAME_WORDS]
    for word in reversed(words):
        name = rest[: word.end()].rstrip(":=")
        known = attribute(name)
        if known is None:
            continue
        parted = _SEPARATOR.match(rest, len(name))
        if parted is None:
            continue
        is_said = parted[0].strip() != ""
        if value := value_of(known, rest[parted.end() :], is_said=is_said):
            return Slot(f"{OWN}{known.slot}", value)
    return None


def value_of(known: Attribute, text: str, *, is_said: bool) -> str | None:
    """Return the longest beginning of a text that is a value; ``is_said``: a copula is before it.

    Only a value of a strict form ("300 000", "XL") may go without.
    """
    if not (is_said or known.strict):
        return None
    about = _ABOUT.match(text)
    start = about.end() if about else 0
    ends = [start + word.end() for word in _WORD.finditer(text[start:])][:MAX_VALUE_WORDS]
    for end in reversed(ends):
        value = text[start:end].strip(END)
        rest = text[end:]
        if value and known.shape(value) == value and not _RANGE.match(rest):
            return text[:start] + value if known.strict or not rest.strip(END) else None
    return None


def _named(clause: str) -> Slot | None:
    """Read "name: value" of any name of content words; the value has a number or a name."""
    lead = _LEAD.match(clause)
    match = _STATED.fullmatch(clause[lead.end() :] if lead else clause)
    if match is None:
        return None
    name, value = match["name"], match["value"].strip(END)
    words = name.split()
    if len(content(name)) < len(words) or len(value.split()) > MAX_VALUE_WORDS:
        return None
    return Slot(name.casefold(), value) if _SHOWN.search(value) else None
