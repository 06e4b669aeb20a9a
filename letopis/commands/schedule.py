"""`letopis schedule`: the flows by the clock."""

from typing import Annotated

import typer

from letopis.commands.options import Json, settings_of
from letopis.console import DEAD, out, say

commands = typer.Typer()


@commands.command()
def schedule(
    context: typer.Context,
    once: Annotated[
        bool, typer.Option("--once", help="Run everything now, one after the other, and end.")
    ] = False,
    only_list: Annotated[
        bool, typer.Option("--list", help="Show what would run when; start nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the flows by the clock until stopped: sources, digests, expiry.

    Without PREFECT_API_URL a local Prefect server runs beside it. What
    runs when is in the settings: docs/schedules.md.
    """
    from letopis import schedule as scheduling

    settings = settings_of(context)
    if only_list:
        scheduling.list_plans(settings, out, as_json)
    elif once:
        reports = scheduling.run_plans_once(settings, say)
        if scheduling.print_reports(reports, out, as_json):
            raise typer.Exit(DEAD)
    else:
        scheduling.serve_plans(settings, out, say, as_json)
