"""A progress display for people, on standard error, so that ``--json`` stays clean."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from indexing.ingest import Progress as Report


@contextmanager
def shown(console: Console | None = None) -> Iterator[Report]:
    """Yield a callable ``(what, done, known)`` that keeps one bar a thing being done."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console or Console(stderr=True)) as bars:
        tasks = {}

        def report(what: str, done: int, known: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=known)
            bars.update(tasks[what], completed=done, total=known)

        yield report
