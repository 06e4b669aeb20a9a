"""What an import did, as a record and as tables."""

from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from indexing.transfer.types import ImportReport
from letopis.show.tables import record_table

COUNTS = ("seen", "new", "joined", "unchanged", "expired", "forgotten", "embedded")


def import_record(report: ImportReport, *, dry_run: bool) -> dict[str, Any]:
    """Return the counts of an import, and every item that was refused, with the reason.

    ``records`` are those of the logs of sessions.
    """
    return {
        "format": report.format,
        "dry_run": dry_run,
        **{name: getattr(report, name) for name in COUNTS},
        "records": asdict(report.talk),
        "refused": [{"place": one.place, "reason": one.reason} for one in report.refused],
        "left_out": dict(sorted(report.left_out.items())),
        "notes": list(report.notes),
    }


def import_table(report: ImportReport, *, dry_run: bool) -> Table:
    """Return the counts of an import as a table."""
    record = import_record(report, dry_run=dry_run)
    left_out = ", ".join(f"{name} {count}" for name, count in record["left_out"].items())
    talk = ", ".join(f"{count} {name}" for name, count in record["records"].items() if count)
    shown = {**record, "refused": len(report.refused), "left_out": left_out or "nothing"}
    shown["records"] = talk or "none"
    del shown["notes"], shown["dry_run"]
    table = record_table(shown)
    table.title = "what an import would do; nothing was written" if dry_run else None
    return table


def refused_table(report: ImportReport) -> Table:
    """Return what was refused as a table: where it stands in the file, and why."""
    table = Table(title="not imported")
    table.add_column("place")
    table.add_column("reason", overflow="fold")
    for one in report.refused:
        table.add_row(Text(one.place), Text(one.reason))
    return table
