"""Split Russian and English text into sentences.

Does: full stops against abbreviations, initials, list numbers and decimals; closing quotes;
ellipses; blank lines and list items as boundaries.
Does not: learn from data, split at a lone newline, split inside a code block on purpose.
"""

import re
from collections.abc import Iterator

_BREAK = r"(?>\r\n|\n|\r)"
BLANK_LINE = re.compile(_BREAK + r"[ \t]*" + _BREAK)
"""Two line ends with nothing between them."""

_BOUNDARY = re.compile(
    r"(?P<stop>(?<![.!?…])[.!?…]++)[\"'»”’)\]}*_]*+(?=\s)"
    r"|(?P<cjk>(?<![。！？])[。！？]++[」』”’）]*+)"
    rf"|(?P<line>{_BREAK}(?=[ \t]*(?:{_BREAK}|(?:[-*+•–—]|\d{{1,3}}[.)])[ \t])))"
)
_NEXT = re.compile(r"\s*(?P<dash>[-–—][ \t\u00a0]+)?[\"'«“„‘(\[*_]*(?P<first>\S?)")
_WORD = re.compile(r"(?<![\w.])((?:\w{1,3}\.[ \u00a0]?)*[\w-]+)\Z")
_LONGEST = 24

_OPEN = """
т.е т.к т.ч т.н т.о т.наз ул пр-т просп пр-кт пер пл наб бул ш д корп стр кв оф рис табл гл ст п пп
разд см ср им акад проф доц инж тов гр г г-н г-жа обл р-н с дер пос о оз р св напр т тт тел ред изд
сост под м англ нем франц лат греч букв род ген полк майор кап лейт зам зав нач пом чл канд докт ок
ч вып
mr mrs ms dr prof st sen rep gov gen col capt lt sgt rev hon pres messrs e.g eg i.e ie cf vs viz fig
figs eq eqs ref refs sec secs vol vols pp ch chap ed eds approx dept est mt ft
"""
_FINAL = """
др пр т.д т.п н.э гг вв в тыс млн млрд трлн руб коп долл км мм кг мг л мл га мин сек час янв февр
мар апр июн июл авг сент окт нояб дек пн вт ср чт пт сб вс
etc al inc ltd co corp jr sr a.m p.m no nos p art jan feb mar apr jun jul aug sep sept oct nov dec
mon tue wed thu fri oz lb lbs
"""
OPEN = frozenset(_OPEN.split())
"""Abbreviations that a sentence does not end with, unless a number stands before them."""
FINAL = frozenset(_FINAL.split())
"""Abbreviations that may end a sentence: a number after them continues it."""


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences, without the white space around them.

    A full stop ends one unless a small letter follows, or the word before it is an abbreviation, an
    initial, or a list number. Quoted sentences are split too.

    >>> text = "Это т. е. пример. А. С. Пушкин жил на ул. Мойка, д. 12. См. v2.18.3! Or Dr. No?"
    >>> for start, end in sentences(text): print(text[start:end])
    Это т. е. пример.
    А. С. Пушкин жил на ул. Мойка, д. 12.
    См. v2.18.3!
    Or Dr. No?
    """
    found: list[tuple[int, int]] = []
    start = 0
    for end in _ends(text):
        piece = text[start:end]
        head, tail = len(piece) - len(piece.lstrip()), len(piece.rstrip())
        if head < tail:
            found.append((start + head, start + tail))
        start = end
    return found


def _ends(text: str) -> Iterator[int]:
    last = 0
    for match in _BOUNDARY.finditer(text):
        if match["stop"] is None or _ends_here(text, last, match):
            last = match.end()
            yield last
    yield len(text)


def _ends_here(text: str, start: int, match: re.Match[str]) -> bool:
    """Decide on a stop with white space behind it; `start` is where the sentence starts."""
    after = _NEXT.match(text, match.end())
    first = after["first"] if after else ""
    if first.islower():
        return False
    if not first or match["stop"] != "." or match.end() > match.end("stop"):
        return True
    return not _abbreviation(text, start, match.start(), first)


def _abbreviation(text: str, start: int, stop: int, first: str) -> bool:
    """Tell whether the full stop at `stop` belongs to the word before it."""
    found = _WORD.search(text, max(start, stop - _LONGEST), stop)
    if not found:
        return False
    word = re.sub(r"[ \u00a0]", "", found[1])
    before = text[max(start, found.start() - 8) : found.start()].strip()
    if not before and word.isdigit() and len(word) <= 3:
        return True  # "1. First": a list number
    last = word.rpartition(".")[2]
    if len(last) == 1 and last.isupper() and last != "I":
        return True  # an initial
    parts = word.casefold().split(".")
    for i in range(len(parts)):  # "т.д" before "д", yet "dr" in "e.g. Dr."
        key = ".".join(parts[i:])
        if key in OPEN or key in FINAL:
            return (key in OPEN and not before[-1:].isdigit()) or first.isdigit()
    return False
