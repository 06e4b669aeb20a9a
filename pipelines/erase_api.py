"""Records of runs leave a Prefect server through its API: `erase_at`.

For servers whose database is not a file on this machine. What an API cannot delete is noted.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar
from uuid import UUID

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import ArtifactUpdate
from prefect.client.schemas.filters import (
    ArtifactFilter,
    ArtifactFilterFlowRunId,
    ArtifactFilterKey,
    ArtifactFilterType,
    FlowFilter,
    FlowFilterName,
    TaskRunFilter,
    TaskRunFilterName,
)
from prefect.client.schemas.objects import TERMINAL_STATES, Artifact, FlowRun, StateType, TaskRun
from prefect.client.schemas.responses import DeploymentResponse
from prefect.client.schemas.sorting import ArtifactSort, FlowRunSort, TaskRunSort
from prefect.exceptions import ObjectNotFound, PrefectException
from prefect.settings import PREFECT_API_URL, temporary_settings

import pipelines  # noqa: F401 - switches telemetry off before Prefect is used
from pipelines.erased import Erased
from pipelines.errors import FlowUnavailable
from pipelines.named import FLOW_NAMES, Named
from pipelines.page import strike

T = TypeVar("T")

PAGE = 200
"""Records of one request: the most that Prefect gives."""

OURS = FlowFilter(name=FlowFilterName(any_=list(FLOW_NAMES)))

KEPT = (
    "the API of a Prefect server deletes no events, and no logs of a task whose run stays: they go "
    "when they are old (events after 7 days, or its PREFECT_SERVER_EVENTS_RETENTION_PERIOD)"
)


def erase_at(address: str, named: Named, patience: float) -> Erased:
    """Take every record of what is named out of the server there; empty: the one of the database.

    Runs that work are waited for, ``patience`` seconds at most; those left are counted and noted.
    Raises `FlowUnavailable` where Prefect does not answer.
    """
    erased = Erased()
    changed = {PREFECT_API_URL: address} if address else {}
    try:
        with temporary_settings(changed), get_client(sync_client=True) as client:
            until = time.monotonic() + patience
            while (working := _erase_runs(client, named, erased)) and time.monotonic() < until:
                time.sleep(0.5)
            erased.leave_working(working)
            _erase_tasks(client, named, erased)
            _strike_pages(client, named, erased)
            erased.leave_deployments(_deployments(client, named))
    except (RuntimeError, PrefectException, httpx.HTTPError) as error:
        raise FlowUnavailable(f"Prefect does not answer: {error}") from error
    if erased.counts.total():
        erased.notes.append(KEPT)
    return erased


def _erase_runs(client: SyncPrefectClient, named: Named, erased: Erased) -> int:
    """Delete the runs that have ended, with their artifacts; return how many more work."""
    working = 0
    for run in _all(partial(_runs, client)):
        if not named.is_run(run.parameters) or _is_planned(run):
            continue
        if run.state_type not in TERMINAL_STATES:
            working += 1
            continue
        of_run = ArtifactFilter(flow_run_id=ArtifactFilterFlowRunId(any_=[run.id]))
        for artifact in _all(partial(_artifacts, client, of_run)):
            erased.counts["artifacts"] += _gone(client.delete_artifact, artifact.id)
        erased.counts["flow_runs"] += _gone(client.delete_flow_run, run.id)
    return working


def _erase_tasks(client: SyncPrefectClient, named: Named, erased: Erased) -> None:
    """Delete the tasks on its files in other runs."""
    places = sorted(named.places)
    for start in range(0, len(places), PAGE):
        of_files = TaskRunFilter(name=TaskRunFilterName(any_=places[start : start + PAGE]))
        for task in _all(partial(_tasks, client, of_files)):
            if task.flow_run_id is None or task.state_type not in TERMINAL_STATES:
                continue
            run = client.read_flow_run(task.flow_run_id)
            if named.is_task(task.name, run.parameters):
                erased.counts["task_runs"] += _gone(client.delete_task_run, task.id)


def _strike_pages(client: SyncPrefectClient, named: Named, erased: Erased) -> None:
    """Rewrite the pages of other runs that have lines on it."""
    pages = ArtifactFilter(
        key=ArtifactFilterKey(like_="ingest-%"), type=ArtifactFilterType(any_=["markdown"])
    )
    for page in _all(partial(_artifacts, client, pages)):
        if isinstance(page.data, str):
            kept = strike(page.data, named.is_line)
            if kept != page.data:
                client.update_artifact(page.id, ArtifactUpdate(data=kept))
                erased.counts["pages"] += 1


def _deployments(client: SyncPrefectClient, named: Named) -> list[str]:
    """Return the names of the deployments whose parameters name it."""

    def page(offset: int) -> list[DeploymentResponse]:
        return client.read_deployments(flow_filter=OURS, limit=PAGE, offset=offset)

    return [
        f"{client.read_flow(found.flow_id).name}/{found.name}"
        for found in _all(page)
        if named.owns(found.parameters)
    ]


def _runs(client: SyncPrefectClient, offset: int) -> list[FlowRun]:
    return client.read_flow_runs(
        flow_filter=OURS, sort=FlowRunSort.ID_DESC, limit=PAGE, offset=offset
    )


def _tasks(client: SyncPrefectClient, which: TaskRunFilter, offset: int) -> list[TaskRun]:
    return client.read_task_runs(
        flow_filter=OURS,
        task_run_filter=which,
        sort=TaskRunSort.ID_DESC,
        limit=PAGE,
        offset=offset,
    )


def _artifacts(client: SyncPrefectClient, which: ArtifactFilter, offset: int) -> list[Artifact]:
    return client.read_artifacts(
        artifact_filter=which, sort=ArtifactSort.ID_DESC, limit=PAGE, offset=offset
    )


def _all(page: Callable[[int], Sequence[T]]) -> list[T]:
    """Return the records of all pages, each from an offset on: read before any is deleted."""
    found: list[T] = []
    while more := page(len(found)):
        found += more
    return found


def _is_planned(run: FlowRun) -> bool:
    """Tell whether it is made anew while its deployment lasts."""
    return run.auto_scheduled and run.state_type == StateType.SCHEDULED


def _gone(delete: Callable[[UUID], None], name: UUID) -> int:
    """Delete one record; return how many that were: none where another was quicker."""
    try:
        delete(name)
    except ObjectNotFound:
        return 0
    return 1
