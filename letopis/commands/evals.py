"""`letopis eval`: how well retrieval and sessions do on evaluation sets."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from letopis.commands.options import Json, settings_of
from letopis.console import err, out, print_json

if TYPE_CHECKING:
    from evals.sessions.run import Measured
    from evals.types import Record

commands = typer.Typer(
    name="eval", no_args_is_help=True, help="Measure retrieval and sessions on evaluation sets."
)


@commands.command("run")
def eval_run(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Sets, or sessions; none: all that are there."),
    ] = None,
    arm: Annotated[
        list[str] | None,
        typer.Option(
            "--arm",
            help="bm25, sparse, dense, hybrid, hybrid+rerank, hybrid+late, or a layer; repeatable.",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of sets in BEIR layout.")
    ] = None,
    results: Annotated[
        Path | None, typer.Option("--results", help="Write the tables into this Markdown file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure nDCG@10, recall and MRR of each arm on each set; of sessions, what a context keeps.

    An arm is run where it is one: with `--arm`, what has none of those named is left out.
    """
    from evals import datasets, report, run, sessions
    from evals.command import cached
    from evals.sessions import arms as layers
    from evals.sessions import report as session_report
    from evals.sessions import run as session_run
    from letopis.show.progress import ingest_progress

    settings = settings_of(context)
    wanted = names or [*datasets.names(datasets.data_folder(data)), sessions.NAME]
    sets = [name for name in wanted if name != sessions.NAME]
    mine = [name for name in arm or () if name in layers.ARMS]
    others = [name for name in arm or () if name not in layers.ARMS]
    records: list[Record] = []
    measured: Measured | None = None
    with ingest_progress(err, "measuring") as progress:
        if sets and (others or not arm or sets == wanted):
            records = run.run(sets, others or arm or (), data, settings, progress)
        if sets != wanted and (mine or not arm or not sets):
            with cached(settings) as embedder:
                chosen = mine or arm or layers.ARMS
                measured = session_run.run(settings, embedder, chosen, data, progress)
    if results is not None:
        report.write(records, results)
        if measured:
            session_report.write(measured, results)
    if as_json:
        print_json([*records, *([session_report.record(measured)] if measured else [])])
        return
    if records:
        out.print(report.table(records))
    if measured:
        out.print(session_report.table(measured))
