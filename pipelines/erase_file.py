"""Prefect's own SQLite file: the records of runs leave its rows, then its bytes. `erase_file`.

The API of a Prefect server cannot delete events, which hold names and whole pages, and a deleted
row stays in the free pages of the file; so on this machine the file itself is worked on, with a
server on it or without. Where nobody else has it open, runs that have not ended are dead: they go.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pipelines.erase_rows import is_known, prepare, take
from pipelines.erased import Erased
from pipelines.errors import FlowUnavailable
from pipelines.named import Named
from pipelines.residue import holds

SETTLE_SECONDS = 6.0
"""How long a server may keep an event before it writes it: 5 s, and a little."""

BUSY_SECONDS = 10.0
"""How long one statement waits for its turn on a file that a server uses."""

REWRITE_SECONDS = 60.0
"""How long the rewriting tries again there."""

MOST_LOOKED_FOR = 200
"""With more names than that the file is rewritten without a look whether it has one."""


def erase_file(file: Path, named: Named, patience: float) -> Erased:
    """Take every record of what is named out of a Prefect database, and its bytes out of the file.

    Runs that work are waited for, ``patience`` seconds at most; those left are counted and noted.
    Raises `FlowUnavailable` for a file that cannot be read or written.
    """
    erased = Erased()
    try:
        with _opened(file) as (connection, is_alone):
            if not is_known(connection):
                return erased
            prepare(connection, named)
            erased.leave_working(_take_all(connection, named, is_alone, patience, erased))
            erased.leave_deployments(_deployments(connection, named))
            many = len(named.texts) > MOST_LOOKED_FOR
            if erased.counts.total() or many or holds(_with_log(file), named.texts):
                erased.leave_bytes(is_clean=_rewrite(connection))
    except sqlite3.Error as error:
        raise FlowUnavailable(
            f"Prefect's database {file}: {error}; it holds no memory and may be deleted "
            "while nothing runs"
        ) from error
    return erased


@contextmanager
def _opened(file: Path) -> Iterator[tuple[sqlite3.Connection, bool]]:
    """Open a database, for this process alone where no other has it open."""
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        if _in_turn(lambda: connection.execute("BEGIN EXCLUSIVE")):
            connection.execute("COMMIT")
            yield connection, True
            return
    with closing(sqlite3.connect(file, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        yield connection, False


def _take_all(
    connection: sqlite3.Connection, named: Named, is_alone: bool, patience: float, erased: Erased
) -> int:
    """Delete until nothing comes after; return how many runs work all the same."""
    until, settled = time.monotonic() + patience, 0.0
    while True:
        taken, working = take(connection, named, is_alone)
        erased.counts.update(taken)
        now = time.monotonic()
        if taken.total() and not is_alone:
            settled = now + SETTLE_SECONDS
        if now >= settled and (not working or now >= until):
            return working
        time.sleep(0.5)


def _deployments(connection: sqlite3.Connection, named: Named) -> list[str]:
    """Return the names of the deployments whose parameters name it."""
    found = connection.execute(
        "SELECT f.name, d.name, d.parameters FROM deployment d JOIN flow f ON f.id = d.flow_id"
    )
    return [f"{flow}/{name}" for flow, name, given in found if named.owns(json.loads(given))]


def _rewrite(connection: sqlite3.Connection) -> bool:
    """Write the file anew without free pages, and empty its write-ahead log; tell whether it did.

    A server's reading and writing goes on meanwhile, so each may have to be tried again.
    """
    connection.execute("PRAGMA temp_store = FILE")  # the copy that it makes may be big
    until = time.monotonic() + REWRITE_SECONDS

    def is_emptied() -> bool:
        return _in_turn(lambda: connection.execute("VACUUM"))

    def is_written() -> bool:
        blocked, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not blocked

    return _until(is_emptied, until) and _until(is_written, until)


def _until(done: Callable[[], bool], deadline: float) -> bool:
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def _in_turn(execute: Callable[[], object]) -> bool:
    """Run a statement; tell whether it had its turn, and was not kept off by another process."""
    try:
        execute()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise
        return False
    return True


def _with_log(file: Path) -> tuple[Path, Path]:
    return file, file.with_name(f"{file.name}-wal")
