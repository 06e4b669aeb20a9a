"""The rows of Prefect's SQLite database that name something forgotten: `prepare`, then `take`.

What goes is noted in temporary tables, so that a later pass finds what a server wrote meanwhile of
runs that are gone. The tables are those of Prefect 3 (`is_known`).
"""

import json
import sqlite3
from collections import Counter

from pipelines.named import FLOW_NAMES, Named
from pipelines.page import strike

ENDED = ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")

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

RUNS = """
SELECT r.id, r.parameters, r.state_type, r.auto_scheduled
FROM flow_run r JOIN flow f ON f.id = r.flow_id
WHERE f.name IN (SELECT value FROM json_each(?))
"""

TASKS = """
SELECT t.id, t.name, r.parameters
FROM task_run t JOIN flow_run r ON r.id = t.flow_run_id JOIN flow f ON f.id = r.flow_id
WHERE t.name IN gone_places AND f.name IN (SELECT value FROM json_each(?))
AND t.state_type IN (SELECT value FROM json_each(?))
"""

PAGES = """
SELECT id, data FROM artifact
WHERE key GLOB 'ingest-*' AND type = 'markdown' AND id NOT IN gone_artifacts AND instr(data, '## ')
"""

TASKS_OF_RUNS = """
INSERT OR IGNORE INTO gone_tasks SELECT id FROM task_run WHERE flow_run_id IN gone_runs
"""

ARTIFACTS = """
INSERT OR IGNORE INTO gone_artifacts SELECT id FROM artifact
WHERE flow_run_id IN gone_runs OR task_run_id IN gone_tasks
"""

KEYS = """
INSERT OR IGNORE INTO gone_keys SELECT key FROM artifact_collection
WHERE latest_id IN gone_artifacts OR latest_id IN gone_struck
"""

EVENTS = """
INSERT OR IGNORE INTO gone_events SELECT event_id FROM event_resources WHERE resource_id IN (
    SELECT 'prefect.flow-run.' || id FROM gone_runs
    UNION SELECT 'prefect.task-run.' || id FROM gone_tasks
    UNION SELECT 'prefect.artifact.' || id FROM gone_artifacts
    UNION SELECT 'prefect.artifact.' || id FROM gone_struck)
"""

SHOW_OLDER = """
UPDATE artifact_collection AS shown
SET (latest_id, created, updated, task_run_id, flow_run_id, type, data, description, metadata_) = (
    SELECT id, created, updated, task_run_id, flow_run_id, type, data, description, metadata_
    FROM artifact WHERE key = shown.key ORDER BY created DESC LIMIT 1)
WHERE key IN gone_keys AND key IN (SELECT key FROM artifact)
"""

SHOW_NONE = """
DELETE FROM artifact_collection
WHERE key IN gone_keys AND key NOT IN (SELECT key FROM artifact WHERE key IS NOT NULL)
"""


def is_known(connection: sqlite3.Connection) -> bool:
    """Tell whether the file is a database of Prefect that has tables yet."""
    names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    return names >= {"flow_run", "task_run", "artifact", "artifact_collection", "events", "log"}


def prepare(connection: sqlite3.Connection, named: Named) -> None:
    """Make the tables of what goes; they last as long as the connection."""
    for pragma in ("temp_store = MEMORY", "secure_delete = ON", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {pragma}")
    for table in ("runs", "tasks", "artifacts", "struck", "events", "places", "keys"):
        connection.execute(f"CREATE TEMP TABLE gone_{table} (id TEXT PRIMARY KEY)")
    rows = [(place,) for place in named.places]
    connection.executemany("INSERT INTO gone_places VALUES (?)", rows)


def take(connection: sqlite3.Connection, named: Named, is_alone: bool) -> tuple[Counter[str], int]:
    """Delete what is named, in one transaction; return how many rows of what, and runs at work.

    ``is_alone`` says that no process can be at work on any.
    """
    taken: Counter[str] = Counter()
    connection.execute("BEGIN IMMEDIATE")
    try:
        working = _find_runs(connection, named, is_alone)
        _find_tasks(connection, named)
        connection.execute(ARTIFACTS)
        taken["pages"] = _strike_pages(connection, named)
        connection.execute(EVENTS)
        connection.execute(KEYS)
        for what, rows in DELETIONS.items():
            taken[what] = connection.execute(f"DELETE {rows}").rowcount
        connection.execute(SHOW_OLDER)
        connection.execute(SHOW_NONE)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return taken, working


def _find_runs(connection: sqlite3.Connection, named: Named, is_alone: bool) -> int:
    """Note the runs that go; return how many more work now."""
    gone, working = [], 0
    for run, parameters, state, is_planned in connection.execute(RUNS, (json.dumps(FLOW_NAMES),)):
        if not named.is_run(json.loads(parameters)):
            continue
        if state == "SCHEDULED" and is_planned:  # made anew while its deployment lasts
            continue
        if state in ENDED or is_alone:
            gone.append((run,))
        else:
            working += 1
    connection.executemany("INSERT OR IGNORE INTO gone_runs VALUES (?)", gone)
    return working


def _find_tasks(connection: sqlite3.Connection, named: Named) -> None:
    """Note the tasks of these runs, and in other runs the tasks on its files."""
    connection.execute(TASKS_OF_RUNS)
    found = connection.execute(TASKS, (json.dumps(FLOW_NAMES), json.dumps(ENDED)))
    gone = [(task,) for task, name, given in found if named.is_task(name, json.loads(given))]
    connection.executemany("INSERT OR IGNORE INTO gone_tasks VALUES (?)", gone)


def _strike_pages(connection: sqlite3.Connection, named: Named) -> int:
    """Rewrite the pages of other runs that have lines on it; return how many."""
    struck = []
    for artifact, data in connection.execute(PAGES):
        page = json.loads(data)
        kept = strike(page, named.is_line) if isinstance(page, str) else page
        if kept != page:
            struck.append((json.dumps(kept, ensure_ascii=False), artifact))
    connection.executemany("UPDATE artifact SET data = ? WHERE id = ?", struck)
    rows = [(artifact,) for _, artifact in struck]
    connection.executemany("INSERT OR IGNORE INTO gone_struck VALUES (?)", rows)
    return len(struck)
