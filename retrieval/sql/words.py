"""The words of a question and of the declared schemas, and where they meet.

A word is compared by its key: the stem of `indexing.sparse`, with two Russian alternations undone
that a stemmer leaves (покупка / покупок, отменён / отменённых). Nothing is matched by likeness:
a word is declared or it is not.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from indexing.sparse import normalize, terms
from retrieval.sql.poles import ends
from retrieval.sql.schema import Source, Table

Kind = Literal["table", "measure", "dimension", "value"]
Pole = Literal["", "low", "high"]

LONGEST = 1000
"""Characters of a question that are read; a longer text is no question (`understand` says so)."""

_DASHES = str.maketrans("–—−‑", "----")
_TOKEN = re.compile(
    r"\d{1,3}(?:[ ,]\d{3})+(?![\d,])|\d+(?:[.,]\d+)?|[^\W\d_]+(?:['’][^\W\d_]+)?|<=|>=|[%$€₽<>=≤≥]"
)
_FLEETING = re.compile(r"(?<=[бвгдзклмнпрстфхцчшщжь])[ое](?=к$)|(?<=[влрн])е(?=ц$)")
_PARTICIPLE = re.compile(r"(?<=.{4})(?:енн?|анн|ян)$")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or sign; ``start`` and ``end`` are offsets in the `folded` text."""

    text: str
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a declared word stands for. ``name`` is the measure's or the dimension's.

    ``pole`` is the end of a scale that a measure's word is on (`poles`): "дорогой" is high and
    "дешёвый" low on the measure that declares either.
    """

    source: str
    table: str
    kind: Kind
    name: str = ""
    value: str = ""
    pole: Pole = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """Declared words in a question: tokens ``start`` to ``end``, all that they can mean."""

    start: int
    end: int
    words: str
    meanings: tuple[Meaning, ...]


Phrases = Mapping[str, tuple[tuple[tuple[str, ...], tuple[Meaning, ...]], ...]]


@dataclass(frozen=True, slots=True)
class Gazetteer:
    """All declared phrases of some sources, by the key of their first word, longest first.

    ``spelled`` are the declared words as they were written.
    """

    phrases: Phrases
    spelled: frozenset[str]


def folded(text: str) -> str:
    """Return the first `LONGEST` characters as they are read: `normalize`, dashes are hyphens.

    However wide a gap is, it is one space: "1  500" is a number too.
    """
    return " ".join(normalize(text[:LONGEST]).translate(_DASHES).split())


@lru_cache(maxsize=50_000)
def key(word: str) -> str:
    """Return what a word is compared by.

    >>> key("покупок") == key("покупки"), key("отменённых") == key("отменён")
    (True, True)
    """
    stems = terms(word)
    stem = _FLEETING.sub("", stems[0].replace("еек", "ейк")) if stems else word
    return _PARTICIPLE.sub("", stem) if len(stem) >= 7 else stem


def tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of a `folded` text; linear in its length.

    >>> [token.text for token in tokens("топ-5 товаров за 1 000 ₽")]
    ['топ', '5', 'товаров', 'за', '1 000', '₽']
    """
    return tuple(
        Token(found[0], key(found[0]), found.start(), found.end())
        for found in _TOKEN.finditer(text)
    )


def mentions(question: str, gazetteer: Gazetteer) -> tuple[Mention, ...]:
    """Return the declared words of a question, in order, the longest phrase first, disjoint."""
    return found_in(tokens(folded(question)), gazetteer)


def found_in(words: Sequence[Token], gazetteer: Gazetteer) -> tuple[Mention, ...]:
    """Return the declared phrases among tokens, as `mentions` does."""
    found: list[Mention] = []
    at = 0
    while at < len(words):
        for phrase, meanings in gazetteer.phrases.get(words[at].key, ()):
            end = at + len(phrase)
            if tuple(token.key for token in words[at:end]) == phrase:
                said = " ".join(token.text for token in words[at:end])
                found.append(Mention(at, end, said, meanings))
                at = end
                break
        else:
            at += 1
    return tuple(found)


def gazetteer(sources: Sequence[Source]) -> Gazetteer:
    """Return the gazetteer of the sources; made once for the same objects."""
    return _made(_Same(tuple(sources)))


class _Same:
    """Sources compared by identity: they hold mappings, which have no hash."""

    __slots__ = ("sources",)

    def __init__(self, sources: tuple[Source, ...]) -> None:
        self.sources = sources

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.sources)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and (
            len(self.sources) == len(other.sources)
            and all(a is b for a, b in zip(self.sources, other.sources, strict=True))
        )


@lru_cache(maxsize=64)
def _made(same: _Same) -> Gazetteer:
    meanings: defaultdict[tuple[str, ...], list[Meaning]] = defaultdict(list)
    spelled: set[str] = set()
    for source in same.sources:
        for table in source.tables:
            for said, meaning in _declared(source, table):
                words = tokens(folded(said.replace("_", " ")))
                phrase = tuple(token.key for token in words)
                spelled.update(token.text for token in words)
                if phrase and meaning not in meanings[phrase]:
                    meanings[phrase].append(meaning)
    by_first: defaultdict[str, list[tuple[tuple[str, ...], tuple[Meaning, ...]]]]
    by_first = defaultdict(list)
    for phrase in sorted(meanings, key=len, reverse=True):
        by_first[phrase[0]].append((phrase, tuple(meanings[phrase])))
    phrases = {first: tuple(rest) for first, rest in by_first.items()}
    return Gazetteer(phrases, frozenset(spelled))


def _declared(source: Source, table: Table) -> list[tuple[str, Meaning]]:
    """Return the phrases of a table, its measures, its dimensions and their values."""
    found = [
        (said, Meaning(source.name, table.name, "table")) for said in (table.name, *table.synonyms)
    ]
    for measure in table.measures:
        meaning = Meaning(source.name, table.name, "measure", measure.name)
        for said in (measure.name, *measure.synonyms):
            highs, lows = ends(said)
            found += [(word, replace(meaning, pole="high")) for word in highs]
            found += [(word, replace(meaning, pole="low")) for word in lows]
            found += [] if highs else [(said, meaning)]
    for dimension in table.dimensions:
        name = dimension.name
        meaning = Meaning(source.name, table.name, "dimension", name)
        found += [(said, meaning) for said in (name, *dimension.synonyms)]
        for value, synonyms in dimension.values.items():
            stored = Meaning(source.name, table.name, "value", name, value)
            own = () if len(value) < 2 or value.isdigit() else (value,)
            found += [(said, stored) for said in (*own, *synonyms)]
    return found
