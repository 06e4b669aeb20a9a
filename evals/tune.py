"""Tune the fusion: ``python -m evals.tune [--data DIR]`` prints Markdown tables.

Chat settings are chosen on the first half of LoCoMo's conversations, and the other half tells what
they are worth; settings for documents are chosen on every fourth question of XQuAD and XQuAD-R.
Single settings are also tried on small memories (`evals.apart`), where nothing was chosen.
Branch lists are asked for once (`evals.lists`) and embeddings are cached, so it takes minutes.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import product as combinations
from pathlib import Path
from typing import Any, NamedTuple

from chunking.errors import LetopisError
from configs.build import build_fusion, scope_policies
from configs.settings import Settings
from evals import datasets, product
from evals.ablations import Change, changed, merge, row
from evals.apart import apart
from evals.command import measuring, options, printed, refused
from evals.datasets import Dataset
from evals.lists import Lists, collect, judged, part
from evals.metrics import mean
from evals.mixed import mix
from evals.types import Means
from indexing.dense import Embedder
from indexing.ingest import Progress

WEIGHTS = ((0.4, 1.6), (0.7, 1.3), (1, 1), (1.3, 0.7))
"""Weights of the dense and the sparse branch that are tried."""

EVERY = 4
"""Of so many questions about documents one is for choosing."""


def fusion(**values: Any) -> Change:
    """Return the change of the fusion's own settings."""
    return {"retrieval": {"fusion": values}}


def weighed(dense: float, sparse: float) -> Change:
    """Return the change of both scopes' weights."""
    both = {"dense": dense, "sparse": sparse}
    return {"retrieval": {"user": both, "global": both}}


def grid(bases: Iterable[Change], weights: Iterable[tuple[float, float]]) -> list[Change]:
    """Return every base with every pair of weights."""
    return [merge(dict(base), weighed(*pair)) for base, pair in combinations(bases, weights)]


METHODS: dict[str, list[Change]] = {
    "RRF": grid([fusion(method="rrf", k=k) for k in (10, 20, 60)], WEIGHTS),
    "DBSF": grid([fusion(method="dbsf")], WEIGHTS),
    "convex, min-max": grid([fusion(dense="min-max", sparse="min-max")], WEIGHTS),
    "convex, z-score": grid([fusion(dense="z-score", sparse="z-score")], WEIGHTS),
    "convex, width and bounds": grid(
        [fusion(step=step) for step in (0.1, 0.125, 0.15, 0.175)], [(1, 1)]
    ),
}
"""What is tuned: the settings that are tried for each method."""

NO_COVERAGE: Change = {"retrieval": {"lexical_coverage": False}}

BEFORE: Change = {"retrieval": {"fusion": {"method": "rrf"}, "user": {"dense": 0.4, "sparse": 1.6}}}
"""The fusion of docs/decisions/0004-fusion.md."""

AROUND: dict[str, Change] = {
    "RRF, k=10, chat 0.4 to 1.6": BEFORE,
    "RRF, k=20 for chat": merge(dict(BEFORE), fusion(k_by_scope={"user": 20})),
    "default: width 0.125, bounds": {},
    "width 0.1": fusion(step=0.1),
    "width 0.15": fusion(step=0.15),
    "no margin": fusion(margin=0),
    "no coverage": NO_COVERAGE,
    "no language balance": {"retrieval": {"language_balance": 0}},
    "lists of 100": {"retrieval": {"user": {"limit": 100}}},
    "no thresholds": {
        "retrieval": {"user": {"dense_threshold": None}, "global": {"dense_threshold": None}}
    },
}
"""What single settings are worth."""

STORED: Change = {"template": {"views": True}}

VIEWS: dict[str, Change] = {
    "one view (default)": {},
    "one view, RRF as before": BEFORE,
    **{
        f"{name}, own view x{own:g}": merge(merge(dict(base), fusion(own=own)), STORED)
        for name, base in {"default": {}, "RRF as before": BEFORE}.items()
        for own in (0.25, 0.5)
    },
}
"""Two views of a turn, fused: with the turn before, and its own (``template.views``)."""

DOCUMENTS = ("xquad-ru", "xquad-en", "xquad-ru-en", "xquad-en-ru", "xquad-r-ru", "xquad-r-en")
MIXED = "xquad-mixed"


