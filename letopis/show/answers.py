"""Answers for a reader: the hits as a table, as records for a machine."""

from typing import Any

from rich.table import Table
from rich.text import Text

from letopis.show.explain import trace_record
from letopis.show.memories import memory_record, sources_shown, until
from letopis.show.tables import shorten
from retrieval.types import Hit, Result, Stage


def result_record(result: Result) -> dict[str, Any]:
    """Return an answer with its trace as a record."""
    return {
        "query": result.query,
        "hits": [hit_record(hit) for hit in result.hits],
        "trace": trace_record(result.trace),
    }


def hit_record(hit: Hit) -> dict[str, Any]:
    """Return a hit as a record."""
    return {
        "rank": hit.rank,
        "score": hit.score,
        "fused_rank": hit.fused_rank,
        "fused": hit.fused,
        **memory_record(hit.memory),
        "sources": list(hit.sources),
        "also": [{"id": copy.id, "scope": str(copy.scope)} for copy in hit.also],
        "stages": {name: stage_record(stage) for name, stage in hit.stages.items()},
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
        lines.append(f"({shorten(until(memory))})")
    if explain:
        lines += [_stage(name, stage) for name, stage in hit.stages.items()]
    scopes = dict.fromkeys(str(each.scope) for each in (memory, *hit.also))
    cells = ["\n".join(lines), f"{sources_shown(memory, hit.also)}{when}", "\n".join(scopes)]
    cells += [f"{hit.score:.4f}"] if explain else []
    return [Text(cell) for cell in (str(hit.rank), *cells)]


def _stage(name: str, stage: Stage) -> str:
    shift = f" + {stage.shift:.3f}" if stage.shift else ""
    covered = "" if stage.coverage is None else f", {stage.coverage:.0%} of words"
    return f"{name} #{stage.rank}: {stage.score:.3f}{shift}{covered} → {stage.share:.4f}"
