"""Files of a folder, a pattern or a list: which there are, whether they changed, their bytes.

Hidden files and the memory's own files are left alone, links to folders are not followed.
"""

import hashlib
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

from chunking.types import Document
from indexing.chat import SUFFIXES, is_chat
from indexing.decode import decode
from indexing.errors import SourceError
from indexing.feeds.access import Access
from indexing.feeds.records import Reader, record_offers
from indexing.feeds.types import Entry, Export, Failure, Feed, Item, Listing, Offer
from indexing.hashing import digest
from indexing.members import Member
from indexing.parse import read_bytes
from indexing.types import GLOBAL

_MAGIC = re.compile(r"[*?\[]")
SETTLED_NS = 2_000_000_000
"""A file changed later than this before it was read may change again within one clock tick."""


def list_path(feed: Feed, own: Sequence[Path] = ()) -> Listing:
    """List a file, a folder, or what matches a pattern. ``own`` are the memory's own folders.

    Raises `SourceError` when a file or folder does not exist.
    """
    root = Path(feed.place).expanduser()
    pattern: tuple[str, ...] = ()
    if _MAGIC.search(feed.place) and not root.exists():
        root, pattern = _fixed_part(root)
    root = root.resolve()
    if not root.exists():
        raise SourceError(f"{feed.place}: no such file or folder")
    own = [folder for folder in own if folder not in root.parents]
    found, shut = list_files(root)
    files = [file for file in found if not any(f in (file, *file.parents) for f in own)]
    if pattern:
        files = [file for file in files if matches(file.relative_to(root).parts, pattern)]
    closed = tuple(name_of(folder) + "/" for folder in shut)
    base = root.parent
    return Listing(tuple(_entry(file, name_of(file.relative_to(base))) for file in files), closed)


def list_named(feed: Feed) -> Listing:
    """List the files that a file names, one a line, relative to its folder; ``#`` starts a comment.

    Raises `SourceError` when the list cannot be read.
    """
    home = Path(feed.place).expanduser().resolve().parent
    entries = {}
    for name in lines_of(Path(feed.place)):
        file = home / Path(name).expanduser()
        file = Path(os.path.normpath(file))
        below = file.is_relative_to(home)
        entry = _entry(file, name_of(file.relative_to(home)) if below else name_of(file))
        entries[entry.id] = entry
    return Listing(tuple(entries.values()))


def lines_of(file: Path) -> list[str]:
    """Return the lines of a list that name something. Raises `SourceError`."""
    try:
        text = decode(read_bytes(file.expanduser()))
    except SourceError as error:
        raise SourceError(f"{file}: {error}") from error
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def list_files(root: Path) -> tuple[list[Path], list[Path]]:
    """Return the file itself, or every visible file below a folder, in a stable order.

    Folders that cannot be opened are listed in place of their files, and returned once more: they
    become dead letters, and what was indexed from them stays. Links to folders are not followed.
    """
    if not root.is_dir():
        return [root], []
    found: list[Path] = []
    closed: list[OSError] = []
    for folder, inside, files in os.walk(root, onerror=closed.append):
        inside[:] = [name for name in inside if not name.startswith(".")]
        found += [Path(folder, name) for name in files if not name.startswith(".")]
    shut = [Path(error.filename) for error in closed]
    return sorted([*found, *shut]), shut


def matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether a path matches a pattern, part by part; ``**`` is any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(matches(parts[skip:], pattern[1:]) for skip in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and matches(parts[1:], pattern[1:])


def name_of(file: Path) -> str:
    """Return a path as text; bytes of a name that are no UTF-8 are written as ``\\xff``."""
    return os.fsencode(file.as_posix()).decode(errors="backslashreplace")


def stamp_of(file: Path, now: int | None = None) -> str:
    """Return what changes whenever the file does; empty where that is not sure (just changed)."""
    try:
        found = file.stat()
    except (OSError, ValueError):
        return ""
    changed = max(found.st_mtime_ns, found.st_ctime_ns)
    if (time.time_ns() if now is None else now) - changed < SETTLED_NS:
        return ""
    return f"{found.st_size}:{found.st_mtime_ns}:{found.st_ctime_ns}:{found.st_ino}"


def file_offers(feed: Feed, entry: Entry, old: Member | None, access: Access) -> Iterator[Offer]:
    """Yield what a file offers: a document, a chat export, or documents from its lines."""
    assert entry.path is not None
    scope = feed.scope or GLOBAL
    member = Member(scope, entry.id, "", entry.uri)
    # before the bytes: a change in between is seen next time
    stamp = feed.marked(stamp_of(entry.path, access.now()))
    lines = entry.path.suffix.lower() in SUFFIXES
    known = old is not None and bool(old.stamp) and old.stamp == stamp
    if old is not None and known and (old.turns or not lines):
        member = Member(scope, entry.id, "", entry.uri, stamp, old.content, old.turns)
        if lines:
            yield Export(member, partial(_text, entry.path))
        else:
            yield Item(member, partial(_parsed, entry, access))
        return
    try:
        data = read_bytes(entry.path, access.parser.limits)
        text = decode(data) if lines else ""
    except SourceError as error:
        yield Failure(member, str(error))
        return
    content = hashlib.sha256(data).hexdigest()
    if not lines:
        content = digest(content, *feed.handling) if feed.handling else content
        member = Member(scope, entry.id, "", entry.uri, stamp, content)
        yield Item(member, partial(access.parse, data, entry.id, entry.uri, ""))
    elif is_chat(text):
        member = Member(
            scope, entry.id, "", entry.uri, stamp, digest(content, access.timezone, *feed.tags)
        )
        yield Export(member, lambda: text)
    else:
        yield from record_offers(feed, entry, _numbered(text), Reader(access.timezone))


def _numbered(text: str) -> Iterable[tuple[str, str]]:
    """Yield the lines of JSONL that are not blank, each with its place."""
    lines = enumerate(text.split("\n"), 1)
    return ((f"line {number}", line) for number, line in lines if line.strip())


def _text(file: Path) -> str:
    return decode(read_bytes(file))


def _parsed(entry: Entry, access: Access) -> Document:
    assert entry.path is not None
    data = read_bytes(entry.path, access.parser.limits)
    return access.parse(data, entry.id, entry.uri)


def _entry(file: Path, uri: str) -> Entry:
    return Entry(name_of(file), uri, file)


def _fixed_part(pattern: Path) -> tuple[Path, tuple[str, ...]]:
    """Split a pattern into the folder that is written out and the rest."""
    parts = pattern.parts
    first = next(number for number, part in enumerate(parts) if _MAGIC.search(part))
    return Path(*parts[:first]), parts[first:]
