"""`letopis reindex`: all vectors anew, beside the old ones."""

from typing import Annotated

import typer

from letopis.commands.options import Json, settings_of
from letopis.console import err, out, print_json, say

commands = typer.Typer()


@commands.command()
def reindex(
    context: typer.Context,
    model: Annotated[
        str | None, typer.Option("--model", help="Instead of embedder.model of the settings.")
    ] = None,
    drop: Annotated[
        bool, typer.Option("--abort", help="Drop what a stopped run has made; the old stays.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make all vectors anew, with the model and the settings in force.

    The old ones answer until the new ones are whole. A stopped run goes
    on where it was when it is started again.
    """
    from configs import reindex as reindexing
    from letopis import reindex as showing
    from letopis.show.progress import ingest_progress, model_progress

    changed = {} if model is None else {"embedder": {"model": model}}
    settings = settings_of(context, **changed)
    if drop:
        found = reindexing.abort(settings)
        if as_json:
            print_json({"aborted": found})
        else:
            out.print("dropped" if found else "no re-index is under way")
        return
    with model_progress(err) as of_model, ingest_progress(err) as progress:
        report = reindexing.reindex(settings, progress, of_model)
    if as_json:
        print_json(showing.reindex_record(report))
    elif report.done:
        out.print(showing.reindex_table(report))
    else:
        out.print("nothing to do: the vectors are made with these settings")
    if report.recut:
        say(showing.RECUT, style="yellow")
    if report.done and model is not None:
        say(showing.how_to_keep(model))
