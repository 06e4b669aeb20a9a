"""Kill an ingest at random moments: ``python -m evals.crash --points 100 [--json]``.

Each point kills a process that ingests three phases of a folder (first ingest, changes, changes
taken back), runs it again to the end and compares all that is stored with a run that nobody killed.
Ctrl-C prints what was tried so far; with ``--folder`` the same command goes on from there.

Exit 0: no differences. Exit 1: some, or the harness itself failed.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from evals.command import refused
from evals.crash.kill import Harness, Outcome
from evals.crash.plan import plan
from evals.progress import shown

INTERRUPTED = 130
MEMORY = Path("/dev/shm")  # noqa: S108 - a disk that flushes slowly proves nothing more
SHOWN = 20


def outcomes(folder: Path, count: int, seed: int, console: Console) -> Iterator[Outcome]:
    """Yield every point's outcome; those that the folder has from an earlier run come first."""
    record = folder / f"points-{seed}-{count}.jsonl"
    earlier = record.read_text().splitlines() if record.exists() else []
    done = [Outcome(**json.loads(line)) for line in earlier]
    yield from done
    harness = Harness(folder, seed)
    with console.status("a run that nobody kills"):
        clean, wanted = harness.clean()
    points = plan(clean.events, clean.seconds, count, seed)
    with record.open("a") as lines, shown(console) as progress:
        for number, point in enumerate(points):
            progress("kill -9", number, count)
            if number < len(done):
                continue
            outcome = harness.try_point(point, clean, wanted)
            lines.write(json.dumps(asdict(outcome)) + "\n")
            lines.flush()
            yield outcome
        progress("kill -9", count, count)


def table(found: Sequence[Outcome]) -> Table:
    """Return the points by where their last kill landed."""
    landed: Counter[str] = Counter()
    differ: defaultdict[str, int] = defaultdict(int)
    for outcome in found:
        for kill in outcome.kills:
            landed[kill.partition(":")[2] or kill] += 1
        differ[outcome.kills[0].partition(":")[2] or outcome.kills[0]] += len(outcome.differences)
    rows = Table("killed in", title=f"{len(found)} points, {sum(landed.values())} kills")
    rows.add_column("kills", justify="right")
    rows.add_column("differences", justify="right")
    for step, kills in landed.most_common():
        rows.add_row(step, str(kills), str(differ[step]))
    return rows


@contextmanager
def _folder(named: Path | None) -> Iterator[Path]:
    if named is not None:
        yield named.resolve()
        return
    with tempfile.TemporaryDirectory(
        prefix="letopis-crash-", dir=MEMORY if MEMORY.is_dir() else None
    ) as made:
        yield Path(made)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the points; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.crash", description=__doc__)
    parser.add_argument("--points", type=int, default=100, help="how many (100)")
    parser.add_argument("--seed", type=int, default=1, help="of the files and the moments (1)")
    parser.add_argument("--folder", type=Path, help="keep the work here, and go on from there")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    console, errors = Console(), Console(stderr=True)
    found: list[Outcome] = []
    stopped = False
    try:
        with _folder(chosen.folder) as folder:
            found.extend(outcomes(folder, chosen.points, chosen.seed, errors))
    except LetopisError as error:
        return refused(error)
    except KeyboardInterrupt:
        stopped = True
        errors.print(f"interrupted after {len(found)} of {chosen.points} points")
    if chosen.json:
        console.print_json(json.dumps({"seed": chosen.seed, "points": [asdict(o) for o in found]}))
    else:
        console.print(table(found))
    wrong = [(o.number, line) for o in found for line in o.differences]
    for number, line in wrong[:SHOWN]:
        errors.print(f"point {number}: {line}", markup=False, highlight=False)
    if stopped:
        return INTERRUPTED
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
