"""Is "nothing found" said when it should be? ``python -m evals.nothing [--data DIR] [--fit]``.

Prints how well confidence tells questions asked of a memory that has their answer from those asked
of one that has not (`evals.absence`), how far it is a probability, and what each threshold costs.
``--fit`` fits the weights on the fitted half first and prints them as settings. Embeddings are
cached, so a second run embeds nothing. An own question counts as lost when its answer is empty,
whatever its hits would have been.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from evals.absence import cases
from evals.command import measuring, options, refused
from evals.confidence import THRESHOLDS, fit, report
from retrieval.relevance import E5, Weights

BAR = 0.80
"""Least AUROC of LoCoMo's own questions against another conversation's."""


def toml(weights: Weights) -> str:
    """Return weights as they are written in a settings file."""
    lines = (
        f"{name} = {list(value) if isinstance(value, tuple) else value}"
        for name, value in asdict(weights).items()
    )
    return "\n".join(("[retrieval.confidence]", *lines))


def tables(made: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables to print."""
    yield _table(
        "AUROC, own questions against others (95 % over conversations or articles)",
        ("half", "set", "against", "own", "others", "AUROC", "interval"),
        (
            (
                row["half"],
                " ".join(filter(None, (row["set"], row["category"]))),
                row["against"],
                str(row["own"]),
                str(row["other"]),
                f"{row['auroc']:.3f}",
                f"{row['low']:.2f}-{row['high']:.2f}",
            )
            for row in made["separation"]
        ),
    )
    yield _table(
        "Empty answers by threshold, half held out, % (own: lost)",
        ("set", "kind", *map(str, THRESHOLDS)),
        (
            (row["set"], row["kind"], *(f"{100 * v:.1f}" for v in row["below"].values()))
            for row in made["below"]
        ),
    )
    yield _table(
        "Reliability, half held out: % that had an answer, by confidence from 0 to 1",
        ("set", *(f"{n / 10:g}" for n in range(10)), "ECE"),
        (_reliable(name, bins, made["ece"][name]) for name, bins in made["reliability"].items()),
    )


def _reliable(name: str, bins: Sequence[Mapping[str, float]], error: float) -> tuple[str, ...]:
    true = {round(10 * each["low"]): f"{100 * each['true']:.0f}" for each in bins}
    return name, *(true.get(number, "") for number in range(10)), f"{error:.2f}"


def _table(title: str, names: Sequence[str], rows: Iterable[tuple[str, ...]]) -> Table:
    made = Table(
        title=title,
        title_justify="left",
        box=SIMPLE,
        padding=(0, 1, 0, 0),
        show_edge=False,
        pad_edge=False,
    )
    for name in names:
        made.add_column(name, no_wrap=True)
    for row in rows:
        made.add_row(*row)
    return made


def missed(made: Mapping[str, Any]) -> bool:
    """Whether LoCoMo's own questions are told from another conversation's worse than the bar."""
    return any(
        row["auroc"] < BAR
        for row in made["separation"]
        if (row["set"], row["category"], row["against"]) == ("locomo", "", "other")
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 1 where the bar is missed."""
    parser = options("evals.nothing", __doc__)
    parser.add_argument("--fit", action="store_true", help="fit the weights first, print them")
    parser.add_argument("--rerank", action="store_true", help="with the settings' reranker")
    parser.add_argument("--every", type=int, default=1, help="one of so many questions")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    console = Console()
    try:
        with measuring() as (settings, embedder, progress):
            found = list(
                cases(chosen.data, settings, embedder, progress, chosen.every, chosen.rerank)
            )
    except LetopisError as error:
        return refused(error)
    weights = fit(found) if chosen.fit else E5
    made = report(found, weights)
    if chosen.json:
        console.print_json(json.dumps(made))
        return int(missed(made))
    for table in tables(made):
        console.print(table)
    if chosen.fit:
        console.print(toml(weights), markup=False)
    return int(missed(made))


if __name__ == "__main__":
    sys.exit(main())
