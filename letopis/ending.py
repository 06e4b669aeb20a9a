"""How a run that indexed ends: its report, what a person can do now, its exit code."""

import typer

from indexing.index import Report
from letopis.console import DEAD, err, out, print_json, say
from letopis.show.dead_letters import dead_table
from letopis.show.reports import report_record, report_table


def end(report: Report, as_json: bool) -> None:
    """Print a report; exit with 2 when something is in the dead letters, or was not removed."""
    if as_json:
        print_json(report_record(report))
    else:
        out.print(report_table(report))
        if report.dead:
            err.print(dead_table(report.dead))
    if report.dead:
        say(f"{len(report.dead)} could not be indexed; mend and run: letopis dead-letters retry")
    if report.kept:
        say(
            f"{report.kept} are gone from their source, more than ingest.max_removed allows at "
            "once, and stay: letopis sync --force PLACE removes them",
            style="yellow",
        )
    if report.dead or report.kept:
        raise typer.Exit(DEAD)
