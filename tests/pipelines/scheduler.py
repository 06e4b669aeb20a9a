"""A running `letopis schedule` with its own local Prefect server, seen through Prefect's REST API.

Every wait is for a state, with a generous limit: the machine may be slow, and time proves nothing.
"""

import json
import os
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx

LIMIT = 240.0

T = TypeVar("T")


def wait(look: Callable[[], T | None], what: str) -> T:
    """Return what ``look`` finds, as soon as it is something."""
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        if (found := look()) not in (None, False):
            return found
        time.sleep(0.2)
    raise AssertionError(f"waited {LIMIT:.0f} s for {what}")


@dataclass(frozen=True)
class Scheduler:
    """The process, the folder that it works in, and what its ready message said."""

    process: "subprocess.Popen[str]"
    folder: Path
    ready: dict[str, Any]

    @property
    def home(self) -> Path:
        """Where Prefect keeps its own data."""
        return self.folder / "memory" / "prefect"

    def post(self, path: str, **body: Any) -> Any:
        return self._ask("POST", path, body)

    def get(self, path: str) -> Any:
        return self._ask("GET", path, None)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        """Ask until the server is not busy (503: its database is locked), as its clients do."""

        def answer() -> httpx.Response | None:
            url = f"{self.ready['ui']}/api/{path}"
            found = httpx.request(method, url, json=body, timeout=60)
            return None if found.status_code == httpx.codes.SERVICE_UNAVAILABLE else found

        return wait(answer, path).raise_for_status().json()

    def start(self, deployment: str) -> str:
        """Start a run of a deployment now; return its id."""
        found = self.get(f"deployments/name/{deployment}")
        return str(self.post(f"deployments/{found['id']}/create_flow_run")["id"])

    def runs(self, deployment: str) -> list[dict[str, Any]]:
        """Return the runs of a deployment."""
        found = self.get(f"deployments/name/{deployment}")
        where = {"deployment_id": {"any_": [found["id"]]}}
        return list(self.post("flow_runs/filter", flow_runs=where))

    def ended(self, run: str, state: str) -> dict[str, Any]:
        """Wait until a run has ended, and in this state."""

        def look() -> dict[str, Any] | None:
            found: dict[str, Any] = self.get(f"flow_runs/{run}")
            final = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")
            return found if found["state_type"] in final else None

        found = wait(look, f"run {run} to end")
        assert found["state_type"] == state, found["state"]
        return found

    def tasks(self, run: str) -> dict[str, dict[str, Any]]:
        """Return the task runs of a run by name."""
        found = self.post("task_runs/filter", flow_runs={"id": {"any_": [run]}})
        return {task["name"]: task for task in found}

    def page(self, key: str, run: str) -> str:
        """Wait for the page of a run."""
        where = {"key": {"any_": [key]}, "flow_run_id": {"any_": [run]}}

        def look() -> str | None:
            found = self.post("artifacts/filter", artifacts=where)
            return str(found[0]["data"]) if found else None

        return wait(look, f"the page {key}")

    def process_of(self, run: str) -> int:
        """Wait for the process that a run works in; return its id."""

        def look() -> int | None:
            for pid in children(self.process.pid):
                if environment_of(pid).get("PREFECT__FLOW_RUN_ID") == run:
                    return pid
            return None

        return wait(look, f"the process of run {run}")

    def rows(self) -> dict[str, float]:
        """Return when each source of the catalog was indexed, by id; not what was only begun."""
        connection = sqlite3.connect(self.folder / "memory" / "catalog.sqlite", timeout=60)
        try:
            query = "SELECT source_id, indexed_at FROM sources WHERE content_hash <> ''"
            return dict(connection.execute(query))
        finally:
            connection.close()


def children(pid: int) -> Iterator[int]:
    """Yield the processes that a process has started and that still run."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z" and int(fields[1]) == pid:
                yield int(entry.name)


def environment_of(pid: int) -> dict[str, str]:
    """Return the environment that a process was started with."""
    try:
        raw = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    pairs = (os.fsdecode(part).partition("=") for part in raw.split(b"\0") if part)
    return {name: value for name, _, value in pairs}


def read_ready(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """Return the ready message, the first line of stdout."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, process.communicate()
    found: dict[str, Any] = json.loads(line)
    return found
