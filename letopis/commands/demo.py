"""`letopis demo`: the sample world and its questions."""

import typer

from letopis.commands.options import Json, settings_of
from letopis.console import FAILED, err, out, print_json

commands = typer.Typer()


@commands.command()
def demo(
    context: typer.Context,
    as_json: Json = False,
) -> None:
    """Ingest the sample world through the Prefect flow and answer its questions."""
    from letopis.demo import run_demo
    from letopis.show.progress import ingest_progress, model_progress

    with model_progress(err) as of_model, ingest_progress(err) as progress:
        outcome = run_demo(settings_of(context), of_model, progress)
    if as_json:
        print_json(outcome.record())
    else:
        out.print(outcome.table())
        out.print(outcome.summary(), highlight=False)
    if outcome.report.dead or outcome.leaks:
        raise typer.Exit(FAILED)
