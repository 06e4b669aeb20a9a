"""Several processes on one store: ``python -m evals.processes [--seconds 60] [--json]``.

One process ingests, two retrieve and a `letopis` command starts every second. Exit 0: no error,
nothing acknowledged was lost, and every read saw the newest write.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from evals.command import refused
from evals.processes.load import Load, run
from evals.progress import shown

CALLS = {
    "ingest one document": "ingest",
    "retrieve": "retrieve",
    "written -> first read that asked": "seen_after",
    "letopis command": "commands",
}


def record(found: Load) -> dict[str, object]:
    """Return the counts, and of every list of times its length, median, p95 and maximum, in ms."""
    times = {name: _spread(getattr(found, name)) for name in CALLS.values()}
    return {**asdict(found), **times}


def _spread(seconds: Sequence[float]) -> dict[str, float]:
    values = np.array(seconds or [np.nan]) * 1000
    p50, p95 = np.percentile(values, (50, 95))
    spread = {"p50": p50, "p95": p95, "max": values.max()}
    return {"calls": len(seconds), **{name: round(float(v), 1) for name, v in spread.items()}}


def table(found: Load) -> Table:
    """Return the times to print."""
    counts = f"{found.documents} documents, {found.facts} facts, {len(found.lost)} lost"
    rows = Table("what, ms", title=f"{found.seconds:.0f} s: {counts}, {len(found.errors)} errors")
    for name in ("calls", "p50", "p95", "max"):
        rows.add_column(name, justify="right")
    for label, name in CALLS.items():
        spread = _spread(getattr(found, name))
        rows.add_row(label, str(spread.pop("calls")), *(f"{v:.0f}" for v in spread.values()))
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the load; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.processes", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    console, errors = Console(), Console(stderr=True)
    try:
        with (
            tempfile.TemporaryDirectory(prefix="letopis-processes-") as folder,
            shown(errors) as progress,
        ):
            found = run(Path(folder), chosen.seconds, progress)
    except LetopisError as error:
        return refused(error)
    if chosen.json:
        console.print_json(json.dumps(record(found)))
    else:
        console.print(table(found))
    for line in (*found.errors, *found.lost):
        errors.print(line, markup=False, highlight=False)
    return 1 if found.errors or found.lost else 0


if __name__ == "__main__":
    sys.exit(main())
