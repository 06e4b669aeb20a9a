"""What the product adds to what it must do: ``python -m evals.bench [--large] [--json]``.

Product and floor are timed in turns in one run, so that a busy machine slows both. Takes about six
minutes, twelve with ``--large``. Writes nothing but temporary folders.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from configs.embedders import build_embedder
from configs.settings import Settings, load
from evals.bench_context import context_overhead
from evals.bench_ingest import ingest_overhead
from evals.bench_local import against_local_mode
from evals.bench_retrieve import retrieve_overhead
from evals.bench_sync import resync_share
from evals.bench_threads import many_callers
from evals.command import refused
from evals.timing import Ratio
from indexing.dense import Embedder

SIZES = (1_000, 20_000)
LARGE = 200_000

PARTS = ("ingest", "sync", "retrieve", "context", "local", "threads")


def table(ratios: Sequence[Ratio]) -> Table:
    """Return the ratios to print, each beside its bar."""
    found = Table("what")
    for name in ("product", "floor", "", "ratio", "bar"):
        found.add_column(name, justify="right")
    for row in ratios:
        numbers = f"{row.product:.1f}", f"{row.floor:.1f}", row.unit, f"{row.ratio:.3g}"
        bar = f"{row.bar} {'kept' if row.kept else 'MISSED'}" if row.bar else ""
        found.add_row(row.what, *numbers, bar)
    return found


def run(
    settings: Settings,
    embedder: Embedder,
    chosen: Sequence[str],
    sizes: Sequence[int],
    seconds: float,
    progress: Callable[[str], None],
) -> tuple[list[Ratio], list[str]]:
    """Run the chosen `PARTS`; return the ratios, and what else there is to say."""
    ratios: list[Ratio] = []
    notes: list[str] = []
    for part in PARTS:
        if part not in chosen:
            continue
        progress(part)
        match part:
            case "ingest":
                ratios += ingest_overhead(settings, embedder)
            case "sync":
                ratios += resync_share(settings, embedder)
            case "retrieve":
                ratios += retrieve_overhead(settings, embedder, sizes)
            case "context":
                ratios += context_overhead(settings, embedder)
            case "local":
                ratios.append(against_local_mode(settings, embedder))
            case _:
                load_ = many_callers(settings, embedder, seconds)
                ratios.append(load_.answers)
                notes.append(load_.shown())
    return ratios, notes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benches; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.bench", description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"any of {', '.join(PARTS)} (all)")
    parser.add_argument("--large", action="store_true", help=f"retrieve over {LARGE} memories too")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the threads ask (60)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.parts) - set(PARTS):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    console, errors = Console(), Console(stderr=True)
    sizes = (*SIZES, LARGE) if chosen.large else SIZES
    try:
        settings = load()
        embedder = build_embedder(settings)
        with errors.status("bench") as status:
            ratios, notes = run(
                settings, embedder, chosen.parts or PARTS, sizes, chosen.seconds, status.update
            )
    except LetopisError as error:
        return refused(error)
    if chosen.json:
        rows = [{**asdict(row), "ratio": row.ratio, "kept": row.kept} for row in ratios]
        console.print_json(json.dumps({"ratios": rows, "notes": notes}))
    else:
        console.print(table(ratios))
        for note in notes:
            console.print(note, markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
