"""The local Prefect server of `letopis schedule`: a child process that never outlives its parent.

It listens on this machine only, keeps its data in one folder and writes its log there. The child
holds the reading end of a pipe: when the parent ends, however it ends, the pipe closes and the
server stops. ``python -m pipelines.server PORT`` is what the child runs. Who serves a folder is in
its ``server.json``, so that other commands can join.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx

import pipelines
from indexing.oslock import OsLock
from pipelines.errors import FlowUnavailable

HOST = "127.0.0.1"
USUAL_PORT = 4200
START_SECONDS = 300.0
"""A first start creates the database: half a minute on a slow machine."""
STOP_SECONDS = 20.0

ENVIRONMENT = {
    "PREFECT_SERVER_API_HOST": HOST,
    "PREFECT_SERVER_CONCURRENCY_LEASE_STORAGE": (
        "prefect.server.concurrency.lease_storage.filesystem"
    ),
    "PREFECT_SERVER_CONCURRENCY_MAXIMUM_CONCURRENCY_SLOT_WAIT_SECONDS": "1",
    "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
}
"""Leases are kept on disk, so that slots of a killed server are freed; waits for one are short."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running local server: the address of its UI, and its process."""

    ui: str
    pid: int

    @property
    def api(self) -> str:
        """The address for ``PREFECT_API_URL``."""
        return f"{self.ui}/api"

    @property
    def answers(self) -> bool:
        """Whether it says that it is healthy."""
        try:
            return httpx.get(f"{self.api}/health", timeout=5).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False


def running(folder: Path) -> Server | None:
    """Return the server that serves this folder now, if there is one."""
    try:
        server = Server(**json.loads((folder / "server.json").read_text()))
        lock = OsLock(folder / "schedule.lock")
        if lock.try_acquire():  # a note of a scheduler that was killed
            lock.release()
            return None
    except (OSError, ValueError, TypeError):
        return None
    return server if server.answers else None


@contextmanager
def local_server(folder: Path, port: int = 0) -> Iterator[Server]:
    """Run a server with its data in the folder; port 0: the usual one, or any that is free.

    Raises `FlowUnavailable` when another scheduler uses the folder, the port is taken or the
    server does not start.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = OsLock(folder / "schedule.lock")
    if not lock.try_acquire():
        other = running(folder)
        where = f" (its UI: {other.ui})" if other else ""
        raise FlowUnavailable(f"another `letopis schedule` runs on {folder}{where}")
    note = folder / "server.json"
    try:
        process, server = _start(folder, free_port(port))
        try:
            _await(process, server, folder)
            note.write_text(json.dumps(asdict(server)))
            yield server
        finally:
            note.unlink(missing_ok=True)
            _stop(process)
    finally:
        lock.release()


def free_port(port: int = 0) -> int:
    """Return the port when it is free; for 0 the usual one, or any. Raises `FlowUnavailable`."""
    for candidate in (port,) if port else (USUAL_PORT, 0):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((HOST, candidate))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise FlowUnavailable(f"port {port} is taken: set schedule.port to another, or to 0 for any")


def _start(folder: Path, port: int) -> tuple["subprocess.Popen[bytes]", Server]:
    package = str(Path(pipelines.__file__).parents[1])
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    chosen = {"PREFECT_HOME": str(folder), "PREFECT_SERVER_API_PORT": str(port)}
    environment = {**ENVIRONMENT, **os.environ, **chosen, "PYTHONPATH": path}
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - this interpreter, this module
            [sys.executable, "-m", "pipelines.server", str(port)],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            start_new_session=True,  # Ctrl-C at a terminal is for the parent, which then stops it
        )
    return process, Server(f"http://{HOST}:{port}", process.pid)


def _await(process: "subprocess.Popen[bytes]", server: Server, folder: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not server.answers:
        if process.poll() is not None or time.monotonic() > deadline:
            raise FlowUnavailable(
                f"the local Prefect server did not start; its log is {folder / 'server.log'}"
            )
        time.sleep(0.2)


def _stop(process: "subprocess.Popen[bytes]") -> None:
    """Close the pipe, which asks the server to stop; end it when it does not."""
    if process.stdin:
        process.stdin.close()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def serve_here(port: int) -> None:
    """Serve in this process until it is stopped or the parent has gone."""
    threading.Thread(target=_stop_with_parent, daemon=True).start()

    import uvicorn
    from prefect.server.api.server import create_app

    uvicorn.run(
        create_app(final=True),
        host=HOST,
        port=port,
        log_level="warning",
        timeout_graceful_shutdown=5,
    )


def _stop_with_parent() -> None:
    sys.stdin.buffer.read()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_SECONDS)
    os._exit(1)


if __name__ == "__main__":
    serve_here(int(sys.argv[1]))
