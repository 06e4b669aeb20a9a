"""The command line as a user runs it: a process of its own, settings of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
LETOPIS = (sys.executable, "-m", "letopis")

MANY = """
import contextlib, io, json, os, sys, traceback
from letopis.cli import main

def run(command):
    before = dict(os.environ)
    os.environ.update(command["env"])
    sys.argv = ["letopis", *command["args"]]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
            code = -1
    os.environ.clear()
    os.environ.update(before)
    return {"code": code, "out": out.getvalue(), "err": err.getvalue()}

print(json.dumps([run(command) for command in json.load(sys.stdin)]))
"""


@dataclass(frozen=True)
class Done:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def refused(self) -> str:
        """Return the one line of an error raised on purpose."""
        assert self.code == 1, self
        assert self.out == ""
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, self.err
        return self.err.rstrip("\n")


def environment(folder: Path, **extra: str) -> dict[str, str]:
    """Return an environment without settings of ours; the memory lives in the folder."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("LETOPIS_", "PREFECT_"))}
    here = {"PYTHONPATH": str(ROOT), "LETOPIS_DATA_DIR": str(folder / "memory")}
    return {**kept, **here, "COLUMNS": "100", **extra}


@dataclass(frozen=True)
class Cli:
    """Runs commands in processes whose working folder is ``folder``."""

    folder: Path

    def __call__(self, *args: str, prepare: Callable[[], None] | None = None, **env: str) -> Done:
        """Run one command."""
        process = subprocess.run(
            [*LETOPIS, *args],
            cwd=self.folder,
            env=environment(self.folder, **env),
            preexec_fn=prepare,
            capture_output=True,
            text=True,
        )
        return Done(process.returncode, process.stdout, process.stderr)

    def start(self, *args: str, **env: str) -> "subprocess.Popen[str]":
        """Start one command and leave it running."""
        return subprocess.Popen(
            [*LETOPIS, *args],
            cwd=self.folder,
            env=environment(self.folder, **env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def many(self, *commands: Sequence[str | Mapping[str, str]]) -> list[Done]:
        """Run commands one after another in one process; a mapping in one is its environment."""
        asked = [
            {
                "args": [part for part in command if isinstance(part, str)],
                "env": {
                    k: v for part in command if not isinstance(part, str) for k, v in part.items()
                },
            }
            for command in commands
        ]
        process = subprocess.run(
            [sys.executable, "-c", MANY],
            cwd=self.folder,
            env=environment(self.folder),
            input=json.dumps(asked),
            capture_output=True,
            text=True,
        )
        assert process.returncode == 0, process.stderr
        return [Done(**done) for done in json.loads(process.stdout)]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)
