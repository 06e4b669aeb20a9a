"""Memories and answers, as records and as tables."""

from typing import Any

from rich.table import Table
from rich.text import Text

from indexing.types import Memory
from letopis.show.tables import shorten
from retrieval.types import Hit, Result, Stage, Trace


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
