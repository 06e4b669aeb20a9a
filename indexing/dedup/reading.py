"""Text -> what it says, piece by piece: keys to be matched, and the order that they stand in.

Two words have one key when they are written the same or stand in one line of the synonyms: no
stems, because an ending changes the person, the tense, the number or the role.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from indexing.dedup import wording as words
from indexing.dedup.normal import fold
from indexing.dedup.phrases import PHRASES
from indexing.dedup.synonyms import SYNONYMS
from indexing.dedup.values import NUMBER, PATTERNS, digits, number, value
from indexing.sparse import language, terms

_UNIT = "kg|km|cm|mm|gb|mb|kb|tb|ms|min|кг|км|см|мм|гб|мб|кб|тб|мс|мин|сек|ч|г|м|л|l|g|m|s|h|k|к"
_PIECES = PATTERNS | {
    "ordinal": r"(?P<or_n>\d+)(?:st|nd|rd|th|-?(?:й|я|е|го|ой|му|м))(?![\w-])",
    "glued": rf"(?P<gl_n>\d+(?:[.,]\d+)?)(?P<gl_u>{_UNIT})(?!\w)",
    "number_alone": rf"(?<![\w.-])(?:{NUMBER})(?![\w/=@-])(?![.:]\w)",
    "code": r"(?<!\w)--?[a-z][\w-]*|\w+[+#]{1,2}(?![\w+#])"  # --dry-run, C++
    r"|(?=[\w./:@=-]*(?:[\d/@=_]|\.[a-z]))\w+(?:[-./:@=]+\w+)*",  # BX-4471-A, app.toml, a/b
    "number": rf"(?<![\w])-?(?:{NUMBER})",
    "word": r"[^\W\d_]+(?:['~-][^\W\d_]+)*|\w+",
    "stop": r"[.!;:,()\"…\[\]']|(?<!\S)-+(?!\S)",
    "symbol": r"[^\s?]",
}
"""Name -> pattern of a piece, in the order in which they are tried."""
_TOKEN = re.compile("|".join(f"(?P<{name}>{piece})" for name, piece in _PIECES.items()), re.I)
_CYRILLIC, _LATIN = re.compile(r"[а-я]", re.I), re.compile(r"[a-z]", re.I)
_PHRASES = [
    (_CYRILLIC if _CYRILLIC.search(found) else _LATIN, re.compile(found, re.I), put)
    for found, put in PHRASES.items()
]
"""The script that a text must have some of for the phrase to be looked for; the phrase."""
_ASKING = re.compile(
    r"\s*(?:is|are|am|was|were|do(?! not )|does|did|can|could|will|would|should|has|have|may|must|"
    r"what|who|when|where|why|how|which|что|кто|когда|где|почему|как|сколько|зачем) "
    r"|.*\bли\b",
    re.I,
)
_INFINITIVE = re.compile(r"\w{2,}(?:[аеиоуыя]ть|[аеиоуыя]ться|[зс]ти|чь)")
_KINDS = {
    "link": "link",
    "phone": "phone",
    "iso": "date",
    "dotted": "date",
    "day_month": "date",
    "month_day": "date",
    "clock": "time",
    "money": "amount",
    "percent": "percent",
    "scaled": "number",
}


@dataclass(frozen=True, slots=True)
class Token:
    """One thing that the other text must say too."""

    key: str
    text: str
    kind: str
    """number, amount, percent, date, time, code, link, phone, word, person, symbol, or for a word
    that changes the meaning of others its class in `wording.OPERATORS`."""
    bound: str = ""
    """The negation or focus word before it ("not", "только"), or its preposition."""


@dataclass(frozen=True, slots=True)
class Group:
    """Tokens that move as one: a preposition with what follows, or a single token."""

    preposition: str
    keys: tuple[str, ...]
    temporal: bool = False
    joined: bool = False
    """Whether a comma or "and" stands before it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a text says."""

    tokens: tuple[Token, ...]
    groups: tuple[Group, ...]
    question: bool
    russian: bool
    simple: bool
    """Whether it is one clause: no comma, colon, "and", "but" or "if" inside."""
    copula: int | None
    """The place among the groups of its only "is" or dash."""


def read(text: str) -> Reading:
    """Return the reading of a text. Nothing is cached: a forgotten text must not live on here."""
    russian = language(text) == "ru"
    folded = fold(text.replace("№", "#"))
    scripts = [script for script in (_CYRILLIC, _LATIN) if script.search(folded)]
    for script, found, put in _PHRASES:
        if script in scripts:
            folded = found.sub(put, folded)
    reader = _Reader(russian)
    for match in _TOKEN.finditer(digits(folded)):
        reader.take(match)
    reader.end()
    asking = "?" in text or _ASKING.match(fold(text)) is not None
    copula = reader.copulas[0] if len(reader.copulas) == 1 else None
    return Reading(
        tuple(reader.tokens), tuple(reader.groups), asking, russian, reader.simple, copula
    )


class _Reader:
    """Tokens one by one; what waits for the next one: preposition, negation, comma."""

    def __init__(self, russian: bool) -> None:
        self.tokens: list[Token] = []
        self.groups: list[Group] = []
        self.copulas: list[int] = []
        self.simple = True
        self._russian = russian
        self._preposition = ""
        self._binding = ""
        self._joined = False
        self._stopped = False
        self._open: list[str] = []
        self._temporal = False
        self._liking = False
        self._infinitive = False

    def take(self, match: re.Match[str]) -> None:
        """Take one match of `_TOKEN`."""
        name, text = match.lastgroup or "", match.group()
        if name == "stop":
            self._stop(text)
        elif name == "word":
            self._word(text)
        else:
            self._simple_again()
            for token in self._values(name, text, match):
                self._add(token, token.kind in ("date", "time"))

    def end(self) -> None:
        """Close what is open."""
        self._close()

    def _values(self, name: str, text: str, match: re.Match[str]) -> Iterator[Token]:
        if name in PATTERNS and name not in ("link", "phone"):
            found = value(name, match.groupdict(), self._russian)
            yield Token(found or text, text.strip(), _KINDS[name] if found else "number")
        elif name == "phone":
            yield Token(re.sub(r"[^\d+]", "", text), text, "phone")
        elif name == "link":
            yield Token(text.rstrip("/"), text, "link")
        elif name == "glued":
            yield Token(number(match["gl_n"], self._russian), match["gl_n"], "number")
            unit = match["gl_u"].casefold()
            yield Token(SYNONYMS.get(unit, unit), unit, "word")
        elif name == "ordinal":
            yield Token(f"{match['or_n']}-й", text, "number")
        elif name in ("number", "number_alone"):
            yield Token(number(text, self._russian), text, "number")
        elif name == "code":
            key = text if text.startswith("-") else text.casefold()
            yield Token(re.sub(r"^v(?=\d)", "", key), text, "code")
        else:
            yield Token(text, text, "symbol")

    def _word(self, text: str) -> None:
        word = text.casefold()
        infinitive, self._infinitive = self._infinitive, word == "to"
        if word in words.CLAUSES or (infinitive and text.islower()) or _INFINITIVE.fullmatch(word):
            self.simple = self.simple and word in words.DETERMINERS
        if word in words.COPULAS:
            self._close()
            self.copulas.append(len(self.groups))
        elif word in words.CONJUNCTIONS:
            self._close()
            self._joined = True
        elif word in words.DROPPED:
            pass
        elif word in words.PREPOSITIONS:
            self._bind(word)
        elif word in words.OPERATORS and not (word in words.TIMES and self._preposition):
            self._operate(word, text)
        elif word in words.PERSONS:
            self._simple_again()
            if word in words.SUBJECTS:
                self._close(keep=not self._open)
            self._add(Token(words.PERSONS[word], text, "person"), False)
            self._close()
        else:
            self._simple_again()
            key = self._key(word)
            temporal = word in words.TIMES and (bool(self._preposition) or word in words.ADVERBS)
            self._add(Token(key, text, "word"), temporal)
            self._liking = word in words.LIKING

    def _key(self, word: str) -> str:
        if self._liking and word.endswith("ing"):
            (word, *_) = terms(word)
        return SYNONYMS.get(word, word)

    def _bind(self, word: str) -> None:
        if self._liking and word == "to":
            return
        self._close(keep=bool(self._preposition and not self._open))
        self._preposition = f"{self._preposition} {words.PREPOSITIONS[word]}".strip()

    def _operate(self, word: str, text: str) -> None:
        kind = words.OPERATORS[word]
        self._simple_again()
        if kind == "condition":
            self.simple = False
        self._close(keep=not self._open)
        key = SYNONYMS.get(word, word)
        self.tokens.append(Token(key, text.replace("~", " "), kind, self._binding))
        self.groups.append(Group("", (key,), joined=self._joined))
        self._joined = self._liking = False
        if kind in ("negation", "focus"):
            self._binding = f"{self._binding} {word}".strip()

    def _stop(self, text: str) -> None:
        if text in "\"'":
            return
        self._close()
        self._binding = ""
        if text.startswith("-"):
            self.copulas.append(len(self.groups))
        elif text == ",":
            self._joined = True
        if text not in ".!" and not text.startswith("-"):
            self._stopped = True

    def _simple_again(self) -> None:
        """Note, at a token after a stop or a conjunction, that there are two clauses or a list."""
        if self._joined or self._stopped:
            self.simple = False
        self._stopped = False

    def _add(self, token: Token, temporal: bool) -> None:
        bound = f"{self._binding} {self._preposition}".strip()
        self.tokens.append(Token(token.key, token.text, token.kind, bound))
        self._binding = ""
        if self._preposition:
            self._open.append(token.key)
            self._temporal = self._temporal or temporal
            if temporal:
                self._close()
            return
        self.groups.append(Group("", (token.key,), temporal, self._joined))
        self._joined = False

    def _close(self, keep: bool = False) -> None:
        """End the group of a preposition. One that has bound nothing yet waits if ``keep``, else it
        is a word of its own ("turn it off").
        """
        if self._preposition and not self._open and not keep:
            left, self._preposition = self._preposition, ""
            self._add(Token(left, left, "word"), False)
        if self._open:
            group = Group(self._preposition, tuple(self._open), self._temporal, self._joined)
            self.groups.append(group)
            self._joined = False
        self._open, self._temporal = [], False
        if not keep:
            self._preposition = ""
