"""`letopis sessions`: what becomes of a session's own memories when it is over."""

from dataclasses import asdict
from typing import Annotated

import typer

from letopis.commands.options import Json, opened
from letopis.console import out, print_json

commands = typer.Typer(name="sessions", no_args_is_help=True, help="Sessions that are over.")


@commands.command("close")
def close(
    context: typer.Context,
    user: Annotated[str, typer.Option("--user", "-u", help="The user's exact id.")],
    session: Annotated[str, typer.Option("--session", "-s", help="One session of the user.")],
    clear: Annotated[
        bool, typer.Option("--clear", help="Delete its memories; else they are archived.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take a session's own memories out of every answer.

    Archived ones still answer questions about the past (--as-of) and are in an export.
    """
    from letopis.targets import scope_for

    scope_for(user, session)  # a bad id is refused before anything is opened
    with opened(context) as memory:
        done = memory.close_session(user, session, "clear" if clear else "archive")
    if as_json:
        print_json(asdict(done))
    else:
        word, number = ("cleared", done.cleared) if clear else ("archived", done.archived)
        out.print(f"closed {session}: {number} memories {word}", highlight=False, markup=False)
