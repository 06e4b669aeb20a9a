"""Memories that say the same, as records and as a table: texts and reasons, for their owner."""

from typing import Any

from rich.table import Table
from rich.text import Text

from indexing.duplicates import DuplicatesReport
from indexing.types import Memory
from letopis.show.tables import shorten


def duplicates_record(report: DuplicatesReport) -> dict[str, Any]:
    """Return what was merged into what, and the counts."""
    pairs = [
        {
            "scope": str(pair.kept.scope),
            "kind": pair.kept.kind,
            "kept": _side(pair.kept),
            "merged": _side(pair.merged),
            "score": pair.score,
            "reason": pair.reason,
        }
        for pair in report.pairs
    ]
    return {"compared": report.counts.compared, "merged": report.counts.total, "pairs": pairs}


def _side(memory: Memory) -> dict[str, str]:
    return {"id": memory.id, "text": memory.text, "source": memory.source}


def duplicates_table(report: DuplicatesReport) -> Table:
    """Return the pairs as a table: a row a memory that joined another one."""
    table = Table(show_lines=True)
    for name in ("kept", "merged"):
        table.add_column(name, ratio=3)
    table.add_column("score", justify="right")
    table.add_column("reason", ratio=1)
    table.add_column("source of the merged", ratio=2, overflow="fold")
    for pair in report.pairs:
        texts = shorten(pair.kept.text), shorten(pair.merged.text)
        cells = (*texts, f"{pair.score:.3f}", pair.reason, pair.merged.source)
        table.add_row(*(Text(cell) for cell in cells))
    return table
