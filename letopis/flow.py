"""Run the Prefect flows from the command line; Prefect is imported only then."""

from pathlib import Path

import pipelines
from configs.settings import Settings
from indexing.errors import StoreUnavailable
from indexing.ingest import Progress
from indexing.types import Scope
from indexing.write import Report
from pipelines.errors import FlowUnavailable


def flow_ingest(settings: Settings, path: Path, scope: Scope | None, progress: Progress) -> Report:
    """Ingest through the Prefect flows; Prefect keeps its own data in the memory's folder."""
    state = settings.data_dir.expanduser() / "prefect"
    try:
        pipelines.keep_state_in(state)
    except OSError as error:
        raise StoreUnavailable(f"folder {state}: {error.strerror}") from error
    pipelines.keep_quiet()
    try:
        from pipelines.flows import run_ingest
    except ImportError as error:
        raise FlowUnavailable(
            f"a flow needs Prefect ({error}): pip install prefect; without the flow the same "
            "work is done"
        ) from error

    return run_ingest(settings, path, scope, progress)
