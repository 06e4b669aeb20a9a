"""Ask the questions and compare with the gold: right, wrong or not answered."""

import json
import math
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from evals.sql.world import NOW, USER, gold
from indexing.errors import SqlError
from retrieval.sql.answer import answer
from retrieval.sql.run import Databases
from retrieval.sql.schema import Source
from retrieval.sql.understand import understand

FOLDER = Path(__file__).parent / "questions"
PARTS = ("dev", "held_out", "blind")

Verdict = Literal["right", "wrong", "not answered"]


@dataclass(frozen=True, slots=True)
class Question:
    """``sql`` is the gold; None: no declared source can answer, and nothing should."""

    part: str
    schema: str
    language: str
    type: str
    text: str
    sql: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What became of a question. ``answered``: a statement ran. ``why`` says what differs.

    ``microseconds`` is the time of understanding it, the best of three.
    """

    question: Question
    answered: bool
    right: bool
    why: str
    microseconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """Right is also to leave alone what cannot be answered."""
        if self.right:
            return "right"
        return "wrong" if self.answered else "not answered"


def load(part: str, folder: Path = FOLDER) -> list[Question]:
    """Read the questions of a part."""
    lines = (folder / f"{part}.jsonl").read_text("utf-8").splitlines()
    return [Question(part, **json.loads(line)) for line in lines]


def ask(
    questions: Sequence[Question],
    sources: Mapping[str, Source],
    files: Mapping[str, Path],
) -> list[Asked]:
    """Ask each question of its schema's source; the gold is read from the SQLite ``files``."""
    databases = Databases()
    golds = {name: gold(file, name) for name, file in files.items()}
    try:
        return [
            replace(
                _ask(one, sources[one.schema], databases, golds[one.schema]),
                microseconds=_microseconds(one.text, sources[one.schema]),
            )
            for one in questions
        ]
    finally:
        databases.close()
        for connection in golds.values():
            connection.close()


def _microseconds(text: str, source: Source) -> float:
    times = []
    for _ in range(3):
        start = time.perf_counter()
        understand(text, (source,), NOW)
        times.append(1e6 * (time.perf_counter() - start))
    return min(times)


def _ask(
    question: Question, source: Source, databases: Databases, views: sqlite3.Connection
) -> Asked:
    found = understand(question.text, (source,), NOW)
    if found.intent is None:
        return Asked(question, False, question.sql is None, found.reason)
    try:
        answered = answer(found.intent, {source.name: source}, databases, user_id=USER, now=NOW)
    except SqlError as error:
        return Asked(question, False, question.sql is None, str(error))
    if question.sql is None:
        return Asked(question, True, False, f"answered: {answered.understood}")
    expected = canonical(views.execute(question.sql).fetchall(), question.sql)
    rows = answered.rows
    if answered.columns[:1] == ("period",):
        rows = tuple(row[1:] for row in rows)
    got = canonical(rows, question.sql)
    right = same(got, expected)
    why = "" if right else f"{answered.understood}: {got[:4]}, gold {expected[:4]}"
    return Asked(question, True, right, why)


Cells = tuple[object, ...]


def canonical(rows: Sequence[Sequence[object]], sql: str) -> list[Cells]:
    """Return rows to compare: numbers alone as one row, else in the gold's order, or sorted."""
    if all(isinstance(cell, int | float) or cell is None for row in rows for cell in row):
        return [tuple(cell for row in rows for cell in row)]
    found = [tuple(row) for row in rows]
    return found if "ORDER BY" in sql else sorted(found, key=lambda row: [str(c) for c in row])


def same(one: Sequence[Cells], other: Sequence[Cells]) -> bool:
    """Tell whether two results agree, numbers to nine digits."""
    return len(one) == len(other) and all(
        len(a) == len(b) and all(map(_same_cell, a, b)) for a, b in zip(one, other, strict=True)
    )


def _same_cell(one: object, other: object) -> bool:
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return one == other
