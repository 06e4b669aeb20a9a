"""Do two texts say the same, so that one may stand for both? Decided by the text; on doubt, no.

A cosine cannot tell red wine from white, or Google from Microsoft. So every piece of either text
(numbers, dates, codes, names, negations, persons, tenses, plain words) must have its equal in the
other, up to spelling, a short list of synonyms and words that add nothing; then the order must
leave the roles as they were. The cosine, where there is one, can only object.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from indexing.dedup.normal import exact_key
from indexing.dedup.order import same_order
from indexing.dedup.reading import Reading, Token, read

COSINE = 0.9
"""The least cosine of multilingual-e5-small at which what the text allows is merged."""

_NAMES = {
    "number": "numbers",
    "percent": "percentages",
    "amount": "amounts",
    "date": "dates",
    "time": "times",
    "code": "codes",
    "link": "addresses",
    "phone": "phone numbers",
    "negation": "negations",
    "modality": "modal words",
    "tense": "tenses",
    "focus": "limits",
    "condition": "conditions",
    "comparison": "comparisons",
    "person": "persons",
    "name": "names",
    "word": "words",
    "symbol": "signs",
}
"""Kinds in the order in which a difference is named, as a reason calls them."""

_ACTS = {
    "я": re.compile(r"\w+(?:[юу]|[юу]сь|ла?|лся|лась)"),
    "мы": re.compile(r"\w+(?:[еи]м|[еи]мся|ли|лись)"),
}
"""A pronoun that Russian may leave out -> the verbs whose ending says it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether one text may stand for both, and why."""

    merge: bool
    score: float
    """The cosine, or without one the share of pieces that both texts have, 0 to 1."""
    reason: str


def decide(a: str, b: str, cosine: float | None = None, least_cosine: float = COSINE) -> Verdict:
    """Return the verdict on two texts of one scope; the order of the two does not matter.

    ``cosine`` is that of their passage vectors; without one, the text alone decides. The reason
    quotes the texts: it is for the person who owns them, not for logs.

    >>> decide("У меня двое детей", "У меня трое детей").reason
    'numbers differ: 2 and 3'
    >>> decide("I live in Prague", "I reside in Prague").merge
    True
    """
    keys = exact_key(a), exact_key(b)
    if None in keys:
        return Verdict(False, cosine or 0.0, "no words")
    if keys[0] == keys[1]:
        return Verdict(True, 1.0 if cosine is None else cosine, "the same text")
    if cosine is not None and cosine < least_cosine:
        return Verdict(False, cosine, f"cosine {cosine:.2f} is under {least_cosine:.2f}")
    own, other = read(a), read(b)
    score = _overlap(own, other) if cosine is None else cosine
    doubt = _doubt(own, other)
    return Verdict(not doubt, score, doubt or "the same in other words")


def gist(text: str) -> str:
    """Return what texts that say the same have in common: their pieces, in any order (16 hex).

    Where two differ, `decide` merges them only if they are the same text; where they are equal, the
    order and what belongs to what may still tell the texts apart.
    """
    keys = sorted(token.key for token in read(text).tokens if token.key not in _ACTS)
    return hashlib.blake2b("\0".join(keys).encode(), digest_size=8).hexdigest()


def _doubt(a: Reading, b: Reading) -> str:
    """Return why the readings may differ in what they say, "" where nothing does."""
    if a.question != b.question:
        return "one is a question"
    if not a.tokens or not b.tokens:
        return "no words to compare"
    left, right = _missing(a, b), _missing(b, a)
    if (left or right) and not _elided(a, left, b, right):
        return _difference(left, right)
    left, right = _missing(a, b, bound=True), _missing(b, a, bound=True)
    if (left or right) and not _elided(a, left, b, right):
        return f"other words stand with “{(left or right)[0].text}”"
    if not same_order(_without(a, b), _without(b, a)):
        return "the order may change who does what"
    return ""


def _missing(a: Reading, b: Reading, bound: bool = False) -> list[Token]:
    """Return the tokens of ``a`` that have no equal in ``b``, with what binds them if asked."""
    left = Counter((token.key, token.bound if bound else "") for token in b.tokens)
    out = []
    for token in a.tokens:
        key = token.key, token.bound if bound else ""
        if left[key]:
            left[key] -= 1
        else:
            out.append(token)
    return out


def _elided(a: Reading, left: Sequence[Token], b: Reading, right: Sequence[Token]) -> bool:
    """Return whether all that is missing is a Russian pronoun which the verb's ending says."""
    if left and right:
        return False
    alone, reading = (left, b) if left else (right, a)
    if len(alone) != 1 or alone[0].bound or alone[0].key not in _ACTS:
        return False
    full = a if left else b
    if not full.simple and full.tokens[0] != alone[0]:
        return False
    acts = _ACTS[alone[0].key]
    return any(t.kind == "word" and acts.fullmatch(t.key) for t in reading.tokens)


def _without(a: Reading, b: Reading) -> Reading:
    """Return ``a`` without the pronoun that ``b`` leaves out."""
    extra = {token.key for token in _missing(a, b)}
    if not extra:
        return a
    groups = tuple(group for group in a.groups if not extra.issuperset(group.keys))
    return Reading(a.tokens, groups, a.question, a.russian, a.simple, None)


def _difference(left: Sequence[Token], right: Sequence[Token]) -> str:
    """Name the gravest difference."""
    for kind, name in _NAMES.items():
        one = [token for token in left if _kind(token) == kind]
        two = [token for token in right if _kind(token) == kind]
        if one and two:
            return f"{name} differ: {_shown(one[0])} and {_shown(two[0])}"
        if one or two:
            return f"only one says “{(one or two)[0].text}”"
    return "the texts differ"


def _kind(token: Token) -> str:
    named = token.kind == "word" and token.text[:1].isupper() and not token.text.isupper()
    return "name" if named else token.kind


def _shown(token: Token) -> str:
    return (
        token.key if token.kind in ("number", "amount", "percent", "date", "time") else token.text
    )


def _overlap(a: Reading, b: Reading) -> float:
    """Return the share of tokens that both texts have (Dice)."""
    size = len(a.tokens) + len(b.tokens)
    return 1 - (len(_missing(a, b)) + len(_missing(b, a))) / size if size else 0.0
