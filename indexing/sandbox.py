"""Starts, times and ends worker processes (`worker`): the parent's side of parsing.

A worker that crashes or takes too long is a `SourceError` of the file that it had; the next file
gets a new one.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from dataclasses import asdict
from typing import BinaryIO, cast

from chunking.types import Document
from indexing.errors import SourceError
from indexing.limits import Limits
from indexing.worker import from_json, receive, send

_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "TEMP", "SYSTEMROOT", "LD_LIBRARY_PATH")
"""What a worker gets of the environment: no keys, no tokens."""
_SET = {
    "DO_NOT_TRACK": "1",
    "SCARF_NO_ANALYTICS": "1",
    "UNSTRUCTURED_DISABLE_NOTICE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


class Worker:
    """One process that parses one file at a time."""

    def __init__(self) -> None:
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        environment |= _SET | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "indexing.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
        self._requests = cast("BinaryIO", self._process.stdin)
        self._answers = cast("BinaryIO", self._process.stdout)
        self.files = 0
        self._end = weakref.finalize(self, _end, self._process, self._requests, self._answers)

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def parse(self, data: bytes, suffix: str, media_type: str, limits: Limits) -> Document:
        """Parse a file. Raises `SourceError`, also for a process that dies or takes too long."""
        self.files += 1
        header = {"suffix": suffix, "media_type": media_type, "limits": asdict(limits)}
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        timer = threading.Timer(limits.seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            reply = self._ask(json.dumps(header).encode(), data)
        except BaseException:
            self.close()  # its answer would be taken for the next file's
            raise
        finally:
            timer.cancel()
        if reply is None:
            self.close()
            if late.is_set():
                raise SourceError(f"takes longer than {limits.seconds:g} seconds")
            raise SourceError(f"crashes its parser ({_cause(self._process.returncode)})")
        made = json.loads(reply)
        if "error" in made:
            raise SourceError(made["error"])
        return from_json(made)

    def _ask(self, header: bytes, data: bytes) -> bytes | None:
        """Return the answer; None where the process ended before it gave one."""
        try:
            send(self._requests, header)
            send(self._requests, data)
        except BrokenPipeError:
            return None
        return receive(self._answers)

    def close(self) -> None:
        """End the process."""
        self._end()


def _end(process: "subprocess.Popen[bytes]", *streams: BinaryIO) -> None:
    process.kill()
    for stream in streams:
        with suppress(BrokenPipeError):  # closing flushes what was not taken
            stream.close()
    process.wait()


def _cause(code: int | None) -> str:
    if code is not None and code < 0:
        return signal.Signals(-code).name
    return f"exit code {code}"
