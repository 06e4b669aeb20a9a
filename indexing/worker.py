"""A process of its own that parses untrusted files: a crash, a hang or a flood stays in it.

Does: one file at a time, under limits of memory and processor time that the kernel enforces; no
network, no other programs, an environment without secrets; answers are JSON, never pickles.
Does not: time anything by the clock, or restart; `parse` kills it and starts another.

Protocol, both ways: four bytes of length (big-endian), then as many bytes. A request is a JSON
header and then the file's bytes; the answer is one JSON object, with ``error`` or a document.
"""

import json
import os
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from importlib import import_module
from typing import Any, BinaryIO

from chunking.types import Document, Heading
from indexing.errors import SourceError
from indexing.formats.readers import LIBRARIES, read
from indexing.limits import Limits, in_mb
from indexing.sniff import sniff

_LENGTH = struct.Struct(">I")
_FORBIDDEN = frozenset(
    (
        *("socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"),
        *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
    )
)
SPARE_SECONDS = 5


def send(stream: BinaryIO, data: bytes) -> None:
    """Write one message."""
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: BinaryIO) -> bytes | None:
    """Read one message; None at the end of the stream."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    size = _LENGTH.unpack(head)[0]
    data = stream.read(size)
    return data if len(data) == size else None


def to_json(document: Document) -> dict[str, Any]:
    """Return a document as JSON can hold it."""
    return {
        "text": document.text,
        "title": document.title,
        "headings": [(head.start, head.level, head.text) for head in document.headings],
        "at": document.at.isoformat() if document.at else None,
        "pages": document.pages,
        "tags": document.tags,
    }


def from_json(made: Mapping[str, Any]) -> Document:
    """Return the document; the reverse of `to_json`."""
    return Document(
        "",
        str(made["text"]),
        str(made["title"]),
        tuple(
            Heading(int(start), int(level), str(text)) for start, level, text in made["headings"]
        ),
        at=datetime.fromisoformat(made["at"]) if made["at"] else None,
        pages=tuple(map(int, made["pages"])),
        tags=tuple(map(str, made["tags"])),
    )


def answer(header: Mapping[str, Any], data: bytes) -> bytes:
    """Parse one file; why it cannot be parsed is an answer too."""
    limits = Limits(**header["limits"])
    try:
        document = _parsed(data, header["suffix"], header["media_type"], limits)
        return json.dumps(to_json(document)).encode()
    except SourceError as error:
        reason = str(error)
    except MemoryError:
        reason = f"needs more than {in_mb(limits.memory)} of memory"
    except RecursionError:
        reason = "nested too deeply"
    return json.dumps({"error": reason}).encode()


def _parsed(data: bytes, suffix: str, media_type: str, limits: Limits) -> Document:
    kind = sniff(data, suffix, media_type)
    with suppress(ImportError, KeyError):  # its reader says what to install
        import_module(LIBRARIES[kind])
    with suppress(ImportError):  # a platform without limits of this kind
        _limit(limits)
    try:
        return read(data, suffix, media_type, limits)
    except (SourceError, MemoryError, RecursionError):
        raise
    except Exception as error:
        # Parsers of untrusted files raise anything, and their messages may hold text of the file.
        raise SourceError(f"damaged {kind.upper()}: {type(error).__name__}") from error


def _limit(limits: Limits) -> None:
    """Bound what this file may use on top of what the process holds already."""
    import resource

    with suppress(OSError):
        with open("/proc/self/statm") as statm:
            held = int(statm.read().split()[0]) * resource.getpagesize()
        most = resource.getrlimit(resource.RLIMIT_AS)[1]
        resource.setrlimit(resource.RLIMIT_AS, (held + limits.memory, most))
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime + limits.seconds) + SPARE_SECONDS
    most = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, most))


def main() -> None:
    """Answer requests on standard input until it ends."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)  # what a library prints may hold text of the file
    sys.addaudithook(refuse)
    while (header := receive(requests)) is not None:
        data = receive(requests)
        if data is None:
            return
        send(answers, answer(json.loads(header), data))


def refuse(event: str, arguments: object) -> None:
    """Raise `PermissionError` for what no parser needs; an audit hook of the interpreter."""
    if event in _FORBIDDEN:
        raise PermissionError(f"a parser may not do this: {event}")


if __name__ == "__main__":
    main()
