"""The command line; its commands are in docs/cli.md.

Tables for people, ``--json`` for machines: then stdout is JSON and nothing else. Every error raised
on purpose becomes one line on stderr and exit code 1; a wrong command line, and a run with dead
letters, end with 2; Ctrl-C with 130.
"""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from chunking.errors import LetopisError
from configs.build import build_catalog, build_store
from configs.settings import Settings, load
from indexing.errors import InvalidInput
from indexing.write import Report
from letopis import __version__, show
from letopis.memory import LongTermMemory, given_path, given_scope, open_memory, scope_for

FAILED = 1
DEAD = 2
INTERRUPTED = 130

out = Console()
err = Console(stderr=True)


def _say(message: str, style: str | None = None) -> None:
    """Write one line to stderr, whatever the message holds."""
    line = " ".join(message.split())
    err.print(line, style=style, highlight=False, markup=False, soft_wrap=True)


class Commands(TyperGroup):
    """The commands; an error raised on purpose becomes one line, not a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command and turn what it raises into an exit code."""
        try:
            return super().invoke(ctx)
        except LetopisError as error:
            _say(f"{type(error).__name__}: {error}", style="red")
            raise typer.Exit(FAILED) from error
        except KeyboardInterrupt as stop:
            _say("interrupted: what was indexed stays; run the command again to go on")
            raise typer.Exit(INTERRUPTED) from stop


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
dead_letters = typer.Typer(no_args_is_help=True, help="What could not be indexed, and why.")
evals = typer.Typer(no_args_is_help=True, help="Measure retrieval on evaluation sets.")
app.add_typer(dead_letters, name="dead-letters")
app.add_typer(evals, name="eval")

