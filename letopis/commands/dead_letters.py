"""`letopis dead-letters`: what could not be indexed, and another try."""

import typer

from letopis.commands.options import Json, opened, settings_of
from letopis.console import err, out, print_json

commands = typer.Typer(
    name="dead-letters", no_args_is_help=True, help="What could not be indexed, and why."
)


@commands.command("list")
def list_dead(context: typer.Context, as_json: Json = False) -> None:
    """List what could not be indexed, with the reason."""
    from configs.stores import build_catalog
    from letopis.show.dead_letters import dead_table, stored_record

    catalog = build_catalog(settings_of(context))
    letters = catalog.dead()
    catalog.close()
    if as_json:
        print_json([stored_record(letter) for letter in letters])
    elif letters:
        out.print(dead_table(letters, attempts=True))
    else:
        out.print("no dead letters")


@commands.command("retry")
def retry_dead(context: typer.Context, as_json: Json = False) -> None:
    """Try again every file that has a dead letter; what works now leaves the list."""
    from letopis.ending import end
    from letopis.show.progress import ingest_progress

    with opened(context) as memory, ingest_progress(err) as progress:
        report = memory.retry(progress)
    end(report, as_json)
