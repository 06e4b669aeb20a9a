"""`letopis session`: a conversation as an agent keeps it, from the first turn to its close."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from letopis.commands.options import Json, SessionId, opened
from letopis.console import out, print_json, say

if TYPE_CHECKING:
    from rich.console import RenderableType

    from sessions.types import Role

commands = typer.Typer(name="session", no_args_is_help=True, help="Conversations of a user.")

Owner = Annotated[str, typer.Option("--user", "-u", help="The user's exact id.")]
Named = Annotated[str, typer.Option("--session", "-s", help="One session of the user.")]
Budget = Annotated[
    int | None, typer.Option("--budget", help="Tokens of the context with its answer.")
]
Reserve = Annotated[
    int | None, typer.Option("--reserve", help="Of them, tokens kept for the answer.")
]


@commands.command()
def new(
    context: typer.Context,
    user: Owner,
    session: SessionId = None,
    role: Annotated[
        str | None, typer.Option("--role", help="The agent's instructions; @FILE reads a file.")
    ] = None,
    task: Annotated[str | None, typer.Option("--task", help="What the session is for.")] = None,
    tokens: Annotated[
        int | None, typer.Option("--tokens", min=1, help="Most tokens of its model calls.")
    ] = None,
    cost: Annotated[
        float | None, typer.Option("--cost", min=0, help="Most money of its model calls.")
    ] = None,
    packet: Annotated[
        str | None,
        typer.Option("--from", metavar="FILE", help="Begin from a packet of `session handoff`."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Begin a session, or change what a known one is for; print its id."""
    from letopis.talk import begin, given_text, new_id

    begun = session or new_id()
    changes: dict[str, Any] = {
        "role": None if role is None else given_text(role),
        "task": task,
        "token_ceiling": tokens,
        "cost_ceiling": cost,
    }
    taken = None if packet is None else given_text(f"@{packet}")
    with opened(context) as memory:
        begin(memory.session(user, begun), changes, taken)
    if as_json:
        print_json({"user_id": user, "session_id": begun})
    else:
        out.print(begun, highlight=False, markup=False, soft_wrap=True)


