"""Prefect's own SQLite file: the records of runs leave its rows, then its bytes. `erase_file`.

The API of a Prefect server cannot delete events, which hold names and whole pages, and a deleted row
stays in the free pages of the file; so on this machine the file itself is worked on, with a server
on it or without. Where nobody else has it open, runs that have not ended are dead: they go too.
"""

import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.errors import FlowUnavailable
from pipelines.page import strike
from pipelines.residue import holds
from pipelines.traces import FLOW_NAMES, Named

ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")

SETTLE_SECONDS = 6.0
"""How long a server may keep an event before it writes it: 5 s, and a little."""

REWRITE_SECONDS = 60.0
"""How long the rewriting waits for its turn on a file that a server uses."""

MOST_LOOKED_FOR = 200
"""With more names than that the file is rewritten without a look whether it has one."""

SHOWN = "created, updated, task_run_id, flow_run_id, type, data, description, metadata_"
"""What a key shows of its newest artifact, beside its id."""

DELETIONS = {
    "events": "FROM events WHERE id IN gone_events",
    "event_followers": "FROM automation_event_follower WHERE follower_event_id IN gone_events",
    "event_resources": "FROM event_resources WHERE event_id IN gone_events",
    "logs": "FROM log WHERE flow_run_id IN gone_runs OR task_run_id IN gone_tasks",
    "artifacts": "FROM artifact WHERE id IN gone_artifacts",
    "task_run_states": "FROM task_run_state WHERE task_run_id IN gone_tasks",
    "task_runs": "FROM task_run WHERE id IN gone_tasks",
    "flow_run_states": "FROM flow_run_state WHERE flow_run_id IN gone_runs",
    "flow_runs": "FROM flow_run WHERE id IN gone_runs",
}


@dataclass(slots=True)
class Erased:
    """What one place lost, what it still has, and what else is to be known."""

    counts: Counter[str] = field(default_factory=Counter)
    left: int = 0
    notes: list[str] = field(default_factory=list)


def erase_file(file: Path, named: Named, patience: float) -> Erased:
    """Take every record of what is named out of a Prefect database, and its bytes out of the file.

    Runs that work are waited for, ``patience`` seconds at most; those left are counted and noted.
    Raises `FlowUnavailable` for a file that cannot be read or written.
    """
    erased = Erased()
    try:
        with _opened(file) as (connection, is_alone):
            if not _tables(connection) >= {"flow", "flow_run", "artifact", "events"}:
                return erased
            _prepare(connection, named)
            until = time.monotonic() + patience
            settled = 0.0
            while True:
                before = erased.counts.total()
                working = _pass(connection, named, is_alone, erased.counts)
                now = time.monotonic()
                if erased.counts.total() > before and not is_alone:
                    settled = now + SETTLE_SECONDS
                    until = max(until, settled)
                if now >= until or (now >= settled and not working):
                    break
                time.sleep(0.5)
            _tell(connection, named, working, erased)
            many = len(named.texts) > MOST_LOOKED_FOR
            if erased.counts.total() or many or holds(_with_wal(file), named.texts):
                _rewrite(connection, erased)
    except sqlite3.Error as error:
        raise FlowUnavailable(
            f"Prefect's database {file}: {error}; nothing of the memory is in it: it may be deleted "
            "while nothing runs"
        ) from error
    return erased