class Score(NamedTuple):
    """What settings do: LoCoMo by half, and nDCG@10 by set of documents; 0 to 1."""

    halves: list[Means]
    documents: dict[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every table and print it; return the exit status."""
    chosen = options("evals.tune", __doc__).parse_args(arguments)
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
    chat = datasets.load("locomo", data)
    sets = {name: datasets.load(name, data) for name in DOCUMENTS}
    sets[MIXED] = mix(sets["xquad-ru"], sets["xquad-en"])
    (talks,) = asked([chat], settings, embedder, progress)
    read = asked(list(sets.values()), settings, embedder, progress)
    yield tuned(settings, talks, read)
    read += asked([apart(chat)], settings, embedder, progress)
    names = [*HALVES, *(lists.dataset.name for lists in read)]
    lines = [row("nDCG@10", names), "|---" * (len(names) + 1) + "|"]
    for name, change in AROUND.items():
        found = score(changed(settings, change), talks, read)
        lines.append(row(name, cells(found)))
    yield "\n".join(lines)
    (viewed,) = asked([chat], changed(settings, STORED), embedder, progress)
    lines = [row("views, nDCG@10", HALVES), "|---" * (len(HALVES) + 1) + "|"]
    for name, change in VIEWS.items():
        lists = viewed if "template" in change else talks
        lines.append(row(name, cells(score(changed(settings, change), lists, []))))
    yield "\n".join(lines)


HALVES = ("locomo 1", "R@10", "locomo 2", "R@10")
"""The half that is tuned on, and the other one."""


def asked(
    sets: Sequence[Dataset], settings: Settings, embedder: Embedder, progress: Progress | None
) -> list[Lists]:
    """Return the branch lists of sets, from one index a corpus, in their order."""
    found: dict[str, Lists] = {}
    for corpus in dict.fromkeys(dataset.corpus for dataset in sets):
        group = [dataset for dataset in sets if dataset.corpus == corpus]
        with product.temporary(settings, embedder) as parts:
            product.fill(parts, group[0], progress)
            for number, dataset in enumerate(group, 1):
                found[dataset.name] = collect(parts, dataset)
                if progress:
                    progress(f"{corpus}: lists", number, len(group))
    return [found[dataset.name] for dataset in sets]


def tuned(settings: Settings, talks: Lists, read: Sequence[Lists]) -> str:
    """Return the table of methods, each with the best of its settings: by nDCG@10 on the first
    half of the conversations, and by the set that loses most against the fusion of before, on
    every fourth question."""
    queries = talks.dataset.queries
    first = part(talks, {key for key in queries if queries[key].conv in opening(talks)})
    some = [part(lists, set(list(lists.dataset.queries)[::EVERY])) for lists in read]
    before = score(changed(settings, BEFORE), None, some).documents

    def of_chat(change: Change) -> float:
        return sum(score(changed(settings, change), None, [first]).documents.values())

    def of_documents(change: Change) -> float:
        found = score(changed(settings, change), None, some).documents
        return min(found[name] - before[name] for name in found)

    names = [*HALVES, "for documents", *(lists.dataset.name for lists in read)]
    lines = [row("best settings of", ["for chat", *names]), "|---" * (len(names) + 2) + "|"]
    for name, changes in METHODS.items():
        chat, documents = max(changes, key=of_chat), max(changes, key=of_documents)
        found = score(changed(settings, chat), talks, [])
        by_set = score(changed(settings, documents), None, read)
        lines.append(row(name, [said(chat), *cells(found), said(documents), *cells(by_set)]))
    return "\n".join(lines)


def said(change: Change) -> str:
    """Say what a point of a grid is, in a table's cell."""
    found = change["retrieval"]
    kept = {k: v for k, v in found.get("fusion", {}).items() if k in ("k", "step")}
    user = found["user"]
    words = [f"{key} {value:g}" for key, value in kept.items()]
    return ", ".join([*words, f"{user['dense']:g} : {user['sparse']:g}"])


def score(settings: Settings, talks: Lists | None, read: Sequence[Lists]) -> Score:
    """Return what settings of the read side do with lists that are there."""
    policies, how = scope_policies(settings), build_fusion(settings)
    halves: list[Means] = []
    if talks is not None:
        values = judged(talks, policies, how)
        queries, convs = talks.dataset.queries, opening(talks)
        for side in (True, False):
            rows = (found for key, found in values.items() if (queries[key].conv in convs) == side)
            halves.append(mean(rows))
    documents = {
        lists.dataset.name: mean(judged(lists, policies, how).values())["nDCG@10"] for lists in read
    }
    return Score(halves, documents)


def opening(talks: Lists) -> set[str]:
    """Return the first half of the conversations."""
    convs = list(dict.fromkeys(query.conv for query in talks.dataset.queries.values()))
    return set(convs[: len(convs) // 2])


def cells(found: Score) -> list[str]:
    """Return the cells of a row, in percent."""
    values = [half[name] for half in found.halves for name in ("nDCG@10", "R@10")]
    return [f"{100 * value:.2f}" for value in (*values, *found.documents.values())]


if __name__ == "__main__":
    sys.exit(main())
