"""The lock of the embedded store: taken, handed over, freed by death, never stolen."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import indexing
from indexing.errors import StoreLocked, StoreUnavailable
from indexing.lease import Lease
from indexing.oslock import OsLock

HOLDER = """
import sys, time
from pathlib import Path
from indexing.lease import Lease
lease = Lease(Path(sys.argv[1]), lambda: None, idle=60)
with lease.hold():
    print("held", flush=True)
    if sys.argv[2] == "inside":
        time.sleep(60)
time.sleep(60)
"""

ENV = {**os.environ, "PYTHONPATH": str(Path(indexing.__file__).parents[1])}

Spawn = Callable[[Path, str], subprocess.Popen[str]]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start a process that holds the lease and stays ``inside`` an operation or ``outside``."""
    started: list[subprocess.Popen[str]] = []

    def start(folder: Path, where: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(folder), where],
            env=ENV,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def make(folder: Path, closed: list[str] | None = None, **options: float) -> Lease:
    return Lease(folder, lambda: closed.append("closed") if closed is not None else None, **options)


def until(condition: Callable[[], bool], seconds: float = 3.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def test_an_idle_holder_in_another_process_hands_over(tmp_path: Path, spawn: Spawn) -> None:
    spawn(tmp_path, "outside")
    lease = make(tmp_path, busy_timeout=5)
    started = time.monotonic()
    with lease.hold():
        assert time.monotonic() - started < 2
    lease.release()


def test_a_busy_holder_is_named_after_the_timeout(tmp_path: Path, spawn: Spawn) -> None:
    holder = spawn(tmp_path, "inside")
    lease = make(tmp_path, busy_timeout=0.3)
    with (
        pytest.raises(StoreLocked, match=rf"process {holder.pid} .*waited 0\.[3-9] s"),
        lease.hold(),
    ):
        pass


def test_a_stopped_holder_is_named(tmp_path: Path, spawn: Spawn) -> None:
    holder = spawn(tmp_path, "outside")
    os.kill(holder.pid, signal.SIGSTOP)
    lease = make(tmp_path, busy_timeout=0.5)
    with pytest.raises(StoreLocked, match=f"process {holder.pid} "), lease.hold():
        pass
    os.kill(holder.pid, signal.SIGCONT)
    with lease.hold():
        pass
    lease.release()


def test_a_killed_holder_frees_the_store(tmp_path: Path, spawn: Spawn) -> None:
    holder = spawn(tmp_path, "inside")
    holder.kill()
    holder.wait()
    lease = make(tmp_path, busy_timeout=1)
    with lease.hold():
        pass
    lease.release()


def test_a_waiter_that_does_not_move_stops_nobody_else(tmp_path: Path) -> None:
    stuck = OsLock(tmp_path / "lock.wanted")
    assert stuck.try_acquire()
    lease = make(tmp_path, busy_timeout=1)
    with lease.hold():
        pass
    lease.release()
    stuck.release()


def test_two_leases_of_one_process_hand_over_by_turns(tmp_path: Path) -> None:
    closed: list[str] = []
    one, two = make(tmp_path, closed), make(tmp_path, closed)
    order: list[int] = []

    def work(lease: Lease, name: int) -> None:
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            with lease.hold():
                order.append(name)
                time.sleep(0.002)

    threads = [threading.Thread(target=work, args=(le, n)) for n, le in enumerate((one, two))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    turns = 1 + sum(a != b for a, b in pairwise(order))
    assert 3 <= turns <= 12
    assert min(order.count(0), order.count(1)) > len(order) / 5
    one.release()
    two.release()
    assert len(closed) == turns


def test_only_one_is_ever_inside(tmp_path: Path) -> None:
    inside: list[str] = []
    most: list[int] = []
    leases = [make(tmp_path, busy_timeout=20) for _ in range(4)]

    def work(lease: Lease) -> None:
        for _ in range(3):
            with lease.hold():
                inside.append("x")
                most.append(len(inside))
                time.sleep(0.01)
                inside.pop()
            time.sleep(0.03)

    threads = [threading.Thread(target=work, args=(lease,)) for lease in leases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 12
    for lease in leases:
        lease.release()


def test_threads_share_and_holds_nest(tmp_path: Path) -> None:
    closed: list[str] = []
    lease = make(tmp_path, closed, busy_timeout=5)
    meet = threading.Barrier(5, timeout=5)

    def work() -> None:
        with lease.hold(), lease.hold():
            meet.wait()

    threads = [threading.Thread(target=work) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert closed == []
    lease.release()
    lease.release()
    assert closed == ["closed"]


def test_a_nested_hold_does_not_wait_for_the_hand_over_it_delays(tmp_path: Path) -> None:
    one, two = make(tmp_path), make(tmp_path)
    with one.hold():
        waiting = threading.Thread(target=lambda: two.hold().__enter__())
        waiting.start()
        time.sleep(0.4)  # past the quantum: the keeper is closing the door
        with one.hold():
            pass
    waiting.join(5)
    assert not waiting.is_alive()


def test_it_lets_go_when_idle(tmp_path: Path) -> None:
    closed: list[str] = []
    lease = make(tmp_path, closed, idle=0.1)
    with lease.hold():
        time.sleep(0.3)
        assert closed == []
    assert until(lambda: closed == ["closed"])
    assert OsLock(tmp_path / "lock").try_acquire()


def test_an_error_inside_leaves(tmp_path: Path) -> None:
    lease = make(tmp_path)
    with pytest.raises(KeyError), lease.hold():
        raise KeyError
    lease.release()
    assert OsLock(tmp_path / "lock").try_acquire()


def test_a_folder_that_cannot_be_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    lease = make(tmp_path / "file" / "store")
    with pytest.raises(StoreUnavailable), lease.hold():
        pass


FORK = """
import os, sys
from pathlib import Path
from indexing.errors import StoreError
from indexing.lease import Lease
lease = Lease(Path(sys.argv[1]), lambda: None)
if os.fork():
    os.wait()
else:
    try:
        lease.hold().__enter__()
    except StoreError as error:
        print(error)
"""


def test_a_fork_may_not_use_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORK, str(tmp_path)], env=ENV, capture_output=True, text=True
    )
    assert "opened before a fork" in done.stdout


TAKER = """
import sys, time
from pathlib import Path
from indexing.lease import Lease
folder = Path(sys.argv[1])
turns = []
lease = Lease(folder, lambda: turns.append(1), busy_timeout=30)
print("ready", flush=True)
while not (folder / "go").exists():
    time.sleep(0.01)
while not (folder / "stop").exists():
    with lease.hold():
        time.sleep(0.002)
lease.release()
print(len(turns))
"""


def test_no_process_is_starved(tmp_path: Path) -> None:
    takers = [
        subprocess.Popen(
            [sys.executable, "-c", TAKER, str(tmp_path)],
            env=ENV,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for taker in takers:
        assert taker.stdout is not None
        assert taker.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    time.sleep(4)
    (tmp_path / "stop").touch()
    turns = [int(taker.communicate()[0]) for taker in takers]
    assert [taker.returncode for taker in takers] == [0, 0, 0]
    assert min(turns) >= 2
