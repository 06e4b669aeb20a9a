"""`letopis schedule` against the real thing: one local Prefect server, real runs, a real SIGKILL.

The tests stand in the order in which they run: all use one scheduler, and the last ones stop it.
"""

import base64
import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

import pipelines
from pipelines.errors import FlowUnavailable
from pipelines.server import local_server, running
from tests.letopis.conftest import Cli, environment
from tests.pipelines.scheduler import (
    LIMIT,
    Scheduler,
    children,
    environment_of,
    read_ready,
    wait,
)

CANARIES = ("zq-canary-7718", "канарейка Жёлтая Ъ91")
MANY = 40
TURN = {"user_id": "ann", "session_id": "monday", "role": "user", "at": "2026-01-05T10:00:00Z"}

SETTINGS = """
busy_timeout = 1.0

[ingest]
batch = 4

[schedule]
workers = 2
sources = ""
by_source = { notes = "1h", chats = "0 0 1 1 *" }
expire = ""
dedup = ""
digest = ""

[[sources]]
name = "notes"
path = "notes"

[[sources]]
name = "chats"
path = "chats.jsonl"

[[sources]]
name = "many"
path = "many"
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("schedule")
    (folder / "letopis.toml").write_text(SETTINGS)
    (folder / "notes").mkdir()
    (folder / "notes" / "refunds.md").write_text(f"# Refunds\n\nPaid, says {CANARIES[0]}.")
    (folder / "notes" / "racks.md").write_text(f"# Стойки\n\nСтойка R-7: {CANARIES[1]}.")
    (folder / "notes" / "empty.md").touch()
    (folder / "many").mkdir()
    for number in range(MANY):
        text = f"# Shelf {number}\n\nHolds {number * 7} boxes in hall {number % 9}."
        (folder / "many" / f"{number:02}.md").write_text(text)
    lines = [
        {**TURN, "turn_id": f"t{number}", "text": f"{number} {canary}"}
        for number, canary in enumerate(CANARIES)
    ]
    broken = f'{{"text": "{CANARIES[0]} {CANARIES[1]}'
    (folder / "chats.jsonl").write_text("\n".join([*map(json.dumps, lines), broken]))
    return folder


@pytest.fixture(scope="module")
def scheduler(world: Path) -> Iterator[Scheduler]:
    process = subprocess.Popen(
        [sys.executable, "-m", "letopis", "schedule", "--json"],
        cwd=world,
        env=environment(world, PREFECT_RUNNER_POLL_FREQUENCY="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Scheduler(process, world, read_ready(process))
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def test_it_says_what_it_serves_and_where_the_ui_is(scheduler: Scheduler) -> None:
    served = {one["deployment"]: one["runs"] for one in scheduler.ready["deployments"]}
    assert served == {
        "ingest-documents/notes": "every 1:00:00",
        "ingest-sessions/chats": "0 0 1 1 * (UTC)",
        "ingest-documents/many": "by hand",
        "digest-sessions/all": "by hand",
        "expire/all": "by hand",
        "merge-duplicates/all": "by hand",
        "reindex/all": "by hand",
    }
    page = httpx.get(scheduler.ready["ui"], timeout=60, follow_redirects=True)
    assert (page.status_code, "<html" in page.text) == (200, True)
    assert scheduler.ready["ui"].startswith("http://127.0.0.1:")


def test_a_second_scheduler_on_the_folder_is_refused(scheduler: Scheduler) -> None:
    said = f"another `letopis schedule` runs on .* UI: {scheduler.ready['ui']}"
    with pytest.raises(FlowUnavailable, match=said), local_server(scheduler.home):
        pass


def test_telemetry_is_off_in_the_server(scheduler: Scheduler) -> None:
    assert scheduler.get("admin/settings")["server"]["analytics_enabled"] is False
    note = json.loads((scheduler.home / "server.json").read_text())
    found = environment_of(note["pid"])
    assert pipelines.TELEMETRY_OFF.items() <= found.items()
    assert found["PREFECT_HOME"] == str(scheduler.home)


def test_a_scheduled_run_fires_and_shows_what_it_did(scheduler: Scheduler) -> None:
    def first() -> str | None:
        found = [run for run in scheduler.runs("ingest-documents/notes") if run["start_time"]]
        return str(found[0]["id"]) if found else None

    run = scheduler.ended(wait(first, "a scheduled run"), "COMPLETED")
    assert (run["auto_scheduled"], run["name"]) == (True, "notes")
    assert run["parameters"] == {"source": "notes"}
    assert {"notes/refunds.md", "notes/racks.md"} <= scheduler.tasks(run["id"]).keys()
    page = scheduler.page("ingest-documents-notes", run["id"])
    for row in ("| seen | 3 |", "| new | 2 |", "| dead | 1 |"):
        assert row in page
    assert "empty.md" in page
    bar = scheduler.post(
        "artifacts/filter", artifacts={"key": {"any_": ["ingest-documents-notes-progress"]}}
    )
    assert {float(one["data"]) for one in bar} == {100.0}


def test_a_step_that_meets_a_locked_store_is_tried_again(scheduler: Scheduler) -> None:
    catalog = scheduler.folder / "memory" / "catalog.sqlite"
    holder = sqlite3.connect(catalog, timeout=60, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    run = scheduler.start("expire/all")

    def waits() -> bool:
        tasks = scheduler.tasks(run).values()
        return any(task["state_name"] == "AwaitingRetry" for task in tasks)

    wait(waits, "a task that waits for its next try")
    holder.execute("ROLLBACK")
    holder.close()
    scheduler.ended(run, "COMPLETED")
    opened = scheduler.tasks(run)["open the memory"]
    assert opened["state_type"] == "COMPLETED"
    assert opened["run_count"] >= 2


def test_a_run_that_is_killed_is_finished_by_the_next(scheduler: Scheduler) -> None:
    """The slot of the killed run stays taken for a minute; another is free."""
    before = scheduler.rows()
    run = scheduler.start("ingest-documents/many")
    pid = scheduler.process_of(run)
    wait(lambda: len(scheduler.rows()) >= len(before) + 3, "the first files to be indexed")
    assert os.getpriority(os.PRIO_PROCESS, pid) == 10
    found = environment_of(pid)  # Prefect writes its own settings anew: False
    assert {
        name: found[name].lower() for name in pipelines.TELEMETRY_OFF
    } == pipelines.TELEMETRY_OFF
    os.kill(pid, signal.SIGKILL)
    scheduler.ended(run, "CRASHED")
    kept = scheduler.rows()
    assert len(before) + 3 <= len(kept) < len(before) + MANY

    again = scheduler.start("ingest-documents/many")
    scheduler.ended(again, "COMPLETED")
    page = scheduler.page("ingest-documents-many", again)
    assert kept.items() <= scheduler.rows().items(), page
    assert len(scheduler.rows()) == len(before) + MANY
    assert f"| indexed | {len(before) + MANY - len(kept)} |" in page
    assert f"| unchanged | {len(kept) - len(before)} |" in page


def test_a_chat_export_is_indexed_by_its_own_flow(scheduler: Scheduler) -> None:
    run = scheduler.start("ingest-sessions/chats")
    scheduler.ended(run, "COMPLETED")
    page = scheduler.page("ingest-sessions-chats", run)
    assert "| new | 2 |" in page
    assert "line 3" in page


TURNS = """
import json, threading
from pipelines import background
from pipelines.background import Turn, set_limit
from prefect.client.orchestration import get_client

