"""Several processes on one embedded store: no error, nothing acknowledged lost, every read sees it.

``PROCESSES_SECONDS`` is how long the load runs; CI keeps the default minute.
"""

import json
import os
from pathlib import Path

import pytest

from evals.processes.__main__ import record, table
from evals.processes.load import Load, run

SECONDS = float(os.environ.get("PROCESSES_SECONDS", "60"))


def test_an_ingest_two_readers_and_commands_share_a_store(
    memory_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(memory_folder, SECONDS)
    shown = record(found)
    with capsys.disabled():
        times = {name: shown[name] for name in ("retrieve", "seen_after", "commands")}
        line = f"{found.documents} documents, {found.facts} facts, ms: {json.dumps(times)}"
        print(f"\n{line}")  # noqa: T201 - the numbers are the result of this test
    assert found.errors == []
    assert found.lost == []
    assert found.documents > 1  # the writer is not starved by the readers
    assert len(found.retrieve) > 2  # nor the readers by the writer
    assert found.seen_after
    assert found.facts > 0


def test_a_load_is_summed_up() -> None:
    found = Load(5, documents=3, retrieve=[0.010, 0.020, 0.030], lost=["zx-00001"])
    assert record(found)["retrieve"] == {"calls": 3, "p50": 20.0, "p95": 29.0, "max": 30.0}
    rows = table(found)
    assert rows.row_count == 4
    assert rows.title == "5 s: 3 documents, 0 facts, 1 lost, 0 errors"
