"""How well questions are routed: ``python -m evals.router [--data DIR] [--weights DIR] [--json]``.

The questions are those of `evals.routing`. Label and source go together there, so analytical
against lookup is scored within a source. Without a vocabulary: no source is registered.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import get_args

from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from configs.embedders import build_embedder
from configs.settings import load as load_settings
from evals.routing import EXPECTED, HALVES, MISLABELLED, Question, read
from evals.timing import quantile
from retrieval.route import Label, Route, route
from retrieval.routing.linear import LinearClassifier
from retrieval.routing.linear import load as load_weights

BARS = {"pauq_dev": 0.90, "qald_9_plus": 0.85}
"""Source (the beginning of its name) -> the least macro-F1 wanted, over both halves."""


@dataclass(frozen=True, slots=True)
class Routed:
    """A question and what was made of it, in how many microseconds."""

    question: Question
    label: Label
    microseconds: float


@dataclass(frozen=True, slots=True)
class Score:
    """Analytical against lookup within a source: four counts and macro-F1.

    ``missed`` are analytical and were not routed so, ``wrong`` the other way round.
    """

    source: str
    lang: str
    half: str
    hits: int
    missed: int
    wrong: int
    rest: int

    @property
    def macro_f1(self) -> float:
        """Return the mean of F1 of analytical and F1 of lookup; a class of none counts 0."""
        errors = self.missed + self.wrong
        return (_f1(self.hits, errors) + _f1(self.rest, errors)) / 2


@dataclass(frozen=True, slots=True)
class Spread:
    """What questions of one label of the dataset were routed to, and how many rightly."""

    source: str
    lang: str
    label: str
    routed: dict[str, int]

    @property
    def accuracy(self) -> float:
        """Return the part that got the label that is expected of it."""
        return self.routed.get(EXPECTED[self.label], 0) / sum(self.routed.values())


def _f1(right: int, errors: int) -> float:
    return 2 * right / (2 * right + errors) if right else 0.0


def ask(questions: Iterable[Question], router: Callable[[str], Route] = route) -> list[Routed]:
    """Route every question once and take the processor's time."""
    found = []
    for question in questions:
        started = time.thread_time()
        label = router(question.text).label
        found.append(Routed(question, label, 1e6 * (time.thread_time() - started)))
    return found


def scores(routed: Sequence[Routed]) -> list[Score]:
    """Return analytical against lookup by source and language: each half, then both ("all").

    "corrected" is both with `MISLABELLED` as the lookups they are, where the source has any.
    Boolean questions and those of a text are neither. A source that has only one of the two has no
    score.
    """
    kept = [one for one in routed if EXPECTED[one.question.label] != "factual"]
    found = []
    for source, lang in dict.fromkeys((r.question.source, r.question.lang) for r in kept):
        mine = [r for r in kept if (r.question.source, r.question.lang) == (source, lang)]
        for half in HALVES:
            part = [r for r in mine if r.question.half == half]
            found.append(_score(source, lang, half, part, frozenset()))
        found.append(_score(source, lang, "all", mine, frozenset()))
        if any(r.question.pair in MISLABELLED for r in mine):
            found.append(_score(source, lang, "corrected", mine, MISLABELLED))
    return [one for one in found if one.hits + one.missed and one.rest + one.wrong]


def _score(
    source: str, lang: str, half: str, part: Sequence[Routed], lookups: frozenset[str]
) -> Score:
    counts = Counter(
        (
            r.question.label == "analytical" and r.question.pair not in lookups,
            r.label == "analytical",
        )
        for r in part
    )
    return Score(
        source,
        lang,
        half,
        hits=counts[True, True],
        missed=counts[True, False],
        wrong=counts[False, True],
        rest=counts[False, False],
    )


def spreads(routed: Sequence[Routed]) -> list[Spread]:
    """Return the routes of each source, language and label of the dataset."""
    groups: dict[tuple[str, str, str], Counter[str]] = {}
    for one in routed:
        asked = one.question
        groups.setdefault((asked.source, asked.lang, asked.label), Counter())[one.label] += 1
    return [Spread(*key, dict(counts)) for key, counts in groups.items()]


def below(found: Sequence[Score]) -> list[Score]:
    """Return the scores over both halves that are below their bar."""
    return [
        one
        for one in found
        for source, bar in BARS.items()
        if one.half == "all" and one.source.startswith(source) and one.macro_f1 < bar
    ]


def tables(routed: Sequence[Routed]) -> Iterable[Table]:
    """Return both tables to print."""
    first = Table(
        *("source", "lang", "half", "hits", "missed", "wrong", "rest", "macro-F1"),
        title="analytical against lookup",
        title_justify="left",
    )
    for one in scores(routed):
        counts = map(str, (one.hits, one.missed, one.wrong, one.rest))
        first.add_row(one.source, one.lang, one.half, *counts, f"{one.macro_f1:.3f}")
    labels: tuple[str, ...] = get_args(Label)
    second = Table("source", "lang", "label", *labels, "accuracy", title="routed to")
    for spread in spreads(routed):
        shares = (str(spread.routed.get(label, 0)) for label in labels)
        second.add_row(spread.source, spread.lang, spread.label, *shares, f"{spread.accuracy:.3f}")
    return first, second


def _router(weights: Path | None) -> Callable[[str], Route]:
    if weights is None:
        return route
    return LinearClassifier(load_weights(weights), build_embedder(load_settings())).classify


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables or JSON; 2 where the data or the weights cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m evals.router", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the eval sets")
    parser.add_argument("--weights", type=Path, help="score the linear classifier in this folder")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    console = Console()
    try:
        routed = ask(read(options.data), _router(options.weights))
    except LetopisError as error:
        Console(stderr=True).print(f"evals.router: {error}", markup=False)
        return 2
    times = [one.microseconds for one in routed]
    taken = {"p50": round(quantile(times, 0.5)), "p99": round(quantile(times, 0.99))}
    if options.json:
        record = {
            "scores": [{**asdict(one), "macro_f1": one.macro_f1} for one in scores(routed)],
            "spreads": [{**asdict(one), "accuracy": one.accuracy} for one in spreads(routed)],
            "microseconds": taken,
        }
        console.print_json(json.dumps(record))
        return 0
    for table in tables(routed):
        console.print(table)
    console.print(f"processor time of a question: p50 {taken['p50']} us, p99 {taken['p99']} us")
    for one in below(scores(routed)):
        console.print(f"below the bar: {one.source}, {one.lang}: {one.macro_f1:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
