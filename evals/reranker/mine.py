"""Hard negatives: a question with its answer and what our own search would take for one.

Does: rank a pool's passages for each question by BM25 and by the embedder, drop what may be an
answer too, draw the negatives. Does not: read sources, render passages.

A list is one positive and `NEGATIVES` others: most from the head of the hybrid order, some from
further down. A passage that beats the positive by a margin in both branches is left out, as is one
with the positive's words, or that the pool names as another answer. A question whose positive is
far down in both branches is dropped: its answer is in what was said before, if anywhere.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from evals.reranker.texts import Ask, Passage, Pool
from indexing.dense import Embedder
from indexing.sparse import terms
from retrieval.rerank.order import levelled

NEGATIVES = 7
NEAR, FAR = 12, 40
"""Places of the hybrid order that most, and the next, negatives are drawn from."""
FROM_NEAR, FROM_FAR = 4, 2
LOST = 150
"""Place in both branches from which a positive counts as not to be found."""
MARGIN = 1.5
"""Standard deviations by which a false negative beats the positive in both branches."""
K1, B = 0.9, 0.4

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class List:
    """A question, its answer first, and where it comes from."""

    source: str
    lang: str
    query: str
    passages: tuple[Passage, ...]


class Bm25:
    """BM25 over a pool, with the product's terms; rows are questions."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(terms(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], np.float32)
        norm = K1 * (1 - B + B * lengths / max(float(lengths.mean()), 1e-9))
        postings: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, count in enumerate(counts):
            for term, times in count.items():
                postings[term].append((place, times))
        self._size = len(texts)
        self._lists = {}
        for term, held in postings.items():
            places = np.array([place for place, _ in held])
            often = np.array([times for _, times in held], np.float32)
            idf = math.log(1 + (len(texts) - len(held) + 0.5) / (len(held) + 0.5))
            self._lists[term] = (places, idf * often * (K1 + 1) / (often + norm[places]))

    def scores(self, query: str) -> Floats:
        """Return the score of every passage, shape ``(n,)``."""
        found = np.zeros(self._size, np.float32)
        for term in terms(query):
            if term in self._lists:
                places, values = self._lists[term]
                found[places] += values
        return found


def lists(pool: Pool, embedder: Embedder | None, seed: int) -> Iterator[List]:
    """Yield a list for each question of a pool that has a usable one; None: by BM25 alone."""
    chance = Random(f"{seed} {pool.source} {pool.lang} {len(pool.passages)}")  # noqa: S311
    shown = [passage.shown() for passage in pool.passages]
    lexical = Bm25(shown)
    dense = embedder.passages(shown) if embedder else None
    same: defaultdict[str, list[int]] = defaultdict(list)
    for place, passage in enumerate(pool.passages):
        same[" ".join(terms(passage.text))].append(place)
    for ask in pool.asks:
        branches = [lexical.scores(ask.query)]
        if embedder and dense is not None:
            branches.append(dense @ embedder.query(ask.query)[0])
        twins = same[" ".join(terms(pool.passages[ask.answer].text))]
        chosen = negatives(ask, branches, {*twins, *ask.also}, chance)
        if chosen:
            passages = tuple(pool.passages[place] for place in (ask.answer, *chosen))
            yield List(pool.source, pool.lang, ask.query, passages)


def negatives(
    ask: Ask, branches: Sequence[Floats], answers: set[int], chance: Random
) -> list[int] | None:
    """Return the places of the negatives; None where the question is of no use."""
    level = [levelled(scores) for scores in branches]
    lost = [int((scores > scores[ask.answer]).sum()) >= LOST for scores in level]
    if len(lost) > 1 and all(lost):
        return None
    better = np.all([scores > scores[ask.answer] + MARGIN for scores in level], axis=0)
    total = np.sum(level, axis=0)
    order = [int(place) for place in np.argsort(-total, kind="stable")[: 4 * FAR]]
    order = [place for place in order if place not in answers and not better[place]]
    near, far, rest = order[:NEAR], order[NEAR:FAR], order[FAR:]
    if len(near) < FROM_NEAR or len(far) < FROM_FAR or not rest:
        return None
    chosen = chance.sample(near, FROM_NEAR) + chance.sample(far, FROM_FAR)
    return [*chosen, *chance.sample(rest, NEGATIVES - len(chosen))]
