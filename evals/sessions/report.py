"""Numbers of the session suite -> tables to print, and a section of ``docs/results.md``."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from evals import report
from evals.sessions import NAME
from evals.sessions.locomo import Recall
from evals.sessions.run import Measured, Scripted
from evals.sessions.score import Row

_COLUMNS = ("answered", "ru", "en", "outdated", "tokens", "of transcript")
_RECALL = ("evidence", "all of it", "tokens")


def record(measured: Measured) -> dict[str, Any]:
    """Return everything as plain data, with the probes that all layers miss."""
    return {
        "dataset": NAME,
        "budget": measured.budget,
        "parts": [_part(part) for part in measured.parts],
        "locomo": [asdict(row) for row in measured.locomo],
    }


def _part(part: Scripted) -> dict[str, Any]:
    return {
        "name": part.name,
        "sessions": part.sessions,
        "turns": part.turns,
        "arms": [asdict(row) for row in part.rows],
        "missed": [
            {"script": o.script, "question": o.question, "missing": list(o.missing)}
            for o in part.missed
        ],
    }


def table(measured: Measured) -> RenderableType:
    """Return the tables to print."""
    found: list[RenderableType] = [
        _rich(_title(part, measured.budget), ("arm", *_COLUMNS), _arms(part.rows))
        for part in measured.parts
    ]
    if measured.locomo:
        found.append(
            _rich("LoCoMo, evidence in the context", ("budget", *_RECALL), _recall(measured.locomo))
        )
    found += [
        Text(f"missed by all layers: {one.script}: {one.question} ({', '.join(one.missing)})")
        for part in measured.parts
        for one in part.missed
    ]
    return Group(*found)


def write(measured: Measured, path: Path, today: date | None = None) -> None:
    """Replace the section of the suite in a Markdown file."""
    report.replace(path, NAME, section(measured, today or date.today()))


def section(measured: Measured, today: date) -> str:
    """Return the section in Markdown."""
    parts = [
        f"## {NAME}",
        f"{today.isoformat()}, `letopis eval run {NAME}`.",
        "Answered: the part of the probes whose needed words are all in the context. Outdated: of "
        "the probes on a value that was replaced, the part whose context has the old one too. Of "
        "transcript: the mean of the context's tokens in parts of the whole conversation's. "
        "Scripts held out were written without a look at the rules that find sentences.",
    ]
    for part in measured.parts:
        parts += [
            f"{_title(part, measured.budget)}:",
            _markdown(("arm", *_COLUMNS), _arms(part.rows)),
        ]
    if measured.locomo:
        queries = max(row.queries for row in measured.locomo)
        parts += [
            f"LoCoMo, {queries} questions: the part of the evidence turns that is word for word in "
            "the context of a budget, and the part of the questions that have all of theirs.",
            _markdown(("budget", *_RECALL), _recall(measured.locomo)),
        ]
    return "\n\n".join(parts)


def _title(part: Scripted, budget: int) -> str:
    probes = max((row.probes for row in part.rows), default=0)
    return (
        f"{part.name[:1].upper()}{part.name[1:]}: {part.sessions} sessions of {part.shortest} to "
        f"{part.longest} turns, {probes} probes, {budget:,} tokens"
    )


def _arms(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return a line an arm, in percent; parts by language beside the whole."""
    by = {(row.arm, row.language): row for row in rows}
    found = []
    for row in rows:
        if row.language == "all":
            parts = (by.get((row.arm, language)) for language in ("ru", "en"))
            numbers = (f"{100 * part.found:.1f}" if part else "" for part in parts)
            cells = (*numbers, f"{100 * row.unwanted:.0f}", f"{row.tokens:,.0f}")
            found.append((row.arm, f"{100 * row.found:.1f}", *cells, f"{100 * row.share:.1f}"))
    return found


def _recall(rows: Sequence[Recall]) -> list[tuple[str, ...]]:
    return [
        (
            f"{row.budget:,}",
            f"{100 * row.evidence:.1f}",
            f"{100 * row.complete:.1f}",
            f"{row.tokens:,.0f}",
        )
        for row in rows
    ]


def _rich(title: str, columns: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    found = Table(columns[0], title=title, title_justify="left")
    for name in columns[1:]:
        found.add_column(name, justify="right")
    for line in lines:
        found.add_row(*line)
    return found


def _markdown(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    head = f"| {' | '.join(columns)} |"
    rule = f"|---|{'---:|' * (len(columns) - 1)}"
    return "\n".join((head, rule, *(f"| {' | '.join(line)} |" for line in lines)))
