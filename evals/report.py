"""Records -> a table for people, and a section a dataset in a Markdown file, beside what others
have published.

A section lies between two markers and is replaced as a whole; all else in the file stays.
"""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table

from evals.errors import EvalError
from evals.metrics import NAMES
from evals.published import PUBLISHED
from evals.types import Record

TITLE = "# Results\n\nIn percent. Rows in italics are published elsewhere.\n"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table: a system and its cells; ours or someone else's."""

    system: str
    cells: list[str]
    ours: bool


def table(records: Sequence[Record]) -> RenderableType:
    """Return tables to print: measures of every dataset, then nDCG@10 by category."""
    found: list[Table] = []
    for dataset, held in _by_dataset(records):
        found.append(_rich(f"{dataset}, {held[0]['queries']} queries", NAMES, _rows(held)))
        categories = _categories(held)
        if categories:
            found.append(_rich("nDCG@10 by category", categories, _category_rows(held)))
    return Group(*found)


def write(records: Sequence[Record], path: Path, today: date | None = None) -> None:
    """Replace the sections of these datasets in a Markdown file; see `replace`."""
    for dataset, held in _by_dataset(records):
        replace(path, dataset, _section(dataset, held, today or date.today()))


def replace(path: Path, name: str, section: str) -> None:
    """Replace the section of that name in a Markdown file, or add it at its end.

    Raises `EvalError` for a section whose end marker is gone.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else TITLE
    begin, end = f"<!-- eval:{name}:begin -->", f"<!-- eval:{name}:end -->"
    section = f"{begin}\n{section}\n{end}"
    before, found, rest = text.partition(begin)
    if not found:
        text = f"{text.rstrip()}\n\n{section}\n"
    else:
        _, ended, after = rest.partition(end)
        if not ended:
            raise EvalError(f"{path}: the section {begin} has no {end} after it; put it back")
        text = before + section + after
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.new")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def _by_dataset(records: Sequence[Record]) -> Iterator[tuple[str, list[Record]]]:
    for dataset, held in groupby(records, key=lambda record: record["dataset"]):
        yield dataset, list(held)


def _section(dataset: str, records: Sequence[Record], today: date) -> str:
    arms = " ".join(f"--arm {record['arm']}" for record in records)
    write_seconds = max(record["seconds"]["write"] for record in records)
    reads = ", ".join(f"{record['arm']} {record['seconds']['read']:.1f}" for record in records)
    parts = [
        f"## {dataset}",
        f"{today.isoformat()}, `letopis eval run {dataset} {arms}`, "
        f"{records[0]['queries']} queries. Seconds: index {write_seconds:.1f}, {reads}.",
        _markdown(NAMES, _rows(records)),
    ]
    categories = _categories(records)
    if categories:
        parts += ["nDCG@10 by category:", _markdown(categories, _category_rows(records))]
    parts += _settings(records)
    sources = sorted({row.source for row in PUBLISHED.get(dataset, ())})
    if sources:
        parts.append(f"Published rows: {'; '.join(sources)}.")
    return "\n\n".join(parts)


def _settings(records: Sequence[Record]) -> list[str]:
    """Say each template and its settings once, with the arms that had them."""
    groups: dict[tuple[str, str], list[str]] = {}
    for record in records:
        chosen = json.dumps(record["settings"], ensure_ascii=False, sort_keys=True)
        groups.setdefault((record["template"], chosen), []).append(record["arm"])
    return [
        f"{', '.join(arms)}: template `{template}`; settings `{chosen}`."
        for (template, chosen), arms in groups.items()
    ]


def _rows(records: Sequence[Record]) -> list[Row]:
    ours = [
        Row(r["arm"], [f"{100 * r['metrics'][name]:.2f}" for name in NAMES], ours=True)
        for r in records
    ]
    theirs = [
        Row(row.system, [_cell(row.metrics.get(name)) for name in NAMES], ours=False)
        for row in PUBLISHED.get(records[0]["dataset"], ())
    ]
    return ours + theirs


def _categories(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(name for record in records for name in record["by_category"]))


def _category_rows(records: Sequence[Record]) -> list[Row]:
    names = _categories(records)
    ours = [
        Row(r["arm"], [f"{100 * r['by_category'][n]['nDCG@10']:.2f}" for n in names], ours=True)
        for r in records
    ]
    theirs = [
        Row(row.system, [_cell(row.by_category.get(name)) for name in names], ours=False)
        for row in PUBLISHED.get(records[0]["dataset"], ())
    ]
    return ours + theirs


def _cell(value: float | None) -> str:
    return "" if value is None else str(value)


def _rich(title: str, columns: Sequence[str], rows: Sequence[Row]) -> Table:
    found = Table("system", title=title, title_justify="left")
    for name in columns:
        found.add_column(name, justify="right")
    for row in rows:
        found.add_row(row.system, *row.cells, style="" if row.ours else "dim italic")
    return found


def _markdown(columns: Sequence[str], rows: Sequence[Row]) -> str:
    lines = [f"| system | {' | '.join(columns)} |", f"|---|{'---:|' * len(columns)}"]
    for row in rows:
        system = f"**{row.system}**" if row.ours else f"*{row.system}*"
        lines.append(f"| {system} | {' | '.join(row.cells)} |")
    return "\n".join(lines)
