"""`letopis reindex`: what it says about what it did."""

from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from configs.reindex import ReindexReport

RECUT = (
    "how texts are cut has changed: stored memories keep their spans until their sources are "
    "synchronised (letopis sync or letopis ingest)"
)


def reindex_record(report: ReindexReport) -> dict[str, Any]:
    """Return a report as a record."""
    return asdict(report) | {"done": report.done}


def reindex_table(report: ReindexReport) -> Table:
    """Return what is made otherwise now, and how many memories that were."""
    table = Table("setting", "was", "is", caption=f"{report.memories} memories made anew")
    for name, (was, now) in report.changes.items():
        table.add_row(Text(name), Text(was), Text(now))
    return table


def how_to_keep(model: str) -> str:
    """Say what has to be set from now on, so that the memory opens."""
    return f"from now on set embedder.model to {model!r} (LETOPIS_EMBEDDER__MODEL={model})"
