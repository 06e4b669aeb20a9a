"""A full disk and Ctrl-C in the middle of an ingest: what was acknowledged is there."""

import resource
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from tests.letopis.conftest import Cli

FILES = 200


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(FILES):
        text = f"# Note {number}\n\nPart P-{number} costs {number * 7} euro."
        (folder / f"{number:03}.md").write_text(text)
    return folder


def rows(cli: Cli) -> dict[str, float]:
    """Return when each acknowledged source was indexed, by key."""
    catalog = cli.folder / "memory" / "catalog.sqlite"
    if not catalog.exists():
        return {}
    connection = sqlite3.connect(catalog, timeout=30)
    try:
        query = "SELECT key, indexed_at FROM sources WHERE content_hash != ''"
        return dict(connection.execute(query))
    except sqlite3.OperationalError:
        return {}
    finally:
        connection.close()


def test_ctrl_c_ends_with_130_and_the_next_run_goes_on(cli: Cli, notes: Path) -> None:
    running = cli.start("ingest", "notes", LETOPIS_INGEST__BATCH="4")
    while len(rows(cli)) < 8:
        assert running.poll() is None, running.communicate()
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate()
    assert (running.returncode, out) == (130, "")
    assert err == "interrupted: what was indexed stays; run the command again to go on\n"
    kept = rows(cli)
    assert 8 <= len(kept) < FILES

    again = cli("ingest", "notes", "--json")
    assert again.code == 0
    assert again.json["unchanged"] == len(kept)
    assert again.json["embedded"] == FILES - len(kept)
    assert kept.items() <= rows(cli).items()
    assert len(rows(cli)) == FILES


def full_disk() -> None:
    """Let no file grow past 64 KiB: what a full disk looks like to whoever writes."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, 64 * 1024))


def test_a_full_disk_is_named_and_loses_nothing(cli: Cli, notes: Path) -> None:
    first = cli("ingest", "notes/007.md", "--json")
    assert first.json["indexed"] == 1
    before = rows(cli)
    full = cli("ingest", "notes", prepare=full_disk)
    assert full.refused().startswith("StoreUnavailable: ")
    assert before.items() <= rows(cli).items()

    found, again = cli.many(
        ("retrieve", "how much is P-7?", "-k", "1", "--json"), ("ingest", "notes", "--json")
    )
    assert found.json["hits"][0]["source"] == "007.md § Note 7"
    assert (again.code, again.json["unchanged"]) == (0, len(before))
    assert len(rows(cli)) == FILES
