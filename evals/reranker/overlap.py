"""Is a text of the training data close to one of the evaluation sets? By shared word shingles.

Does: index every text of every evaluation set, tell whether a text overlaps with any of them.
Does not: find texts that say the same in other words.
"""

import json
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from indexing.sparse import terms

WORDS = 6
"""Stemmed words of a shingle."""
SHARE = 0.2
"""Share of a text's shingles that are known from which it is an offender."""


def evaluation_texts(folder: Path) -> Iterator[str]:
    """Yield every query, document and title of every set."""
    for file in sorted(folder.glob("*/*.jsonl")):
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                yield from (row[key] for key in ("text", "title") if row.get(key))


class Known:
    """The shingles of texts; a text shorter than one shingle is known as a whole."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._shingles: set[bytes] = set()
        for text in texts:
            self._shingles.update(_shingles(text))

    def __contains__(self, text: str) -> bool:
        """Whether a text is a known one, or close to it.

        >>> known = Known(["the old bridge over the river was closed on Monday"])
        >>> "The old bridge over the river was closed!" in known, "a new bridge" in known
        (True, False)
        """
        found = list(_shingles(text))
        shared = sum(shingle in self._shingles for shingle in found)
        return shared >= max(1, SHARE * len(found))


def _shingles(text: str) -> Iterator[bytes]:
    words = terms(text)
    if not words:
        return
    for start in range(max(1, len(words) - WORDS + 1)):
        joined = " ".join(words[start : start + WORDS])
        yield blake2b(joined.encode(), digest_size=8).digest()
