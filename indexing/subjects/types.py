"""A subject, and the frame that finds one. Nothing here knows a language."""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Subject:
    """The slot that a statement fills.

    ``key`` names a slot with one value at a time and does not depend on the language where that is
    safe: ``user.home``, ``person:анна.phone``, ``decision.mysql``, ``preference.coffee|tea``.
    ``value`` is spelled as in the text, ``rule`` names the frame that matched. ``closes`` says
    that the value holds no longer and that nothing takes its place. ``replaces`` is set for
    decisions: the `fold` of the thing that is left, so that a current decision whose own value
    folds to it ends as well (MySQL -> Postgres, then Postgres -> CockroachDB).
    """

    key: str
    value: str
    rule: str
    closes: bool = False
    replaces: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of the statement: as it was written, and with ё and apostrophes folded."""

    raw: str
    folded: str


Shape = Callable[[str], str | None]
"""Return the value without its wrapping, or None where the text cannot be such a value."""

Parts = Callable[[str], Span]
"""Return a named group of the match; the empty span where it took no part."""

Build = Callable[[Parts], Subject | None]


@dataclass(frozen=True, slots=True)
class Frame:
    """A pattern for the whole statement and what is made of its groups."""

    rule: str
    pattern: re.Pattern[str]
    build: Build
