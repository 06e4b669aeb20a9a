"""A quick look at quality with floors: ``python -m evals.check``, about two minutes, nothing kept.

Exit 0: every floor holds, or no folder was named and the default one is not there (it says so).
Exit 1: a number is below its floor, or something that was named is missing. Floors are a point
below what was measured.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean

from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from configs.embedders import build_embedder
from configs.settings import Settings, load
from evals import datasets, run, sessions
from evals.ablations import changed
from evals.cache import Cached
from evals.command import refused
from evals.datasets import Dataset
from evals.passages import PARTED
from evals.progress import shown
from evals.sessions import arms as layers
from evals.sessions.run import asked
from evals.sessions.script import load as load_scripts
from evals.types import Record
from indexing.dense import Embedder
from indexing.ingest import Progress

PARTS: dict[str, Callable[[Dataset], Dataset]] = {
    "locomo": lambda dataset: datasets.conversations(dataset, 2),
    "xquad-r-ru": lambda dataset: datasets.head(dataset, 200),
    "xquad-r-en": lambda dataset: datasets.head(dataset, 200),
}

ARMS = ("sparse", "dense", "hybrid")
RERANKED = ("xquad-r-ru", "hybrid+rerank")
"""The first `FEW` documents of one set are reranked too: a fifth of a second a question."""
FEW = 60

ANSWERED = "answered"
"""The part of the probes of sessions whose context has what they need."""

SAVED = "tokens saved"
"""The part of the transcript's tokens that these contexts do not take."""

SCRIPTS = ("size", "promise")
"""Stories of the session suite, each in both languages."""

LATE = "dense, late"
"""The dense arm of sentences that are read in their paragraph too."""

FLOORS: dict[tuple[str, str, str], float] = {
    ("locomo", "sparse", "nDCG@10"): 61.1,
    ("locomo", "dense", "nDCG@10"): 47.8,
    ("locomo", "hybrid", "nDCG@10"): 64.4,
    ("locomo", "hybrid", "R@10"): 78.9,
    ("xquad-r-ru", "sparse", "nDCG@10"): 84.9,
    ("xquad-r-ru", "dense", "nDCG@10"): 86.5,
    ("xquad-r-ru", "hybrid", "nDCG@10"): 89.4,
    (*RERANKED, "nDCG@10"): 88.1,
    ("xquad-r-ru", LATE, "nDCG@10"): 89.0,
    ("xquad-r-ru", LATE, "R@10"): 99.0,
    ("xquad-r-en", "sparse", "nDCG@10"): 86.9,
    ("xquad-r-en", "dense", "nDCG@10"): 88.4,
    ("xquad-r-en", "hybrid", "nDCG@10"): 90.1,
    ("xquad-r-en", LATE, "nDCG@10"): 89.8,
    ("xquad-r-en", LATE, "R@10"): 99.0,
    (sessions.NAME, layers.ALL, ANSWERED): 94.0,
    (sessions.NAME, layers.ALL, SAVED): 83.5,
}
"""Dataset, arm, measure -> the least percent that is accepted. The suite's bar for what is saved is
85; its sessions are longer than these, while every context has 2,000 tokens."""


def measure(
    data: Path | None, settings: Settings, progress: Progress | None = None
) -> list[Record]:
    """Run the arms on the first part of each set."""
    parts = [cut(datasets.load(name, data)) for name, cut in PARTS.items()]
    with (
        tempfile.TemporaryDirectory(prefix="letopis-check-") as folder,
        Cached(build_embedder(settings), Path(folder) / "once.sqlite") as embedder,
    ):
        found = [
            record
            for part in parts
            for record in run.measure([part], ARMS, settings, embedder, progress)
        ]
        blend = changed(settings, {"chunking": {"documents": "fixed+late"}})
        for part in parts:
            if part.corpus in PARTED:
                (record,) = run.measure([part], ["dense"], blend, embedder, progress)
                found.append({**record, "arm": LATE})
        name, arm = RERANKED
        few = datasets.head(datasets.load(name, data), FEW)
        found += run.measure([few], [arm], settings, embedder, progress)
        found.append(_sessions(settings, embedder, progress))
    return found


def _sessions(settings: Settings, embedder: Embedder, progress: Progress | None) -> Record:
    """Return what a context of all layers answers of some scripted sessions, and what it saves."""
    scripts = [script for script in load_scripts() if script.name[3:] in SCRIPTS]
    outcomes = asked(scripts, settings, embedder, [layers.ALL], progress)
    return {
        "dataset": sessions.NAME,
        "arm": layers.ALL,
        "metrics": {
            ANSWERED: fmean(one.found for one in outcomes),
            SAVED: 1 - fmean(one.share for one in outcomes),
        },
        "by_category": {},
        "template": "",
        "settings": {},
        "queries": len(outcomes),
        "seconds": {},
    }


def below(
    records: Sequence[Record], floors: dict[tuple[str, str, str], float]
) -> list[tuple[str, str, str]]:
    """Return the floors that do not hold; one without a record does not."""
    found = {(r["dataset"], r["arm"]): r["metrics"] for r in records}
    return [
        (dataset, arm, name)
        for (dataset, arm, name), floor in floors.items()
        if 100 * found.get((dataset, arm), {}).get(name, 0.0) < floor
    ]


def table(records: Sequence[Record], floors: dict[tuple[str, str, str], float]) -> Table:
    """Return measured beside floor."""
    metrics = {(r["dataset"], r["arm"]): r["metrics"] for r in records}
    broken = below(records, floors)
    found = Table("dataset (part)", "arm", "measure", "measured", "floor", "")
    for (dataset, arm, name), floor in floors.items():
        value = 100 * metrics.get((dataset, arm), {}).get(name, 0.0)
        state = "[red]below" if (dataset, arm, name) in broken else "[green]ok"
        found.add_row(dataset, arm, name, f"{value:.2f}", f"{floor:.2f}", state)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the floors; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.check", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the sets")
    chosen = parser.parse_args(arguments)
    console, errors = Console(), Console(stderr=True)
    try:
        folder = datasets.data_folder(chosen.data)
    except LetopisError as error:
        named = chosen.data is not None or datasets.VARIABLE in os.environ
        errors.print(f"{'error' if named else 'skipped'}: {error}", markup=False)
        return 1 if named else 0
    try:
        with shown(errors) as progress:
            records = measure(folder, load(), progress)
    except LetopisError as error:
        return refused(error)
    console.print(table(records, FLOORS))
    return 1 if below(records, FLOORS) else 0


if __name__ == "__main__":
    sys.exit(main())
