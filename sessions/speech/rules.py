"""What a rule of speech is: a pattern over one sentence, the kind it speaks for, who may say it.

The order of a table is the order of trying: the more specific kind stands first. Patterns see
`Sentence.own` without its openers ("ok, so …"); every repetition in them is bounded.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from retrieval.routing.cues import compiled, words
from sessions.types import LineKind

__all__ = ["Language", "Rule", "compiled", "phrases", "rule", "said", "words"]

_PIECE = re.compile(r"\\.|\[(?:\\.|[^\]])+\]|.")

Who = Literal["user", "anyone", "assistant"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern of one kind. ``valued``: a number, name or code has to be there too.

    ``claimed`` rules do not hold for what is reported of others or supposed.
    """

    kind: LineKind
    pattern: re.Pattern[str]
    who: Who = "anyone"
    valued: bool = False
    claimed: bool = True


def rule(
    kind: LineKind,
    pattern: str,
    who: Who = "anyone",
    valued: bool = False,
    claimed: bool = True,
) -> Rule:
    """Make a rule; see `compiled`."""
    return Rule(kind, compiled(factored(re.sub(r"\s*\n\s*", "", pattern))), who, valued, claimed)


def factored(pattern: str) -> str:
    r"""Return a pattern that looks for the same, with one ``\b`` before all that begin with it.

    The engine tries that one at each character, instead of one for each alternative.

    >>> print(factored(r"\bone\b|^two|\b(?:three|four)"))
    ^two|\b(?:one\b|(?:three|four))
    """
    parts = [""]
    depth = 0
    for piece in _PIECE.findall(pattern):
        depth += (piece == "(") - (piece == ")")
        if piece == "|" and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    bounded = [part[2:] for part in parts if part.startswith(r"\b")]
    others = [part for part in parts if not part.startswith(r"\b")]
    return "|".join([*others, rf"\b(?:{'|'.join(bounded)})"] if bounded else others)


@dataclass(frozen=True, slots=True)
class Language:
    """The rules of a language, and the turns of phrase that tie a sentence to those before it.

    ``opener`` is cut off a sentence's start; ``small`` is one phrase that says nothing, ``filler``
    the beginning of a sentence that says nothing. ``others`` reports or supposes, ``supposed``
    begins what need not have happened. ``proposal`` offers an idea, ``check`` only asks whether the
    one before suits, ``choice`` names what is taken of what was offered. ``yes`` and ``no`` begin
    an answer, ``refusal`` and ``assent`` are answers without them; ``negative`` is how what follows
    a "no" repeats it. ``deferral`` leaves a question open; ``demand`` asks for a requirement,
    ``open`` for more than yes or no; ``inner`` begins the question at the end of a statement;
    ``order`` is a request in the form of a question. ``number`` is a number in words. ``onward``
    only goes on with the talk, ``vague`` decides nothing in particular, ``advice`` begins what may
    happen or should be done, ``inquiry`` asks what is possible, ``named`` refuses what it names.
    """

    rules: Sequence[Rule]
    opener: re.Pattern[str]
    small: re.Pattern[str]
    filler: re.Pattern[str]
    others: re.Pattern[str]
    supposed: re.Pattern[str]
    proposal: re.Pattern[str]
    check: re.Pattern[str]
    choice: re.Pattern[str]
    yes: re.Pattern[str]
    no: re.Pattern[str]
    refusal: re.Pattern[str]
    assent: re.Pattern[str]
    negative: re.Pattern[str]
    deferral: re.Pattern[str]
    demand: re.Pattern[str]
    open: re.Pattern[str]
    inner: re.Pattern[str]
    order: re.Pattern[str]
    number: re.Pattern[str]
    onward: re.Pattern[str]
    vague: re.Pattern[str]
    advice: re.Pattern[str]
    inquiry: re.Pattern[str]
    named: re.Pattern[str]


def phrases(listed: str) -> str:
    """Return a pattern's alternatives as `words` does; "_" is the space within a phrase."""
    return words(listed).replace("_", " ")


def said(pattern: re.Pattern[str], text: str) -> bool:
    """Whether the pattern is anywhere in the text."""
    return pattern.search(text) is not None
