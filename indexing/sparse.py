"""Bilingual text -> terms -> BM25 term weights. The engine multiplies by IDF, per tenant.

Terms: NFKC, casefold, ё -> е; Cyrillic words are stemmed by Russian Snowball, Latin words by
English Snowball; identifiers (``BX-4471-A``, ``v2.18.3``, ``--dry-run``, ``C++``) are kept whole
*and* split. Function words of both languages stay: a rare one can matter, and IDF sinks the others.

>>> terms("Какие заказы по BX-4471-A?")
['как', 'заказ', 'по', 'bx-4471-a', 'bx', '4471', 'a']
"""

import hashlib
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import lru_cache

import Stemmer

from indexing.types import SparseVector

VERSION = "bm25-ru-en-1"
"""Changes whenever the same text would give other terms or weights: part of the fingerprint."""

K1 = 0.9
B = 0.4

_RUN = re.compile(
    r"[^\W\d_]\w*[+#]{1,2}(?![\w+#])"  # C++, C#
    r"|(?<![\w+#])--?\w[\w-]*"  # --dry-run, -x
    r"|[^\W_]\w*(?:[-./:@_'’+#&]+\w+)*|\w+"  # BX-4471-A, v2.18.3, words
)
_PART = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")
_JOINERS = re.compile(r"[-./:@_'’+#&]")
_CYRILLIC = re.compile(r"[а-я]")
_LETTERS = re.compile(r"[^\W\d_]+")
_POSSESSIVE = re.compile(r"['’]s?$")

_FOLDED = str.maketrans("ё\u2010", "е-", "\u0300\u0301\u00ad")

_ru = Stemmer.Stemmer("russian", 0)
_en = Stemmer.Stemmer("english", 0)


def normalize(text: str) -> str:
    """Return NFKC, casefolded text: ё is е, a hyphen is "-", stress marks and soft hyphens go."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_FOLDED)


@lru_cache(maxsize=200_000)
def _expand(run: str) -> tuple[str, ...]:
    """Return the terms of one run of word characters and joiners."""
    run = _POSSESSIVE.sub("", run)
    if _LETTERS.fullmatch(run):
        return (_stem(run),)
    parts = tuple(_stem(part) for part in _PART.findall(run))
    bare = run.lstrip("-")
    if parts == (run,):
        return parts
    return (run, *(() if bare == run or bare in parts else (bare,)), *parts)


def _stem(word: str) -> str:
    """Return the stem; Russian is stemmed until nothing changes.

    One pass maps "Жмыхов" and "Жмыхова" to different stems ("жмых", "жмыхов"); the fixed point
    does not. It also ranks better (docs/decisions/0002-sparse-terms.md).
    """
    if not _CYRILLIC.search(word):
        return str(_en.stemWord(word))
    while (stem := _ru.stemWord(word)) != word:
        word = stem
    return word


def terms(text: str) -> list[str]:
    """Return the terms of a text in order, repeats kept."""
    return [term for run in _RUN.findall(normalize(text)) for term in _expand(run)]


@lru_cache(maxsize=200_000)
def term_id(term: str) -> int:
    """Return the 32-bit id of a term (BLAKE2s); two terms in 100,000 collide once, about."""
    return int.from_bytes(hashlib.blake2s(term.encode(), digest_size=4).digest())


def weigh(fields: Sequence[tuple[str, float]], mean_length: float) -> SparseVector:
    """Return BM25 term weights of a document whose fields count by their own factor (BM25F).

    ``weight(t) = tf * (k1 + 1) / (tf + k1 * (1 - b + b * length / mean_length))`` with
    ``tf`` and ``length`` summed over the fields, each times its factor; IDF is left to the engine.

    Source: Robertson, Zaragoza, Taylor (2004), Simple BM25 extension to multiple weighted fields.
    """
    frequency: defaultdict[int, float] = defaultdict(float)
    length = 0.0
    for text, factor in fields:
        found = terms(text)
        length += factor * len(found)
        for term in found:
            frequency[term_id(term)] += factor
    norm = K1 * (1 - B + B * length / mean_length)
    return SparseVector(
        tuple(frequency), tuple(tf * (K1 + 1) / (tf + norm) for tf in frequency.values())
    )


LANGUAGES = ("ru", "en")
"""Every memory is one of these to the search: what is not Cyrillic counts as English."""

_CYRILLIC_LETTER = re.compile(r"[Ѐ-ӿ]")
_LATIN_LETTER = re.compile(r"[A-Za-z]")


def language(text: str) -> str:
    """Return "ru" when Cyrillic letters outnumber Latin ones, else "en".

    >>> language("обнови API v2"), language("see Жмыхов's note")
    ('ru', 'en')
    """
    sample = text[:2000]
    cyrillic, latin = len(_CYRILLIC_LETTER.findall(sample)), len(_LATIN_LETTER.findall(sample))
    return "ru" if cyrillic > latin else "en"


def lexicon(own: str, before: str) -> str:
    """Return a memory's distinct terms for `coverage`: each between spaces, a tab before those
    that only the turn before has.

    >>> lexicon("заказы по BX-1", "где заказ?")
    ' 1 bx bx-1 заказ по \\t где '
    """
    mine = set(terms(own))
    other = set(terms(before)) - mine
    return f" {' '.join(sorted(mine))} \t {' '.join(sorted(other))} "


def weigh_query(text: str) -> SparseVector:
    """Return the query's terms, each with its count: the engine's dot product is then BM25."""
    counts = Counter(term_id(term) for term in terms(text))
    return SparseVector(tuple(counts), tuple(float(n) for n in counts.values()))
