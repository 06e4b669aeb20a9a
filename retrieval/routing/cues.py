"""What a cue is, and how cues are found: small patterns over normalised text, one language each.

A rule sees the text as `sparse.normalize` leaves it (lower case, ё as е) with single spaces. Every
repetition in a pattern is bounded, so that the time is linear in the length of the question.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "count",
    "sum",
    "average",
    "share",
    "extreme",
    "order",
    "having",
    "compare",
    "group",
    "attribute",
    "content",
    "name",
]
"""``count`` to ``group`` ask for a computation over many records. ``attribute`` and ``name`` ask
for something stored: a value of one thing, a name, a list. ``content`` asks what was said or why.
"""

COMPUTED: frozenset[Kind] = frozenset(
    ("count", "sum", "average", "share", "extreme", "order", "having", "compare", "group")
)


@dataclass(frozen=True, slots=True)
class Cue:
    """Words of a question that speak for a kind, with how much: 0 to 1."""

    kind: Kind
    words: str
    weight: float


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of one kind. Its groups ``noun`` and ``number``, where it has them, are tested:

    the noun must not be one of ``units`` (a duration, a currency), the number not over `MANY`.
    """

    kind: Kind
    weight: float
    pattern: re.Pattern[str]
    units: re.Pattern[str] | None = None


MANY = 100
"""More than this is a value ("over 5000 seats"), up to it a number of records."""


def rule(kind: Kind, weight: float, pattern: str, units: re.Pattern[str] | None = None) -> Rule:
    """Make a rule; see `compiled`."""
    return Rule(kind, weight, compiled(pattern), units)


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern that may go over several lines: breaks and indents are no part of it."""
    return re.compile(re.sub(r"\s*\n\s*", "", pattern))


def words(listed: str) -> str:
    """Return a pattern's alternatives of words listed between white space."""
    return "|".join(listed.split())


def find(rules: Sequence[Rule], text: str) -> list[Cue]:
    """Return the first match of each rule, in the order of the rules."""
    found = (_first(each, text) for each in rules)
    return [cue for cue in found if cue]


def _first(each: Rule, text: str) -> Cue | None:
    for match in each.pattern.finditer(text):
        groups = match.groupdict()
        number, noun = groups.get("number"), groups.get("noun")
        if number and number.isdecimal() and int(number) > MANY:
            continue
        if noun and each.units and each.units.fullmatch(noun):
            continue
        return Cue(each.kind, match.group().strip(" ,"), each.weight)
    return None


def weight(cues: Iterable[Cue]) -> float:
    """Return ``1 - product(1 - weight)`` of the cues that ask for a computation."""
    left = 1.0
    for cue in cues:
        if cue.kind in COMPUTED:
            left *= 1 - cue.weight
    return 1 - left