background.EMBEDDING = "a limit of this test alone"
set_limit(2)
lock, active, peak, done = threading.Lock(), 0, 0, 0
together = threading.Barrier(2)

def work():
    global active, peak, done
    with Turn() as turn:
        turn.take()
        with lock:
            active += 1
            peak = max(peak, active)
        try:
            together.wait(60)
        except threading.BrokenBarrierError:
            pass
        turn.take()
        with lock:
            active -= 1
            done += 1

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
with get_client(sync_client=True) as client:
    limit = client.read_global_concurrency_limit_by_name(background.EMBEDDING)
print(json.dumps([peak, done, limit.limit, limit.active_slots]))
"""


def test_never_more_than_the_limit_embed_at_once(scheduler: Scheduler) -> None:
    """Two of four may; a barrier of two holds until two are in, so the peak is two exactly."""
    process = subprocess.run(
        [sys.executable, "-c", TURNS],
        cwd=scheduler.folder,
        env=environment(scheduler.folder, PREFECT_API_URL=f"{scheduler.ready['ui']}/api"),
        capture_output=True,
        text=True,
        timeout=LIMIT,
    )
    assert process.returncode == 0, process.stderr
    assert json.loads(process.stdout) == [2, 4, 2, 0]


def test_a_flow_of_the_command_line_joins_the_server(scheduler: Scheduler) -> None:
    cli = Cli(scheduler.folder)
    facts, joined = cli.many(
        ("remember", f"Ann's code is {CANARIES[0]}, {CANARIES[1]}", "--user", "ann", "--json"),
        ("ingest", "notes/refunds.md", "--flow", "--user", "ann", "--json"),
    )
    assert facts.code == 0, facts.err
    assert (joined.code, joined.json["indexed"]) == (0, 1), joined.err
    by_hand = {"deployment_id": {"is_null_": True}}
    (run,) = scheduler.post("flow_runs/filter", flow_runs=by_hand)
    assert (run["parameters"]["user_id"], run["state_type"]) == ("ann", "COMPLETED")


def forms(text: str) -> Iterator[bytes]:
    """Yield the bytes that a text may have in a database, a pickle, JSON or base64."""
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        raw = text.encode(encoding)
        yield raw
        for shift in range(3):
            whole = base64.b64encode(b"\0" * shift + raw)
            yield whole[4 if shift else 0 : -4]
    yield json.dumps(text).strip('"').encode()
    yield json.dumps(text).strip('"').replace("\\", "\\\\").encode()
    yield text.encode("unicode_escape")


def test_no_text_of_a_memory_is_in_the_records_of_prefect(scheduler: Scheduler) -> None:
    """The path of a document is in them, so the search sees what is there."""
    files = [file for file in scheduler.home.rglob("*") if file.is_file()]
    held = {file.name: file.read_bytes() for file in files}
    assert {"prefect.db", "prefect.db-wal", "server.log"} <= held.keys()
    assert any(b"notes/refunds.md" in data for data in held.values())
    wanted = [form for canary in CANARIES for form in forms(canary)]
    assert len(set(wanted)) > 20
    found = [(name, form) for name, data in held.items() for form in wanted if form in data]
    assert found == []


def test_it_stops_with_everything_it_started(scheduler: Scheduler) -> None:
    server = json.loads((scheduler.home / "server.json").read_text())["pid"]
    started = [*children(scheduler.process.pid)]
    assert server in started
    scheduler.process.send_signal(signal.SIGTERM)
    _, err = scheduler.process.communicate(timeout=LIMIT)
    assert scheduler.process.returncode == 0
    assert err.splitlines()[-1] == "stopped: what was indexed stays"
    for pid in started:
        wait(lambda pid=pid: not environment_of(pid), f"process {pid} to end")
    assert running(scheduler.home) is None
    assert not (scheduler.home / "server.json").exists()
