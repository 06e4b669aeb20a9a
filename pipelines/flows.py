"""The flows: `ingest_documents`, `ingest_sessions`, `digest_sessions`, `expire`, `reindex`,
`merge_duplicates`.

Prefect stores flow parameters and states, so they hold names of sources, paths and ids, never a
text or a password; results stay in the process. What a run did is a page in Prefect's UI. A run
that is killed is finished by the next one: the catalog knows what is done.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefect import Flow, flow
from prefect.client.schemas.objects import FlowRun, State
from prefect.runtime import flow_run as this_run

import pipelines  # noqa: F401 - switches telemetry off before Prefect is used
from configs.build import Parts
from configs.feeds import build_feeds
from configs.reindex import ReindexReport
from configs.settings import Settings, load
from indexing.duplicates import DuplicateCounts
from indexing.errors import InvalidInput
from indexing.expire import SweepReport
from indexing.feeds.types import Feed, Progress
from indexing.index import Report
from indexing.portions import portions
from indexing.types import Scope, session_scope, user_scope
from pipelines import background, steps
from pipelines.artifacts import Bar, publish
from pipelines.background import Turn
from pipelines.counts import counts_of
from pipelines.errors import StepFailed, fit_to_store
from pipelines.page import Page, key_of
from pipelines.steps import Work
from sessions.idle import IdleReport

__all__ = [
    "FLOWS",
    "Given",
    "digest_sessions",
    "expire",
    "ingest_documents",
    "ingest_sessions",
    "merge_duplicates",
    "reindex",
    "using",
]

EXPORTS = "**/*.jsonl"
"""What `ingest_sessions` takes of a folder."""


@dataclass(frozen=True, slots=True)
class QuietReport:
    """What became of what went quiet: of imported conversations, and of sessions with a log."""

    seen: int
    closed: int
    open: int
    gone: int
    sessions: dict[str, int]


@dataclass(frozen=True, slots=True)
class Given:
    """What the flows of this process work with: see `using`.

    A feed may hold a password, so it is not a parameter of a flow; ``parts`` stay open.
    """

    settings: Settings
    parts: Parts | None = None
    feed: Feed | None = None
    progress: Progress | None = None


_given: ContextVar[Given | None] = ContextVar("letopis_given", default=None)


def run_name() -> str:
    """Name a flow run by what it works on."""
    given: dict[str, Any] = this_run.parameters
    return str(given.get("source") or given.get("path") or this_run.flow_name)


def _tell(flow: Flow[..., Any], flow_run: FlowRun, state: State[Any]) -> None:
    """Say on stderr that a scheduled run failed, in a line: its log is in Prefect's UI."""
    if flow_run.deployment_id is not None:
        why = " ".join((state.message or "").split())
        sys.stderr.write(f"{flow.name} ({flow_run.name}) failed: {why}\n")


@flow(persist_result=False, flow_run_name=run_name, on_failure=[_tell])
def ingest_documents(
    source: str = "",
    path: str = "",
    user_id: str | None = None,
    session_id: str | None = None,
    force: bool = False,
    data_dir: str | None = None,
) -> Report:
    """Bring the index in step with a source of the settings, or with a file, folder or pattern.

    Chat exports in a folder are taken too. With ``force`` even most of what is indexed may go.
    """
    with _work(data_dir) as work:
        feed = _feed(work, source, path, scope_of(user_id, session_id))
        return _synchronise(work, feed, "ingest-documents", force)


@flow(persist_result=False, flow_run_name=run_name, on_failure=[_tell])
def ingest_sessions(
    source: str = "",
    path: str = "",
    user_id: str | None = None,
    session_id: str | None = None,
    force: bool = False,
    data_dir: str | None = None,
) -> Report:
    """Index the turns of a source, of a chat export, or of the exports (JSONL) in a folder."""
    with _work(data_dir) as work:
        if path and Path(path).expanduser().is_dir():
            path = str(Path(path) / EXPORTS)
        feed = _feed(work, source, path, scope_of(user_id, session_id))
        return _synchronise(work, feed, "ingest-sessions", force)


@flow(persist_result=False, flow_run_name=run_name, on_failure=[_tell])
def digest_sessions(data_dir: str | None = None) -> QuietReport:
    """Close the sessions that went quiet: their digests and facts go to their users' memories."""
    with _work(data_dir) as work:
        page = Page("digest sessions")
        with page.timed("close"):
            closing = steps.close_sessions(work)
        talks, ends = steps.idle_talks(work), work.settings.schedule.on_idle != "keep"
        ended = IdleReport()
        if talks or ends:
            _open(work)
        if talks:
            with page.timed("digest"):
                ended = steps.close_talks(work)
        report = QuietReport(**counts_of(closing), sessions=counts_of(ended))
        page.counts = counts_of(report)
        if ends:
            with page.timed("end"):
                page.counts |= counts_of(steps.end_sessions(work))
        publish(page, "digest-sessions")
        return report


