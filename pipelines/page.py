"""What a run did, as a page of Markdown: counts, times, and where and why something failed.

Never the text of a memory. How it gets into Prefect's UI: `artifacts`.
"""

import hashlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from indexing.catalog_rows import DeadLetter

MOST_SHOWN = 100
LONGEST_KEY = 60
WHERE, PLACE, WHOSE, COLUMNS = 0, 1, 3, 5
"""Cells of a dead letter's row, and how many it has."""


@dataclass(slots=True)
class Page:
    """What one run did: counts by class, seconds by step, dead letters, steps that failed."""

    title: str
    counts: Mapping[str, int] = field(default_factory=dict)
    dead: Sequence[DeadLetter] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Add the time that the block takes to a step."""
        start = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - start
            self.seconds[step] = self.seconds.get(step, 0.0) + spent

    def markdown(self) -> str:
        """Return the page."""
        lines = [f"# {_cell(self.title)}", "", "| what | how many |", "| --- | ---: |"]
        lines += [f"| {name.replace('_', ' ')} | {count} |" for name, count in self.counts.items()]
        lines += ["", "| step | seconds |", "| --- | ---: |"]
        lines += [f"| {step} | {spent:.1f} |" for step, spent in self.seconds.items()]
        if self.failed:
            lines += ["", "## Failed, tried again at the next run", ""]
            lines += [f"- {_cell(place)}: {_cell(why)}" for place, why in self.failed.items()]
        if self.dead:
            lines += ["", "## Could not be indexed", ""]
            lines += ["| where | place | why | whose | tries |", "| --- | --- | --- | --- | ---: |"]
            lines += [_row(letter) for letter in self.dead[:MOST_SHOWN]]
            if len(self.dead) > MOST_SHOWN:
                left = len(self.dead) - MOST_SHOWN
                lines += ["", f"and {left} more: `letopis dead-letters list`"]
        return "\n".join([*lines, ""])


def key_of(flow: str, name: str) -> str:
    """Return an artifact's key: lower-case ASCII letters, digits and hyphens, one a name.

    >>> key_of("ingest-documents", "handbook")
    'ingest-documents-handbook'
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if plain != name or len(plain) > LONGEST_KEY:
        mark = hashlib.sha256(name.encode(errors="backslashreplace")).hexdigest()[:8]
        plain = f"{plain[-LONGEST_KEY:].strip('-')}-{mark}".strip("-")
    return f"{flow}-{plain}"


def strike(markdown: str, is_named: Callable[[str, str, str], bool]) -> str:
    """Return a page without the lines on what is named, told by where, which place and whose."""
    return "\n".join(line for line in markdown.split("\n") if not _is_on(line, is_named))


def _is_on(line: str, is_named: Callable[[str, str, str], bool]) -> bool:
    if line.startswith("- "):
        text = _plain(line.removeprefix("- "))
        ends = (index for index in range(len(text)) if text.startswith(": ", index))
        return any(is_named(text[:end], "", "") for end in ends)
    cells = [_plain(cell).strip() for cell in re.findall(r"\|((?:\\.|[^\\|])*)(?=\|)", line)]
    return len(cells) == COLUMNS and is_named(cells[WHERE], cells[PLACE], cells[WHOSE])


def _plain(cell: str) -> str:
    return re.sub(r"\\([\\`*_\[\]<>|#~])", r"\1", cell)


def _row(letter: DeadLetter) -> str:
    cells = (letter.path, letter.place, letter.reason, str(letter.scope), str(letter.attempts))
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """Return a text that neither ends the cell nor is read as Markdown or HTML."""
    line = " ".join(text.split())
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", line)
