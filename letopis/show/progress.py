"""Progress bars on a terminal; elsewhere nothing is shown."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from configs.embedders import Progress as ModelProgress
from indexing.feeds.types import Progress as IngestProgress
from letopis.show.tables import shorten


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
def ingest_progress(console: Console, verb: str = "indexing") -> Iterator[IngestProgress]:
    """Show which source is being indexed, or what else is being done to it."""
    with _bar(console) as bar:
        task = bar.add_task(verb, total=None)

        def update(what: str, done: int, total: int) -> None:
            told = f"{verb} {shorten(what, 48)}"
            bar.update(task, description=told, completed=done, total=total)

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
