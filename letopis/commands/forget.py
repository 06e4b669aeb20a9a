"""`letopis forget`: remove what was remembered, everywhere, and prove it."""

from typing import Annotated

import typer

from letopis.commands.options import By, Json, SessionId, User, Yes, confirm, opened, settings_of
from letopis.console import err, out, print_json

commands = typer.Typer()


@commands.command()
def forget(
    context: typer.Context,
    user: User = None,
    session: SessionId = None,
    sources: Annotated[
        list[str] | None,
        typer.Option("--source", metavar="ID", help="A source: its id or path; repeatable."),
    ] = None,
    memories: Annotated[
        list[str] | None, typer.Option("--memory", metavar="ID", help="A memory; repeatable.")
    ] = None,
    everybody: Annotated[
        bool, typer.Option("--global", help="Sources or memories of everybody's knowledge.")
    ] = False,
    lift: Annotated[
        bool, typer.Option("--lift", help="Let what was forgotten be written again.")
    ] = False,
    yes: Yes = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Forget a user, a session, sources or memories; print the receipt.

    Nothing of it can be written again until --lift. Exit code 1 when
    something is left.
    """
    from contextlib import closing

    from configs.stores import build_catalog
    from letopis.ending import end_forgetting
    from letopis.forgetting import described, erasers, operator, source_ids
    from letopis.show.progress import ingest_progress
    from letopis.targets import scope_or_global, target_for

    settings, scope = settings_of(context), scope_or_global(user, session, everybody)
    ids = memories or []
    with closing(build_catalog(settings)) as catalog:
        names = source_ids(catalog, scope, sources or [])
    target, who = target_for(user, session, names, ids), by or operator()
    if lift:
        with opened(context) as memory:
            lifted = memory.lift(user, session, names, ids, who)
        if as_json:
            print_json({"lifted": lifted})
        else:
            out.print(f"{lifted} lifted: what was forgotten may be written again", highlight=False)
        return
    confirm(f"Forget {described(target)} for good?", yes)
    with opened(context) as memory, ingest_progress(err, "forgetting:") as progress:
        receipt = memory.forget(user, session, names, ids, who, progress, erasers(settings))
    end_forgetting(receipt, as_json)
