"""How a run ends: its report or receipt, what a person can do now, its exit code."""

import typer

from indexing.index import Report
from indexing.receipts import Receipt
from letopis.console import DEAD, FAILED, err, out, print_json, say
from letopis.show.dead_letters import dead_table
from letopis.show.receipts import receipt_record, receipt_view
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


def end_forgetting(receipt: Receipt, as_json: bool) -> None:
    """Print a receipt; exit with 1 when something is left."""
    if as_json:
        print_json(receipt_record(receipt))
    else:
        out.print(receipt_view(receipt))
    if not receipt.clean:
        say("not all of it is gone: run the same command again when that is mended", style="red")
        raise typer.Exit(FAILED)
