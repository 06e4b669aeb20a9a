"""`letopis remember` and `letopis retrieve`: one fact in, the best memories out."""

from datetime import datetime
from typing import Annotated

import typer

from letopis.commands.options import Json, SessionId, User, opened
from letopis.console import out, print_json, say

commands = typer.Typer()


@commands.command()
def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="One fact, in a sentence.")],
    user: Annotated[str, typer.Option("--user", "-u", help="The user's exact id.")],
    session: SessionId = None,
    expires: Annotated[
        datetime | None,
        typer.Option("--expires", help="When it stops being true (local time).", metavar="TIME"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Store one fact about a user."""
    from indexing.errors import InvalidInput
    from letopis.memory import scope_for
    from letopis.show.memories import memory_record

    scope_for(user, session)  # a bad id is refused before anything is opened
    try:
        until = expires.astimezone() if expires else None
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"--expires {expires}: {error}") from error
    with opened(context) as memory:
        stored = memory.remember(user, text, session_id=session, expires_at=until)
    if as_json:
        print_json(memory_record(stored))
    else:
        out.print(f"remembered {stored.id} in {stored.scope}", highlight=False, markup=False)


@commands.command()
def retrieve(
    context: typer.Context,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help="A question, in Russian or English.")
    ],
    user: User = None,
    session: SessionId = None,
    k: Annotated[int, typer.Option("-k", help="How many memories.")] = 8,
    explain: Annotated[bool, typer.Option("--explain", help="Ranks, scores and times.")] = False,
    as_json: Json = False,
) -> None:
    """Ask: global knowledge, the user's own memories and the session's, best first."""
    from letopis.memory import given_scope
    from letopis.show.memories import result_record, result_table, trace_table

    given_scope(user, session)  # a bad id is refused before anything is opened
    with opened(context) as memory:
        result = memory.retrieve(query, user, session, k)
    for note in result.trace.notes:
        say(f"not searched: {note}", style="yellow")
    if as_json:
        print_json(result_record(result))
        return
    out.print(result_table(result, explain))
    if explain:
        out.print(trace_table(result.trace))
