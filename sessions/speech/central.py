"""How central each sentence of a conversation is: LexRank over tf-idf cosines.

``rank = (1 - d) / n + d * rank @ steps``, by power iteration; ``steps`` are the cosines to the
others, each row divided by its sum. A sentence like no other passes its rank to all.

Source: Erkan and Radev
(2004), LexRank: Graph-based Lexical Centrality as Salience in Text Summarization.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from indexing.sparse import terms
from sessions.speech.words import STOP

BLOCK = 300
"""Sentences that are compared with each other; a longer conversation is read in such blocks."""

DAMPING = 0.85
STEPS = 30

Floats = NDArray[np.float64]


def centrality(texts: Sequence[str]) -> list[float]:
    """Return a weight for each text, 0 to 1; the most central one of its block has 1.

    One that shares no term with another is the least central; one text alone has 1.
    """
    found: list[float] = []
    for start in range(0, len(texts), BLOCK):
        found += _block(texts[start : start + BLOCK])
    return found


def _block(texts: Sequence[str]) -> list[float]:
    counts = [Counter(term for term in terms(text) if term not in STOP) for text in texts]
    rows = _vectors(counts)
    cosine = rows @ rows.T
    np.fill_diagonal(cosine, 0.0)
    sums = cosine.sum(axis=1, keepdims=True)
    n = len(texts)
    steps = np.where(sums > 0, cosine / np.where(sums > 0, sums, 1.0), 1 / n)
    rank: Floats = np.full(n, 1 / n)
    for _ in range(STEPS):
        rank = (1 - DAMPING) / n + DAMPING * (rank @ steps)
    return [float(weight) for weight in np.round(rank / rank.max(), 4)]


def _vectors(counts: Sequence[Counter[str]]) -> Floats:
    """Return one unit row of tf-idf weights a text, zero where it has no terms."""
    documents = Counter(term for count in counts for term in count)
    column = {term: i for i, term in enumerate(documents)}
    rows: Floats = np.zeros((len(counts), max(1, len(column))))
    for i, count in enumerate(counts):
        for term, times in count.items():
            rows[i, column[term]] = times * np.log(1 + len(counts) / documents[term])
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1.0)
