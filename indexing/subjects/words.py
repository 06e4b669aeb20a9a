"""The normal form of a phrase inside a key, and sets of such forms."""

import re
import unicodedata

import Stemmer

_TOKEN = re.compile(r"[^\W_](?:[\w.+#&/'-]*[\w+#])?")
_ARTICLE = re.compile(r"an?|the|my|our|your|this|that|мо[йяе]|наш[ае]?")
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")
_ru = Stemmer.Stemmer("russian", 0)


def stem(word: str) -> str:
    """Return a Cyrillic word's stem, taken until nothing changes; other words as they are."""
    if not _CYRILLIC.search(word):
        return word
    while (shorter := _ru.stemWord(word)) != word:
        word = shorter
    return word


def fold(phrase: str) -> str:
    """Return the normal form of a phrase: lower case, ё as е, Russian stems, no articles.

    >>> fold("the Light mode"), fold("монолита")
    ('light mode', 'монол')
    """
    text = unicodedata.normalize("NFKC", phrase).casefold().replace("ё", "е").replace("’", "'")
    return " ".join(stem(word) for word in _TOKEN.findall(text) if not _ARTICLE.fullmatch(word))


def folded(*lists: str) -> frozenset[str]:
    """Return the folded forms of comma-separated words: an inflected word is found by `fold`."""
    return frozenset(fold(word) for words in lists for word in words.split(","))
