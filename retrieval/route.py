"""A question -> analytical, lookup or factual, with how sure and why. No model, no network.

Analytical: asks for a computation over many records (a number, an order, an extreme, groups).
Lookup: asks for something stored (a name, a date, a value of one thing, a list). Factual: asks
what was said, how or why. Whether a database can answer is not decided here: see `routing.plan`.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

from indexing.sparse import normalize, terms
from retrieval.routing import english, russian
from retrieval.routing.cues import COMPUTED, Cue, Kind, find, weight
from retrieval.sql.schema import Source

Label = Literal["analytical", "lookup", "factual"]

LABELS: dict[str, Label] = {
    "analytical": "analytical",
    "lookup": "lookup",
    "factual": "factual",
}
"""The labels by what others call them: a model's answer, a file."""

THRESHOLD = 0.5
"""The weight of cues from which a question is analytical."""

FIRM = 0.9
"""The weight from which asking for content outdoes a number: "why did I spend the most in May?"."""

EDGE = 400
"""Characters of the beginning and of the end that are looked at: nobody asks in between."""


@dataclass(frozen=True, slots=True)
class Route:
    """What a question asks for; ``reason`` is for people, ``cues`` are what it rests on."""

    label: Label
    confidence: float
    reason: str
    cues: tuple[Cue, ...] = ()

    def kinds(self) -> frozenset[Kind]:
        """Return the kinds of its cues."""
        return frozenset(cue.kind for cue in self.cues)


class Classifier(Protocol):
    """Anything else that labels a question in the rules' place."""

    def classify(self, question: str, vocabulary: "Vocabulary | None" = None) -> Route:
        """Label a question; what fails is labelled by the rules, and the reason says so."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Stems of what the registered sources call their rows, measures, dimensions and values."""

    stems: frozenset[str]

    def of(self, text: str) -> tuple[str, ...]:
        """Return the words of a text that are registered, as they stand there, without repeats."""
        found = (word for word in _WORD.findall(text) if _stem(word) in self.stems)
        return tuple(dict.fromkeys(found))


_WORD = re.compile(r"[^\W_]{2,}")
_CYRILLIC = re.compile(r"[а-я]")
_LATIN = re.compile(r"[a-z]")
_QUOTED = re.compile(r"«[^»]{0,200}»|\"[^\"]{0,200}\"|“[^”]{0,200}”|(?<!\w)'[^']{0,200}'(?!\w)")
_CALENDAR = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
)
_PROPER = re.compile(rf"(?<=[\w,] )(?!(?:{_CALENDAR})\b)[A-ZА-ЯЁ][\w'’.-]+")
_SPACES = re.compile(r"\s+")


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    return terms(word)[0]


def vocabulary(sources: Sequence[Source]) -> Vocabulary | None:
    """Return what the sources are called, None for no source. Made once, when they are declared."""
    said = (word for text in _said(sources) for word in _WORD.findall(normalize(text)))
    return Vocabulary(frozenset(map(_stem, said))) if sources else None


def _said(sources: Iterable[Source]) -> Iterable[str]:
    for table in (table for source in sources for table in source.tables):
        yield from (table.name, *table.synonyms)
        for measure in table.measures:
            yield from (measure.name, *measure.synonyms)
        for dimension in table.dimensions:
            yield from (dimension.name, *dimension.synonyms)
            for value, called in dimension.values.items():
                yield from (value, *called)


def route(question: str, vocabulary: Vocabulary | None = None) -> Route:
    """Label a question by rules, in less than a millisecond; pure.

    ``vocabulary`` of the registered sources settles what a noun is ("seats" of a stadium are a
    stored number, "orders" of a table are counted) and makes weak cues strong.

    >>> route("Сколько у меня заказов за апрель?").label
    'analytical'
    >>> route("сколько стоит доставка?").label
    'lookup'
    """
    shown = _SPACES.sub(" ", _QUOTED.sub(" “” ", _edges(question))).strip()
    text = normalize(shown)
    named = vocabulary.of(text) if vocabulary else ()
    cues: list[Cue] = []
    for script, language in ((_CYRILLIC, russian), (_LATIN, english)):
        if not script.search(text):
            continue
        computing = find(language.COMPUTING, text)
        if stored := _stored_count(language.STORED_COUNT, text, shown, named):
            computing = [cue for cue in computing if cue.kind != "count"]
            cues.append(stored)
        cues += computing + find(language.ASKING, text)
    return _decide(tuple(cues), named, vocabulary is not None)


def _edges(text: str) -> str:
    return text if len(text) <= 2 * EDGE else f"{text[:EDGE]} {text[-EDGE:]}"


def _stored_count(
    pattern: re.Pattern[str], text: str, shown: str, named: Sequence[str]
) -> Cue | None:
    """Return a cue where the number of something is asked that one named thing keeps stored."""
    match = pattern.search(text)
    if match is None or match["noun"] in named or not _PROPER.search(shown):
        return None
    return Cue("attribute", match.group(), 0.6)


def _decide(cues: tuple[Cue, ...], named: Sequence[str], known: bool) -> Route:
    computed = weight(cues)
    if named and computed:
        computed = 1 - (1 - computed) / 2
    content, attribute, name = (_strongest(cues, k) for k in ("content", "attribute", "name"))
    if computed >= max(THRESHOLD, attribute) and content < FIRM:
        chosen = [cue for cue in cues if cue.kind in COMPUTED]
        return Route("analytical", round(computed, 3), _reason(chosen, named, known), cues)
    stored = max(attribute, name)
    if content >= FIRM or content > stored:
        chosen = [cue for cue in cues if cue.kind == "content"]
        return Route("factual", round(content * (1 - computed / 2), 3), _reason(chosen), cues)
    if stored:
        chosen = [cue for cue in cues if cue.kind in ("attribute", "name")]
        return Route("lookup", round(stored * (1 - computed / 2), 3), _reason(chosen), cues)
    return Route("factual", 0.3, "no cue of a number, a name or a list", cues)


def _strongest(cues: Sequence[Cue], kind: Kind) -> float:
    return max((cue.weight for cue in cues if cue.kind == kind), default=0.0)


def _reason(cues: Sequence[Cue], named: Sequence[str] = (), known: bool = False) -> str:
    longest: dict[Kind, str] = {}
    for cue in cues:
        longest[cue.kind] = max(longest.get(cue.kind, ""), cue.words, key=len)
    said = "; ".join(f"{_MEANING[kind]}: «{words}»" for kind, words in longest.items())
    if named:
        return f"{said}; registered: {', '.join(f'«{word}»' for word in named)}"
    return f"{said}; no registered word" if known else said


_MEANING: dict[Kind, str] = {
    "count": "counts",
    "sum": "adds up",
    "average": "averages",
    "share": "asks for a share",
    "extreme": "asks for an extreme",
    "order": "asks for an order",
    "having": "counts by group",
    "compare": "compares",
    "group": "groups",
    "attribute": "asks for a value of one thing",
    "content": "asks what was said, how or why",
    "name": "asks for a name or a list",
}
