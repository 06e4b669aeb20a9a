"""Untrusted files -> documents, under limits. Chat exports: `chat`.

Every defect is a `SourceError` with a reason a person can act on. What is read is in
`sniff.SUFFIXES` and `formats.readers`; docs/formats.md tells what is kept of each.

Hash the bytes that `read_bytes` returns and hand the same bytes to `Parser.parse_bytes`: an
unchanged file is never parsed again.
"""

import errno
import os
import stat
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Self
from urllib.parse import urlsplit

from chunking.types import Document
from indexing.errors import SourceError
from indexing.formats.readers import LIGHT, read
from indexing.limits import DEFAULTS, Limits
from indexing.sandbox import Worker
from indexing.sniff import sniff

SMALL = 64 * 1024
"""Up to this size a light format is read in this process: its worst case takes about a second."""
FILES_PER_WORKER = 2_000
"""A worker is replaced after so many files, lest a leak of some library adds up."""

_KINDS = (
    (stat.S_ISDIR, "a folder that cannot be opened"),
    (stat.S_ISFIFO, "not a file: a named pipe"),
    (stat.S_ISSOCK, "not a file: a socket"),
    (stat.S_ISCHR, "not a file: a device"),
    (stat.S_ISBLK, "not a file: a device"),
)


def read_bytes(path: Path, limits: Limits = DEFAULTS) -> bytes:
    """Return what is in a file. Raises `SourceError`; never waits for a pipe or a device."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            before = os.fstat(handle)
            _check_kind(before)
            limits.check_bytes(before.st_size)
            data = file.read(limits.bytes + 1)
            after = os.fstat(handle)
    except OSError as error:
        raise SourceError(_reason(error)) from error
    limits.check_bytes(len(data))
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise SourceError("changed while it was read; try again")
    return data


def _check_kind(found: os.stat_result) -> None:
    for is_kind, reason in _KINDS:
        if is_kind(found.st_mode):
            raise SourceError(reason)


def _reason(error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return "no such file"
    if error.errno == errno.EISDIR:
        return "a folder that cannot be opened"
    if error.errno == errno.ENXIO:
        return "not a file: a socket or a device"
    if error.errno == errno.ELOOP:
        return "a link that leads to itself"
    return f"cannot be read: {error.strerror or error}"


class Parser:
    """Parses files, the heavy ones in worker processes that are kept for the next file.

    Any number of threads may share one; each parse that runs at a time has a worker of its own.
    A worker starts at the first file that needs one (about 0.3 s).
    """

    def __init__(self, limits: Limits = DEFAULTS) -> None:
        self.limits = limits
        self._idle: list[Worker] = []

    def parse(self, path: Path, source_id: str, uri: str) -> Document:
        """Read and parse a file. Raises `SourceError`."""
        return self.parse_bytes(read_bytes(path, self.limits), source_id, uri)

    def parse_bytes(self, data: bytes, source_id: str, uri: str, media_type: str = "") -> Document:
        """Parse what is in a file, or the body of an HTTP answer with its ``media_type``.

        The ending of ``uri`` counts where the bytes do not tell what they are. Raises
        `SourceError`.
        """
        self.limits.check_bytes(len(data))
        suffix = _suffix(uri)
        if len(data) <= SMALL and _is_light(data, suffix, media_type):
            document = read(data, suffix, media_type, self.limits)
        else:
            document = self._in_worker(data, suffix, media_type)
        return replace(document, source_id=source_id, uri=uri)

    def _in_worker(self, data: bytes, suffix: str, media_type: str) -> Document:
        worker = self._take()
        try:
            return worker.parse(data, suffix, media_type, self.limits)
        finally:
            if worker.alive and worker.files < FILES_PER_WORKER:
                self._idle.append(worker)
            else:
                worker.close()

    def _take(self) -> Worker:
        """Return a worker that lives: one may have died while it was idle."""
        while self._idle:
            worker = self._idle.pop()
            if worker.alive:
                return worker
            worker.close()
        return Worker()

    def close(self) -> None:
        """End the workers; a later parse starts new ones."""
        while self._idle:
            self._idle.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _suffix(uri: str) -> str:
    """Return the ending of a path's or an address's last name.

    >>> _suffix("docs/a.PDF"), _suffix("https://example.org/a.pdf?v=2"), _suffix("https://a.org")
    ('.PDF', '.pdf', '')
    """
    return PurePosixPath(urlsplit(uri).path if "://" in uri else uri).suffix


def _is_light(data: bytes, suffix: str, media_type: str) -> bool:
    return not data.startswith(b"PK") and sniff(data, suffix, media_type) in LIGHT
