"""What Prefect stores of a user, a session or a source goes, in rows and in bytes; the rest stays.

One private server makes the history; while it runs three users are erased. The other tests work on
copies of its folder.
"""

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from configs.settings import Settings
from configs.write_settings import SourceSettings
from indexing.traces import Traces
from indexing.types import GLOBAL, session_scope, user_scope
from pipelines.erase import erase, eraser
from pipelines.errors import FlowUnavailable
from pipelines.named import FLOW_NAMES
from tests.letopis.conftest import ROOT, environment

USERS = ANN, BOB, CARL, DORA, EVE = (
    "zq-ann-77",
    "zq-bob-77",
    "zq-carl-77",
    "zq-dora-77",
    "zq-ева-77",
)
SESSIONS = MONDAY, TUESDAY = "zq-monday-31", "zq-tuesday-32"
PLAN = "zq-plan-55"
SAID = {"turn_id": "t1", "role": "user", "at": "2026-01-05T10:00:00Z"}
LONG = " ".join(f"word{number}" for number in range(40))
"""More than the embedder takes: a dead letter."""

NAMING = (
    "flow_run",
    "task_run",
    "artifact",
    "artifact_collection",
    "log",
    "events",
    "event_resources",
)
"""The tables that name somebody."""

HISTORY = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path

import pipelines
world = Path(sys.argv[1])
names = json.loads(sys.argv[2])
home = world.parent / "memory" / "prefect"
pipelines.keep_state_in(home)
pipelines.keep_quiet()
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import LogCreate
from prefect.states import Running

from configs.build import build
from configs.settings import Settings
from indexing.feeds.types import Feed
from indexing.traces import Traces
from indexing.types import session_scope, user_scope
from pipelines.bulk import ingest_bulk
from pipelines.erase_api import erase_at
from pipelines.erase_file import erase_file
from pipelines.flows import Given, ingest_documents, ingest_sessions, using
from pipelines.named import named_of
from tests.conftest import TinyEmbedder

settings = Settings.model_construct(data_dir=world.parent / "memory")
ann, bob, carl, dora, eve = names["users"]

def run(feed):
    scope = feed.scope
    user, session = (scope.user_id or None, scope.session_id or None) if scope else (None, None)
    with using(Given(settings, parts, feed)):
        ingest_documents(feed.label, "", user, session)

def named(*users):
    return named_of(settings, Traces(scopes=[user_scope(user) for user in users]))

def told(done):
    return {"counts": done.counts, "left": done.left, "notes": done.notes}

parts = build(settings, embedder=TinyEmbedder(max_terms=30))
for user in names["users"]:
    run(Feed("path", str(world / f"of-{user}"), scope=user_scope(user)))
for session in names["sessions"]:
    run(Feed("path", str(world / "said"), scope=session_scope(bob, session)))
run(Feed("path", str(world / "shared")))
run(Feed("path", str(world / "chat.jsonl")))
query = "SELECT id, text, user_id FROM rows ORDER BY id"
run(Feed("sql", f"sqlite:///{world}/rows.sqlite", query, name="rows"))
parts.close()

ingest_documents.to_deployment("of-bob", parameters={"user_id": bob}).apply()
with get_client(sync_client=True) as client:
    begun = {"path": str(world / f"of-{eve}"), "user_id": eve}
    client.create_flow_run(ingest_documents, parameters=begun, state=Running())
    for run in client.read_flow_runs():
        said = LogCreate(name="letopis", level=40, message=f"{run.name} is locked",
                         timestamp=datetime.now(UTC), flow_run_id=run.id)
        client.create_logs([said])
try:
    erase_at("http://127.0.0.1:1/api", named(ann), 0.0)
except Exception as error:
    refused = f"{type(error).__name__}: {error}"
