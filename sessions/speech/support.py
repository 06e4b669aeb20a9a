"""Which numbers, names and codes of a text none of its sources has: a check of what a model wrote.

Does: numbers however they are grouped ("1 500" = "1,500" = "1.5k"), names in any case, codes whole.
Does not: number words in the text, names in another script, whether a sentence is true.
"""

import re
from collections.abc import Iterator, Sequence

from indexing.sparse import normalize, terms
from sessions.speech.sentences import Span

_CODE = re.compile(r"(?<![\w.+#-])[\w+#]+(?:[-./:@_+#&]+[\w+#]+)*")
_HAS_DIGIT = re.compile(r"\d")
_HAS_LETTER = re.compile(r"[^\W\d_]")
_PLAIN_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NUMBER = re.compile(
    r"(?<![\w.,])"
    r"(?P<digits>\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?:[.,]\d{1,2})?(?!\d)|\d+(?:[.,]\d+)*)"
    r"(?:[ \u00a0]?(?P<times>k|к|тыс|thousand|тысяч\w?|m|mln|млн|million|миллион\w{0,2}"
    r"|bn|млрд|billion|миллиард\w{0,2})\b)?",
    re.IGNORECASE,
)
_TIMES = {"k": 3, "к": 3, "t": 3, "т": 3, "b": 9}
_DIGIT_RUN = re.compile(r"[0-9]+")
_NAME = re.compile(r"[^\W\d_](?:[\w’'-]*\w)?")
_START = re.compile(r"(?:^|[.!?…:;\n•|]|[\n\s][-*–—])[\s\"«“(*_-]*$")
_FLEETING = re.compile(r"[ео](?=[бвгджзклмнпрстфхцчшщ]$)")
_CYRILLIC = re.compile(r"[а-я]")
_SAYS = re.compile(
    r"\s+(?:[A-ZА-ЯЁ][\w-]+\s+)?(?:is|was|has|had|will|said|says|wants?|prefers?|likes?|lives?"
    r"|works?|asked|decided|chose|promised|agreed|needs?|сказал|просит|просил|хочет|решил|живет"
    r"|живёт|работает|предпочитает|обещал|любит|спросил|выбрал|согласил|должен|должна|пришлет"
    r"|пришлёт)\w*\b"
)
_ROLES = frozenset(
    terms(
        """user users client customer assistant team agent system i the he she it they we you this
        that these those there who what а я он она они мы вы это пользователь
        пользовательница клиент клиентка ассистент команда агент система i'm i'll i've i'd"""
    )
)
_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "один": 1, "одна": 1, "одного": 1, "два": 2,
    "две": 2, "двух": 2, "двое": 2, "двумя": 2, "три": 3, "трех": 3, "трое": 3, "тремя": 3,
    "четыре": 4, "четырех": 4, "пять": 5, "пяти": 5, "шесть": 6, "шести": 6, "семь": 7, "семи": 7,
    "восемь": 8, "восьми": 8, "девять": 9, "девяти": 9, "десять": 10, "десяти": 10,
    "двенадцать": 12, "двенадцати": 12,
}  # fmt: skip
"""Number words that count as a source of a number."""


def supported(text: str, sources: Sequence[str]) -> tuple[str, ...]:
    """Return the numbers, names and codes of a text that no source has, as the text writes them.

    A word that only begins a sentence is a name where something is said of it or where it stands
    inside a sentence too. Empty: all are in the sources.

    >>> supported("Анне нужно 1500 штук до 12 мая", ["Анна просила 1 500 штук"])
    ('12',)
    >>> supported("Order BX-4471-B is Maria's.", ["Maria ordered BX-4471-A"])
    ('BX-4471-B',)
    """
    known = _Known(sources)
    found: dict[str, None] = {}
    for claim in (*_codes(text, known), *_numbers(text, known), *_names(text, known)):
        found.setdefault(claim)
    return tuple(found)


class _Known:
    """What the sources have: whole tokens, numbers, words by stem."""

    def __init__(self, sources: Sequence[str]) -> None:
        joined = "\n".join(sources)
        folded = normalize(joined)
        self.tokens = frozenset(normalize(match.group()) for match in _CODE.finditer(joined))
        self.words = frozenset(re.findall(r"[^\W_]+", folded))
        self.names = frozenset(normalize(match.group()) for match in _NAME.finditer(joined))
        self.stems = frozenset(key for word in self.words for key in _keys(word))
        self.numbers = frozenset(value for _, values, _ in _values(joined) for value in values) | {
            str(number) for word, number in _WORDS.items() if word in self.words
        }