@contextmanager
def _opened(file: Path) -> Iterator[tuple[sqlite3.Connection, bool]]:
    """Open a database, for this process alone where no other has it open."""
    with closing(sqlite3.connect(file, timeout=0, isolation_level=None)) as connection:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        try:
            connection.execute("BEGIN EXCLUSIVE")
            connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
        else:
            yield connection, True
            return
    with closing(sqlite3.connect(file, timeout=10, isolation_level=None)) as connection:
        yield connection, False


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def _prepare(connection: sqlite3.Connection, named: Named) -> None:
    """Make the tables of what goes; they last as long as the connection, over all passes."""
    for pragma in ("temp_store = MEMORY", "secure_delete = ON", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    for table in ("runs", "tasks", "artifacts", "struck", "events", "places", "keys"):
        connection.execute(f"CREATE TEMP TABLE gone_{table} (id TEXT PRIMARY KEY)")
    rows = [(place,) for place in named.places]
    connection.executemany("INSERT INTO gone_places VALUES (?)", rows)


def _pass(
    connection: sqlite3.Connection, named: Named, is_alone: bool, counts: Counter[str]
) -> int:
    """Delete what is named now, in one transaction; return how many runs of it still work."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        working = _find_runs(connection, named, is_alone)
        _find_tasks(connection, named)
        connection.execute(
            "INSERT OR IGNORE INTO gone_artifacts SELECT id FROM artifact "
            "WHERE flow_run_id IN gone_runs OR task_run_id IN gone_tasks"
        )
        counts["pages"] += _strike_pages(connection, named)
        _find_events(connection)
        connection.execute(
            "INSERT OR IGNORE INTO gone_keys SELECT key FROM artifact_collection "
            "WHERE latest_id IN gone_artifacts OR latest_id IN gone_struck"
        )
        for what, rows in DELETIONS.items():
            counts[what] += connection.execute(f"DELETE {rows}").rowcount  # noqa: S608 - constants
        _show_older(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return working


def _find_runs(connection: sqlite3.Connection, named: Named, is_alone: bool) -> int:
    """Note the runs that go; return how many more work now."""
    working = 0
    found = connection.execute(
        "SELECT r.id, r.parameters, r.state_type, r.auto_scheduled FROM flow_run r "
        f"JOIN flow f ON f.id = r.flow_id WHERE f.name IN ({_marks(FLOW_NAMES)})",  # noqa: S608
        FLOW_NAMES,
    )
    for run, parameters, state, is_scheduled in found.fetchall():
        if not named.is_run(json.loads(parameters)):
            continue
        if state == "SCHEDULED" and is_scheduled:  # made anew while its deployment lasts
            continue
        if state in ENDED or is_alone:
            connection.execute("INSERT OR IGNORE INTO gone_runs VALUES (?)", (run,))
        else:
            working += 1
    return working


def _find_tasks(connection: sqlite3.Connection, named: Named) -> None:
    """Note the tasks of these runs, and in other runs the tasks on its files."""
    connection.execute(
        "INSERT OR IGNORE INTO gone_tasks SELECT id FROM task_run WHERE flow_run_id IN gone_runs"
    )
    found = connection.execute(
        "SELECT t.id, r.parameters FROM task_run t JOIN flow_run r ON r.id = t.flow_run_id "
        "JOIN flow f ON f.id = r.flow_id WHERE t.name IN gone_places "
        f"AND t.state_type IN ({_marks(ENDED)}) AND f.name IN ({_marks(FLOW_NAMES)})",  # noqa: S608
        (*ENDED, *FLOW_NAMES),
    )
    for task, parameters in found.fetchall():
        if named.may_own(json.loads(parameters)):
            connection.execute("INSERT OR IGNORE INTO gone_tasks VALUES (?)", (task,))


def _strike_pages(connection: sqlite3.Connection, named: Named) -> int:
    """Rewrite the pages of other runs that have lines on it; return how many."""
    struck = []
    found = connection.execute(
        "SELECT id, data FROM artifact WHERE key GLOB 'ingest-*' AND type = 'markdown' "
        "AND id NOT IN gone_artifacts AND instr(data, '## ')"
    )
    for artifact, data in found:  # of all runs there ever were: one at a time
        page = json.loads(data)
        kept = strike(page, named.is_line) if isinstance(page, str) else page
        if kept != page:
            struck.append((artifact, json.dumps(kept, ensure_ascii=False)))
    for artifact, data in struck:
        connection.execute("UPDATE artifact SET data = ? WHERE id = ?", (data, artifact))
        connection.execute("INSERT OR IGNORE INTO gone_struck VALUES (?)", (artifact,))
    return len(struck)


def _find_events(connection: sqlite3.Connection) -> None:
    """Note the events of what goes: an event of a page holds the page, as it was."""
    for kind, table in (
        ("flow-run", "runs"),
        ("task-run", "tasks"),
        ("artifact", "artifacts"),
        ("artifact", "struck"),
    ):
        connection.execute(
            "INSERT OR IGNORE INTO gone_events SELECT event_id FROM event_resources "  # noqa: S608
            f"WHERE resource_id IN (SELECT 'prefect.{kind}.' || id FROM gone_{table})"
        )


def _show_older(connection: sqlite3.Connection) -> None:
    """Let each key show its newest page that is left; a key without one goes."""
    connection.execute(
        f"UPDATE artifact_collection AS shown SET (latest_id, {SHOWN}) = (SELECT id, {SHOWN} "  # noqa: S608
        "FROM artifact WHERE key = shown.key ORDER BY created DESC LIMIT 1) "
        "WHERE key IN gone_keys AND key IN (SELECT key FROM artifact)"
    )
    connection.execute(
        "DELETE FROM artifact_collection WHERE key IN gone_keys AND key NOT IN "
        "(SELECT key FROM artifact WHERE key IS NOT NULL)"
    )


def _tell(
    connection: sqlite3.Connection, named: Named, working: int, erased: Erased
) -> None:
    """Note what stays: runs that work, and deployments that name it."""
    if working:
        erased.notes.append(
            f"{working} flow runs of it have not ended: forget again when they have"
        )
    erased.left += working
    found = connection.execute(
        "SELECT f.name, d.name, d.parameters FROM deployment d JOIN flow f ON f.id = d.flow_id"
    )
    for flow, name, parameters in found.fetchall():
        if named.owns(json.loads(parameters)):
            erased.left += 1
            erased.notes.append(deployment_note(flow, name))


def deployment_note(flow: str, name: str) -> str:
    """Say what to do about a deployment that names what is forgotten."""
    return f"the deployment {flow}/{name} still names it: delete it with `prefect deployment delete`"


def _rewrite(connection: sqlite3.Connection, erased: Erased) -> None:
    """Write the file anew without free pages, and empty its write-ahead log."""
    connection.execute("PRAGMA temp_store = FILE")  # the copy that it makes may be big
    until = time.monotonic() + REWRITE_SECONDS
    while True:
        try:
            connection.execute("VACUUM")
            (busy, *_), = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            if not busy:
                return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
        if time.monotonic() > until:
            erased.notes.append("a Prefect server keeps its database busy: bytes may be left in it")
            erased.left += 1
            return
        time.sleep(0.2)


def _with_wal(file: Path) -> tuple[Path, Path]:
    return file, file.with_name(f"{file.name}-wal")


def _marks(values: Sequence[str]) -> str:
    return ", ".join("?" * len(values))
