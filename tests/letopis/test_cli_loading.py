"""What a command loads: help loads next to nothing, and no command a model that it does not use."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from configs.settings import Settings
from tests.letopis.conftest import Cli, environment

RUN = """
import contextlib, io, json, sys
from letopis.cli import main
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print(json.dumps(sorted(sys.modules)))
"""
DATA = {"numpy", "pydantic_settings", "sqlalchemy", "qdrant_edge"}
MODEL = {"onnxruntime"}
WORK = MODEL | {
    "onnx",
    "tokenizers",
    "tiktoken",
    "selectolax",
    "fastembed",
    "prefect",
    "httpx",
    "sqlglot",
}


def loaded(folder: Path, *args: str, **env: str) -> set[str]:
    """Run a command in a process of its own; return the modules that are loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, *args],
        cwd=folder,
        env=environment(folder, **env),
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("args", [("--help",), ("sync", "--help"), ("--version",)])
def test_help_loads_no_library_of_the_work(tmp_path: Path, args: tuple[str, ...]) -> None:
    found = loaded(tmp_path, *args)
    assert "typer" in found
    assert found & (DATA | WORK) == set()


@pytest.mark.parametrize("args", [("status",), ("dead-letters", "list")])
def test_a_look_loads_nothing_but_the_data(tmp_path: Path, args: tuple[str, ...]) -> None:
    found = loaded(tmp_path, *args)
    assert found >= DATA
    assert found & WORK == set()


def test_what_embeds_nothing_loads_no_model(cli: Cli) -> None:
    (cli.folder / "in").mkdir()
    (cli.folder / "in" / "a.md").write_text("# Refunds\n\nPaid within 14 days.")
    assert loaded(cli.folder, "ingest", "in") >= MODEL
    assert loaded(cli.folder, "sync", "in") & MODEL == set()
    assert loaded(cli.folder, "dead-letters", "retry") & MODEL == set()
    assert loaded(cli.folder, "retrieve", "refunds") >= MODEL


def test_sessions_are_loaded_by_what_is_about_sessions(cli: Cli) -> None:
    """A question asks for no conversation: it loads their settings at most."""
    found = {name for name in loaded(cli.folder, "retrieve", "tea") if name.startswith("sessions.")}
    assert found <= {"sessions.types", "sessions.policies"}
    assert "sessions.session" in loaded(cli.folder, "session", "show", "--user", "ann")


def test_another_model_is_refused_before_anything_is_done(cli: Cli) -> None:
    told = cli("remember", "Ann drinks tea.", "--user", "ann")
    assert told.code == 0, told
    (cli.folder / "in").mkdir()
    (cli.folder / "in" / "a.md").write_text("# Refunds\n\nPaid within 14 days.")
    model = Settings().cache_dir.expanduser() / "models" / "multilingual-e5-small-int8-ruen"
    other = {"LETOPIS_EMBEDDER__KIND": "onnx", "LETOPIS_EMBEDDER__FOLDER": str(model)}
    ask = (("sync", "in"), ("retrieve", "tea"), ("remember", "x", "--user", "ann"))
    for done in cli.many(*((*args, other) for args in ask)):  # only the first one loads it
        assert done.refused().startswith("SchemaMismatch: ")
        assert "embedder was 'multilingual-e5-small/int8-ruen' and is" in done.err
        assert done.err.endswith("make the vectors anew: letopis reindex\n")
    status = cli("status", "--json").json
    assert (list(status["sources"]), status["dead_letters"]) == (["user"], 0)
