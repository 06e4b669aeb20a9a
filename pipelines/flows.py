"""`ingest_documents` and `ingest_sessions`: Prefect flows over `indexing.ingest`.

Prefect stores flow parameters and task results, so they hold paths, ids and counts, never the text
of a memory. Tasks retry what can pass (a locked or absent store); a bad file is a dead letter.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import httpx
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.client.schemas.objects import State
from prefect.exceptions import PrefectException
from prefect.tasks import Task

import pipelines  # noqa: F401 - switches telemetry off before Prefect is imported
from configs.build import Parts, opened
from configs.settings import Settings, load
from indexing.errors import SourceError, StoreLocked, StoreUnavailable
from indexing.ingest import (
    Progress,
    ingest_files,
    ingest_turns,
    list_files,
    name_of,
    remove_gone,
    split,
)
from indexing.types import GLOBAL, Scope, session_scope, user_scope
from indexing.write import Report
from pipelines.errors import FlowUnavailable

__all__ = ["ingest_documents", "ingest_sessions", "run_ingest"]

FILES_PER_TASK = 16

_open: ContextVar[Parts | None] = ContextVar("letopis_parts", default=None)
_progress: ContextVar[Progress | None] = ContextVar("letopis_progress", default=None)


def _can_pass(_task: Task[..., Any], _run: Any, state: State[Any]) -> bool:
    """Tell whether a failure may be gone at the next try."""
    error = state.result(raise_on_failure=False)
    return isinstance(error, StoreLocked | StoreUnavailable)


@task(
    retries=3, retry_delay_seconds=[1, 5, 20], retry_condition_fn=_can_pass, cache_policy=NO_CACHE
)
def index_files(paths: list[str], base: str, user_id: str | None, session_id: str | None) -> Report:
    """Index a few documents."""
    files = [Path(path) for path in paths]
    scope = _scope(user_id, session_id) or GLOBAL
    return ingest_files(_parts().index, files, Path(base), scope, _progress.get())


@task(
    retries=3, retry_delay_seconds=[1, 5, 20], retry_condition_fn=_can_pass, cache_policy=NO_CACHE
)
def index_turns(path: str, base: str, user_id: str | None, session_id: str | None) -> Report:
    """Index one chat export."""
    file = Path(path)
    uri = name_of(file.relative_to(base))
    return ingest_turns(_parts().index, file, uri, _scope(user_id, session_id), _progress.get())


@flow(persist_result=False)
def ingest_documents(
    path: str,
    user_id: str | None = None,
    session_id: str | None = None,
    data_dir: str | None = None,
) -> Report:
    """Index the documents of a file or folder; those gone from a folder leave the index."""
    root = _root(path)
    files = list_files(root)
    documents, _ = split(files)
    base = root.parent.as_posix()
    report = Report()
    with _using(data_dir) as parts:
        for start in range(0, len(documents), FILES_PER_TASK):
            page = [file.as_posix() for file in documents[start : start + FILES_PER_TASK]]
            report.add(index_files(page, base, user_id, session_id))
        if root.is_dir():
            scope = _scope(user_id, session_id) or GLOBAL
            report.removed += remove_gone(parts.index, root, files, scope)
    return report


@flow(persist_result=False)
def ingest_sessions(
    path: str,
    user_id: str | None = None,
    session_id: str | None = None,
    data_dir: str | None = None,
) -> Report:
    """Index the chat exports (JSONL) of a file or folder."""
    root = _root(path)
    _, exports = split(list_files(root))
    base = root.parent.as_posix()
    report = Report()
    with _using(data_dir):
        for file in exports:
            report.add(index_turns(file.as_posix(), base, user_id, session_id))
    return report


def run_ingest(
    settings: Settings, path: Path, scope: Scope | None = None, progress: Progress | None = None
) -> Report:
    """Run both flows on a path in this process, with these settings.

    Without ``PREFECT_API_URL`` a private Prefect server is started for the run. Raises
    `FlowUnavailable` when Prefect does not answer.
    """
    user_id = scope.user_id if scope else None
    session_id = (scope.session_id or None) if scope else None
    root = _root(path)
    documents, exports = split(list_files(root))
    report = Report()
    if progress:
        progress("starting Prefect", 0, 1)
    _reach_prefect()
    with opened(settings) as parts:
        tokens = _open.set(parts), _progress.set(progress)
        try:
            if documents or root.is_dir():
                report.add(ingest_documents(str(root), user_id, session_id))
            if exports:
                report.add(ingest_sessions(str(root), user_id, session_id))
        except (PrefectException, httpx.HTTPError) as error:
            raise FlowUnavailable(f"Prefect failed: {error}") from error
        finally:
            _open.reset(tokens[0])
            _progress.reset(tokens[1])
    return report


def _reach_prefect() -> None:
    """Find the Prefect API, or start the private server. Raises `FlowUnavailable`."""
    try:
        with get_client(sync_client=True) as client:
            failure = client.api_healthcheck()
    except (RuntimeError, PrefectException, httpx.HTTPError) as error:
        failure = error
    if failure is not None:
        raise FlowUnavailable(f"Prefect does not answer: {failure}") from failure


@contextmanager
def _using(data_dir: str | None) -> Iterator[Parts]:
    """Use the parts that `run_ingest` opened, or open those of the settings in force."""
    parts = _open.get()
    if parts is not None:
        yield parts
        return
    with opened(load(**({"data_dir": data_dir} if data_dir else {}))) as parts:
        token = _open.set(parts)
        try:
            yield parts
        finally:
            _open.reset(token)


def _parts() -> Parts:
    parts = _open.get()
    if parts is None:
        raise RuntimeError("a task of these flows runs inside its flow only")
    return parts


def _root(path: str | Path) -> Path:
    root = Path(path).expanduser().resolve()
    if not root.exists():
        raise SourceError(f"{path}: no such file or folder")
    return root


def _scope(user_id: str | None, session_id: str | None) -> Scope | None:
    if user_id is None:
        return None
    return user_scope(user_id) if session_id is None else session_scope(user_id, session_id)
