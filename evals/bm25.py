"""The baseline: Okapi BM25 of `rank_bm25` over plain words, stemmed by Snowball.

Does: what a textbook would do, so that the product has something honest to beat.
Does not: share a line with the product's own lexical branch.
"""

import re
from collections.abc import Sequence

import numpy as np
import Stemmer
from rank_bm25 import BM25Okapi

from evals.chat import said
from evals.datasets import Entry

TEMPLATE = "bm25-1: title, text | session time, speaker, text [photo: caption]"
SETTINGS = {"k1": 1.5, "b": 0.75, "epsilon": 0.25, "stemmer": "Snowball by script of the text"}

_WORD = re.compile(r"\w+")
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)
_STEMMERS = {"ru": Stemmer.Stemmer("russian"), "en": Stemmer.Stemmer("english")}


def language(text: str) -> str:
    """Return ``ru`` for a text that is mostly Cyrillic, else ``en``."""
    return "ru" if len(_CYRILLIC.findall(text)) > len(_LATIN.findall(text)) else "en"


def words(text: str) -> list[str]:
    """Return the stemmed words of a text.

    >>> words("The orders were shipped")
    ['the', 'order', 'were', 'ship']
    """
    stems: list[str] = _STEMMERS[language(text)].stemWords(_WORD.findall(text.lower()))
    return stems


def document_text(entry: Entry) -> str:
    """Return what the baseline indexes of a document: see `TEMPLATE`."""
    who = (str(entry.extra.get(key) or "") for key in ("session_date_time", "speaker"))
    return " ".join(filter(None, (*who, entry.title, said(entry))))


class Ranker:
    """BM25 over some documents."""

    def __init__(self, documents: Sequence[Entry]) -> None:
        self._ids = [entry.id for entry in documents]
        texts = [words(document_text(entry)) for entry in documents]
        self._okapi = BM25Okapi(texts) if any(texts) else None

    def top(self, query: str, depth: int) -> list[str]:
        """Return the best documents that share a word with the query; ties in corpus order."""
        if self._okapi is None:
            return []
        scores = np.asarray(self._okapi.get_scores(words(query)))
        order = np.argsort(-scores, kind="stable")[:depth]
        return [self._ids[i] for i in order if scores[i] > 0]
