"""Memories and answers, as records and as tables."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rich.table import Table
from rich.text import Text

from indexing.mentions import spread
from indexing.types import Memory
from letopis.show.tables import shorten
from retrieval.types import Hit, Result, Stage, Trace

SOURCES = 5
"""How many sources of a memory a table names."""

ID_WIDTH = 36
"""Characters of a memory's id, which people copy."""


def memory_record(memory: Memory) -> dict[str, Any]:
    """Return a memory as a record; times are ISO 8601."""
    names = ("at", "created_at", "expires_at", "valid_from", "valid_to")
    times: dict[str, datetime | None] = {name: getattr(memory, name) for name in names}
    return {
        "id": memory.id,
        "scope": str(memory.scope),
        "kind": memory.kind,
        "text": memory.text,
        "source": memory.source,
        "source_id": memory.source_id,
        "sources": list(memory.sources),
        "start": memory.start,
        "end": memory.end,
        "title": memory.title,
        "headings": list(memory.headings),
        "speaker": memory.speaker,
        "role": memory.role,
        "subject": memory.subject,
        "superseded_by": memory.superseded_by or None,
        "pinned": memory.pinned,
        **{name: moment.isoformat() if moment else None for name, moment in times.items()},
    }


def memories_table(memories: Sequence[Memory], width: int = 80) -> Table:
    """Return memories as a table: what is remembered, since when, from where, how long.

    ``width`` is that of the terminal; ids are never cut.
    """
    table = Table(show_lines=True)
    table.add_column("memory", width=max(ID_WIDTH, width // 2 - 4), overflow="fold")
    for name in ("what, when", "source", "until"):  # few enough for 80 columns
        table.add_column(name, overflow="fold")
    for memory in memories:
        when = memory.valid_from or memory.at or memory.created_at
        about = "\n".join(filter(None, (memory.kind, memory.subject, _day(when))))
        where = _sources(memory)
        if memory.scope.collection == "session":
            where = f"{where}\nin {memory.scope}"
        told = f"{memory.speaker}: " if memory.speaker else ""
        cells = (f"{shorten(told + memory.text)}\n{memory.id}", about, where)
        table.add_row(*(Text(cell) for cell in (*cells, _until(memory))))
    if not memories:
        table.add_row("nothing", "", "", "")
    return table


def _until(memory: Memory) -> str:
    """Say how long a memory holds or held."""
    if memory.valid_to:
        return f"held until\n{memory.valid_to:%Y-%m-%d %H:%M}"
    if memory.pinned:
        return "pinned"
    return f"{memory.expires_at:%Y-%m-%d %H:%M}" if memory.expires_at else ""


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d}" if moment else ""


def _sources(memory: Memory) -> str:
    """Return where a memory comes from, a line each, for a reader; of many the first ones."""
    parts = spread(memory)
    told = ("told" if not (p.uri or p.conversation_id) else p.source for p in parts)
    names = list(dict.fromkeys(told))
    more = len(names) - SOURCES
    return "\n".join([*names[:SOURCES], *([f"and {more} more"] if more > 0 else [])])


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
    if memory.pinned or memory.valid_to:
        lines.append(f"({shorten(_until(memory))})")
    if explain:
        lines += [_stage(name, stage) for name, stage in hit.stages.items()]
    cells = ["\n".join(lines), f"{_sources(memory)}{when}", str(memory.scope)]
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