@flow(persist_result=False, flow_run_name=run_name, on_failure=[_tell])
def expire(data_dir: str | None = None) -> SweepReport:
    """Take the memories whose time is over from the disk; they are invisible already."""
    with _work(data_dir) as work:
        page = Page("expire")
        with page.timed("open"):
            _open(work)
        with page.timed("remove"):
            report = steps.sweep_expired(work)
        page.counts = counts_of(report)
        publish(page, "expire")
        return report


@flow(persist_result=False, flow_run_name=run_name, on_failure=[_tell])
def merge_duplicates(data_dir: str | None = None) -> DuplicateCounts:
    """Merge memories that say the same in other words; nothing that tells them apart is lost."""
    with _work(data_dir) as work:
        page = Page("merge duplicates")
        with page.timed("open"):
            _open(work)
        with page.timed("merge"):
            counts = steps.merge_near_duplicates(work)
        page.counts = counts_of(counts)
        publish(page, "merge-duplicates")
        return counts


@flow(persist_result=False, flow_run_name=run_name, on_failure=[_tell])
def reindex(data_dir: str | None = None) -> ReindexReport:
    """Make all vectors anew where the settings ask for others; answers come from the old till then.

    Nothing is done where nothing has changed.
    """
    with _work(data_dir) as work, Turn() as turn:
        background.set_limit(work.settings.schedule.workers)
        page = Page("reindex")
        with page.timed("wait"):
            turn.take()
        with page.timed("embed"):
            report = steps.reindex_all(work)
        page.counts = counts_of(report)
        publish(page, "reindex")
        return report


def _synchronise(work: Work, feed: Feed, flow_name: str, force: bool) -> Report:
    """List, index portion by portion, remove what is gone; show the progress and what was done.

    Raises `StepFailed` at the end when portions failed for no named reason: the others are done.
    """
    report = Report()
    page = Page(f"{flow_name.replace('-', ' ')}: {feed.label}")
    key = key_of(flow_name, feed.label)
    background.set_limit(work.settings.schedule.workers)
    with page.timed("open"):
        _open(work)
    with page.timed("list"):
        steps.list_feed(work, feed, feed.label)
        pending = list(portions(work.listed))
    bar = Bar(key, page.title)
    try:
        with page.timed("index"), Turn() as turn:
            for number, portion in enumerate(pending, 1):
                if not portion.still:
                    turn.take()
                try:
                    report.add(steps.index_portion(work, portion, portion.place))
                except StepFailed as error:
                    page.failed[portion.place] = str(error)
                bar(number, len(pending))
        with page.timed("remove"):
            report.add(steps.remove_gone(work, force))
    finally:
        page.counts = counts_of(report)
        page.dead = report.dead
        publish(page, key)
    if page.failed:
        raise StepFailed(f"{len(page.failed)} of {len(pending)} steps failed; see the page {key}")
    return report


def _open(work: Work) -> None:
    if work.parts is None:
        steps.open_memory(work)


@contextmanager
def using(given: Given) -> Iterator[None]:
    """Let the flows called inside work with this, whatever their parameters say."""
    token = _given.set(given)
    try:
        yield
    finally:
        _given.reset(token)


@contextmanager
def _work(data_dir: str | None) -> Iterator[Work]:
    """Start the work of one run with what `using` gave; close what the run opens."""
    given = _given.get()
    with fit_to_store():
        settings = given.settings if given else background.step_back(settings_of(data_dir))
        work = Work(settings, given.progress if given else None)
        if given is not None and given.parts is not None:
            work.parts = given.parts
            yield work
            return
        try:
            yield work
        finally:
            if work.parts is not None:
                work.parts.close()


def settings_of(data_dir: str | None) -> Settings:
    """Return the settings in force, with that data folder where one is named."""
    return load(data_dir=data_dir) if data_dir else load()


def _feed(work: Work, source: str, path: str, scope: Scope | None) -> Feed:
    given = _given.get()
    if given is not None and given.feed is not None:
        return given.feed
    return feed_of(work.settings, source, path, scope)


def feed_of(settings: Settings, source: str, path: str, scope: Scope | None) -> Feed:
    """Return what the parameters name. Raises `InvalidInput` unless they name one thing."""
    if bool(source) == bool(path):
        raise InvalidInput("name a source of the settings, or a path")
    if path:
        return Feed("path", path, scope=scope)
    if scope is not None:
        raise InvalidInput("whose a source is, is in the settings")
    (feed,) = build_feeds(settings, (source,))
    return feed


def scope_of(user_id: str | None, session_id: str | None) -> Scope | None:
    """Return whose a path becomes; None: everybody's. Raises `InvalidInput`."""
    if user_id is None:
        if session_id is not None:
            raise InvalidInput("a session belongs to a user: name the user too")
        return None
    return user_scope(user_id) if session_id is None else session_scope(user_id, session_id)


FLOWS: dict[str, Flow[..., Any]] = {
    "ingest_documents": ingest_documents,
    "ingest_sessions": ingest_sessions,
    "digest_sessions": digest_sessions,
    "expire": expire,
    "merge_duplicates": merge_duplicates,
    "reindex": reindex,
}
"""What a plan may name."""
