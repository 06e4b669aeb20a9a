"""Run the Prefect flows from the command line; Prefect is imported only then."""

from pathlib import Path

import pipelines
from configs.settings import Settings
from indexing.ingest import Progress
from indexing.types import Scope
from indexing.write import Report


def flow_ingest(settings: Settings, path: Path, scope: Scope | None, progress: Progress) -> Report:
    """Ingest through the Prefect flows; Prefect keeps its own data in the memory's folder."""
    pipelines.keep_state_in(settings.data_dir.expanduser() / "prefect")
    from pipelines.flows import run_ingest

    return run_ingest(settings, path, scope, progress)
