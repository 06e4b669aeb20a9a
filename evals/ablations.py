"""What each choice is worth: ``python -m evals.ablations [--data DIR]`` prints Markdown tables.

Every row is the product with one setting changed beside `PLAIN`, measured like any other run.
Embeddings are cached, so after `letopis eval run` this takes minutes.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import Stemmer
from rank_bm25 import BM25Okapi

from chunking.errors import LetopisError
from configs.build import build_retriever
from configs.settings import Settings
from evals import datasets, product, run
from evals.command import measuring, options, printed, refused
from evals.datasets import Dataset
from evals.metrics import by_query, mean
from evals.mixed import OTHER, SAME, mix
from evals.types import Record, ranked
from indexing.dense import Embedder
from indexing.ingest import Progress

Change = Mapping[str, Mapping[str, Any]]

PLAIN: Change = {"retrieval": {"telling": 0}}
"""Turns are not weighed by what they tell: what is studied is the order before that."""

TEMPLATE: dict[str, Change] = {
    "nothing of the turn before": {"template": {"dense_before": 0, "sparse_before": 0}},
    "dense only, x0.5": {"template": {"dense_before": 0.5, "sparse_before": 0}},
    "sparse only, x0.5": {"template": {"dense_before": 0, "sparse_before": 0.5}},
    "both, x0.25": {"template": {"dense_before": 0.25, "sparse_before": 0.25}},
    "both, x0.5 (default)": {},
    "both, x1": {"template": {"dense_before": 1, "sparse_before": 1}},
}

_CHAT = {"user": {"dense": 0.4, "sparse": 1.6}}


def _rrf(k: float, **others: Any) -> Change:
    return {"retrieval": {"fusion": {"method": "rrf", "k": k}, **others}}


FUSION: dict[str, Change] = {
    "plain RRF, k=60, equal weights": _rrf(60, lexical_coverage=False),
    "plain RRF, k=10, equal weights": _rrf(10, lexical_coverage=False),
    "plain RRF, k=10, user sparse 1.6": _rrf(10, lexical_coverage=False, **_CHAT),
    "coverage, k=10, equal weights": _rrf(10),
    "coverage, k=60, user sparse 1.6": _rrf(60, **_CHAT),
    "coverage, k=10, user sparse 1.6": _rrf(10, **_CHAT),
    "normalised scores, no coverage": {"retrieval": {"lexical_coverage": False}},
    "normalised scores, coverage (default)": {},
}

BALANCE: dict[str, Change] = {
    f"{share:g}{' (default)' if share == 0.85 else ''}": {"retrieval": {"language_balance": share}}
    for share in (0, 0.5, 0.85, 1)
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every table and print it; return the exit status."""
    chosen = options("evals.ablations", __doc__).parse_args(arguments)
    try:
        with measuring() as (settings, embedder, progress):
            printed(tables(settings, embedder, chosen.data, progress))
    except LetopisError as error:
        return refused(error)
    return 0


