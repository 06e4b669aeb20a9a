"""`letopis eval`: how well retrieval does on evaluation sets."""

from pathlib import Path
from typing import Annotated

import typer

from letopis.commands.options import Json, settings_of
from letopis.console import err, out, print_json

commands = typer.Typer(
    name="eval", no_args_is_help=True, help="Measure retrieval on evaluation sets."
)


@commands.command("run")
def eval_run(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Sets; none: all that are there.")
    ] = None,
    arm: Annotated[
        list[str] | None, typer.Option("--arm", help="bm25, sparse, dense, hybrid; repeatable.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of sets in BEIR layout.")
    ] = None,
    results: Annotated[
        Path | None, typer.Option("--results", help="Write the tables into this Markdown file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure nDCG@10, recall and MRR of each arm on each set."""
    from evals import datasets, report, run
    from evals.arms import ARMS
    from letopis.show.progress import ingest_progress

    settings = settings_of(context)
    folder = datasets.data_folder(data)
    chosen = names or datasets.names(folder)
    with ingest_progress(err) as progress:
        records = run.run(chosen, arm or list(ARMS), folder, settings, progress)
    if results is not None:
        report.write(records, results)
    if as_json:
        print_json(records)
    else:
        out.print(report.table(records))
