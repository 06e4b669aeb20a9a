"""Who may touch the embedded store now: an OS lock that is handed over on request.

An edge shard without its WAL has no lock of its own and two processes on one folder corrupt it.
Three files in the folder:

- ``lock``: held by the one process that has the shards open; freed by the OS when it dies;
- ``lock.wanted``: a turnstile. Whoever waits for ``lock`` holds it meanwhile, so the holder sees
  that somebody waits, and, when it wants the store again, queues behind;
- ``lock.holder``: who holds ``lock``, for the message of `StoreLocked`.

While a process holds the lock, a daemon thread looks every 25 ms whether the lease is idle or
wanted. It lets go between operations, never inside one.
"""

import json
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from indexing.errors import StoreError, StoreLocked, StoreUnavailable
from indexing.oslock import OsLock

POLL = 0.025
"""Seconds between two looks: of the holder at the turnstile, of a waiter at the lock."""

QUANTUM = 0.25
"""Seconds a busy holder may keep a wanted store: reopening a shard costs 20 to 135 ms."""

PATIENCE = 2.0
"""Seconds a waiter queues at the turnstile before it goes past one that does not move."""

log = logging.getLogger(__name__)


class Lease:
    """The right of this process to touch one folder. Threads share it; `hold` nests.

    ``on_release`` closes what is open and runs when no thread is inside, before the lock is freed.
    """

    def __init__(
        self,
        folder: Path,
        on_release: Callable[[], None],
        *,
        busy_timeout: float = 10.0,
        idle: float = 5.0,
    ) -> None:
        self.folder = folder
        self.busy_timeout = busy_timeout
        self.idle = idle
        self._on_release = on_release
        self._lock = OsLock(folder / "lock")
        self._wanted = OsLock(folder / "lock.wanted")
        self._gate = threading.Lock()  # held while the lease changes hands: nobody enters then
        self._inside = 0
        self._changed = threading.Condition()  # guards _inside
        self._thread = threading.local()
        self._since = self._used = 0.0
        self._stop = threading.Event()
        self._pid = os.getpid()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep the lock for one operation; waits for it up to the busy timeout.

        Raises `StoreLocked` when another process keeps it longer, `StoreUnavailable` when the
        folder cannot be written.
        """
        depth: int = getattr(self._thread, "depth", 0)
        if depth == 0:
            self._enter()
        self._thread.depth = depth + 1
        try:
            yield
        finally:
            self._thread.depth = depth
            if depth == 0:
                self._leave()

    def release(self) -> None:
        """Let go now, after the operations in progress. Holding again later is fine."""
        with self._gate:
            self._let_go()

    def _enter(self) -> None:
        if os.getpid() != self._pid:
            raise StoreError("the store was opened before a fork; open it again in this process")
        started = time.monotonic()
        if not self._gate.acquire(timeout=self.busy_timeout):
            raise self._locked(started)
        try:
            if not self._lock.held:
                self._acquire(started)
            with self._changed:
                self._inside += 1
        finally:
            self._gate.release()

    def _leave(self) -> None:
        with self._changed:
            self._inside -= 1
            self._used = time.monotonic()
            self._changed.notify_all()

    def _acquire(self, started: float) -> None:
        with _unavailable(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._queue(started)
                self._sign()
            except BaseException:
                self._lock.release()
                raise
            finally:
                self._wanted.release()
        self._since = self._used = time.monotonic()
        self._stop = threading.Event()
        threading.Thread(target=self._keep, args=(self._stop,), daemon=True).start()

    def _queue(self, started: float) -> None:
        """Pass the turnstile, then the lock."""
        while True:
            waited = time.monotonic() - started
            at_turn = self._wanted.try_acquire() or waited > min(PATIENCE, self.busy_timeout / 2)
            if at_turn and self._lock.try_acquire():
                return
            if waited >= self.busy_timeout:
                raise self._locked(started)
            time.sleep(POLL / 2)

    def _keep(self, stop: threading.Event) -> None:
        while not stop.wait(POLL):
            if not self._due():
                continue
            with self._gate:
                if not stop.is_set():
                    self._let_go_quietly()
            return

    def _due(self) -> bool:
        now = time.monotonic()
        with self._changed:
            unused = 0.0 if self._inside else now - self._used
        if unused >= self.idle:
            return True
        return (unused >= POLL or now - self._since >= QUANTUM) and self._is_wanted()

    def _is_wanted(self) -> bool:
        probe = OsLock(self._wanted.path)
        try:
            return not probe.try_acquire()
        except OSError:  # the folder is gone: nothing left to guard
            return True
        finally:
            probe.release()

    def _let_go_quietly(self) -> None:
        try:
            self._let_go()
        except StoreError:  # every write was flushed already, so nothing is lost
            log.exception("the store in %s did not close cleanly", self.folder)

    def _let_go(self) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._inside == 0)
        if not self._lock.held:
            return
        self._stop.set()
        try:
            self._on_release()
        finally:
            self._lock.release()

    def _sign(self) -> None:
        """Write who holds the lock, in place: it needs no room on a full disk after the first."""
        holder = {
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "program": Path(sys.argv[0]).name or "python",
            "since": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        fd = os.open(self.folder / "lock.holder", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            os.write(fd, json.dumps(holder).encode().ljust(1024))
        finally:
            os.close(fd)

    def _locked(self, started: float) -> StoreLocked:
        waited = time.monotonic() - started
        try:
            held = json.loads((self.folder / "lock.holder").read_bytes())
            who = "process {pid} ({program}) on {host}, since {since}".format(**held)
        except (OSError, ValueError, KeyError, TypeError):
            who = "another process"
        return StoreLocked(
            f"the store in {self.folder} is held by {who}; waited {waited:.1f} s. "
            "Stop that process or raise the busy timeout"
        )


@contextmanager
def _unavailable(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(f"cannot use the store folder {folder}: {error}") from error
