"""Run arms on datasets: one index a corpus, shared by all arms and by both query languages.

Embeddings are cached under the model cache folder, so a second run embeds nothing.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from configs.build import Parts
from configs.settings import Settings
from evals import arms as table
from evals import bm25, metrics, product
from evals.command import cached
from evals.datasets import Dataset, load
from evals.datasets import names as available
from evals.types import Record, Run, ranked
from indexing.dense import Embedder
from indexing.ingest import Progress


def run(
    names: Sequence[str],
    arms: Sequence[str],
    data: Path | None,
    settings: Settings,
    progress: Progress | None = None,
) -> list[Record]:
    """Return a record for every dataset and arm, datasets in the order given.

    No names: every set of the data folder. No arms: the default ones. All names and files are
    checked before any work. Raises `EvalError`, and what building the product raises.
    """
    table.check(arms)
    datasets = [load(name, data) for name in dict.fromkeys(names or available(data))]
    chosen = list(dict.fromkeys(arms)) or list(table.DEFAULT)
    with ExitStack() as stack:
        embedder: Embedder | None = None
        if any(arm in table.PRODUCT for arm in chosen):
            embedder = stack.enter_context(cached(settings))
        done = {
            (record["dataset"], record["arm"]): record
            for _, group in groupby(sorted(datasets, key=_corpus), key=_corpus)
            for record in measure(list(group), chosen, settings, embedder, progress)
        }
    return [done[dataset.name, arm] for dataset in datasets for arm in chosen]


def _corpus(dataset: Dataset) -> str:
    return dataset.corpus


def measure(
    datasets: Sequence[Dataset],
    arms: Sequence[str],
    settings: Settings,
    embedder: Embedder | None,
    progress: Progress | None = None,
) -> Iterator[Record]:
    """Yield the records of datasets that share their documents, from one index.

    ``embedder`` may be None where only baselines are asked.
    """
    for dataset in datasets:
        for arm in arms:
            if arm in table.BASELINES:
                answers = table.BASELINES[arm](dataset)
                yield _record(dataset, arm, answers, bm25.TEMPLATE, bm25.SETTINGS, 0.0, progress)
    wanted = [arm for arm in arms if arm in table.PRODUCT]
    if not wanted or embedder is None:
        return
    line = product.template_line(settings)
    with product.temporary(settings, embedder) as parts:
        written = _fill(parts, datasets[0], progress)
        for dataset in datasets:
            for arm in wanted:
                answers = table.PRODUCT[arm](parts, dataset)
                about = product.shown(settings, embedder, table.reranker(arm))
                yield _record(dataset, arm, answers, line, about, written, progress)


def record(dataset: Dataset, arm: str, parts: Parts, progress: Progress | None = None) -> Record:
    """Return the record of a product's arm over an index that is already there."""
    line = product.template_line(parts.settings)
    about = product.shown(parts.settings, parts.index.embedder, table.reranker(arm))
    return _record(dataset, arm, table.PRODUCT[arm](parts, dataset), line, about, 0.0, progress)


def _fill(parts: Parts, dataset: Dataset, progress: Progress | None) -> float:
    started = time.perf_counter()
    product.fill(parts, dataset, progress)
    return time.perf_counter() - started


def _record(
    dataset: Dataset,
    arm: str,
    answers: table.Answers,
    template: str,
    settings: dict[str, Any],
    written: float,
    progress: Progress | None,
) -> Record:
    started = time.perf_counter()
    answered: Run = {}
    tell = partial(progress, f"{dataset.name}: {arm}") if progress else None
    for number, (query, documents) in enumerate(answers, 1):
        answered[query] = ranked(documents)
        if tell:
            tell(number, len(dataset.queries))
    seconds = {"write": round(written, 2), "read": round(time.perf_counter() - started, 2)}
    values = metrics.by_query(dataset.qrels, answered)
    category = {q.id: str(q.extra.get("category") or "") for q in dataset.queries.values()}
    return {
        "dataset": dataset.name,
        "arm": arm,
        "metrics": metrics.mean(values.values()),
        "by_category": metrics.by_category(values, category),
        "template": template,
        "settings": settings,
        "queries": len(values),
        "seconds": seconds,
    }
