"""Numbers from questions: ``python -m evals.sql [--engine duckdb] [--json]``.

Asks the hand-written questions of `evals/sql/questions` over two sample databases and compares
each answer with the result of its gold SQL. Part ``dev`` is what the rules were tuned on,
``held_out`` was written before them, ``blind`` after them.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from evals.sql.schemas import SOURCES
from evals.sql.score import PARTS, Asked, ask, load
from evals.sql.world import build_duckdb, build_sqlite

VERDICTS = ("right", "wrong", "not answered")


def counts(asked: Iterable[Asked]) -> dict[str, int]:
    """Return how many questions have each verdict, and how many there are."""
    found: Counter[str] = Counter(one.verdict for one in asked)
    return {"questions": found.total(), **{name: found[name] for name in VERDICTS}}


def groups(asked: Sequence[Asked]) -> dict[tuple[str, str, str], list[Asked]]:
    """Return the questions by part, language and type, with totals of language and part."""
    found: dict[tuple[str, str, str], list[Asked]] = {}
    for part in dict.fromkeys(one.question.part for one in asked):
        mine = [one for one in asked if one.question.part == part]
        for kind in dict.fromkeys(one.question.type for one in mine):
            found[part, "all", kind] = [one for one in mine if one.question.type == kind]
        for language in ("ru", "en"):
            found[part, language, "all"] = [o for o in mine if o.question.language == language]
        found[part, "all", "all"] = mine
    found["all", "all", "all"] = list(asked)
    return found


def table(asked: Sequence[Asked]) -> Table:
    """Return the counts to print."""
    rows = Table("part", "language", "type")
    for name in ("questions", *VERDICTS, "right, %", "wrong, %"):
        rows.add_column(name, justify="right")
    for names, mine in groups(asked).items():
        found = counts(mine)
        total = found["questions"] or 1
        shares = (f"{100 * found[name] / total:.1f}" for name in VERDICTS[:2])
        rows.add_row(*names, *map(str, found.values()), *shares)
        if names[1:] == ("all", "all"):
            rows.add_section()
    return rows


def speed(asked: Sequence[Asked]) -> dict[str, float]:
    """Return percentiles of the time of understanding a question, in microseconds."""
    times = [one.microseconds for one in asked]
    p50, p99 = np.percentile(times, (50, 99))
    return {"p50": round(float(p50)), "p99": round(float(p99)), "max": round(max(times))}


def record(asked: Sequence[Asked]) -> dict[str, object]:
    """Return the counts and the failures as plain data."""
    return {
        "groups": [
            {"part": part, "language": language, "type": kind, **counts(mine)}
            for (part, language, kind), mine in groups(asked).items()
        ],
        "microseconds": speed(asked),
        "failures": [
            {
                "part": one.question.part,
                "question": one.question.text,
                "verdict": one.verdict,
                "why": one.why,
            }
            for one in asked
            if not one.right
        ],
    }


def asked_of(engine: str, parts: Sequence[str]) -> list[Asked]:
    """Build the databases, ask the questions of the parts. Raises `LetopisError`."""
    with tempfile.TemporaryDirectory(prefix="letopis-sql-") as name:
        folder = Path(name)
        sources = build_sqlite(folder, SOURCES)
        if engine == "duckdb":
            sources = build_duckdb(folder, SOURCES)
        files = {schema: folder / f"{schema}.db" for schema in SOURCES}
        return ask([one for part in parts for one in load(part)], sources, files)


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask the questions and print; the exit status is 1 where a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m evals.sql", description=__doc__)
    parser.add_argument("--engine", choices=("sqlite", "duckdb"), default="sqlite")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part")
    parser.add_argument("--json", action="store_true", help="print JSON")
    chosen = parser.parse_args(arguments)
    console = Console()
    try:
        asked = asked_of(chosen.engine, chosen.part or PARTS)
    except LetopisError as error:
        Console(stderr=True).print(f"error: {error}", markup=False)
        return 1
    if chosen.json:
        console.print_json(json.dumps(record(asked), ensure_ascii=False))
    else:
        console.print(table(asked))
        times = ", ".join(f"{name} {value}" for name, value in speed(asked).items())
        console.print(f"understanding a question, us: {times}")
        for one in asked:
            if not one.right:
                line = f"{one.question.part} {one.verdict}: {one.question.text} ({one.why})"
                console.print(line, markup=False, highlight=False)
    found = counts(asked)
    enough = found["right"] >= 0.9 * found["questions"]
    return 0 if enough and found["wrong"] <= 0.02 * found["questions"] else 1


if __name__ == "__main__":
    sys.exit(main())
