"""The flows against a real Prefect server: the same work, nothing of the text in its records."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import pipelines
from tests.letopis.conftest import ROOT, Cli, environment

CANARY = "zq-canary-7718"
TURN = {"user_id": "ann", "session_id": "monday", "role": "user", "at": "2026-01-05T10:00:00Z"}

RUNS = """
import json, os, sys
from datetime import timedelta
from pathlib import Path

import pipelines
world = Path(sys.argv[1])
pipelines.keep_state_in(world.parent / "prefect")
pipelines.keep_quiet()
from prefect.client.orchestration import get_client
from prefect.cli.deploy._config import _load_deploy_configs_and_actions
from prefect.flows import load_flow_from_entrypoint
from rich.console import Console

from configs.build import build, opened
from configs.settings import load
from indexing.index import utc_now
from indexing.ingest import ingest
from indexing.remember import remember
from indexing.types import user_scope
from letopis.show.reports import report_record
from pipelines.counts import counts_of
from pipelines.bulk import ingest_bulk
from pipelines.flows import digest_sessions, expire, ingest_sessions, reindex
from pipelines.run import run_ingest, run_once
from pipelines.plans import plans
from sessions.session import Session
from sessions.types import Entry

seen = []

def progress(what, done, total):
    seen.append(what)

with opened(load(data_dir=world.parent / "plain")) as parts:
    plain = ingest(parts.index, world)
flow = run_ingest(load(), world, None, progress)
again = run_ingest(load(), world)
(world / "good.md").unlink()
gone = run_ingest(load(), world)
own = ingest_sessions(path=str(world), data_dir=str(world.parent / "own"))
bulk = ingest_bulk(path=str(world), shares=2, data_dir=str(world.parent / "bulk"))
with opened(load(dedup={"at_write": False})) as parts:
    for verb in ("live", "reside"):
        remember(parts.index, user_scope("ann"), f"I {verb} near zq-canary-7718", subject="")
parts = build(load(), clock=lambda: utc_now() - timedelta(hours=2))
Session(parts.desk, "bob", "quiet").append(Entry("user", "My shoe size is zq-canary-7718."))
parts.close()
upkeep = run_once(load(), [plan for plan in plans(load()) if plan.every], seen.append)
rebuilt = reindex()
with get_client(sync_client=True) as client:
    runs = client.read_flow_runs()
reports = {"plain": plain, "flow": flow, "again": again, "gone": gone, "own": own}
reports["bulk"] = bulk
deployments, actions = _load_deploy_configs_and_actions(Path(sys.argv[2]), console=Console())
for one in deployments:
    loaded = load_flow_from_entrypoint(one["entrypoint"])
    one["flow"] = loaded.name
    loaded.validate_parameters(one.get("parameters", {}))
print(json.dumps({
    "reports": {name: report_record(report) for name, report in reports.items()},
    "seen": seen,
    "states": [run.state.type.value for run in runs],
    "names": sorted({key for run in runs for key in run.parameters}),
    "upkeep": {label: counts_of(report) for label, report in upkeep.items()},
    "rebuilt": counts_of(rebuilt),
    "deployments": deployments,
    "pull": actions["pull"],
    "home": os.environ["PREFECT_HOME"],
    "environment": {name: os.environ[name] for name in pipelines.SETTINGS},
}))
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flows")
    world = folder / "world"
    world.mkdir()
    (world / "good.md").write_text(f"# Refunds\n\nPaid within 14 days, says {CANARY}.")
    (world / "other.md").write_text(f"# Racks\n\nRack R-7 holds {CANARY}.")
    (world / "empty.md").touch()
    lines = [json.dumps({**TURN, "turn_id": f"t{n}", "text": f"{CANARY} {n}"}) for n in range(3)]
    (world / "chat.jsonl").write_text("\n".join([*lines, f'{{"text": "{CANARY}', "[]"]))
    return folder


