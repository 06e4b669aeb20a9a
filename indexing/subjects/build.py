"""What the frames of both languages make of their groups: slots of an owner.

Groups by name: ``who`` (empty: the user), ``attr``, ``value``. A builder returns None where the
words do not fill the slot.
"""

import re

from indexing.subjects.attributes import Attribute, attribute
from indexing.subjects.names import is_name, nominative
from indexing.subjects.types import Build, Parts, Shape, Span, Subject
from indexing.subjects.words import stem

RELATIONS = {
    stem(word): relation
    for relation, words in {
        "wife": "wife жена жены жене жену",
        "husband": "husband муж мужа мужу",
        "mother": "mother mom mum mama мама мамы маме маму мать матери",
        "father": "father dad папа папы папе отец отца отцу",
        "boss": "boss manager начальник начальника начальница начальницы начальницу",
    }.items()
    for word in words.split()
}
"""People of whom one has one: "my sister" may be another sister the next time."""

_OWN = re.compile(r"(?:my|мо[яйею]\w{0,2}) ", re.IGNORECASE)


def owner(who: str, case: str = "nominative") -> str | None:
    """Return the owner's part of a key; None for somebody whom the words do not single out."""
    if who.casefold() in ("", "i", "we", "я", "мы", "my", "у меня"):
        return "user"
    if possessive := _OWN.match(who):
        relation = RELATIONS.get(stem(who[possessive.end() :].casefold()))
        return f"user.{relation}" if relation else None
    return f"person:{nominative(who, case)}" if is_name(who) else None


def fill(name: str, shape: Shape, *, case: str = "nominative", closes: bool = False) -> Build:
    """Return a builder of the slot ``name`` of whoever ``who`` is."""

    def build(part: Parts) -> Subject | None:
        whose, value = owner(part("who").raw, case), shape(part("value").raw)
        return Subject(f"{whose}.{name}", value, "", closes) if whose and value else None

    return build


def named(case: str = "genitive", shape: Shape | None = None) -> Build:
    """Return a builder for "<who>'s <attr> is <value>", the slot being looked up."""

    def build(part: Parts) -> Subject | None:
        whose, found = owner(part("who").raw, case), attribute(part("attr").folded)
        value = (shape or found.shape)(part("value").raw) if found else None
        return Subject(f"{whose}.{found.slot}", value, "") if whose and found and value else None

    return build


def begins_with_attribute(rest: Span) -> tuple[Attribute, Span] | None:
    """Split "новый номер теперь 8 999 …" into the attribute and what follows its name."""
    ends = [match.end() for match in re.finditer(r"[\w.-]*\w(?= |:|$)", rest.folded)][:4]
    for end in reversed(ends):
        if found := attribute(rest.folded[:end]):
            return found, Span(rest.raw[end:].strip(), rest.folded[end:].strip())
    return None
