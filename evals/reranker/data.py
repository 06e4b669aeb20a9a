"""Make the training lists: ``python -m evals.reranker.data --out DIR [--talks dataset.json]``.

Reads the prepared pairs, Debian's help packages, small talk and made dialogues; mines hard
negatives; removes what is close to an evaluation set and prints how much that was. One file a
source and part; a part that is there is not made again.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from chunking.errors import LetopisError
from configs.embedders import build_embedder
from configs.settings import load
from evals.command import refused, say
from evals.reranker import made, mine, sources, talks
from evals.reranker.overlap import Known, evaluation_texts
from evals.reranker.texts import Ask, Pool, as_json
from indexing.dense import Embedder

SEED = 7
SHARED = Path("../shared/datasets")
MADE = {"ru": 45, "en": 40}
"""Memories made of phrases."""
MIXED = 15
"""Memories made of phrases of both languages."""
TALKS = 150
"""Memories made of small talk."""


def parts(options: argparse.Namespace) -> Iterator[tuple[str, Callable[[], list[Pool]]]]:
    """Yield the name of each part and what makes its pools."""
    prepared = options.shared / "train" / "pairs.jsonl"
    if options.talks:
        yield "talks", lambda: list(talks.pools(options.talks, TALKS, SEED))
    for lang, count in MADE.items():
        yield f"made-{lang}", partial(made_pools, lang, count)
    yield "documents", lambda: list(sources.documents(prepared, SEED))
    yield "crossed", lambda: [*sources.crossed(SEED), *made.crossed(MIXED, SEED)]


def made_pools(lang: str, count: int) -> list[Pool]:
    """Return made memories."""
    return list(made.pools(lang, count, SEED))


def without(pools: list[Pool], known: Known) -> tuple[int, int]:
    """Remove questions and passages that overlap with an evaluation set; return how many each."""
    asks = passages = 0
    for pool in pools:
        bad = {place for place, passage in enumerate(pool.passages) if passage.text in known}
        kept = [ask for ask in pool.asks if ask.answer not in bad and ask.query not in known]
        asks += len(pool.asks) - len(kept)
        passages += len(bad)
        number: dict[int, int] = {}
        for place in range(len(pool.passages)):
            if place not in bad:
                number[place] = len(number)
        pool.passages = [pool.passages[place] for place in number]
        pool.asks = [
            Ask(ask.query, number[ask.answer], tuple(number[p] for p in ask.also if p in number))
            for ask in kept
        ]
    return asks, passages


def main(arguments: list[str] | None = None) -> int:
    """Write the lists; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.reranker.data", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the lists")
    parser.add_argument("--shared", type=Path, default=SHARED, help="folder of train/ and eval/")
    parser.add_argument("--talks", type=Path, help="dataset.json of the chitchat-dataset package")
    parser.add_argument("--only", default="", help="one part: its name, as printed")
    parser.add_argument("--lexical", action="store_true", help="negatives by BM25 alone: faster")
    chosen = parser.parse_args(arguments)
    try:
        embedder = None if chosen.lexical else build_embedder(load())
        known = Known(evaluation_texts(chosen.shared / "eval"))
        chosen.out.mkdir(parents=True, exist_ok=True)
        for name, make in parts(chosen):
            if not chosen.only or name == chosen.only:
                mined(name, make(), known, embedder, chosen.out)
    except LetopisError as error:
        return refused(error)
    return 0


def mined(
    name: str, pools: list[Pool], known: Known, embedder: Embedder | None, folder: Path
) -> None:
    """Write the lists of a part's pools that are not there yet."""
    asks, passages = without(pools, known)
    say(f"{name}: {asks} questions, {passages} passages close to an evaluation set: removed")
    for number, pool in enumerate(pools):
        file = folder / f"{name}-{pool.source}-{pool.lang}-{number}.jsonl"
        if not file.exists():
            write(file, mine.lists(pool, embedder, SEED))


def write(file: Path, lists: Iterator[mine.List]) -> None:
    """Write lists and rename: a file that is there is whole."""
    temporary = file.with_suffix(".part")
    count = 0
    with temporary.open("w", encoding="utf-8") as stream:
        for one in lists:
            row = {
                "source": one.source,
                "lang": one.lang,
                "query": one.query,
                "passages": [as_json(passage) for passage in one.passages],
            }
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    temporary.rename(file)
    say(f"{file.name}: {count} lists")


if __name__ == "__main__":
    sys.exit(main())
