"""`letopis remember` and `letopis retrieve`: one fact in, the best memories out."""

from typing import Annotated, cast

import typer

from letopis.commands.options import Json, SessionId, Tags, User, opened, settings_of
from letopis.console import out, print_json, say

commands = typer.Typer()


@commands.command()
def remember(
    context: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="One fact, in a sentence.")],
    user: Annotated[str, typer.Option("--user", "-u", help="The user's exact id.")],
    session: SessionId = None,
    subject: Annotated[
        str | None,
        typer.Option("--subject", help="What it is about, as user.home: the value before ends."),
    ] = None,
    at: Annotated[
        str | None, typer.Option("--at", metavar="TIME", help="When it was said; else now.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="TIME", help="When it stops being true.")
    ] = None,
    kind: Annotated[str, typer.Option("--kind", help="fact or procedure.")] = "fact",
    tag: Tags = None,
    as_json: Json = False,
) -> None:
    """Store one fact about a user.

    A TIME is written as 2027-01-31T18:00+03:00; without a zone it is one
    of the setting ingest.timezone.
    """
    from indexing.tags import tags_of
    from indexing.types import Kind
    from letopis.show.memories import memory_record
    from letopis.targets import scope_for
    from letopis.times import read_time

    scope_for(user, session)  # a bad id is refused before anything is opened
    tags = tags_of(tag or ())
    zone = settings_of(context).ingest.timezone
    said, until = read_time(at, "--at", zone), read_time(expires, "--expires", zone)
    with opened(context) as memory:
        stored = memory.remember(user, text, cast(Kind, kind), session, said, until, subject, tags)
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
    k: Annotated[
        int | None, typer.Option("-k", help="How many memories: 8, or as many as fit a budget.")
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option("--budget", metavar="TOKENS", help="As many as fit; all if they do."),
    ] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", help="Only this kind; repeatable.")
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", help="Only of this source id; repeatable.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only with this tag; repeatable.")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option("--language", help="Only in ru or en; repeatable.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="Said then or later.")
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="TIME", help="Said before that.")
    ] = None,
    as_of: Annotated[
        str | None,
        typer.Option("--as-of", metavar="TIME", help="Answer with what held then, not now."),
    ] = None,
    neighbours: Annotated[
        bool, typer.Option("--neighbours", help="Show what stands around each memory.")
    ] = False,
    no_rerank: Annotated[
        bool, typer.Option("--no-rerank", help="Leave the order as it is before the reranker.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Ranks, scores and times.")] = False,
    as_json: Json = False,
) -> None:
    """Ask: global knowledge, the user's own memories and the session's, best first."""
    from indexing.types import Kind
    from letopis.show.answers import answer_shown, result_record, result_table
    from letopis.show.explain import trace_tree
    from letopis.targets import given_scope
    from letopis.times import read_time

    given_scope(user, session)  # a bad id is refused before anything is opened
    zone = settings_of(context).ingest.timezone
    then = read_time(as_of, "--as-of", zone)
    said_from, said_to = read_time(since, "--since", zone), read_time(before, "--before", zone)
    with opened(context) as memory:
        result = memory.retrieve(
            query,
            user,
            session,
            k,
            cast("list[Kind] | None", kind),
            then,
            sources=source,
            tags=tag,
            languages=language,
            said_from=said_from,
            said_to=said_to,
            budget=budget,
            neighbours=neighbours or None,
            rerank=not no_rerank,
            explain=explain,
        )
    for note in result.trace.notes:
        say(f"note: {note}", style="yellow")
    if as_json:
        print_json(result_record(result))
        return
    for part in result.trace.parts:
        if part.label == "analytical" and part.went == "vector":
            say(f"not computed, but looked for in memory: {part.reason}", style="dim")
    for answer in result.answers:
        out.print(answer_shown(answer, explain))
    if result.hits or not result.answers:
        out.print(result_table(result, explain))
    if explain:
        out.print(trace_tree(result.trace, result.confidence))