User = Annotated[str | None, typer.Option("--user", "-u", help="The user's exact id.")]
SessionId = Annotated[str | None, typer.Option("--session", "-s", help="One session of the user.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"letopis {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def main_options(
    context: typer.Context,
    data_dir: Annotated[
        Path | None, typer.Option("--data-dir", help="Where the memory lives (default ~/.letopis).")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Long-term memory for AI agents, in Russian and English.

    Settings come from LETOPIS_* variables and letopis.toml: docs/settings.md.
    """
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, stream=sys.stderr)
    for noisy in ("httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    context.obj = {} if data_dir is None else {"data_dir": data_dir}


def _settings(context: typer.Context) -> Settings:
    return load(**context.obj)


@contextmanager
def _memory(context: typer.Context) -> Iterator[LongTermMemory]:
    """Open the memory; show progress while model weights are converted for the first time."""
    with show.model_progress(err) as progress:
        memory = open_memory(_settings(context), progress)
    with memory:
        yield memory


@app.command()
def ingest(
    context: typer.Context,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file or a folder.")],
    user: User = None,
    session: SessionId = None,
    flow: Annotated[bool, typer.Option("--flow", help="Run as a Prefect flow.")] = False,
    as_json: Json = False,
) -> None:
    """Index Markdown, HTML and text files, and chat turns in JSONL.

    Without --user documents are for everybody (global), and each chat
    turn goes to the user that its line names.
    """
    where, scope = given_path(path), given_scope(user, session)
    if flow:
        from letopis.flow import flow_ingest

        settings = _settings(context)
        with show.ingest_progress(err) as progress:
            report = flow_ingest(settings, where, scope, progress)
    else:
        with _memory(context) as memory, show.ingest_progress(err) as progress:
            report = memory.ingest(where, user, session, progress)
    _end(report, as_json)


@app.command()
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
    from letopis.sync import Asked, chosen_feeds, plans, sync_each

    settings = _settings(context)
    asked = Asked(list_file, urls, sql, query, user, session, chunker)
    feeds = chosen_feeds(settings, places or (), asked)
    if dry_run:
        with show.ingest_progress(err) as progress:
            made = plans(settings, feeds, progress)
        if as_json:
            _print_json([show.plan_record(label, plan) for label, plan in made])
        else:
            out.print(*(show.plan_table(label, plan) for label, plan in made))
        return
    if flow:
        from letopis.flow import flow_sync

        with show.ingest_progress(err) as progress:
            result = sync_each(
                feeds, lambda feed: flow_sync(settings, [feed], progress, force=force)
            )
    else:
        with _memory(context) as memory, show.ingest_progress(err) as progress:
            result = sync_each(feeds, lambda feed: memory.sync(feed, progress, force=force))
    report, errors = result
    for error in errors:
        _say(f"SourceError: {error}", style="red")
    _end(report, as_json)
    if errors:
        raise typer.Exit(FAILED)


def _end(report: Report, as_json: bool) -> None:
    """Print a report; exit with 2 when something is in the dead letters, or was not removed."""
    if as_json:
        _print_json(show.report_record(report))
    else:
        out.print(show.report_table(report))
        if report.dead:
            err.print(show.dead_table(report.dead))
    if report.dead:
        _say(f"{len(report.dead)} could not be indexed; mend and run: letopis dead-letters retry")
    if report.kept:
        _say(
            f"{report.kept} are gone from their source, more than ingest.max_removed allows at "
            "once, and stay: letopis sync --force PLACE removes them",
            style="yellow",
        )
    if report.dead or report.kept:
        raise typer.Exit(DEAD)


@app.command()
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
    scope_for(user, session)  # a bad id is refused before the model is loaded
    try:
        until = expires.astimezone() if expires else None
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"--expires {expires}: {error}") from error
    with _memory(context) as memory:
        stored = memory.remember(user, text, session_id=session, expires_at=until)
    if as_json:
        _print_json(show.memory_record(stored))
    else:
        out.print(f"remembered {stored.id} in {stored.scope}", highlight=False, markup=False)


@app.command()
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
    given_scope(user, session)  # a bad id is refused before the model is loaded
    with _memory(context) as memory:
        result = memory.retrieve(query, user, session, k)
    for note in result.trace.notes:
        _say(f"not searched: {note}", style="yellow")
    if as_json:
        _print_json(show.result_record(result))
        return
    out.print(show.result_table(result, explain))
    if explain:
        out.print(show.trace_table(result.trace))


@app.command()
def status(context: typer.Context, as_json: Json = False) -> None:
    """Show where the memory lives and what it holds."""
    settings = _settings(context)
    build_store(settings).close()
    catalog = build_catalog(settings)
    record: dict[str, Any] = {
        "data_dir": str(settings.data_dir.expanduser()),
        "store": settings.store or "embedded",
        "sources": catalog.counts(),
        "dead_letters": len(catalog.dead()),
    }
    catalog.close()
    if as_json:
        _print_json(record)
    else:
        out.print(show.status_table(record))


@dead_letters.command("list")
def list_dead(context: typer.Context, as_json: Json = False) -> None:
    """List what could not be indexed, with the reason."""
    catalog = build_catalog(_settings(context))
    letters = catalog.dead()
    catalog.close()
    if as_json:
        _print_json([show.stored_record(letter) for letter in letters])
    elif letters:
        out.print(show.dead_table(letters, attempts=True))
    else:
        out.print("no dead letters")


@dead_letters.command("retry")
def retry_dead(context: typer.Context, as_json: Json = False) -> None:
    """Try again every file that has a dead letter; what works now leaves the list."""
    with _memory(context) as memory, show.ingest_progress(err) as progress:
        report = memory.retry(progress)
    _end(report, as_json)


@app.command()
def schedule(
    context: typer.Context,
    once: Annotated[
        bool, typer.Option("--once", help="Run everything now, one after the other, and end.")
    ] = False,
    only_list: Annotated[
        bool, typer.Option("--list", help="Show what would run when; start nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run the flows by the clock until stopped: sources, digests, expiry.

    Without PREFECT_API_URL a local Prefect server runs beside it. What
    runs when is in the settings: docs/schedules.md.
    """
    from letopis import schedule as scheduling

    settings = _settings(context)
    if only_list:
        scheduling.list_plans(settings, out, as_json)
    elif once:
        reports = scheduling.run_plans_once(settings, _say)
        if scheduling.print_reports(reports, out, as_json):
            raise typer.Exit(DEAD)
    else:
        scheduling.serve_plans(settings, out, _say, as_json)


@app.command()
def reindex(
    context: typer.Context,
    model: Annotated[
        str | None, typer.Option("--model", help="Instead of embedder.model of the settings.")
    ] = None,
    drop: Annotated[
        bool, typer.Option("--abort", help="Drop what a stopped run has made; the old stays.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make all vectors anew, with the model and the settings in force.

    The old ones answer until the new ones are whole. A stopped run goes
    on where it was when it is started again.
    """
    from configs import reindex as reindexing
    from letopis import reindex as showing

    changed = {} if model is None else {"embedder": {"model": model}}
    settings = load(**context.obj, **changed)
    if drop:
        found = reindexing.abort(settings)
        if as_json:
            _print_json({"aborted": found})
        else:
            out.print("dropped" if found else "no re-index is under way")
        return
    with show.model_progress(err) as model_progress, show.ingest_progress(err) as progress:
        report = reindexing.reindex(settings, progress, model_progress)
    if as_json:
        _print_json(showing.reindex_record(report))
    elif report.done:
        out.print(showing.reindex_table(report))
    else:
        out.print("nothing to do: the vectors are made with these settings")
    if report.recut:
        _say(showing.RECUT, style="yellow")
    if report.done and model is not None:
        _say(showing.how_to_keep(model))


@evals.command("run")
def eval_run(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Sets; none: all that are there.")
    ] = None,
    arm: Annotated[
        list[str] | None, typer.Option("--arm", help="bm25, sparse, dense, hybrid; repeatable.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of sets in BEIR layout.")
    ] = None,
    results: Annotated[
        Path | None, typer.Option("--results", help="Write the tables into this Markdown file.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure nDCG@10, recall and MRR of each arm on each set."""
    from evals import datasets, report, run
    from evals.arms import ARMS

    settings = _settings(context)
    folder = datasets.data_folder(data)
    chosen = names or datasets.names(folder)
    with show.ingest_progress(err) as progress:
        records = run.run(chosen, arm or list(ARMS), folder, settings, progress)
    if results is not None:
        report.write(records, results)
    if as_json:
        _print_json(records)
    else:
        out.print(report.table(records))


@app.command()
def demo(
    context: typer.Context,
    as_json: Json = False,
) -> None:
    """Ingest the sample world through the Prefect flow and answer its questions."""
    from letopis.demo import run_demo

    with show.model_progress(err) as model, show.ingest_progress(err) as progress:
        outcome = run_demo(_settings(context), model, progress)
    if as_json:
        _print_json(outcome.record())
    else:
        out.print(outcome.table())
        out.print(outcome.summary(), highlight=False)
    if outcome.report.dead or outcome.leaks:
        raise typer.Exit(FAILED)


def _print_json(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=2))  # noqa: T201


def main() -> None:
    """Run the command line."""
    app(prog_name="letopis")