print(json.dumps({
    "refused": refused,
    "api": told(erase_at("", named(carl), 0.0)),
    "live": told(erase_file(home / "prefect.db", named(dora, eve), 0.0)),
    "dora": [file.name for file in home.iterdir() if dora.encode() in file.read_bytes()],
    "flows": sorted(flow.name for flow in (ingest_documents, ingest_sessions, ingest_bulk)),
}))
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    world = tmp_path_factory.mktemp("erase") / "world"
    for folder in (*(f"of-{user}" for user in USERS), "said", "shared"):
        (world / folder).mkdir(parents=True)
        (world / folder / "note.md").write_text(f"# Notes\n\nThe boat of {folder} is blue.")
    (world / "said" / "empty.md").touch()
    (world / "shared" / f"{PLAN}.md").write_text("# Plan\n\nThe hall is painted in May.")
    (world / "shared" / f"{PLAN}-void.md").touch()
    with closing(sqlite3.connect(world / "rows.sqlite")) as table, table:
        table.execute("CREATE TABLE rows (id TEXT, text TEXT, user_id TEXT)")
        rows = [("r1", LONG, ANN), ("r2", LONG, BOB), ("r3", "Paid in June.", ANN)]
        table.executemany("INSERT INTO rows VALUES (?, ?, ?)", rows)
    turns = [
        {**SAID, "user_id": BOB, "session_id": day, "text": f"{day} {LONG}"} for day in SESSIONS
    ]
    (world / "chat.jsonl").write_text("\n".join(map(json.dumps, turns)))
    return world


