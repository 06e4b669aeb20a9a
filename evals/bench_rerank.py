"""What reranking takes, and how it keeps its time: ``python -m evals.bench_rerank [--data DIR]``.

Over one conversation of LoCoMo: `retrieve` with and without the reranker that ships, in turns, each
question once, so that no score comes from the cache (the vectors of questions do); then the
reranker alone under budgets.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from configs.build import Parts
from configs.rerank_settings import RerankSettings
from evals import product
from evals.command import measuring, options, refused
from evals.datasets import Dataset, conversations, load
from evals.timing import milliseconds, p95
from retrieval.rerank.stage import RerankLimits, RerankStage
from retrieval.rerank.types import Reranker
from retrieval.stages import read_as

BUDGETS = (None, 400.0, 120.0, 20.0)
CANDIDATES, ASKED, BUDGETED = 30, 100, 20

Row = tuple[str, ...]


def whole(parts: Parts, dataset: Dataset) -> Iterator[Row]:
    """Yield the times of `retrieve` without the reranker, with it, and what it adds."""
    times: dict[bool, list[float]] = {False: [], True: []}
    scored: list[int] = []
    queries = list(dataset.queries.values())[: ASKED + 1]
    parts.retriever.retrieve(queries[0].text, queries[0].conv)  # loads both models
    for number, query in enumerate(queries[1:]):
        for rerank in (False, True) if number % 2 else (True, False):
            ask = partial(parts.retriever.retrieve, query.text, query.conv, rerank=rerank)
            times[rerank].append(milliseconds(ask))
        stages = parts.retriever.retrieve(query.text, query.conv).trace.stages
        scored += [stage.after for stage in stages if stage.name == "rerank"]
    without, with_ = times[False], times[True]
    turns = f"{median(scored):g}"
    yield "retrieve", "", f"{median(without):.0f}", f"{p95(without):.0f}"
    yield "retrieve, reranked", turns, f"{median(with_):.0f}", f"{p95(with_):.0f}"
    added = [two - one for one, two in zip(without, with_, strict=True)]
    yield "added", turns, f"{median(added):.0f}", f"{p95(added):.0f}"


def budgets(model: Reranker, parts: Parts, dataset: Dataset) -> Iterator[Row]:
    """Yield how many turns are scored in a time, and the time that it took."""
    plain = replace(parts.retriever, reranking=None)
    queries = list(dataset.queries.values())[:BUDGETED]
    texts = [
        [read_as(hit.memory) for hit in plain.retrieve(query.text, query.conv, k=CANDIDATES).hits]
        for query in queries
    ]
    for budget in BUDGETS:
        stage = RerankStage(lambda: model, RerankLimits(cache=0, timeout=60))
        found = [stage.rerank(q.text, t, budget) for q, t in zip(queries, texts, strict=True)]
        stage.close()
        took = [one.milliseconds for one in found[1:]]  # the first one learns the speed
        scored = f"{median(one.scored for one in found[1:]):g}"
        name = "the reranker alone" if budget is None else f"budget of {budget:g} ms"
        yield name, scored, f"{median(took):.0f}", f"{p95(took):.0f}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit status."""
    chosen = options("evals.bench_rerank", __doc__).parse_args(arguments)
    shown = Table("what", "turns", "ms, p50", "ms, p95")
    try:
        with measuring() as (settings, embedder, progress):
            dataset = conversations(load("locomo", chosen.data), 1)
            own = settings.model_copy(update={"rerank": RerankSettings(kind="built-in")})
            with product.temporary(own, embedder, rerank=True) as parts:
                product.fill(parts, dataset, progress)
                for row in whole(parts, dataset):
                    shown.add_row(*row)
                if parts.retriever.reranking:
                    model = parts.retriever.reranking.stage.reranker()
                    for row in budgets(model, parts, dataset):
                        shown.add_row(*row)
    except LetopisError as error:
        return refused(error)
    Console().print(shown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
