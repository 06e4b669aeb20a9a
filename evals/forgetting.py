"""What forgetting one user costs: ``python -m evals.forgetting``.

Fills a store with many users, forgets one after another and prints the seconds by phase. Removing
depends on what the user has; rewriting and looking through the files on what all have.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from chunking.types import Chunk
from configs.build import Parts, build
from configs.forgetting import places
from configs.settings import Settings, load
from evals.command import refused
from evals.hostile import Plain
from evals.progress import shown
from evals.synthetic import Speaker
from indexing.forget import forget
from indexing.index import Source
from indexing.ingest import Progress
from indexing.traces import user_target
from indexing.types import COLLECTIONS, Scope, user_scope
from indexing.write import write


@dataclass(frozen=True, slots=True)
class Cost:
    """What it took to forget a user with so many of so many memories, in seconds."""

    own: int
    whole: int
    remove: float
    rewrite: float
    scan: float
    megabytes: float
    left: int


def measure(
    settings: Settings,
    users: int,
    shares: Sequence[int],
    whole: int,
    progress: Progress | None = None,
) -> list[Cost]:
    """Fill a store with ``whole`` memories of so many users; forget one user for each share."""
    voice = Speaker("en", 1)
    with tempfile.TemporaryDirectory() as folder:
        chosen = settings.model_copy(update={"data_dir": Path(folder), "store": "", "catalog": ""})

        parts = build(chosen, embedder=Plain())
        try:
            sizes = {f"user {own} of {whole}": own for own in shares}
            rest, others = whole - sum(shares), max(1, users - len(shares))
            sizes |= {f"other {n}": rest // others for n in range(others)}
            done = 0
            for name, size in sizes.items():
                _fill(parts, user_scope(name), size, voice)
                done += size
                if progress:
                    progress(f"filling {whole:,}", done, whole)
            for collection in COLLECTIONS:
                parts.index.store.vacuum(collection)
            return [_forget(parts, f"user {own} of {whole}", own, whole) for own in shares]
        finally:
            parts.close()


def _fill(parts: Parts, scope: Scope, size: int, voice: Speaker) -> None:
    sources = []
    for number in range(size):
        text = f"{voice.sentence()} {scope.user_id} {number}"
        chunk = Chunk(f"/notes/{scope.user_id}/{number}.md", 0, 0, len(text), text)
        sources.append(Source(chunk.source_id, "document", str(number), [chunk]))
    write(parts.index, scope, sources)


def _forget(parts: Parts, user_id: str, own: int, whole: int) -> Cost:
    index = parts.index
    with places(parts.settings, index.catalog, index.store) as known:
        receipt = forget(index, user_target(user_id), "bench", known)
    draft = receipt.draft
    return Cost(
        own,
        whole,
        draft.seconds["remove"],
        draft.seconds["rewrite"],
        draft.seconds["scan"],
        draft.bytes_scanned / 1e6,
        draft.hits + sum(draft.left.values()),
    )


def table(costs: Sequence[Cost]) -> Table:
    """Return the costs to print."""
    found = Table()
    for name in ("the user's", "of all", "remove, s", "rewrite, s", "scan, s", "MB", "left"):
        found.add_column(name, justify="right")
    for cost in costs:
        found.add_row(
            f"{cost.own:,}",
            f"{cost.whole:,}",
            f"{cost.remove:.2f}",
            f"{cost.rewrite:.2f}",
            f"{cost.scan:.2f}",
            f"{cost.megabytes:,.0f}",
            str(cost.left),
        )
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.forgetting", description=__doc__)
    parser.add_argument("--users", type=int, default=1_000)
    parser.add_argument("--whole", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--shares", type=int, nargs="+", default=[10, 100, 1_000])
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    console, errors = Console(), Console(stderr=True)
    costs: list[Cost] = []
    try:
        with shown(errors) as progress:
            for whole in chosen.whole:
                costs += measure(load(), chosen.users, chosen.shares, whole, progress)
    except LetopisError as error:
        return refused(error)
    if chosen.json:
        console.print_json(json.dumps([asdict(cost) for cost in costs]))
    else:
        console.print(table(costs))
    return 1 if any(cost.left for cost in costs) else 0


if __name__ == "__main__":
    sys.exit(main())
