"""`letopis memories`: what is remembered of a user, and what the user changes in it."""

import shlex
from typing import TYPE_CHECKING, Annotated, Literal, cast

import typer

from letopis.commands.options import By, Json, SessionId, User, Yes, confirm, opened
from letopis.console import err, out, print_json, say

if TYPE_CHECKING:
    from indexing.types import Memory

commands = typer.Typer(name="memories", invoke_without_command=True)

MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")]


@commands.callback()
def memories(
    context: typer.Context,
    user: User = None,
    session: SessionId = None,
    all_sessions: Annotated[
        bool, typer.Option("--all-sessions", help="Also those of all sessions of the user.")
    ] = False,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Only this kind; repeatable.")
    ] = None,
    with_history: Annotated[
        bool, typer.Option("--history", help="Also what was superseded or archived.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", help="How many on a page.")] = 50,
    after: Annotated[
        str, typer.Option("--after", metavar="PLACE", help="Where the page before ended.")
    ] = "",
    as_json: Json = False,
) -> None:
    """List what is remembered of a user, or change it (commands below).

    In pages: each says how to ask for the next one.
    """
    if context.invoked_subcommand is not None:
        return
    from indexing.types import Kind
    from letopis.show.memories import memories_table, memory_record

    user, session = _whose(context, user, session)
    kinds = cast("list[Kind] | None", kind)
    with opened(context) as memory:
        page = memory.memories(
            user,
            session,
            limit,
            after,
            kinds,
            superseded=with_history,
            all_sessions=all_sessions,
        )
    if as_json:
        items = [memory_record(one) for one in page.memories]
        print_json({"total": page.total, "after": page.after or None, "memories": items})
        return
    out.print(memories_table(page.memories, out.width))
    more = f"; go on with: --after {shlex.quote(page.after)}" if page.after else ""
    say(f"{len(page.memories)} of {page.total} memories{more}")


@commands.command()
def history(
    context: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="As user.home.")],
    user: User = None,
    session: SessionId = None,
    as_json: Json = False,
) -> None:
    """Show all that was said about a subject, in the order in which it held."""
    from letopis.show.memories import memories_table, memory_record

    user, session = _whose(context, user, session)
    with opened(context) as memory:
        held = memory.history(user, subject, session)
    if as_json:
        print_json([memory_record(one) for one in held])
    else:
        out.print(memories_table(held, out.width))


@commands.command()
def edit(
    context: typer.Context,
    memory_id: MemoryId,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What it says from now on.")],
    user: User = None,
    session: SessionId = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Correct a fact: the old text is nowhere afterwards.

    What has changed since is not corrected but remembered anew. What comes
    from a file or a chat is edited there.
    """
    from letopis.forgetting import operator

    user, session = _whose(context, user, session)
    with opened(context) as memory:
        made = memory.edit(user, memory_id, text, session, by or operator())
        residue = memory.parts.index.store.residue
    _show("corrected", made, as_json)
    if residue:
        say(residue, style="yellow")


@commands.command()
def pin(
    context: typer.Context,
    memory_id: MemoryId,
    user: User = None,
    session: SessionId = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Keep a memory until it is unpinned, whatever its life was."""
    _set_pinned(context, "pin", memory_id, _whose(context, user, session), by, as_json)


@commands.command()
def unpin(
    context: typer.Context,
    memory_id: MemoryId,
    user: User = None,
    session: SessionId = None,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Let the usual life of its kind begin for a pinned memory."""
    _set_pinned(context, "unpin", memory_id, _whose(context, user, session), by, as_json)


@commands.command()
def delete(
    context: typer.Context,
    memory_id: MemoryId,
    user: User = None,
    session: SessionId = None,
    yes: Yes = False,
    by: By = None,
    as_json: Json = False,
) -> None:
    """Forget one memory; print the receipt."""
    from letopis.ending import end_forgetting
    from letopis.forgetting import erasers, operator
    from letopis.show.progress import ingest_progress
    from letopis.targets import scope_for

    user, session = _whose(context, user, session)
    scope = scope_for(user, session)
    confirm(f"Forget memory {memory_id} of {scope} for good?", yes)
    with opened(context) as memory, ingest_progress(err, "forgetting:") as progress:
        others = erasers(memory.parts.settings)
        receipt = memory.delete(user, memory_id, session, by or operator(), progress, others)
    end_forgetting(receipt, as_json)


def _set_pinned(
    context: typer.Context,
    change: Literal["pin", "unpin"],
    memory_id: str,
    whose: tuple[str, str | None],
    by: str | None,
    as_json: bool,
) -> None:
    from letopis.forgetting import operator

    user, session = whose
    with opened(context) as memory:
        call = memory.pin if change == "pin" else memory.unpin
        made = call(user, memory_id, session, by or operator())
    _show(f"{change}ned", made, as_json)


def _whose(context: typer.Context, user: str | None, session: str | None) -> tuple[str, str | None]:
    """Return the user and the session of a command, as given before or behind its name.

    A bad id is refused before anything is opened.
    """
    from letopis.targets import scope_for

    before = {} if context.parent is None else context.parent.params
    if user is None:
        user, session = before.get("user"), session or before.get("session")
    if user is None:
        raise typer.BadParameter("name the user", param_hint="'--user' / '-u'")
    scope_for(user, session)
    return user, session


def _show(done: str, memory: "Memory", as_json: bool) -> None:
    from letopis.show.memories import memory_record

    if as_json:
        print_json(memory_record(memory))
    else:
        out.print(f"{done} {memory.id} in {memory.scope}", highlight=False, markup=False)
