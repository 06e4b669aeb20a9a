"""Records of runs leave a Prefect server through its API: `erase_at`.

For servers whose database is not a file on this machine. What an API cannot delete, the events, is
noted.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any, TypeVar
from uuid import UUID

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import ArtifactUpdate
from prefect.client.schemas.filters import (
    ArtifactFilter,
    ArtifactFilterFlowRunId,
    ArtifactFilterKey,
    ArtifactFilterTaskRunId,
    ArtifactFilterType,
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterId,
    LogFilter,
    LogFilterFlowRunId,
    TaskRunFilter,
    TaskRunFilterName,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.exceptions import ObjectNotFound, PrefectException
from prefect.settings import PREFECT_API_URL, temporary_settings

import pipelines  # noqa: F401 - switches telemetry off before Prefect is used
from pipelines.erased import Erased, deployment_note
from pipelines.errors import FlowUnavailable
from pipelines.page import strike
from pipelines.traces import FLOW_NAMES, Named

T = TypeVar("T")

PAGE = 200
"""Records of one request: the most that Prefect gives."""

OURS = FlowFilter(name=FlowFilterName(any_=list(FLOW_NAMES)))

EVENTS = (
    "a Prefect server keeps the events of the runs until they are old (7 days, unless its "
    "PREFECT_SERVER_EVENTS_RETENTION_PERIOD says otherwise): its API deletes none"
)


def erase_at(url: str | None, named: Named, patience: float) -> Erased:
    """Take every record of what is named out of the server there; None: the configured one.

    Runs that work are waited for, ``patience`` seconds at most; those left are counted and noted.
    Raises `FlowUnavailable` where Prefect does not answer.
    """
    erased = Erased()
    changed = {PREFECT_API_URL: url} if url else {}
    try:
        with temporary_settings(changed), get_client(sync_client=True) as client:
            until = time.monotonic() + patience
            while working := _erase_runs(client, named, erased):
                if time.monotonic() > until:
                    break
                time.sleep(0.5)
            erased.left_working(working)
            _erase_tasks(client, named, erased)
            _strike_pages(client, named, erased)
            for found in _all(lambda **page: client.read_deployments(flow_filter=OURS, **page)):
                if named.owns(found.parameters):
                    flow = client.read_flow(found.flow_id)
                    erased.left_deployment(deployment_note(flow.name, found.name))
    except (RuntimeError, PrefectException, httpx.HTTPError) as error:
        raise FlowUnavailable(f"Prefect does not answer: {error}") from error
    if erased.counts.total():
        erased.notes.append(EVENTS)
    return erased
