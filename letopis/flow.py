"""Run the Prefect flows from the command line; Prefect is imported only then."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pipelines
from configs.settings import Settings
from indexing.errors import StoreUnavailable
from indexing.feeds.types import Feed, Progress
from indexing.index import Report
from indexing.types import Scope
from pipelines.errors import FlowUnavailable
from pipelines.server import running


def flow_ingest(
    settings: Settings,
    path: Path,
    scope: Scope | None,
    progress: Progress,
    tags: tuple[str, ...] = (),
) -> Report:
    """Ingest a file or folder through a Prefect flow; ``tags`` as `tags_of` returns them."""
    return flow_sync(settings, [Feed("path", str(path), scope=scope, tags=tags)], progress)


def flow_sync(
    settings: Settings, feeds: Sequence[Feed], progress: Progress, *, force: bool = False
) -> Report:
    """Bring the index in step with feeds through a Prefect flow each."""
    pipelines.keep_quiet()
    join_prefect(settings)
    with prefect_needed():
        from pipelines.run import run_sync

    return run_sync(settings, feeds, progress, force=force)


def state_folder(settings: Settings) -> Path:
    """Return where Prefect keeps its own data: beside the memory."""
    return settings.data_dir.expanduser() / "prefect"


def join_prefect(settings: Settings) -> None:
    """Use the server of a running `letopis schedule`, or let Prefect keep its data beside ours."""
    folder = state_folder(settings)
    try:
        pipelines.keep_state_in(folder)
    except OSError as error:
        raise StoreUnavailable(f"folder {folder}: {error.strerror}") from error
    server = running(folder)
    if "PREFECT_API_URL" not in os.environ and server is not None:
        os.environ["PREFECT_API_URL"] = server.api


@contextmanager
def prefect_needed() -> Iterator[None]:
    """Say what to do where Prefect is not installed."""
    try:
        yield
    except ImportError as error:
        raise FlowUnavailable(
            f"a flow needs Prefect ({error}): pip install prefect; without the flow the same "
            "work is done"
        ) from error