@commands.command()
def append(
    context: typer.Context,
    user: Owner,
    session: Named,
    text: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="What was said; none: see --file.")
    ] = None,
    role: Annotated[
        str, typer.Option("--role", help="Who said it: user, assistant or system.")
    ] = "user",
    file: Annotated[
        str | None,
        typer.Option(
            "--file", "-f", metavar="FILE", help="Turns: JSONL or a JSON list; - is stdin."
        ),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--whole", help="The file is the session from its start.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Add turns to a session: one that is written here, or those of a file.

    A turn that is known is not added again. A file with a line that is no
    turn is refused whole.
    """
    from letopis.talk import turns_of
    from sessions.types import Entry

    if (text is None) == (file is None):
        raise typer.BadParameter("give a text or a file", param_hint="'TEXT' / '--file'")
    said = Entry(cast("Role", role), text or "")
    entries = [said] if file is None else turns_of(file, user, session)
    with opened(context) as memory:
        done = memory.session(user, session).append(entries, whole=whole)
    if as_json:
        print_json(
            {
                "new": done.new,
                "known": done.known,
                "forgotten": done.forgotten,
                "turns": [{"seq": t.seq, "turn_id": t.entry.turn_id} for t in done.turns],
            }
        )
    else:
        told = f"{done.new} new, {done.known} known"
        told += f", {done.forgotten} forgotten before" if done.forgotten else ""
        out.print(f"{session}: {told}", highlight=False, markup=False)


@commands.command()
def show(
    context: typer.Context,
    user: Owner,
    session: SessionId = None,
    last: Annotated[int, typer.Option("--last", min=0, help="How many turns are shown.")] = 20,
    as_json: Json = False,
) -> None:
    """Show a session: its turns, facts, digest and costs; without --session all of a user."""
    from letopis.show import sessions as shown

    with opened(context) as memory:
        if session is None:
            known = memory.sessions(user)
            record: Any = [shown.session_record(one) for one in known]
            picture: RenderableType = shown.sessions_table(known)
        else:
            view = shown.view_of(memory.session(user, session), last)
            record, picture = shown.view_record(view), shown.view_shown(view)
    if as_json:
        print_json(record)
    else:
        out.print(picture)


@commands.command()
def digest(
    context: typer.Context,
    user: Owner,
    session: SessionId = None,
    now: Annotated[
        bool, typer.Option("--now", help="Fold all but the newest turns, due or not.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Fold what is due into a session's digest and show it.

    Without --session the digests of all sessions of the user, the older
    the shorter.
    """
    from letopis.show import sessions as shown
    from sessions.digest_text import as_json as digest_record
    from sessions.digest_text import as_text

    with opened(context) as memory:
        if session is None:
            life = memory.life(user)
            record: Any = {"text": life.text, "left_out_tokens": life.dropped}
            text = life.text or "no digest yet"
        else:
            made = memory.session(user, session).digest(now=now)
            record = digest_record(made.digest) if made.digest else None
            text = as_text(made.digest).text if made.digest else "no digest yet"
            if made.turns:
                say(f"{made.turns} turns were taken up ({made.reason})")
    if as_json:
        print_json(record)
    else:
        out.print(shown.plain(text))


@commands.command()
def close(
    context: typer.Context,
    user: Owner,
    session: Named,
    clear: Annotated[
        bool, typer.Option("--clear", help="Delete its memories and its log.")
    ] = False,
    archive: Annotated[
        bool, typer.Option("--archive", help="Keep them for the past; else as the settings say.")
    ] = False,
    as_json: Json = False,
) -> None:
    """End a session: its digest and facts go to the user, its own leave every answer.

    Archived ones still answer questions about the past (--as-of) and are
    in an export.
    """
    from indexing.closing import Ending
    from letopis.show import sessions as shown
    from letopis.targets import scope_for

    if clear and archive:
        raise typer.BadParameter("one of them", param_hint="'--clear' / '--archive'")
    scope_for(user, session)  # a bad id is refused before anything is opened
    ending: Ending | None = "clear" if clear else "archive" if archive else None
    with opened(context) as memory:
        done = memory.close_session(user, session, ending)
    if as_json:
        print_json(shown.ended_record(done))
    else:
        out.print(shown.ended_text(session, done), highlight=False, markup=False)


@commands.command("context")
def context_of(
    context: typer.Context,
    user: Owner,
    session: Named,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked now.")],
    budget: Budget = None,
    reserve: Reserve = None,
    messages: Annotated[
        bool, typer.Option("--messages", help="Print the messages alone, as JSON for a client.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Put together what a model is given for a question: the layers and their tokens."""
    from letopis.show.context import context_record, context_shown

    with opened(context) as memory:
        made = memory.build_context(user, session, question, budget, reserve=reserve)
    if messages:
        print_json(list(made.messages))
    elif as_json:
        print_json(context_record(made))
    else:
        out.print(context_shown(made))


@commands.command()
def handoff(
    context: typer.Context,
    user: Owner,
    session: Named,
    task: Annotated[str, typer.Argument(metavar="TASK", help="What the other agent is to do.")],
    to: Annotated[
        Path | None, typer.Option("--to", metavar="FILE", help="Write the packet there.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make the packet for an agent that takes over: no transcript, no rejected idea.

    `session new --from FILE` begins from it.
    """
    from letopis.show import sessions as shown
    from letopis.talk import write_packet

    with opened(context) as memory:
        packet = memory.make_handoff(user, session, task)
    if to is not None:
        write_packet(to, packet)
        say(f"written to {to}")
    if as_json:
        print_json(packet.as_json())
    elif to is None or sys.stdout.isatty():
        out.print(shown.handoff_shown(packet))
