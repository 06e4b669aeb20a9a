"""All that is kept of a user -> the lines of a file: what has not expired, with its history.

The user's own scope and all sessions are read, what was superseded and what was archived too, with
the logs of the sessions and what is kept of them. No
embedder is needed. What is written meanwhile is in the file or not; what it says holds together.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from tempfile import mkstemp

from indexing.catalog import Catalog
from indexing.errors import InvalidInput
from indexing.portable import dump, header_of
from indexing.store import VectorStore
from indexing.transfer.talk import read_talk
from indexing.transfer.travel import as_told
from indexing.types import Filter, Memory, user_scope

Progress = Callable[[str, int, int], None]
"""Called with a scope, how many scopes are done and how many there are."""


def export_user(
    catalog: Catalog,
    store: VectorStore,
    user_id: str,
    now: datetime,
    progress: Progress | None = None,
) -> Iterator[str]:
    """Yield the lines of a user's export; of one who has nothing here the header alone.

    All is read before the first line. Raises `InvalidId`, `StoreError`.
    """
    memories: list[Memory] = []
    known = dict.fromkeys([user_scope(user_id), *catalog.scopes(user_id)])
    scopes = [scope for scope in known if catalog.fingerprint(scope.collection) is not None]
    for number, scope in enumerate(scopes):
        if progress:
            progress(str(scope), number, len(scopes))
        held = store.scroll(scope.collection, Filter(scope))
        told, _ = as_told(held, scope, now)
        memories += told
    records = read_talk(catalog, known, now)
    yield from dump(memories, header_of(user_id, memories, now, len(records)), records)


def check_target(path: Path, *, force: bool = False) -> None:
    """Raise `InvalidInput` for a file that is there, without ``force``, or cannot be made."""
    if path.is_dir():
        raise InvalidInput(f"{path} is a folder: name a file")
    if path.exists() and not force:
        raise InvalidInput(f"{path} is there already: --force replaces it")
    if not path.parent.is_dir():
        raise InvalidInput(f"there is no folder {path.parent}")


def write_lines(path: Path, lines: Iterable[str], *, force: bool = False) -> int:
    """Write lines to a file that only its owner may read; return how many.

    The file is there whole or not at all: it is written beside its place and renamed. Raises
    `InvalidInput` as `check_target` does, and when the disk refuses.
    """
    check_target(path, force=force)
    count = 0
    try:
        with ExitStack() as undo:
            handle, name = mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
            undo.callback(Path(name).unlink, missing_ok=True)
            with os.fdopen(handle, "wb") as file:
                for line in lines:
                    file.write(line.encode())
                    count += 1
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, path)
            undo.pop_all()
    except OSError as error:
        raise InvalidInput(f"{path}: {error.strerror}") from error
    return count
