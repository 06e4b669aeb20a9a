"""`letopis ingest` and `letopis sync`: documents and chat turns -> the index."""

from typing import Annotated

import typer

from letopis.commands.options import Json, SessionId, Tags, User, opened, settings_of
from letopis.console import FAILED, err, out, print_json, say

commands = typer.Typer()


@commands.command()
def ingest(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file or a folder.")],
    user: User = None,
    session: SessionId = None,
    tag: Tags = None,
    flow: Annotated[bool, typer.Option("--flow", help="Run as a Prefect flow.")] = False,
    as_json: Json = False,
) -> None:
    """Index Markdown, HTML and text files, and chat turns in JSONL.

    Without --user documents are for everybody (global), and each chat
    turn goes to the user that its line names.
    """
    from indexing.tags import tags_of
    from letopis.ending import end
    from letopis.show.progress import ingest_progress
    from letopis.targets import given_path, given_scope

    where, scope, tags = given_path(path), given_scope(user, session), tags_of(tag or ())
    if flow:
        from letopis.flow import flow_ingest

        settings = settings_of(context)
        with ingest_progress(err) as progress:
            report = flow_ingest(settings, where, scope, progress, tags)
    else:
        with opened(context) as memory, ingest_progress(err) as progress:
            report = memory.ingest(where, user, session, progress, tags=tags)
    end(report, as_json)


@commands.command()
def sync(
    context: typer.Context,
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLACE",
            help="Names of sources in the settings, files, folders, patterns; none: all sources.",
        ),
    ] = None,
    list_file: Annotated[
        str, typer.Option("--list", metavar="FILE", help="A file that names files.")
    ] = "",
    urls: Annotated[
        str, typer.Option("--urls", metavar="FILE", help="A file that names URLs.")
    ] = "",
    sql: Annotated[
        str, typer.Option("--sql", metavar="URL", help="A database; env:NAME reads a variable.")
    ] = "",
    query: Annotated[str, typer.Option("--query", help="The SELECT to ask it.")] = "",
    user: User = None,
    session: SessionId = None,
    chunker: Annotated[str, typer.Option("--chunker", help="How documents are cut.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Remove even most of a source.")] = False,
    flow: Annotated[bool, typer.Option("--flow", help="Run as a Prefect flow.")] = False,
    as_json: Json = False,
) -> None:
    """Bring the index in step with sources: new, changed, renamed, gone."""
    from letopis.ending import end
    from letopis.show.progress import ingest_progress
    from letopis.show.reports import plan_record, plan_table
    from letopis.sync import Asked, chosen_feeds, plans, sync_each

    settings = settings_of(context)
    asked = Asked(list_file, urls, sql, query, user, session, chunker)
    feeds = chosen_feeds(settings, places or (), asked)
    if dry_run:
        with ingest_progress(err) as progress:
            made = plans(settings, feeds, progress)
        if as_json:
            print_json([plan_record(label, plan) for label, plan in made])
        else:
            out.print(*(plan_table(label, plan) for label, plan in made))
        return
    if flow:
        from letopis.flow import flow_sync

        with ingest_progress(err) as progress:
            result = sync_each(
                feeds, lambda feed: flow_sync(settings, [feed], progress, force=force)
            )
    else:
        with opened(context) as memory, ingest_progress(err) as progress:
            result = sync_each(feeds, lambda feed: memory.sync(feed, progress, force=force))
    report, errors = result
    for error in errors:
        say(f"SourceError: {error}", style="red")
    end(report, as_json)
    if errors:
        raise typer.Exit(FAILED)
