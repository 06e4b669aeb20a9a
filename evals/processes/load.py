"""Put a load of processes on one embedded store and count what went wrong.

One process ingests, two retrieve, and a `letopis` command starts every second, for some seconds.
Nothing is shared but the folder: this is what a scheduled flow, two agents and a person do.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from configs.settings import load
from configs.stores import build_catalog, build_store
from evals.errors import EvalError
from evals.processes.worker import USER, code
from indexing.types import GLOBAL, Filter, user_scope

ROOT = Path(__file__).parents[2]
WORKERS = {"ingesting": "ingesting", "reader-1": "retrieving", "reader-2": "retrieving"}
ENVIRONMENT = {
    "PYTHONPATH": str(ROOT),
    "LETOPIS_EMBEDDER__THREADS": "1",
    "LETOPIS_BUSY_TIMEOUT": "30",
}
AT_ONCE = 2
"""Commands that may run at the same time: a machine too slow for one a second gets fewer."""
START = 60.0
"""Seconds after which a worker that is not ready, or a command that has not ended, has failed."""

Process = subprocess.Popen[str]
Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Load:
    """What happened; lists hold seconds, one a call."""

    seconds: float
    documents: int = 0
    facts: int = 0
    lost: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    ingest: list[float] = field(default_factory=list)
    retrieve: list[float] = field(default_factory=list)
    seen_after: list[float] = field(default_factory=list)
    commands: list[float] = field(default_factory=list)


def run(folder: Path, seconds: float, progress: Progress | None = None) -> Load:
    """Run the load in an empty folder, for some seconds after every process is ready."""
    found = Load(seconds)
    with _workers(folder) as workers:
        _wait_ready(folder, workers)
        facts = _command_a_second(folder, found, progress)
        (folder / "stop").touch()
        for name, process in workers.items():
            _, err = process.communicate(timeout=START)
            if process.returncode:
                found.errors.append(f"{name} ended with {process.returncode}: {err.strip()[-400:]}")
    _count(folder, found)
    _look_for_lost(folder, found, facts)
    return found


@contextmanager
def _workers(folder: Path) -> Iterator[Mapping[str, Process]]:
    """Start the workers; none outlives the block."""
    running: dict[str, Process] = {}
    try:
        for name, role in WORKERS.items():
            with (folder / f"{name}.jsonl").open("w") as out:
                arguments = ("-m", "evals.processes.worker", role, str(folder))
                running[name] = start(arguments, folder, out)
        yield running
    finally:
        for process in running.values():
            process.kill()
            process.wait()


def start(arguments: tuple[str, ...], folder: Path, out: Any = subprocess.PIPE) -> Process:
    """Start a Python process whose working folder is ``folder``; its settings are our own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("LETOPIS_")}
    return subprocess.Popen(  # noqa: S603 - our own modules
        [sys.executable, *arguments],
        cwd=folder,
        env=kept | ENVIRONMENT,
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
    )


def _wait_ready(folder: Path, workers: Mapping[str, Process]) -> None:
    deadline = time.monotonic() + START
    for name, process in workers.items():
        while not (folder / f"{name}.jsonl").stat().st_size:
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise EvalError(f"{name} did not start: {process.communicate()[1].strip()[-400:]}")
            time.sleep(0.05)


def _command_a_second(folder: Path, found: Load, progress: Progress | None) -> list[str]:
    """Start a command a second, or fewer; return the facts that were acknowledged."""
    memory = ("-m", "letopis", "--data-dir", str(folder / "memory"))
    facts: list[str] = []
    running: list[tuple[float, str, Process]] = []
    begun = time.monotonic()
    for number in count():
        elapsed = time.monotonic() - begun
        if elapsed >= found.seconds:
            break
        due = time.monotonic() + 1
        if progress:
            progress("seconds", int(elapsed), int(found.seconds))
        fact = f"The parcel {code(number)} is on shelf {number % 7}."
        command = (
            ("remember", fact, "--user", USER),
            ("retrieve", f"where is {code(number)}?", "--user", USER, "--json"),
            ("status", "--json"),
        )[number % 3]
        running.append((time.monotonic(), command[1], start((*memory, *command), folder)))
        while time.monotonic() < due or len(running) >= AT_ONCE:
            running = [one for one in running if not _ended(one, found, facts)]
            time.sleep(0.02)
    while running:
        running = [one for one in running if not _ended(one, found, facts)]
        time.sleep(0.02)
    return facts


def _ended(one: tuple[float, str, Process], found: Load, facts: list[str]) -> bool:
    """Whether a command has ended; then it is counted."""
    began, what, process = one
    took = time.monotonic() - began
    if process.poll() is None and took < START:
        return False
    process.kill()
    _, err = process.communicate()
    found.commands.append(took)
    if process.returncode or err:
        found.errors.append(f"a command ended with {process.returncode}: {err.strip()[-400:]}")
    elif what.startswith("The parcel"):
        facts.append(what)
    return True


def _count(folder: Path, found: Load) -> None:
    """Read what the workers wrote."""
    for name, role in WORKERS.items():
        lines = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
        found.errors += [f"{name}: {line['error']}" for line in lines if "error" in line]
        timed = [line for line in lines if "seconds" in line]
        (found.ingest if role == "ingesting" else found.retrieve).extend(
            line["seconds"] for line in timed
        )
        if role == "ingesting":
            found.documents = sum(line["indexed"] for line in timed)
            continue
        found.errors += [f"{name}: {code(n)} was acknowledged, not found" for n in _missed(timed)]
        found.seen_after += [line["age"] for line in timed if line.get("found")]


def _missed(lines: list[dict[str, Any]]) -> Iterator[int]:
    """Yield the documents that a reader asked for and did not find."""
    yield from (line["number"] for line in lines if line.get("found") is False)


def _look_for_lost(folder: Path, found: Load, facts: list[str]) -> None:
    """Read the store and the catalog when all have ended: is what was acknowledged there?"""
    settings = load(data_dir=folder / "memory")
    store, catalog = build_store(settings), build_catalog(settings)
    try:
        titles = {memory.title for memory in store.scroll("global", Filter(GLOBAL))}
        texts = {memory.text for memory in store.scroll("user", Filter(user_scope(USER)))}
        rows = len(catalog.sources(GLOBAL))
    finally:
        store.close()
        catalog.close()
    found.facts = len(facts)
    found.lost += [code(n) for n in range(found.documents) if code(n) not in titles]
    found.lost += [fact for fact in facts if fact not in texts]
    if rows != found.documents:
        found.lost.append(f"{found.documents - rows} rows of the catalog")
