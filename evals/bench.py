"""What the product adds to what it must do: ``python -m evals.bench [--json]``.

Product and floor are timed in turns in one run, so that a busy machine slows both. Writes nothing
but temporary folders.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from configs.embedders import build_embedder
from configs.settings import load
from evals.bench_ingest import ingest_overhead
from evals.bench_retrieve import retrieve_overhead
from evals.bench_sync import resync_share
from evals.timing import Ratio

SIZES = (1_000, 20_000)


def table(ratios: Sequence[Ratio]) -> Table:
    """Return the ratios to print."""
    found = Table("what")
    for name in ("product, ms", "floor, ms", "ratio"):
        found.add_column(name, justify="right")
    for row in ratios:
        found.add_row(row.what, f"{row.product:.1f}", f"{row.floor:.1f}", f"{row.ratio:.3g}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run both benches; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    chosen = parser.parse_args(arguments)
    console, errors = Console(), Console(stderr=True)
    try:
        settings = load()
        embedder = build_embedder(settings)
        with errors.status("ingest") as status:
            ratios = ingest_overhead(settings, embedder)
            status.update("re-sync")
            ratios += resync_share(settings, embedder)
            for size in SIZES:
                status.update(f"retrieve at {size} memories")
                ratios += retrieve_overhead(settings, embedder, size)
    except LetopisError as error:
        errors.print(f"error: {error}", markup=False)
        return 1
    if chosen.json:
        rows = [{**asdict(row), "ratio": row.ratio} for row in ratios]
        console.print_json(json.dumps(rows))
    else:
        console.print(table(ratios))
    return 0


if __name__ == "__main__":
    sys.exit(main())