def tables(
    settings: Settings, embedder: Embedder, data: Path | None, progress: Progress | None = None
) -> Iterator[str]:
    """Yield the tables, one by one."""
    settings = changed(settings, PLAIN)
    sets = {name: datasets.load(name, data) for name in datasets.KNOWN if name != "scifact"}
    mixed = mix(sets["xquad-ru"], sets["xquad-en"])

    yield stemming([sets["xquad-ru"], sets["xquad-r-ru"]])

    arms = ("sparse", "dense", "hybrid")
    lines = [row("turn before, LoCoMo", [*arms, "hybrid R@10"]), "|---|---|---|---|---|"]
    for name, change in TEMPLATE.items():
        other = changed(settings, change)
        records = run.measure([sets["locomo"]], arms, other, embedder, progress)
        found = {record["arm"]: record for record in records}
        cells = [percent(found[arm], "nDCG@10") for arm in arms]
        lines.append(row(name, [*cells, percent(found["hybrid"], "R@10")]))
    yield "\n".join(lines)

    names = ("locomo", "xquad-r-ru", "xquad-r-en", "xquad-en-ru", "xquad-ru-en")
    by_set = {n: reads(FUSION, sets[n], settings, embedder, progress) for n in names}
    lines = [row("fusion, hybrid nDCG@10", names), "|---" * (len(names) + 1) + "|"]
    for name in FUSION:
        lines.append(row(name, [percent(by_set[each][name], "nDCG@10") for each in names]))
    yield "\n".join(lines)

    lines = [row("language balance, xquad-mixed", [SAME, OTHER, "all"]), "|---|---|---|---|"]
    for name, record in reads(BALANCE, mixed, settings, embedder, progress).items():
        parts = [100 * record["by_category"][label]["nDCG@10"] for label in (SAME, OTHER)]
        cells = [*(f"{value:.1f}" for value in parts), percent(record, "nDCG@10")]
        lines.append(row(name, cells))
    yield "\n".join(lines)


def reads(
    changes: Mapping[str, Change],
    dataset: Dataset,
    settings: Settings,
    embedder: Embedder,
    progress: Progress | None = None,
) -> dict[str, Record]:
    """Return the hybrid record of every change of the read side, over one index."""
    records = {}
    with product.temporary(settings, embedder) as parts:
        product.fill(parts, dataset, progress)
        index = parts.index
        for name, change in changes.items():
            other = changed(settings, change)
            retriever = build_retriever(other, index.store, embedder, index.clock)
            records[name] = run.record(
                dataset, "hybrid", replace(parts, retriever=retriever), progress
            )
            retriever.pool.shutdown()
    return records


def changed(settings: Settings, change: Change) -> Settings:
    """Return the settings with some of them changed."""
    return Settings(**merge(settings.model_dump(by_alias=True), change))


def merge(base: dict[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested settings with some values changed."""
    merged = dict(base)
    for name, value in change.items():
        deeper = isinstance(value, Mapping) and isinstance(merged.get(name), dict)
        merged[name] = merge(merged[name], value) if deeper else value
    return merged


def row(name: str, cells: Sequence[str]) -> str:
    """Return a line of a Markdown table."""
    return f"| {' | '.join([name, *cells])} |"


def percent(record: Record, measure: str) -> str:
    """Return a measure in percent."""
    return f"{100 * record['metrics'][measure]:.1f}"


def stemming(sets: Sequence[Dataset]) -> str:
    """Compare one pass of the Russian stemmer with its fixed point, bare BM25 over words."""
    stemmer = Stemmer.Stemmer("russian")

    def once(text: str) -> list[str]:
        return list(stemmer.stemWords(re.findall(r"\w+", text.lower())))

    def fixed_point(text: str) -> list[str]:
        found = once(text)
        while (again := list(stemmer.stemWords(found))) != found:
            found = again
        return found

    lines = [row("Russian stems, BM25", [s.name for s in sets]), "|---" * (len(sets) + 1) + "|"]
    for name, way in {"one pass": once, "fixed point (default)": fixed_point}.items():
        lines.append(row(name, [f"{100 * _bm25(dataset, way):.1f}" for dataset in sets]))
    return "\n".join(lines)


def _bm25(dataset: Dataset, words: Callable[[str], list[str]]) -> float:
    """Return BM25's nDCG@10 with these words."""
    ids = list(dataset.documents)
    index = BM25Okapi([words(entry.text) for entry in dataset.documents.values()])
    answers = {}
    for query in dataset.queries.values():
        scores = index.get_scores(words(query.text))
        best = sorted(range(len(ids)), key=lambda i: -scores[i])[:50]
        answers[query.id] = ranked([ids[i] for i in best])
    return mean(by_query(dataset.qrels, answers).values())["nDCG@10"]


if __name__ == "__main__":
    sys.exit(main())
