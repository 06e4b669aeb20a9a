"""The command line: its groups of commands, the options of all, errors into exit codes.

Tables for people, ``--json`` for machines: then stdout is JSON and nothing else. Every error raised
on purpose becomes one line on stderr and exit code 1; a wrong command line, and a run with dead
letters, end with 2; Ctrl-C with 130. The commands are in `letopis.commands` and docs/cli.md.
"""

import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from chunking.errors import LetopisError
from letopis import __version__
from letopis.commands import (
    dead_letters,
    dedup,
    demo,
    evals,
    forget,
    ingest,
    memories,
    recall,
    receipts,
    reindex,
    schedule,
    session,
    status,
    transfer,
)
from letopis.console import FAILED, INTERRUPTED, out, say

GROUPS = (
    ingest.commands,
    recall.commands,
    memories.commands,
    forget.commands,
    receipts.commands,
    receipts.log,
    transfer.commands,
    status.commands,
    schedule.commands,
    dedup.commands,
    reindex.commands,
    demo.commands,
    dead_letters.commands,
    session.commands,
    evals.commands,
)
"""Every group of commands, in the order of the help; one without a name adds to the top level."""


class Commands(TyperGroup):
    """The commands; an error raised on purpose becomes one line, not a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command and turn what it raises into an exit code."""
        try:
            return super().invoke(ctx)
        except LetopisError as error:
            say(f"{type(error).__name__}: {error}", style="red")
            raise typer.Exit(FAILED) from error
        except KeyboardInterrupt as stop:
            say("interrupted: what was indexed stays; run the command again to go on")
            raise typer.Exit(INTERRUPTED) from stop


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for group in GROUPS:
    app.add_typer(group)


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"letopis {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def main_options(
    context: typer.Context,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Where the memory lives (default ~/.letopis).")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Long-term memory for AI agents, in Russian and English.

    Settings come from LETOPIS_* variables and letopis.toml: docs/settings.md.
    """
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, stream=sys.stderr)
    for noisy in ("httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    context.obj = {} if data_dir is None else {"data_dir": data_dir}


def main() -> None:
    """Run the command line."""
    app(prog_name="letopis")
