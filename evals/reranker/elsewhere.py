"""Do the signs of a turn hold elsewhere? ``python -m evals.reranker.elsewhere [--talks FILE]``.

Ranks the turns of small talk and of made dialogues (`talks`, `made`) by BM25, the turn before at
half, weighs the first candidates by what they tell, and prints the mean reciprocal rank of the
answer before and after. Nothing was fitted on them.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from evals.command import say
from evals.reranker import made, mine, talks
from evals.reranker.texts import Ask, Pool
from retrieval.rerank.order import levelled
from retrieval.stages import Telling
from retrieval.telling import Turn, Weights, telling

SEED = 11
BEFORE = 0.5


def ranks(pool: Pool) -> Iterator[tuple[float, float]]:
    """Yield the reciprocal rank of each question's answer, before and after; questions whose
    answer is not among the first candidates are left out."""
    own = mine.Bm25([passage.shown() for passage in pool.passages])
    before = mine.Bm25([passage.before for passage in pool.passages])
    for ask in pool.asks:
        scores = own.scores(ask.query) + np.float32(BEFORE) * before.scores(ask.query)
        first = np.argsort(-scores, kind="stable")[: Telling().candidates].tolist()
        if ask.answer in first:
            passages = [pool.passages[place] for place in first]
            turns = [Turn(one.speaker, one.text, one.before) for one in passages]
            fused = levelled(scores[first])
            told = fused + telling(ask.query, turns, Weights())
            yield _reciprocal(ask, first, fused), _reciprocal(ask, first, told)


def _reciprocal(ask: Ask, first: list[int], values: np.typing.NDArray[np.float64]) -> float:
    answers = {ask.answer, *ask.also}
    order = np.argsort(-values, kind="stable").tolist()
    return 1 / next(rank for rank, at in enumerate(order, 1) if first[at] in answers)


def main(arguments: list[str] | None = None) -> int:
    """Print a line a source; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.reranker.elsewhere", description=__doc__)
    parser.add_argument("--talks", type=Path, help="dataset.json of the chitchat-dataset package")
    chosen = parser.parse_args(arguments)
    sources = {f"made dialogues, {lang}": made.pools(lang, 8, SEED) for lang in ("ru", "en")}
    if chosen.talks:
        sources["small talk, en"] = talks.pools(chosen.talks, 25, SEED)
    for name, pools in sources.items():
        found = np.array([pair for pool in pools for pair in ranks(pool)])
        before, after = found.mean(axis=0)
        say(f"{name}: {len(found)} questions, {before:.3f} -> {after:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
