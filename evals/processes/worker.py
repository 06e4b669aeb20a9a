"""A process at work until it is told to stop: ``python -m evals.processes.worker ROLE FOLDER``.

Each writes what it did as JSON lines to its standard output. Errors of the project are lines too;
any other ends the process. Texts are made up and hold a number by which they are found again.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from chunking.errors import LetopisError
from configs.build import Parts, build
from configs.settings import load
from evals.synthetic import speakers
from indexing.ingest import ingest

USER = "ann"
PAUSE = 0.25
"""Seconds between two pieces of work: this is about taking turns, not about a full machine."""


def say(**line: Any) -> None:
    """Write one line."""
    print(json.dumps(line), flush=True)  # noqa: T201


def code(number: int) -> str:
    """Return the word by which document ``number`` is found."""
    return f"zx-{number:05}"


def at_work(folder: Path) -> bool:
    """Return whether nobody has put a file named ``stop`` into the folder."""
    return not (folder / "stop").exists()


def ingesting(parts: Parts, folder: Path) -> None:
    """Index one new file after another; a line of ``acknowledged`` for each."""
    notes = folder / "notes"
    notes.mkdir()
    voices = speakers(1)
    number = 0
    while at_work(folder):
        file = notes / f"{number:05}.md"
        voice = next(voices)
        file.write_text(f"# {code(number)}\n\n{voice.paragraph()}\n\n{voice.paragraph()}\n")
        started = time.perf_counter()
        report = ingest(parts.index, file)
        say(
            number=number,
            indexed=report.indexed,
            seconds=time.perf_counter() - started,
            acknowledged=time.time(),
        )
        number += 1
        time.sleep(PAUSE)


def retrieving(parts: Parts, folder: Path) -> None:
    """Ask for the newest acknowledged document, as long as there is none newer to ask for."""
    asked = -1
    while at_work(folder):
        newest = _newest(folder / "ingesting.jsonl")
        number = newest.get("number", -1)
        started = time.perf_counter()
        hits = parts.retriever.retrieve(f"что известно про {code(number)}", USER, None, 5).hits
        took = time.perf_counter() - started
        found = any(code(number) in hit.memory.title for hit in hits)
        line: dict[str, Any] = {"seconds": took}
        if number > asked:
            line |= {"number": number, "found": found, "age": time.time() - newest["acknowledged"]}
            asked = number
        say(**line)
        time.sleep(PAUSE / 2)


def _newest(log: Path) -> dict[str, Any]:
    """Return the last whole line that a process wrote."""
    lines = log.read_text().splitlines(keepends=True) if log.exists() else []
    whole = [line for line in lines if line.endswith("\n")]
    found: dict[str, Any] = json.loads(whole[-1]) if whole else {}
    return found


ROLES: dict[str, Callable[[Parts, Path], None]] = {
    "ingesting": ingesting,
    "retrieving": retrieving,
}


def main(role: str, folder: str) -> None:
    """Do one role's work on ``folder/memory``."""
    parts = build(load(data_dir=Path(folder) / "memory"))
    try:
        say(ready=time.time())
        ROLES[role](parts, Path(folder))
    except LetopisError as error:
        say(error=f"{type(error).__name__}: {error}")
    finally:
        parts.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
