"""What people see (Rich tables and progress) and what machines get (plain records)."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from configs.build import Progress as ModelProgress
from indexing.catalog import DeadLetter
from indexing.feeds.types import Progress as IngestProgress
from indexing.plan import Plan
from indexing.types import Memory
from indexing.write import Report
from retrieval.types import Hit, Result, Stage, Trace

SNIPPET = 160


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


@contextmanager
def ingest_progress(console: Console) -> Iterator[IngestProgress]:
    """Show which source is being indexed."""
    with _bar(console) as bar:
        task = bar.add_task("indexing", total=None)

        def update(what: str, done: int, total: int) -> None:
            bar.update(
                task, description=f"indexing {shorten(what, 48)}", completed=done, total=total
            )

        yield update


@contextmanager
def model_progress(console: Console) -> Iterator[ModelProgress]:
    """Show the conversion of the model weights, when there is one."""
    with _bar(console) as bar:
        tasks: dict[str, Any] = {}

        def update(step: str, share: float) -> None:
            if not tasks:
                tasks["model"] = bar.add_task("", total=100)
            bar.update(tasks["model"], description=f"model: {step}", completed=round(share * 100))

        yield update


def shorten(text: str, limit: int = SNIPPET) -> str:
    """Return one line of at most ``limit`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


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
        "removed": report.removed,
        "kept": report.kept,
        "memories": report.memories,
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


def record_table(record: dict[str, Any]) -> Table:
    """Return a record as a two-column table."""
    table = Table(show_header=False)
    for name, value in record.items():
        table.add_row(name.replace("_", " "), Text(str(value)))
    return table


def status_table(record: dict[str, Any]) -> Table:
    """Return what the memory holds as a table: a row a collection, its counts in words."""
    flat = {name: value for name, value in record.items() if name != "sources"}
    for collection, counts in record["sources"].items():
        flat[collection] = ", ".join(f"{count} {name}" for name, count in counts.items())
    return record_table(flat)


def dead_record(letter: DeadLetter) -> dict[str, Any]:
    """Return a dead letter as a record."""
    return {
        "scope": str(letter.scope),
        "path": letter.path,
        "place": letter.place,
        "reason": letter.reason,
    }


def stored_record(letter: DeadLetter) -> dict[str, Any]:
    """Return a dead letter of the table as a record: also how often and when it failed."""
    failed = datetime.fromtimestamp(letter.failed_at, UTC).isoformat(timespec="seconds")
    return {**dead_record(letter), "attempts": letter.attempts, "failed_at": failed}


def dead_table(letters: Sequence[DeadLetter], attempts: bool = False) -> Table:
    """Return dead letters as a table; with ``attempts`` how often each failed."""
    table = Table(title="could not be indexed")
    table.add_column("path", overflow="fold")
    for name in ("place", "reason", "scope", *(("attempts",) if attempts else ())):
        table.add_column(name)
    for letter in letters:
        cells = [letter.path, letter.place, letter.reason, str(letter.scope)]
        cells += [str(letter.attempts)] if attempts else []
        table.add_row(*(Text(cell) for cell in cells))
    return table


def memory_record(memory: Memory) -> dict[str, Any]:
    """Return a memory as a record; times are ISO 8601."""
    times = {"at": memory.at, "created_at": memory.created_at, "expires_at": memory.expires_at}
    return {
        "id": memory.id,
        "scope": str(memory.scope),
        "kind": memory.kind,
        "text": memory.text,
        "source": memory.source,
        "source_id": memory.source_id,
        "start": memory.start,
        "end": memory.end,
        "title": memory.title,
        "headings": list(memory.headings),
        "speaker": memory.speaker,
        "role": memory.role,
        **{name: moment.isoformat() if moment else None for name, moment in times.items()},
    }


def stage_record(stage: Stage) -> dict[str, Any]:
    """Return a stage as a record."""
    return {
        "rank": stage.rank,
        "score": stage.score,
        "share": stage.share,
        "coverage": stage.coverage,
        "shift": stage.shift,
    }


def result_record(result: Result) -> dict[str, Any]:
    """Return an answer with its trace as a record."""
    trace = result.trace
    return {
        "query": result.query,
        "hits": [
            {
                "rank": hit.rank,
                "score": hit.score,
                **memory_record(hit.memory),
                "stages": {name: stage_record(stage) for name, stage in hit.stages.items()},
            }
            for hit in result.hits
        ],
        "trace": {
            "route": trace.route,
            "reason": trace.reason,
            "milliseconds": dict(trace.milliseconds),
            "scopes": [
                {
                    "scope": scope.scope,
                    "candidates": dict(scope.candidates),
                    "milliseconds": scope.milliseconds,
                    "error": scope.error,
                }
                for scope in trace.scopes
            ],
            "notes": list(trace.notes),
        },
    }


def result_table(result: Result, explain: bool) -> Table:
    """Return the hits as a table; with ``explain`` each branch's rank, score and share."""
    table = Table(title=Text(shorten(result.query)), show_lines=True)
    table.add_column("#", justify="right")
    table.add_column("memory", ratio=3)
    table.add_column("source", ratio=2, overflow="fold")
    table.add_column("scope")
    if explain:
        table.add_column("score", justify="right")
    for hit in result.hits:
        table.add_row(*_cells(hit, explain))
    if not result.hits:
        table.add_row("", "nothing found", *([""] * (len(table.columns) - 2)))
    return table


def _cells(hit: Hit, explain: bool) -> list[Text]:
    memory = hit.memory
    who = f"{memory.speaker}: " if memory.speaker else ""
    when = f" ({memory.at:%Y-%m-%d})" if memory.at else ""
    lines = [shorten(f"{who}{memory.text}")]
    if explain:
        lines += [_stage(name, stage) for name, stage in hit.stages.items()]
    cells = ["\n".join(lines), f"{memory.source}{when}", str(memory.scope)]
    cells += [f"{hit.score:.4f}"] if explain else []
    return [Text(cell) for cell in (str(hit.rank), *cells)]


def _stage(name: str, stage: Stage) -> str:
    shift = f" + {stage.shift:.3f}" if stage.shift else ""
    covered = "" if stage.coverage is None else f", {stage.coverage:.0%} of words"
    return f"{name} #{stage.rank}: {stage.score:.3f}{shift}{covered} → {stage.share:.4f}"


def trace_table(trace: Trace) -> Table:
    """Return the trace: route, candidates of each scope, and times."""
    table = Table("step", "what", "ms", title=Text(f"route: {trace.route} ({trace.reason})"))
    for scope in trace.scopes:
        found = ", ".join(f"{name} {count}" for name, count in scope.candidates.items())
        table.add_row(
            Text(f"search {scope.scope}"), scope.error or found, f"{scope.milliseconds:.1f}"
        )
    for name, milliseconds in trace.milliseconds.items():
        table.add_row(name, "", f"{milliseconds:.1f}")
    return table
