"""What late chunking is worth: ``python -m evals.late [--data DIR] [--results FILE]``.

Every row is the product with other chunkers, through its write path and its retriever, turns not
being weighed by what they tell: sentences read in their paragraph (XQuAD-R), turns in their session
(LoCoMo), chunks in their article (XQuAD, five paragraphs an article). ``tokens`` is what the model
read for it, over the first row's. Token vectors are cached: the first run takes half an hour.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from chunking.errors import LetopisError
from configs.settings import Settings
from evals import datasets, metrics, product, report
from evals.ablations import PLAIN, Change, changed, row
from evals.command import measuring, options, printed, refused
from evals.datasets import Dataset
from evals.passages import articles
from evals.types import Means, ranked
from indexing.dense import Embedder, Matrix, Tokens, token_embedder
from indexing.ingest import Progress
from indexing.types import Memory

NAME = "late"
"""Of the section in the results."""
HEAD = """## late chunking

By `python -m evals.late`; turns are not weighed by what they tell."""


def _documents(chunker: str, **late: Any) -> Change:
    return {"chunking": {"documents": chunker, "late_documents": late}}


def _turns(before: float, **late: Any) -> Change:
    chunker = "turns+late" if late else "turns"
    return {
        "chunking": {"turns": chunker, "late_turns": {"length": 0, **late}},
        "template": {"dense_before": before},
    }


SENTENCES: dict[str, Change] = {
    "own": _documents("fixed"),
    "late alone": _documents("fixed+late", share=1),
    "average of own and late": _documents("fixed+late", share=0.5, length=0),
    "by length, even at 80 tokens": _documents("fixed+late", share=0.5, length=80),
    "average, windows of 128": _documents(
        "fixed+late", share=0.5, length=0, window=128, overlap=48
    ),
}

_WIDE = {"window": 0, "overlap": 128}
_NARROW = {"window": 128, "overlap": 48}

TURNS: dict[str, Change] = {
    "own": _turns(0),
    "own, turn before x0.5": _turns(0.5),
    "late alone, widest windows": _turns(0, share=1, **_WIDE),
    "late alone, windows of 128": _turns(0, share=1, **_NARROW),
    "late alone, windows of 128 that share 24": _turns(0, share=1, window=128, overlap=24),
    "average of own and late": _turns(0, share=0.5, **_WIDE),
    "average, turn before x0.3": _turns(0.3, share=0.5, **_WIDE),
    "by length, even at 80 tokens": _turns(0, share=0.5, length=80, **_WIDE),
    "by length, turn before x0.15": _turns(0.15, share=0.5, length=80, **_WIDE),
}

CHUNKS: dict[str, Change] = {
    name: change
    for cut in ("fixed", "semantic")
    for name, change in {
        f"{cut}, own": _documents(cut),
        f"{cut}, late alone": _documents(f"{cut}+late", share=1),
        f"{cut}, average": _documents(f"{cut}+late", share=0.5, length=0),
        f"{cut}, by length, even at 80 tokens": _documents(f"{cut}+late", share=0.5, length=80),
    }.items()
}


class Counted:
    """An `Embedder` that counts the tokens of the texts that it hands on."""

    def __init__(self, inner: Embedder) -> None:
        self.name = inner.name
        self.dim = inner.dim
        self.max_tokens = inner.max_tokens
        self.tokenizer = inner.tokenizer
        self.read = 0
        self._inner = inner

    def passages(self, texts: Sequence[str]) -> Matrix:
        """Embed texts to be stored."""
        self._count(texts)
        return self._inner.passages(texts)

    def query(self, text: str) -> Matrix:
        """Embed one question; questions are not counted."""
        return self._inner.query(text)

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the token vectors of each passage."""
        self._count(texts)
        return token_embedder(self._inner).tokens(texts)

    def _count(self, texts: Sequence[str]) -> None:
        self.read += sum(len(read.ids) for read in self.tokenizer.encode_batch(list(texts)))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the tables, write them where asked; return the exit status."""
    parser = options("evals.late", __doc__)
    parser.add_argument("--results", type=Path, help="Markdown file whose section is replaced")
    chosen = parser.parse_args(arguments)
    try:
        with measuring() as (settings, embedder, progress):
            found = printed(tables(settings, embedder, chosen.data, progress))
        if chosen.results:
            report.replace(chosen.results, NAME, "\n\n".join([HEAD, *found]))
    except LetopisError as error:
        return refused(error)
    return 0


def tables(
    settings: Settings, embedder: Embedder, data: Path | None, progress: Progress | None = None
) -> Iterator[str]:
    """Yield the tables, one by one."""
    for name, changes in {
        "xquad-r-ru": SENTENCES,
        "xquad-r-en": SENTENCES,
        "locomo": TURNS,
    }.items():
        yield table(datasets.load(name, data), changes, settings, embedder, progress)
    for name in ("xquad-ru", "xquad-en"):
        yield table(datasets.load(name, data), CHUNKS, settings, embedder, progress, whole=True)


def table(
    dataset: Dataset,
    changes: Mapping[str, Change],
    settings: Settings,
    embedder: Embedder,
    progress: Progress | None = None,
    whole: bool = False,
) -> str:
    """Return nDCG@10 and R@10, dense and hybrid, of every change; ``whole`` makes it articles."""
    title = f"{dataset.name}, {'chunks of articles' if whole else 'nDCG@10 / R@10'}"
    lines = [row(title, ["dense", "hybrid", "tokens"]), "|---|---|---|---|"]
    plain, first = changed(settings, PLAIN), 0
    for name, change in changes.items():
        means, tokens = measure(dataset, changed(plain, change), embedder, progress, whole)
        first = first or tokens
        cells = [f"{100 * m['nDCG@10']:.1f} / {100 * m['R@10']:.1f}" for m in means]
        lines.append(row(name, [*cells, f"{tokens / first:.2f}"]))
    return "\n".join(lines)


def measure(
    dataset: Dataset,
    settings: Settings,
    embedder: Embedder,
    progress: Progress | None = None,
    whole: bool = False,
) -> tuple[list[Means], int]:
    """Return the measures of dense and of hybrid, and how many tokens indexing read."""
    indexed, wholes = articles(dataset) if whole else (dataset, {})

    def name(memory: Memory) -> str:
        held = wholes.get(memory.source_id)
        return held.part(memory.start, memory.end) if held else product.document_id(memory)

    counted = Counted(embedder)
    with product.temporary(settings, counted) as parts:
        counted.read = 0
        product.fill(parts, indexed, progress)
        tokens = counted.read
        means = []
        for branches in (("dense",), ("dense", "sparse")):
            answers = product.ask(parts, dataset, branches, name)
            answered = {query: ranked(ids) for query, ids in answers}
            means.append(metrics.mean(metrics.by_query(dataset.qrels, answered).values()))
    return means, tokens


if __name__ == "__main__":
    sys.exit(main())
