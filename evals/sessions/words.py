"""Is it said there? Words are compared as words, whatever stands between them.

A needle that ends with ``*`` matches the beginning of its last word, for inflected ones. Case, ё
and е, punctuation and line breaks do not matter: "размер: L" says "размер L".
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

_BREAKS = re.compile(r"[\W_]+")


def plain(text: str) -> str:
    """Return the words of a text, one space around each.

    >>> plain("Size: L — «ёлка» BX-4471-A")
    ' size l елка bx 4471 a '
    """
    folded = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    return f" {_BREAKS.sub(' ', folded).strip()} "


def says(words: str, needle: str) -> bool:
    """Whether `plain` words have the needle's.

    >>> says(plain("Она на диете без глютена"), "диет*"), says(plain("XL"), "L")
    (True, False)
    """
    stem = needle.endswith("*")
    wanted = plain(needle)
    return (wanted.rstrip() if stem else wanted) in words


def says_all(words: str, needed: Iterable[Sequence[str]]) -> bool:
    """Whether there is one alternative of each."""
    return all(any(says(words, one) for one in alternatives) for alternatives in needed)