@pytest.fixture(scope="module")
def outcome(world: Path) -> Any:
    """Make the history; return what was erased while its server ran."""
    names = json.dumps({"users": USERS, "sessions": SESSIONS})
    process = subprocess.run(
        [sys.executable, "-c", HISTORY, str(world), names],
        cwd=world,
        env=environment(world, PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS="300"),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


@pytest.fixture
def settings(
    world: Path, outcome: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    """Settings over a copy of the history that nobody serves, and no other Prefect."""
    for name in ("PREFECT_API_URL", "PREFECT_SERVER_DATABASE_CONNECTION_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PREFECT_HOME", str(tmp_path / "other"))
    monkeypatch.chdir(tmp_path)
    shutil.copytree(world.parent / "memory" / "prefect", tmp_path / "memory" / "prefect")
    return Settings.model_construct(data_dir=tmp_path / "memory")


def files_with(settings: Settings, *texts: str) -> list[str]:
    """Return the files that have the bytes of one, as they are or as JSON writes them."""
    forms = [form.encode() for text in texts for form in (text, json.dumps(text)[1:-1])]
    files = (file for file in settings.data_dir.rglob("*") if file.is_file())
    return [file.name for file in files if any(form in file.read_bytes() for form in forms)]


def query(settings: Settings, statement: str) -> list[Any]:
    with closing(sqlite3.connect(settings.data_dir / "prefect" / "prefect.db")) as connection:
        return connection.execute(statement).fetchall()


def records(settings: Settings, *without: str) -> list[Any]:
    """Return runs, tasks and events as they are, but those that one of the texts is in."""
    tables = ("flow_run", "task_run", "events", "log")
    found = [row for name in tables for row in query(settings, f"SELECT * FROM {name} ORDER BY id")]
    return [row for row in found if not any(text in str(row) for text in without)]


def test_a_user_leaves_every_table_and_every_byte(settings: Settings) -> None:
    assert files_with(settings, ANN) == ["prefect.db"]
    report = erase(settings, Traces(scopes=[user_scope(ANN)]))
    assert files_with(settings, ANN) == []
    assert (report.left, report.notes, report.kept) == (0, (), ())
    assert (report.counts["flow_runs"], report.counts["logs"]) == (1, 1)
    assert (report.counts["artifacts"], report.counts["pages"]) == (2, 1)
    assert report.counts["events"] > report.counts["task_runs"] > 2
    assert erase(settings, Traces(scopes=[user_scope(ANN)])).counts == {}


def test_what_others_have_stays_as_it_was(settings: Settings) -> None:
    page = "SELECT data FROM artifact WHERE key = 'ingest-documents-rows'"
    page_id = page.replace("data", "id")
    ((rows,),) = query(settings, page)
    assert f"user:{ANN}" in rows
    runs = f"SELECT id FROM flow_run WHERE parameters LIKE '%{ANN}%'"
    ids = [str(name) for (name,) in query(settings, runs) + query(settings, page_id)]
    before = records(settings, ANN, *ids)
    assert len(before) > 100
    erase(settings, Traces(scopes=[user_scope(ANN)]))
    assert records(settings) == before
    ((left,),) = query(settings, page)
    assert json.loads(left).splitlines() == [
        line for line in json.loads(rows).splitlines() if ANN not in line
    ]
    assert f"user:{BOB}" in left
    shown = query(settings, page.replace("artifact ", "artifact_collection "))
    assert shown == [(left,)]


def test_a_session_goes_and_its_key_shows_the_page_before(settings: Settings) -> None:
    runs = "SELECT json_extract(parameters, '$.session_id') FROM flow_run"
    assert {(MONDAY,), (TUESDAY,)} <= set(query(settings, runs))
    chat = "SELECT data FROM artifact WHERE key LIKE '%chat-jsonl%' AND type = 'markdown'"
    assert f"session {TUESDAY}, turn t1 " in str(query(settings, chat))
    report = erase(settings, Traces(scopes=[session_scope(BOB, TUESDAY)]))
    assert (report.counts["flow_runs"], report.counts["pages"]) == (1, 1)
    assert f"session {MONDAY}, turn t1 " in str(query(settings, chat))
    assert (MONDAY,) in query(settings, runs)
    assert files_with(settings, TUESDAY) == []
    assert query(settings, f"SELECT count(*) FROM flow_run WHERE parameters LIKE '%{BOB}%'") == [
        (2,)
    ]
    shown = query(settings, "SELECT data FROM artifact_collection WHERE key LIKE '%-said-%'")
    assert any(f"session:{BOB}/{MONDAY}" in str(data) for (data,) in shown)


def test_a_session_of_the_same_name_is_another_one(settings: Settings) -> None:
    """But a line on a shared chat export says only the session, so it goes from the page."""
    runs = query(settings, "SELECT * FROM flow_run")
    report = erase(settings, Traces(scopes=[session_scope(ANN, MONDAY)]))
    assert report.counts.keys() == {"pages", "events", "event_resources"}
    assert query(settings, "SELECT * FROM flow_run") == runs


def test_a_source_leaves_the_tasks_and_pages_of_a_run_that_stays(
    settings: Settings, world: Path
) -> None:
    named = [str(world / "shared" / f"{PLAN}{end}.md") for end in ("", "-void")]
    assert files_with(settings, PLAN) == ["prefect.db"]
    report = erase(settings, Traces(sources={GLOBAL: named}))
    assert (report.counts["task_runs"], report.counts["pages"], report.left) == (2, 1, 0)
    assert "flow_runs" not in report.counts
    assert files_with(settings, PLAN) == []
    assert query(settings, "SELECT count(*) FROM task_run WHERE name = 'shared/note.md'") == [(1,)]


def test_a_source_of_one_user_leaves_the_copy_of_another(settings: Settings, world: Path) -> None:
    named = str(world / "said" / "note.md")
    assert erase(settings, Traces(sources={user_scope(ANN): [named]})).counts == {}
    count = "SELECT count(*) FROM task_run WHERE name = 'said/note.md'"
    assert query(settings, count) == [(2,)]
    erase(settings, Traces(sources={session_scope(BOB, MONDAY): [named]}))
    assert query(settings, count) == [(1,)]


def test_deployments_and_sources_that_name_it_are_told_and_kept(settings: Settings) -> None:
    source = SourceSettings(name="bobs", path="x", user=BOB)
    settings = Settings.model_construct(data_dir=settings.data_dir, sources=(source,))
    report = erase(settings, Traces(scopes=[user_scope(BOB)]))
    assert report.kept == ("source bobs", "deployment ingest-documents/of-bob")
    assert (report.counts["flow_runs"], report.left) == (3, 1)
    assert [note.split(";")[0] for note in report.notes] == [
        "1 sources of the settings are still for it: remove them there",
        "1 deployments of Prefect still name it",
    ]
    assert query(settings, "SELECT name FROM deployment") == [("of-bob",)]
    told: list[str] = []
    _, left, _ = eraser(settings, told.append)(Traces(scopes=[user_scope(BOB)]))
    assert (left, told) == ({"prefect": 1}, list(report.kept))


def test_a_run_that_nobody_can_be_at_work_on_goes_too(settings: Settings) -> None:
    assert query(settings, "SELECT count(*) FROM flow_run WHERE state_type = 'RUNNING'") == [(1,)]
    removed, left, notes = eraser(settings)(Traces(scopes=[user_scope(EVE)]))
    assert (removed["prefect:flow_runs"], left, list(notes)) == (1, {"prefect": 0}, [])
    assert files_with(settings, EVE) == []


def test_with_a_server_at_work_the_bytes_go_and_a_running_run_is_counted(outcome: Any) -> None:
    live = outcome["live"]
    assert outcome["dora"] == []
    assert (live["counts"]["flow_runs"], live["left"]) == (2, 1)
    assert live["notes"] == ["1 flow runs of it have not ended: forget again when they have"]


def test_through_the_api_runs_and_pages_go_and_events_are_told(
    outcome: Any, settings: Settings
) -> None:
    done = outcome["api"]
    assert (done["counts"], done["left"]) == ({"artifacts": 2, "flow_runs": 1}, 0)
    assert "PREFECT_SERVER_EVENTS_RETENTION_PERIOD" in done["notes"][0]
    for table in NAMING[:-2]:
        assert [row for row in query(settings, f"SELECT * FROM {table}") if CARL in str(row)] == []
    erase(settings, Traces(scopes=[user_scope(CARL)]))


def test_bytes_of_rows_that_somebody_else_deleted_go(settings: Settings) -> None:
    with closing(sqlite3.connect(settings.data_dir / "prefect" / "prefect.db")) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        for table in NAMING:
            connection.execute(f"DELETE FROM {table}")
        connection.commit()
    assert files_with(settings, ANN) == ["prefect.db"]
    assert erase(settings, Traces(scopes=[user_scope(ANN)])).counts == {}
    assert files_with(settings, ANN) == []


def test_the_log_of_the_server_loses_the_name_where_it_stands_alone(settings: Settings) -> None:
    log = settings.data_dir / "prefect" / "server.log"
    log.write_text(f"locked: ('{EVE}', {json.dumps(EVE)}) of pre-{EVE} and {EVE}s\n")
    report = erase(settings, Traces(scopes=[user_scope(EVE)]))
    assert report.counts["log_names"] == 2
    assert log.read_text() == (
        f"locked: ('{'x' * len(EVE.encode())}', \"{'x' * len(json.dumps(EVE)[1:-1])}\") "
        f"of pre-{EVE} and {EVE}s\n"
    )


def test_a_file_that_is_no_database_is_named(settings: Settings) -> None:
    file = settings.data_dir / "prefect" / "prefect.db"
    file.write_bytes(b"no database at all, " * 100)
    with pytest.raises(FlowUnavailable, match=r"prefect\.db: file is not a database"):
        erase(settings, Traces(scopes=[user_scope(ANN)]))
    removed, left, (note,) = eraser(settings)(Traces(scopes=[user_scope(ANN)]))
    assert (removed, left) == ({}, {"prefect": 1})
    assert note.startswith("Prefect's records could not be looked at: Prefect's database ")


def test_a_server_that_does_not_answer_is_named(outcome: Any) -> None:
    assert outcome["refused"].startswith("FlowUnavailable: Prefect does not answer: ")


def test_the_flows_are_those_that_name_somebody(outcome: Any) -> None:
    assert outcome["flows"] == sorted(FLOW_NAMES)


WITHOUT = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        assert name.split(".")[0] != "prefect", name

sys.meta_path.insert(0, Refuse())
from pathlib import Path
from configs.settings import Settings
from indexing.traces import Traces
from indexing.types import user_scope
from pipelines.erase import erase
for folder in sys.argv[2:]:
    settings = Settings.model_construct(data_dir=Path(folder))
    print(sum(erase(settings, Traces(scopes=[user_scope(sys.argv[1])])).counts.values()) > 0)
"""


def test_prefect_is_not_needed_and_no_folder_is_made(settings: Settings, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    process = subprocess.run(
        [sys.executable, "-c", WITHOUT, ANN, str(empty), str(settings.data_dir)],
        cwd=tmp_path,
        env=environment(tmp_path, PREFECT_HOME=str(tmp_path / "other"), PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
    )
    assert (process.returncode, process.stdout) == (0, "False\nTrue\n"), process.stderr
    assert not empty.exists()
    assert not (tmp_path / "other").exists()
