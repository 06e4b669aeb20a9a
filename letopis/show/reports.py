"""What a run has done, and what a sync would do, as records and as tables."""

from typing import Any

from rich.table import Table
from rich.text import Text

from indexing.index import Report
from indexing.plan import Plan
from letopis.show.dead_letters import dead_record
from letopis.show.tables import record_table, shorten


def report_record(report: Report) -> dict[str, Any]:
    """Return the counts of a run and its dead letters."""
    return {
        "seen": report.seen,
        "indexed": report.indexed,
        "new": report.new,
        "changed": report.changed,
        "renamed": report.renamed,
        "unchanged": report.unchanged,
        "duplicate": report.duplicate,
        "forgotten": report.forgotten,
        "removed": report.removed,
        "kept": report.kept,
        "memories": report.memories,
        "repeated": report.repeated,
        "embedded": report.embedded,
        "dead": [dead_record(letter) for letter in report.dead],
    }


def report_table(report: Report) -> Table:
    """Return the counts of a run as a table."""
    record = report_record(report)
    return record_table({**record, "dead": len(report.dead)})


def plan_record(label: str, plan: Plan) -> dict[str, Any]:
    """Return what a sync would do as a record; what is unchanged is only counted."""
    steps = [
        {
            "change": step.change,
            "source": step.source_id,
            "scope": str(step.scope),
            "twin": step.twin,
            "reason": step.reason,
            "count": step.count,
        }
        for step in plan.steps
        if step.change != "unchanged"
    ]
    counts = plan.counts
    return {"name": label, "seen": plan.seen, **counts, "refused": plan.refused, "steps": steps}


def plan_table(label: str, plan: Plan) -> Table:
    """Return what a sync would do as a table: a row a step, the counts below."""
    counts = ", ".join(f"{count} {name}" for name, count in plan.counts.items() if count)
    table = Table(title=Text(shorten(label)), caption=Text(counts or "nothing there"))
    table.add_column("")
    table.add_column("source", overflow="fold")
    table.add_column("scope")
    table.add_column("", overflow="fold")
    for step in plan.steps:
        if step.change != "unchanged":
            name = f"{step.source_id} ({step.count} turns)" if step.count > 1 else step.source_id
            other = f"is {step.twin}" if step.twin else step.reason
            cells = (step.change, name, str(step.scope), other)
            table.add_row(*(Text(cell) for cell in cells))
    return table
