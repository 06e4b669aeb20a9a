"""The local server's port and note, and Ctrl-C that children do not get; without Prefect."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from indexing.oslock import OsLock
from pipelines.errors import FlowUnavailable
from pipelines.server import HOST, free_port, running
from tests.letopis.conftest import environment


def test_a_free_port_is_found_and_a_taken_one_refused() -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(FlowUnavailable, match=f"port {port} is taken: set schedule.port"):
            free_port(port)
        found = free_port()
        assert found not in (0, port)
    assert free_port(port) == port


@pytest.mark.parametrize("note", [None, "", "[]", '{"ui": "http://127.0.0.1:1"}'])
def test_no_server_runs_where_the_note_says_none(tmp_path: Path, note: str | None) -> None:
    if note is not None:
        (tmp_path / "server.json").write_text(note)
    assert running(tmp_path) is None


def test_the_note_of_a_killed_scheduler_counts_for_nothing(tmp_path: Path) -> None:
    """Nobody holds the lock: whoever answers at the address is somebody else's server."""
    with socket.socket() as other:
        other.bind((HOST, 0))
        other.listen()
        ui = f"http://{HOST}:{other.getsockname()[1]}"
        (tmp_path / "server.json").write_text(json.dumps({"ui": ui, "pid": 1}))
        assert running(tmp_path) is None


def test_a_server_that_does_not_answer_is_none(tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text(json.dumps({"ui": f"http://{HOST}:1", "pid": 1}))
    lock = OsLock(tmp_path / "schedule.lock")
    assert lock.try_acquire()
    assert running(tmp_path) is None
    lock.release()


SHIELDED = """
import os, signal, subprocess, sys, threading
from pipelines.interrupt import shielded

stopped = threading.Event()
try:
    with shielded(stopped.set):
        child = subprocess.Popen(
            [sys.executable, "-c", "print('up', flush=True); input(); print('lived')"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        assert child.stdout.readline() == "up\\n"
        os.killpg(0, signal.SIGINT)
        os.killpg(0, signal.SIGINT)
        assert stopped.wait(60)
        print(child.communicate("\\n")[0], end="")
except KeyboardInterrupt:
    print("interrupted")
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no signal masks here")
def test_ctrl_c_is_told_once_and_children_live_on(tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", SHIELDED],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert (process.returncode, process.stdout) == (0, "lived\ninterrupted\n"), process.stderr