def _codes(text: str, known: _Known) -> Iterator[str]:
    for match in _CODE.finditer(text):
        token = match.group()
        if _is_code(token) and normalize(token) not in known.tokens:
            yield token


def _is_code(token: str) -> bool:
    """Whether a token is to be found whole: letters with digits, an address, a time or a date."""
    if not _HAS_DIGIT.search(token):
        return "@" in token or "_" in token.strip("_") or ("/" in token and "." in token)
    if _HAS_LETTER.search(token):
        return not _NUMBER.fullmatch(token) and not re.fullmatch(r"\d+-?[^\W\d_]{1,4}", token)
    return not _PLAIN_NUMBER.fullmatch(token) and not re.fullmatch(r"\d+-\d+", token)


def _numbers(text: str, known: _Known) -> Iterator[str]:
    spans = [match.span() for match in _CODE.finditer(text) if _is_code(match.group())]
    for written, values, (start, end) in _values(text):
        inside = any(a <= start and end <= b for a, b in spans)
        if not inside and not values & known.numbers:
            yield written


def _values(text: str) -> Iterator[tuple[str, frozenset[str], Span]]:
    """Yield each number as written, the values it may have, and its span.

    "1,500" may be 1500 or 1.5, since languages differ.
    """
    end = 0
    for match in _NUMBER.finditer(text):
        yield from _stray(text, end, match.start())
        yield match.group(), frozenset(_readings(match["digits"], match["times"])), match.span()
        end = match.end()
    yield from _stray(text, end, len(text))


def _stray(text: str, start: int, end: int) -> Iterator[tuple[str, frozenset[str], Span]]:
    """Yield digits that are part of a longer token: of a code, a date, "GPT4"."""
    for run in _DIGIT_RUN.finditer(text, start, end):
        yield run.group(), frozenset((str(int(run.group())),)), run.span()


def _readings(digits: str, times: str | None) -> Iterator[str]:
    power = _power(times)
    plain = re.sub(r"[ \u00a0\u202f'’]", "", digits)
    parts = re.split(r"[.,]", plain)
    if len(parts) == 1:
        yield _scaled(plain, "", power)
        return
    if all(len(part) == 3 for part in parts[1:]):
        yield _scaled("".join(parts), "", power)
    yield _scaled("".join(parts[:-1]), parts[-1], power)


def _power(times: str | None) -> int:
    if not times:
        return 0
    word = normalize(times)
    if word.startswith(("млрд", "миллиард", "b")):
        return 9
    return 6 if word.startswith(("m", "м")) else _TIMES[word[0]]


def _scaled(whole: str, fraction: str, power: int) -> str:
    """Return ``whole.fraction * 10**power`` without needless zeros."""
    fraction = fraction.rstrip("0")
    moved = fraction[:power].ljust(power, "0")
    left = fraction[power:]
    number = (whole + moved).lstrip("0") or "0"
    return f"{number}.{left}" if left else number


def _names(text: str, known: _Known) -> Iterator[str]:
    inside: set[str] = set()
    initial: list[re.Match[str]] = []
    for match in _NAME.finditer(text):
        word = match.group()
        if not word[0].isupper() or _coded(text, match):
            continue
        if _START.search(text, max(0, match.start() - 12), match.start()):
            initial.append(match)
            continue
        inside |= _keys(_bare(word))
        if not _is_known(word, known):
            yield word
    for match in initial:
        word = match.group()
        said_of = _SAYS.match(text, match.end()) or word.endswith(("'s", "’s"))
        if (said_of or _keys(_bare(word)) & inside) and not _is_known(word, known):
            yield word


def _coded(text: str, match: re.Match[str]) -> bool:
    """Whether the letters are part of a code: that is looked up whole."""
    before, after = text[: match.start()][-1:], text[match.end() :][:2]
    return before.isdigit() or before in ("-", "_", "@", "/") or bool(re.match(r"[-_@/]?\d", after))


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", normalize(word))


def _is_known(word: str, known: _Known) -> bool:
    if normalize(word) in known.names:
        return True
    parts = re.findall(r"[^\W_]+", _bare(word))
    return all(_keys(part) & known.stems or set(terms(part)) & _ROLES for part in parts)


def _keys(word: str) -> frozenset[str]:
    """Return what forms of a word have in common: its stem, without a fleeting vowel too."""
    stems = terms(word) or [word]
    if not _CYRILLIC.search(word):
        return frozenset((word, stems[0]))
    return frozenset(key for stem in stems for key in (stem, _FLEETING.sub("", stem)))
