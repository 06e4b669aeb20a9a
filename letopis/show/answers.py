"""Answers for a reader: the hits as a table, as records for a machine."""

from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from letopis.show.explain import trace_record
from letopis.show.memories import memory_record, sources_shown, until
from letopis.show.tables import shorten
from retrieval.sql.types import Answer
from retrieval.types import Hit, Result, Stage

DOUBTFUL = 0.2
"""A confidence below this is told under the hits."""


def result_record(result: Result) -> dict[str, Any]:
    """Return an answer with its trace as a record."""
    return {
        "query": result.query,
        "confidence": result.confidence,
        "answers": [answer_record(answer) for answer in result.answers],
        "hits": [hit_record(hit) for hit in result.hits],
        "trace": trace_record(result.trace),
    }


def answer_record(answer: Answer) -> dict[str, Any]:
    """Return a database's answer as a record."""
    return {
        "value": answer.value,
        "understood": answer.understood,
        "missing": list(answer.missing),
        "columns": list(answer.columns),
        "rows": [list(row) for row in answer.rows],
        "truncated": answer.truncated,
        "source": answer.source,
        "sql": answer.sql,
        "milliseconds": answer.milliseconds,
    }


def answer_shown(answer: Answer, explain: bool) -> Group:
    """Return a database's answer for a reader: what was asked, the table, with ``explain`` the SQL.

    The words and the SQL stand beside the table, not in it: it may be as narrow as a number.
    """
    below = [Text(f"{answer.sql}\n{answer.milliseconds:.1f} ms")] if explain else []
    return Group(Text(answer.understood), _answer_table(answer), *below)


def _answer_table(answer: Answer) -> Table:
    table = Table()
    for name in answer.columns:
        table.add_column(Text(name), justify="right" if answer.value is not None else "left")
    for row in answer.rows:
        table.add_row(*(Text("–" if cell is None else shown_cell(cell)) for cell in row))
    if answer.truncated:
        table.add_row(*(Text("…") for _ in answer.columns))
    return table


def shown_cell(cell: str | int | float | bool) -> str:
    """Return a cell as people write it.

    >>> shown_cell(1234567), shown_cell(12.5), shown_cell(0.1 + 0.2)
    ('1234567', '12.5', '0.3')
    """
    return f"{cell:.12g}" if isinstance(cell, float) else str(cell)


def hit_record(hit: Hit) -> dict[str, Any]:
    """Return a hit as a record."""
    return {
        "rank": hit.rank,
        "score": hit.score,
        "fused_rank": hit.fused_rank,
        "fused": hit.fused,
        "reranked": hit.reranked,
        **memory_record(hit.memory),
        "sources": list(hit.sources),
        "passage": hit.passage
        and {
            "text": hit.passage.text,
            "start": hit.passage.start,
            "end": hit.passage.end,
            "memories": [memory.id for memory in hit.passage.memories],
            "hits": list(hit.passage.hits),
            "truncated": hit.passage.truncated,
        },
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
        table.add_row("", nothing(result), *([""] * (len(table.columns) - 2)))
    elif result.confidence is not None and result.confidence < DOUBTFUL:
        table.caption = f"probably no answer among these (confidence {result.confidence:.0%})"
    return table


def nothing(result: Result) -> str:
    """Say that nothing was found and how sure that is, or that nothing fits the budget."""
    if any(one.why == "budget" for one in result.trace.dropped):
        return "nothing fits the budget"
    if not result.confidence:
        return "nothing found"
    return f"nothing relevant found (confidence that there is: {result.confidence:.0%})"


def _cells(hit: Hit, explain: bool) -> list[Text]:
    memory = hit.memory
    who = f"{memory.speaker}: " if memory.speaker else ""
    when = f" ({memory.at:%Y-%m-%d})" if memory.at else ""
    lines = [shorten(hit.passage.text if hit.passage else f"{who}{memory.text}")]
    if memory.pinned or memory.valid_to:
        lines.append(f"({shorten(until(memory))})")
    if explain:
        lines += [_stage(name, stage) for name, stage in hit.stages.items()]
    if explain and hit.reranked is not None:
        lines.append(f"reranked {hit.reranked:.3f}, was #{hit.fused_rank}")
    scopes = dict.fromkeys(str(each.scope) for each in (memory, *hit.also))
    cells = ["\n".join(lines), f"{sources_shown(memory, hit.also)}{when}", "\n".join(scopes)]
    cells += [f"{hit.score:.4f}" if hit.stages else ""] if explain else []
    return [Text(cell) for cell in (str(hit.rank), *cells)]


def _stage(name: str, stage: Stage) -> str:
    shift = f" + {stage.shift:.3f}" if stage.shift else ""
    covered = "" if stage.coverage is None else f", {stage.coverage:.0%} of words"
    return f"{name} #{stage.rank}: {stage.score:.3f}{shift}{covered} → {stage.share:.4f}"
