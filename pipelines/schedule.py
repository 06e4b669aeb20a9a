"""`letopis schedule`: the plans as Prefect deployments, served by this process until it is stopped.

Where no Prefect API is configured a local server runs beside it, and stops with it. Runs of one
deployment never overlap: one that is due while the last still works is cancelled, the next is in
time for it. Each run is a process of its own.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitUpdate
from prefect.client.schemas.filters import (
    DeploymentFilter,
    DeploymentFilterTags,
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import (
    ConcurrencyLimitConfig,
    ConcurrencyLimitStrategy,
    State,
    StateType,
)
from prefect.deployments.runner import RunnerDeployment
from prefect.exceptions import ObjectNotFound, PrefectException
from prefect.runner import Runner
from prefect.schedules import Cron, Interval, Schedule
from prefect.settings import PREFECT_API_URL, get_current_settings, temporary_settings
from prefect.states import Crashed
from prefect.types.entrypoint import EntrypointType

from configs.settings import Settings
from indexing.errors import ConfigError
from pipelines.background import EMBEDDING, set_limit
from pipelines.errors import FlowUnavailable
from pipelines.flows import FLOWS
from pipelines.interrupt import shielded
from pipelines.plans import Plan, plans
from pipelines.server import local_server

TAG = "letopis"
CANCEL_NEW = ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW)

SOON = timedelta(seconds=5)
"""When intervals begin, after the start: a laptop may not be on for an hour."""

Ready = Callable[[str, Sequence[Plan]], None]
"""Called once runs can start, with the address of the UI and what is scheduled."""


def deployment(plan: Plan, first: datetime) -> RunnerDeployment:
    """Return the Prefect deployment of a plan; an interval starts at ``first``.

    Raises `ConfigError` for a wrong cron line.
    """
    made = FLOWS[plan.flow].to_deployment(
        plan.name,
        schedules=[_schedule(plan, first)] if plan.every is not None else [],
        paused=False,
        parameters=dict(plan.parameters),
        concurrency_limit=CANCEL_NEW,
        tags=[TAG],
        entrypoint_type=EntrypointType.MODULE_PATH,
    )
    assert isinstance(made, RunnerDeployment)  # a coroutine only where a loop runs
    return made


def _schedule(plan: Plan, first: datetime) -> Schedule:
    if isinstance(plan.every, timedelta):
        return Interval(plan.every, anchor_date=first - plan.every)
    try:
        return Cron(str(plan.every), timezone=plan.timezone)
    except ValueError as error:
        raise ConfigError(f"schedule of {plan.label}: {plan.every!r} is no cron line") from error


def serve(settings: Settings, folder: Path, ready: Ready) -> None:
    """Serve until SIGTERM, which returns, or SIGINT, which raises `KeyboardInterrupt`.

    ``folder`` is where a local server keeps its data. Raises `ConfigError`, `FlowUnavailable`.
    """
    chosen = plans(settings)
    for plan in chosen:
        deployment(plan, datetime.now(UTC))  # a wrong cron line is told before anything starts
    with _api(folder, settings.schedule.port) as (ui, is_local):
        try:
            if is_local:
                _tidy({plan.label for plan in chosen})
            set_limit(settings.schedule.workers)
            runner = Runner(name=TAG, pause_on_shutdown=not is_local, limit=None)
            for plan in chosen:
                runner.add_deployment(deployment(plan, datetime.now(UTC) + SOON))
            ready(ui, chosen)
            with shielded(partial(_stop, runner)):
                asyncio.run(runner.start())
        except (PrefectException, httpx.HTTPError) as error:
            raise FlowUnavailable(f"Prefect failed: {error}") from error


def _stop(runner: Runner) -> None:
    """Let a runner end; one that is just starting, as soon as it has."""
    while not runner.started:
        time.sleep(0.1)
    runner.handle_sigterm()


@contextmanager
def _api(folder: Path, port: int) -> Iterator[tuple[str, bool]]:
    """Use the configured Prefect API, or run a local one; yield its UI and whether it is ours."""
    configured = get_current_settings()
    if configured.api.url is not None:
        yield configured.ui_url or configured.api.url, False
        return
    with local_server(folder, port) as server, temporary_settings({PREFECT_API_URL: server.api}):
        yield server.ui, True


def _tidy(wanted: set[str]) -> None:
    """Put right what a scheduler that was killed left on its local server.

    Its runs count as crashed, which frees their slots, and deployments of sources that are no
    longer in the settings go.
    """
    active = [StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]
    with get_client(sync_client=True) as client:
        for run in client.read_flow_runs(
            flow_run_filter=FlowRunFilter(
                deployment_id=FlowRunFilterDeploymentId(is_null_=False),
                state=FlowRunFilterState(type=FlowRunFilterStateType(any_=active)),
            )
        ):
            stopped: State[None] = Crashed(message="the scheduler was stopped")
            client.set_flow_run_state(run.id, stopped, force=True)
        _free_slots(client)
        tagged = DeploymentFilter(tags=DeploymentFilterTags(all_=[TAG]))
        for found in client.read_deployments(deployment_filter=tagged):
            flow = client.read_flow(found.flow_id)
            if f"{flow.name}/{found.name}" not in wanted:
                client.delete_deployment(found.id)


def _free_slots(client: SyncPrefectClient) -> None:
    try:
        client.update_global_concurrency_limit(
            EMBEDDING, GlobalConcurrencyLimitUpdate(active_slots=0)
        )
    except ObjectNotFound:
        return
