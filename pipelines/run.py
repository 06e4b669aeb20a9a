"""Flows in this process, for somebody who waits: `run_sync`, `run_ingest`, `run_once`."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
from prefect.client.orchestration import get_client
from prefect.exceptions import PrefectException

from configs.build import opened
from configs.settings import Settings
from indexing.chat import SUFFIXES
from indexing.feeds.types import Feed, Progress
from indexing.index import Report
from indexing.types import Scope
from pipelines.errors import FlowUnavailable
from pipelines.flows import FLOWS, Given, ingest_documents, ingest_sessions, using
from pipelines.plans import Plan

Reports = dict[str, Any]
"""What each run said, by the label of its plan: `Report`, `SweepReport`, ..."""


def run_ingest(
    settings: Settings, path: Path, scope: Scope | None = None, progress: Progress | None = None
) -> Report:
    """Bring the index in step with a file or folder; see `run_sync`."""
    return run_sync(settings, [Feed("path", str(path), scope=scope)], progress)


def run_sync(
    settings: Settings,
    feeds: Sequence[Feed],
    progress: Progress | None = None,
    *,
    force: bool = False,
) -> Report:
    """Bring the index in step with feeds, a flow run each, with these settings.

    Without ``PREFECT_API_URL`` a private Prefect server is started for the run. Raises
    `FlowUnavailable` when Prefect does not answer.
    """
    report = Report()
    if progress:
        progress("starting Prefect", 0, 1)
    _reach_prefect()
    with opened(settings) as parts:
        for feed in feeds:
            given = Given(settings, parts, feed, progress)
            user_id, session_id = _ids(feed.scope)
            run = ingest_sessions if feed.place.lower().endswith(SUFFIXES) else ingest_documents
            try:
                with using(given):
                    report.add(run(feed.label, "", user_id, session_id, force))
            except (PrefectException, httpx.HTTPError) as error:
                raise FlowUnavailable(f"Prefect failed: {error}") from error
    return report


def _ids(scope: Scope | None) -> tuple[str | None, str | None]:
    """Return the ids for the run's parameters, where they are for people to see."""
    return (scope.user_id or None, scope.session_id or None) if scope else (None, None)


def _reach_prefect() -> None:
    """Find the Prefect API, or start the private server. Raises `FlowUnavailable`."""
    try:
        with get_client(sync_client=True) as client:
            failure = client.api_healthcheck()
    except (RuntimeError, PrefectException, httpx.HTTPError) as error:
        failure = error
    if failure is not None:
        raise FlowUnavailable(f"Prefect does not answer: {failure}") from failure


def run_once(settings: Settings, chosen: Sequence[Plan], say: Callable[[str], None]) -> Reports:
    """Run the flow of each plan, one after the other; return what each says, by its label.

    Raises `FlowUnavailable` when Prefect does not answer, and what a flow raises.
    """
    _reach_prefect()
    reports: Reports = {}
    for plan in chosen:
        say(plan.label)
        try:
            with using(Given(settings)):
                reports[plan.label] = FLOWS[plan.flow](**plan.parameters)
        except (PrefectException, httpx.HTTPError) as error:
            raise FlowUnavailable(f"Prefect failed: {error}") from error
    return reports
