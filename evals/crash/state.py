"""All that a data folder holds, read without the product's filters, and how two of them differ.

Points are read from the engine itself, whatever their tenant, and rows from the database file, so
that nothing a query would not show is missed. Differences name ids and files, never a text.
"""

import re
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import qdrant_edge as engine

from configs.build import build
from evals.crash.child import embedder, settings
from evals.crash.world import QUESTIONS, moment
from indexing.types import COLLECTIONS

LAST = 9
"""The phase whose clock answers questions: later than all."""

UNLIKE = {"added_at", "indexed_at", "failed_at", "attempts", "stamp", "created_at"}
"""Columns that may differ: the wall clock, how often a file failed, a file's inode and times."""

CHANCE = {"deployment": "value"}
"""Table -> its column that is made by chance."""

_SEGMENT = re.compile(r"/segments/.*")
"""What is inside a segment is the engine's: its points are compared, not its files."""

_BIRTH = re.compile(r'"birth": "[0-9a-f]+"')
"""The mark by which a catalog knows its store; made by chance."""

Table = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class State:
    """What is compared; every part maps a name to a value."""

    points: Table
    """``collection/id`` -> payload and vectors."""
    counts: Table
    """Collection -> points as the engine counts them: one that is there twice counts twice."""
    rows: Table
    """``table/number`` -> row, in order of its columns."""
    files: Table
    """Path -> True; the segments of a collection count as one."""
    answers: Table
    """``user/rank`` -> id and score of a hit."""


def read(channel: Connection, data: Path) -> None:
    """Send the state of a folder that no process has open, as its next use finds it."""
    answers = _answers(data)
    files = {
        _SEGMENT.sub("/segments", file.relative_to(data).as_posix()): True
        for file in data.rglob("*")
        if file.is_file()
    }
    points: dict[str, Any] = {}
    counts: dict[str, Any] = {}
    for collection in COLLECTIONS:
        shard = engine.EdgeShard.load(str(data / "store" / collection))
        counts[collection] = shard.info().points_count
        points |= {f"{collection}/{p.id}": (p.payload, _plain(p.vector)) for p in _scroll(shard)}
        shard.close()
    channel.send(State(points, counts, _rows(data / "catalog.sqlite"), files, answers))
    channel.close()


def _scroll(shard: engine.EdgeShard) -> list[engine.Record]:
    found: list[engine.Record] = []
    offset = None
    while True:
        request = engine.ScrollRequest(
            offset=offset, limit=500, with_payload=True, with_vector=True
        )
        records, offset = shard.scroll(request)
        found += records
        if offset is None:
            return found


def _plain(vectors: Any) -> dict[str, Any]:
    return {
        name: (list(v.indices), list(v.values)) if isinstance(v, engine.SparseVector) else list(v)
        for name, v in vectors.items()
    }


def _rows(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for (table,) in tables:
            rows = connection.execute(f'SELECT * FROM "{table}"').fetchall()  # noqa: S608
            kept = sorted(
                repr({k: v for k, v in dict(row).items() if k not in {*UNLIKE, CHANCE.get(table)}})
                for row in rows
            )
            found |= {f"{table}/{number}": _BIRTH.sub("", row) for number, row in enumerate(kept)}
    return found


def _answers(data: Path) -> dict[str, Any]:
    parts = build(settings(data), clock=partial(moment, LAST), embedder=embedder())
    try:
        return {
            f"{user}/{rank}": (hit.memory.id, round(hit.score, 5))
            for question, user in QUESTIONS
            for rank, hit in enumerate(parts.retriever.retrieve(question, user, None, 10).hits)
        }
    finally:
        parts.close()


def differences(clean: State, found: State, *, times: bool = True) -> list[str]:
    """Return what is missing, too much or other than in the clean run, one line each.

    ``times``: whether the time when a memory was written must be the same too.
    """
    lines: list[str] = []
    for part in State.__dataclass_fields__:
        wanted, got = getattr(clean, part), getattr(found, part)
        if part == "points" and not times:
            wanted, got = _timeless(wanted), _timeless(got)
        for name in sorted(wanted.keys() | got.keys()):
            if name not in got:
                lines.append(f"{part}: {name} is missing")
            elif name not in wanted:
                lines.append(f"{part}: {name} is too much")
            elif wanted[name] != got[name]:
                lines.append(f"{part}: {name} differs")
    return lines


def _timeless(points: Table) -> Table:
    return {name: (_without_time(payload), vectors) for name, (payload, vectors) in points.items()}


def _without_time(payload: dict[str, Any]) -> dict[str, Any]:
    """Return a payload without when it was stored; the same of its other places."""
    left = {k: v for k, v in payload.items() if k != "created_at"}
    if "also" in left:
        left["also"] = [_without_time(place) for place in left["also"]]
    return left
