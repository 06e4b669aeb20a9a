"""What commands have in common: options, the settings in force, an open memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from letopis.console import err

if TYPE_CHECKING:
    from configs.settings import Settings
    from letopis.memory import LongTermMemory

User = Annotated[str | None, typer.Option("--user", "-u", help="The user's exact id.")]
SessionId = Annotated[str | None, typer.Option("--session", "-s", help="One session of the user.")]
By = Annotated[str | None, typer.Option("--by", help="Who asks; else the operating system's user.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask whether that is meant.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="File it under a tag; repeatable.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def settings_of(context: typer.Context, **changed: Any) -> Settings:
    """Return the settings in force: with the options of all commands, and with some changed."""
    from configs.settings import load

    return load(**context.obj, **changed)


def confirm(question: str, yes: bool) -> None:
    """Ask whether that is meant; a no ends the command.

    Raises `InvalidInput` where nobody can be asked and ``yes`` was not given.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        from indexing.errors import InvalidInput

        raise InvalidInput("this cannot be undone and nobody can be asked: add --yes")
    typer.confirm(question, abort=True, err=True)


@contextmanager
def opened(context: typer.Context) -> Iterator[LongTermMemory]:
    """Open the memory; show progress while model weights are converted for the first time."""
    from letopis.memory import open_memory
    from letopis.show.progress import model_progress

    with model_progress(err) as progress:
        memory = open_memory(settings_of(context), progress)
    with memory:
        yield memory
