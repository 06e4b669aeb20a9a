"""`letopis dedup`: memories that say the same in other words become one."""

from typing import Annotated

import typer

from letopis.commands.options import Json, SessionId, User, opened
from letopis.console import err, out, print_json, say

commands = typer.Typer()


@commands.command()
def dedup(
    context: typer.Context,
    user: User = None,
    session: SessionId = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be merged; write nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Merge memories that say the same in other words.

    Without --user those of everybody; numbers, names, dates and negations
    must agree, else both stay.
    """
    from letopis.show.duplicates import duplicates_record, duplicates_table
    from letopis.show.progress import ingest_progress
    from letopis.targets import given_scope

    given_scope(user, session)  # a bad id is refused before anything is opened
    with opened(context) as memory, ingest_progress(err, "comparing") as progress:
        report = memory.merge_duplicates(user, session, progress, dry_run=dry_run)
    if as_json:
        print_json(duplicates_record(report))
        return
    if report.pairs:
        out.print(duplicates_table(report))
    done = "would be merged" if dry_run else "merged"
    say(f"{report.counts.compared} memories compared, {report.counts.total} {done}")