@pytest.fixture(scope="module")
def outcome(place: Path) -> Any:
    """Run the flows in one process on one private server; return what it says about them."""
    process = subprocess.run(
        [sys.executable, "-c", RUNS, str(place / "world"), str(ROOT / "prefect.yaml")],
        cwd=place,
        env=environment(place, PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS="300"),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def test_a_flow_reports_what_the_plain_ingest_reports(outcome: Any) -> None:
    plain, flow = outcome["reports"]["plain"], outcome["reports"]["flow"]
    assert flow == plain
    assert (flow["seen"], flow["indexed"], flow["embedded"]) == (8, 5, plain["embedded"])


def test_a_bad_file_or_line_is_a_dead_letter_and_no_failed_flow(outcome: Any) -> None:
    dead = {(Path(d["path"]).name, d["place"]) for d in outcome["reports"]["flow"]["dead"]}
    assert dead == {("empty.md", ""), ("chat.jsonl", "line 4"), ("chat.jsonl", "line 5")}
    assert outcome["states"] == ["COMPLETED"] * 10


def test_a_second_run_embeds_nothing_and_what_is_gone_is_removed(outcome: Any) -> None:
    again, gone = outcome["reports"]["again"], outcome["reports"]["gone"]
    assert (again["unchanged"], again["indexed"], again["embedded"]) == (5, 0, 0)
    assert (gone["removed"], gone["unchanged"], gone["embedded"]) == (1, 4, 0)


def test_a_flow_opens_the_memory_that_its_parameters_name(outcome: Any, place: Path) -> None:
    own = outcome["reports"]["own"]
    assert (own["indexed"], own["seen"]) == (3, 5)
    assert (place / "own" / "store").is_dir()
    names = {"data_dir", "force", "path", "session_id", "shares", "source", "user_id"}
    assert set(outcome["names"]) == names


def test_a_bulk_leaves_nothing_for_its_last_look(outcome: Any, place: Path) -> None:
    bulk, gone = outcome["reports"]["bulk"], outcome["reports"]["gone"]
    assert (bulk["seen"], bulk["unchanged"], bulk["embedded"]) == (gone["seen"], 4, 0)
    assert (place / "bulk" / "store").is_dir()


def test_the_upkeep_runs_once_on_request(outcome: Any) -> None:
    assert outcome["upkeep"] == {
        "digest-sessions/all": {
            "seen": 2,
            "closed": 2,
            "open": 0,
            "gone": 0,
            "sessions closed": 1,
            "sessions failed": 0,
            "sessions episodes": 1,
            "sessions facts": 1,
        },
        "expire/all": {"removed global": 0, "removed user": 0, "removed session": 0, "sessions": 0},
        "merge-duplicates/all": {
            "compared": 2,
            "merged global": 0,
            "merged user": 1,
            "merged session": 0,
        },
    }
    assert (outcome["rebuilt"]["changes"], outcome["rebuilt"]["embedded"]) == (0, 0)
    assert {"digest-sessions/all", "expire/all"} <= set(outcome["seen"])


def test_progress_names_files_from_inside_the_tasks(outcome: Any) -> None:
    assert {"starting Prefect", "world/good.md", "world/chat.jsonl"} <= set(outcome["seen"])


def test_prefect_yaml_is_read_by_prefect_and_names_every_flow(outcome: Any) -> None:
    """Its entrypoints load and take its parameters: that was done while it was read."""
    found = {f"{one['flow']}/{one['name']}": one for one in outcome["deployments"]}
    assert found.keys() == {
        "ingest-documents/documents",
        "ingest-sessions/sessions",
        "digest-sessions/all",
        "expire/all",
        "merge-duplicates/all",
        "reindex/all",
    }
    assert outcome["pull"] == []
    for one in found.values():
        assert one["concurrency_limit"] == {"limit": 1, "collision_strategy": "CANCEL_NEW"}
        assert one["work_pool"]["name"] == "letopis"
        assert one["work_pool"]["job_variables"]["env"] == pipelines.TELEMETRY_OFF


def test_no_text_of_a_memory_is_in_the_records_of_prefect(outcome: Any, place: Path) -> None:
    home = place / "prefect"
    assert outcome["home"] == str(home)
    files = [file for file in home.rglob("*") if file.is_file()]
    assert home / "prefect.db" in files
    assert [file for file in files if CANARY.encode() in file.read_bytes()] == []


def test_telemetry_is_off(outcome: Any) -> None:
    environment = outcome["environment"]
    assert environment["DO_NOT_TRACK"] == "1"
    for name in (
        "PREFECT_SERVER_ANALYTICS_ENABLED",
        "PREFECT_CLOUD_ENABLE_ORCHESTRATION_TELEMETRY",
        "PREFECT_TELEMETRY_ENABLE_RESOURCE_METRICS",
    ):
        assert environment[name] == "false"
    assert set(environment) == set(pipelines.SETTINGS)


def test_a_prefect_that_does_not_answer_is_named(cli: Cli) -> None:
    (cli.folder / "a.txt").write_text("text")
    done = cli("ingest", "a.txt", "--flow", "--json", PREFECT_API_URL="http://127.0.0.1:1/api")
    assert done.refused().startswith("FlowUnavailable: Prefect does not answer: ")


WITHOUT = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "prefect":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refuse())
sys.argv = ["letopis", *sys.argv[1:]]
from letopis.cli import main
main()
"""


def test_without_prefect_ingest_works_and_a_flow_says_what_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text to index")
    plain, flow = (
        subprocess.run(
            [sys.executable, "-c", WITHOUT, "ingest", "a.txt", "--json", *more],
            cwd=tmp_path,
            env=environment(tmp_path),
            capture_output=True,
            text=True,
        )
        for more in ((), ("--flow",))
    )
    assert (plain.returncode, plain.stderr) == (0, "")
    assert json.loads(plain.stdout)["indexed"] == 1
    assert (flow.returncode, flow.stdout) == (1, "")
    assert flow.stderr.startswith("FlowUnavailable: a flow needs Prefect (No module named 'prefect")
    assert flow.stderr.count("\n") == 1
