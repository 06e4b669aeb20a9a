"""Commands beside another process that holds the store, stops, or dies; Ctrl-C while they load."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from tests.letopis.conftest import Cli, environment

HOLDER = """
import sys, time
from pathlib import Path
from indexing.edge import EdgeStore
from indexing.types import Filter, user_scope
store = EdgeStore(Path(sys.argv[1]), idle=3600)
print(store.count("user", Filter(user_scope("ann"))), flush=True)
while True:
    store.count("user", Filter(user_scope("ann")))
    time.sleep(0.001)
"""

Holder = subprocess.Popen[str]


@pytest.fixture
def holder(cli: Cli) -> Iterator[Callable[[], Holder]]:
    """Start a process that uses the store all the time."""
    running: list[Holder] = []

    def start() -> Holder:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(cli.folder / "memory" / "store")],
            env=environment(cli.folder),
            stdout=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "1\n"
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_a_stopped_holder_is_named_and_a_dead_one_frees_the_store(
    cli: Cli, holder: Callable[[], Holder]
) -> None:
    first = cli("remember", "Ann drinks tea.", "--user", "ann")
    assert first.code == 0, first
    process = holder()
    process.send_signal(signal.SIGSTOP)
    locked, alone = cli.many(
        ("remember", "Ann has a cat.", "--user", "ann", {"LETOPIS_BUSY_TIMEOUT": "1"}),
        ("status", "--json"),
    )
    assert locked.refused().startswith("StoreLocked: the store in ")
    assert f"held by process {process.pid} " in locked.err
    assert alone.json["sources"]["user"]["sources"] == 1

    process.send_signal(signal.SIGCONT)
    busy = cli("remember", "Ann has a cat.", "--user", "ann")
    assert busy.code == 0, busy
    process.kill()
    process.wait()
    found = cli("retrieve", "does Ann have a pet?", "--user", "ann", "--json")
    assert "Ann has a cat." in [hit["text"] for hit in found.json["hits"]]


@pytest.mark.parametrize("loading", [("letopis", "cli"), ("configs", "stores")])
def test_ctrl_c_while_a_command_loads_shows_no_traceback(
    cli: Cli, loading: tuple[str, str]
) -> None:
    running = cli.start("status", PYTHONVERBOSE="1")
    assert running.stderr is not None
    for line in running.stderr:
        if all(word in line for word in loading):  # in the middle of the imports
            break
    running.send_signal(signal.SIGINT)
    _, err = running.communicate()
    assert running.returncode == 130
    assert "interrupted" in err  # it may end a line that the import has begun
    assert "Traceback" not in err
