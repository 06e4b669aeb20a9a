"""`letopis export` and `letopis import`: a person's memories out, and back in."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from letopis.commands.options import By, Json, SessionId, opened, settings_of
from letopis.console import DEAD, err, out, print_json, say

commands = typer.Typer()


@commands.command("export")
def export_memories(
    context: typer.Context,
    user: Annotated[str, typer.Option("--user", "-u", help="The user's exact id.")],
    target: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="A file; else stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
    by: By = None,
) -> None:
    """Write all that is kept of a user as JSONL, with its history.

    The user's own memories and those of all sessions. No model is loaded.
    """
    from indexing.transfer.export import check_target, write_lines
    from letopis.forgetting import operator
    from letopis.show.progress import ingest_progress
    from letopis.transfer import export_lines, note

    settings, who = settings_of(context), by or operator()
    if target is not None:
        check_target(target, force=force)
    with ingest_progress(err, "reading") as progress:
        lines = export_lines(settings, user, progress)
    note(settings, "export", user, who)
    if target is None:
        sys.stdout.writelines(lines)
    else:
        write_lines(target, lines, force=force)
    say(f"{len(lines) - 1} memories of the user exported")


@commands.command("import")
def import_memories(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="An export: ours, mem0, LangGraph.")],
    user: Annotated[str, typer.Option("--user", "-u", help="Whose they become: the exact id.")],
    session: SessionId = None,
    namespaces: Annotated[
        list[str] | None,
        typer.Option("--namespace", metavar="NAME", help="LangGraph: the user's, dotted."),
    ] = None,
    by_run: Annotated[
        bool, typer.Option("--by-run", help="mem0: a run's memories become those of a session.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done.")] = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Read an export of memories and make them those of a user.

    What is there stays; what says the same becomes one memory. The same
    file again changes nothing.
    """
    from letopis.forgetting import operator
    from letopis.show.progress import ingest_progress
    from letopis.show.transfer import import_record, import_table, refused_table
    from letopis.targets import scope_for
    from letopis.transfer import note

    scope_for(user, session)  # a bad id is refused before anything is opened
    with opened(context) as memory, ingest_progress(err, "importing") as progress:
        report = memory.import_memories(
            path, user, session, namespaces or (), progress, by_run=by_run, dry_run=dry_run
        )
    if not dry_run:
        note(settings_of(context), "import", user, by or operator())
    for line in report.notes:
        say(line, style="yellow")
    if as_json:
        print_json(import_record(report, dry_run=dry_run))
    else:
        out.print(import_table(report, dry_run=dry_run))
        if report.refused:
            err.print(refused_table(report))
    if report.refused:
        say(f"{len(report.refused)} were not imported", style="yellow")
        raise typer.Exit(DEAD)
