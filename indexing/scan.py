"""Look for removed texts and ids in every file of a folder, byte by byte: `scan`.

What the embedded store writes, as found in its files:

- a payload is JSON in UTF-8, packed with LZ4: a text is seen as it is only where nothing in it was
  said before in it, and a user's id mostly is not. So the values in its pages are unpacked and
  looked through too, those that were deleted or changed as well (`unpack`). Seen in pieces only
  is the end of a value whose beginning something else was written over (a rewrite leaves that
  behind) and of the one value that goes over from a page of 32 MiB to the next;
- a memory's id is 16 bytes, the high one first, in the table of ids and nowhere else;
- what is indexed (tenant, source, kind, key, subject) is there as plain UTF-8 once more.

The catalog has its ids as plain UTF-8 in SQLite's pages. A long id may go over from one page to
another there; one cut in two is not seen. Texts that another scope also has are found where they
may well be: `living` tells which those are.
"""

import errno
import os
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from indexing.errors import InvalidInput, StoreUnavailable
from indexing.needles import Finder, Needle
from indexing.unpack import UNIT, values

BLOCK = 1 << 20
"""Bytes that are read and looked through at once, a multiple of `UNIT`."""

PAGE = 1 << 25
"""Bytes that are unpacked at once: as long as a page of the store is."""


@dataclass(frozen=True, slots=True)
class Found:
    """How often a needle, by its place in the list, is in a file, named from the folder.

    ``packed`` counts what was seen in unpacked values alone, apart from the bytes as they are.
    """

    file: str
    needle: int
    count: int
    packed: bool = False


@dataclass(frozen=True, slots=True)
class ScanReport:
    """What was looked through and found; ``too_short`` needles were not looked for."""

    files: int
    bytes: int
    hits: tuple[Found, ...]
    too_short: int

    @property
    def needles(self) -> frozenset[int]:
        """The places in the list of the needles that were found."""
        return frozenset(hit.needle for hit in self.hits)


def scan(
    folder: Path,
    needles: Iterable[Needle],
    *,
    tenants: Collection[str] | None = None,
    block: int = BLOCK,
) -> ScanReport:
    """Count the needles in every regular file in and below a folder; links are not followed.

    With ``tenants`` packed payloads that plainly belong to others are not unpacked: it is faster.
    A file that is gone when it is its turn is fine; one that cannot be read raises
    `StoreUnavailable`, as does a folder that is not there.
    """
    if block < UNIT or block % UNIT:
        raise InvalidInput(f"a block of {block} bytes is not a multiple of {UNIT}")
    finder = Finder(list(needles))
    hits: list[Found] = []
    files = total = 0
    for path in _files(folder):
        try:
            size, plain, packed = _look(path, finder, block, tenants)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreUnavailable(f"cannot read {path}: {error.strerror}") from error
        files, total = files + 1, total + size
        name = path.relative_to(folder).as_posix()
        hits += [Found(name, needle, count) for needle, count in sorted(plain.items())]
        hits += [Found(name, needle, count, True) for needle, count in sorted(packed.items())]
    return ScanReport(files, total, tuple(hits), finder.too_short)


def living(needles: Sequence[Needle], kept: Iterable[bytes]) -> frozenset[int]:
    """Return the places of the needles that are in what is to stay, such as other users' texts."""
    finder = Finder(needles)
    return frozenset(number for many in _together(kept) for number in finder.count(many))


def _together(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield parts together, many at a time, none run into the next."""
    many = bytearray()
    for part in parts:
        many += part + b"\0"
        if len(many) >= BLOCK:
            yield bytes(many)
            many.clear()
    yield bytes(many)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the regular files in and below a folder, in order."""

    def failed(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError) or Path(error.filename) == folder:
            raise StoreUnavailable(f"cannot read {error.filename}: {error.strerror}") from error

    for parent, folders, names in os.walk(folder, onerror=failed):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            try:
                regular = stat.S_ISREG(path.lstat().st_mode)
            except FileNotFoundError:
                continue
            if regular:
                yield path


def _look(
    path: Path, finder: Finder, block: int, tenants: Collection[str] | None
) -> tuple[int, Counter[int], Counter[int]]:
    """Return a file's size, and what is in its bytes and in its packed values.

    Most of the store's younger files is zeros, which are passed over: mostly holes, never read.
    """
    plain: Counter[int] = Counter()
    packed: Counter[int] = Counter()
    zeros = bytes(max(block, finder.longest))
    overlap = max(0, finder.longest - 1)
    kept, size, page, blank = b"", 0, bytearray(), 0
    with path.open("rb", buffering=0) as file:
        for data in _blocks(file, block):
            size += len(data)
            if finder.blank or any(kept) or not zeros.startswith(data):
                both = kept + data
                plain += finder.count(both, len(kept))
                kept = both[len(both) - min(len(both), overlap) :]
            else:
                kept = zeros[: min(overlap, len(kept) + len(data))]
            if zeros.startswith(data):
                blank += len(data)
            else:
                page += bytes(blank) + data
                blank = 0
            if len(page) + blank >= PAGE:
                packed += _unpacked(bytes(page), finder, tenants)
                page.clear()
                blank = 0
    packed += _unpacked(bytes(page), finder, tenants)
    return size, plain, packed


def _blocks(file: BinaryIO, block: int) -> Iterator[bytes]:
    """Yield a file's bytes, ``block`` at a time; what lies in a hole is made up, not read."""
    zeros = bytes(block)
    end = os.fstat(file.fileno()).st_size
    at = 0
    while True:
        for _ in range(at, min(_next_data(file, at), end) - block + 1, block):
            yield zeros
            at += block
        file.seek(at)
        if not (data := file.read(block)):
            return
        yield data
        at += len(data)


def _next_data(file: BinaryIO, at: int) -> int:
    """Return where the next bytes that are stored begin, from there on; the end where none are."""
    if not hasattr(os, "SEEK_DATA"):
        return at
    try:
        return os.lseek(file.fileno(), at, os.SEEK_DATA)
    except OSError as error:  # ENXIO: nothing but a hole; else the file system has none
        return os.fstat(file.fileno()).st_size if error.errno == errno.ENXIO else at


def _unpacked(page: bytes, finder: Finder, tenants: Collection[str] | None) -> Counter[int]:
    """Count what is in the values of a page, many at a time."""
    found: Counter[int] = Counter()
    for many in _together(values(page, tenants)):
        found += finder.count(many)
    return found
