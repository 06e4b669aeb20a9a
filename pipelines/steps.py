"""The tasks of the flows: steps that are tried again when what stopped them can pass.

A locked or absent store, or an endpoint that does not answer, may be back in a few seconds; a bad
file never fails a step, it becomes a dead letter. Tasks of one run share a `Work`, which Prefect
neither reads nor stores.
"""

from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from typing import Any, ParamSpec, TypeVar

import httpx
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State
from prefect.exceptions import PrefectException
from prefect.tasks import Task, exponential_backoff

import pipelines  # noqa: F401 - switches telemetry off before Prefect is used
from configs.build import Parts, build
from configs.reindex import ReindexReport, reindex
from configs.settings import Settings
from configs.stores import build_catalog
from indexing.closing import Closed, close_idle_sessions
from indexing.conversations import ClosingReport, close_idle
from indexing.duplicates import DuplicateCounts, merge_duplicates
from indexing.errors import MissingExtra, ModelError, StoreLocked, StoreUnavailable
from indexing.expire import SweepReport, sweep
from indexing.feeds.types import Feed, Progress
from indexing.index import Report, utc_now
from indexing.portions import Portion
from indexing.sync import Sync
from pipelines.errors import fit_to_store
from sessions.idle import IdleReport
from sessions.idle import close_idle as close_idle_talks
from sessions.listing import idle_sessions

P = ParamSpec("P")
R = TypeVar("R")

RETRIES = 4
FIRST_DELAY = 2.0
"""Seconds before the second try; doubled for each one after it, and up to half as much again."""


class Work:
    """What the steps of one run share."""

    def __init__(self, settings: Settings, progress: Progress | None = None) -> None:
        self.settings = settings
        self.progress = progress
        self.parts: Parts | None = None
        self.sync: Sync | None = None

    @property
    def opened(self) -> Parts:
        """The open memory; `open_memory` comes first."""
        assert self.parts is not None
        return self.parts

    @property
    def listed(self) -> Sync:
        """The listed feed; `list_feed` comes first."""
        assert self.sync is not None
        return self.sync


def can_pass(_task: Task[..., Any], _run: Any, state: State[Any]) -> bool:
    """Tell whether a failure may be gone at the next try."""
    error = state.result(raise_on_failure=False)
    if isinstance(error, ModelError):
        return not isinstance(error, MissingExtra)
    return isinstance(
        error, StoreLocked | StoreUnavailable | httpx.HTTPError | PrefectException | TimeoutError
    )


def step(name: str) -> Callable[[Callable[P, R]], Task[P, R]]:
    """Make a function a task that is tried again; ``name`` may hold parameters in braces."""
    return task(
        task_run_name=name,
        retries=RETRIES,
        retry_delay_seconds=exponential_backoff(FIRST_DELAY),
        retry_jitter_factor=0.5,
        retry_condition_fn=can_pass,
        cache_policy=NO_CACHE,
        persist_result=False,
        log_prints=False,
    )


@step("open the memory")
def open_memory(work: Work) -> None:
    """Load the model and open the store and the catalog."""
    with fit_to_store():
        work.parts = build(work.settings)


@step("list {label}")
def list_feed(work: Work, feed: Feed, label: str) -> None:
    """List what a feed offers now."""
    parts = work.opened
    with fit_to_store():
        work.sync = Sync(parts.index.catalog, feed, parts.access, work.progress)


@step("{place}")
def index_portion(work: Work, portion: Portion, place: str) -> Report:
    """Index a file, or look at files that seem to be as before."""
    with fit_to_store():
        return work.listed.apply(work.opened.index, portion.ids)


@step("remove what is gone")
def remove_gone(work: Work, force: bool) -> Report:
    """Remove what the feed offers no longer."""
    share = work.settings.ingest.max_removed
    with fit_to_store():
        return work.listed.remove(work.opened.index, force=force, max_removed=share)


@step("close idle sessions")
def close_sessions(work: Work) -> ClosingReport:
    """Close the conversations in which nothing was said for a while."""
    idle = timedelta(minutes=work.settings.schedule.idle_minutes)
    with fit_to_store(), closing(build_catalog(work.settings)) as catalog:
        return close_idle(catalog, utc_now(), idle, work.progress)


@step("look for idle sessions")
def idle_talks(work: Work) -> int:
    """Return how many sessions with a log went quiet; the store is not opened for that."""
    now, idle = utc_now(), timedelta(minutes=work.settings.schedule.idle_minutes)
    with fit_to_store(), closing(build_catalog(work.settings)) as catalog:
        return len(idle_sessions(catalog, now, now - idle))


@step("digest and close idle sessions")
def close_talks(work: Work) -> IdleReport:
    """Close the sessions with a log that went quiet: digest and facts go to their users."""
    with fit_to_store():
        return close_idle_talks(work.opened.desk, work.progress)


@step("end idle sessions")
def end_sessions(work: Work) -> Closed:
    """Archive or clear the own memories of sessions that went quiet, as the settings say."""
    chosen = work.settings.schedule
    if chosen.on_idle == "keep":
        return Closed()
    with fit_to_store():
        idle = timedelta(minutes=chosen.idle_minutes)
        return close_idle_sessions(work.opened.index, idle, chosen.on_idle)


@step("remove expired memories")
def sweep_expired(work: Work) -> SweepReport:
    """Take what has expired from the disk."""
    with fit_to_store():
        return sweep(work.opened.index, work.progress)


@step("merge near duplicates")
def merge_near_duplicates(work: Work) -> DuplicateCounts:
    """Merge what says the same; only counts leave the step, no text."""
    with fit_to_store():
        return merge_duplicates(work.opened.index, work.progress).counts


@step("reindex")
def reindex_all(work: Work) -> ReindexReport:
    """Embed what was made with other settings anew, beside what is in use, then change over."""
    with fit_to_store():
        return reindex(work.settings, work.progress)
