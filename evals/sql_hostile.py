"""Nobody reads another's rows through SQL, nobody writes: ``python -m evals.sql_hostile``.

Builds one shop of several users whose ids differ by a hair, and one with the caller's rows only, in
SQLite, DuckDB and, where ``--postgres`` names a server on which databases may be created,
PostgreSQL. Asks hand-written attacks, random SELECTs and statements that never end. Whatever the
guard lets through must give on the full shop what the statement as it was written gives on the
caller's own; the databases must be the same afterwards. Exit status 1 where it is not so.
"""

import argparse
import hashlib
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table
from sqlalchemy.engine import make_url

from evals.command import refused
from evals.sql_attacks import SLOW, Writer, attacks
from evals.sql_databases import TABLES, connect, driver_error, fill, random_shop, source_of
from indexing.errors import LetopisError, SqlFailed, SqlRefused, SqlTimeout
from retrieval.sql.dialects import dialect_of
from retrieval.sql.guard import Checked, guard
from retrieval.sql.run import Databases, plain_cell
from retrieval.sql.types import Cell

USERS = ("u1", "u2", "U1", "u1 ", "u10", "u1'", "\u00fc1")
ASKER = "u1"
ROW_LIMIT = 500
PAST = 0.5
"""Seconds past the limit from which a statement is late: a machine that is shared stutters."""


@dataclass(slots=True)
class Outcome:
    """What became of the statements on one kind of database."""

    asked: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    leaks: list[str] = field(default_factory=list)
    compared: int = 0
    writes: int = 0
    late: int = 0
    worst_ms: float = 0.0

    @property
    def clean(self) -> bool:
        """Whether nothing was written, nobody else's row was seen, nothing was late."""
        return not (self.leaks or self.writes or self.late)


def run(url: str, own_url: str, generated: int, seed: int, timeout: float) -> Outcome:
    """Fill two empty databases and ask everything. ``timeout`` seconds are each statement's."""
    dice = random.Random(seed)  # noqa: S311
    shop = random_shop(dice, USERS, orders=700)
    fill(url, shop)
    fill(own_url, shop.of(ASKER))
    writer = Writer(dice, dialect_of(url).name)
    statements = [*attacks(), *(writer.statement() for _ in range(generated))]
    before = digest(url)
    outcome = Outcome()
    with closing(Databases()) as databases, closing(Own(own_url)) as own:
        for statement in statements:
            _ask(statement, url, databases, own, outcome, timeout)
        for statement in SLOW:
            _ask(statement, url, databases, None, outcome, timeout)
    outcome.writes = int(digest(url) != before)
    return outcome


def _ask(
    statement: str,
    url: str,
    databases: Databases,
    own: "Own | None",
    outcome: Outcome,
    timeout: float,
) -> None:
    source = source_of(url)
    outcome.asked += 1
    since = time.monotonic()
    try:
        checked = guard(statement, source, ASKER, ROW_LIMIT)
        since = time.monotonic()
        rows = databases.run(checked, source, timeout)
    except (SqlRefused, SqlFailed, SqlTimeout) as error:
        outcome.verdicts[type(error).__name__] += 1
        rows = None
    else:
        outcome.verdicts["answered"] += 1
    past = time.monotonic() - since - timeout
    outcome.worst_ms = max(outcome.worst_ms, past * 1000)
    outcome.late += past > PAST
    if rows is None:
        return
    if any(foreign(cell) for row in rows.rows for cell in row):
        outcome.leaks.append(f"saw another's row: {statement[:300]}")
    elif own is not None and not rows.truncated and "LIMIT" not in statement:
        outcome.compared += 1
        if plain(rows.rows) != plain(own.answer(statement, checked)):
            outcome.leaks.append(f"another answer than over own rows: {statement[:300]}")


def foreign(cell: Cell) -> bool:
    """Tell whether a value tells of a row that is not the caller's."""
    if not isinstance(cell, str):
        return False
    text = cell.casefold()
    return "canary" in text and text != f"canary of {ASKER}"


def plain(rows: Sequence[Sequence[Cell]]) -> list[str]:
    """Return rows so that they compare: in one order, columns too, numbers to nine digits."""
    return sorted(repr(sorted(_rounded(cell) for cell in row)) for row in rows)


def _rounded(cell: Cell) -> str:
    return repr(cell) if cell is None or isinstance(cell, str) else f"{cell:.9g}"


class Own:
    """The database with the caller's rows only: what a statement gives where there is no other."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection = connect(url)
        if dialect_of(url).name == "postgres":
            self._connection.autocommit = True  # an error ends nothing but itself

    def answer(self, statement: str, checked: Checked) -> Sequence[Sequence[Cell]]:
        """Run a statement as it was written, or as it was checked where the first is an error.

        (SQLite takes a common table expression that reads the table of its own name for a circle.)
        """
        cursor = self._connection.cursor()
        for sql in (statement, checked.sql):
            try:
                cursor.execute(sql)
                return [tuple(map(plain_cell, row)) for row in cursor.fetchall()]
            except driver_error(self._url):
                continue
        return []

    def close(self) -> None:
        """Close the database."""
        self._connection.close()


def digest(url: str) -> str:
    """Return what changes when anything in a database does: of a file its bytes, else its rows."""
    if dialect_of(url).name != "postgres":
        return hashlib.sha256(Path(make_url(url).database or "").read_bytes()).hexdigest()
    asked = [f"SELECT * FROM {table} ORDER BY id" for table in TABLES]  # noqa: S608
    asked.append("SELECT relname FROM pg_class ORDER BY relname")
    with closing(connect(url)) as connection:
        rows = [repr(connection.execute(question).fetchall()) for question in asked]
    return hashlib.sha256("".join(rows).encode()).hexdigest()


@contextmanager
def databases_of(kind: str, folder: Path, server: str) -> Iterator[tuple[str, str]]:
    """Give two empty databases of a kind; those of a PostgreSQL server are dropped afterwards."""
    if kind != "postgres":
        yield f"{kind}:///{folder / f'all.{kind}'}", f"{kind}:///{folder / f'own.{kind}'}"
        return
    names = [f"letopis_hostile_{random.SystemRandom().getrandbits(60):x}" for _ in range(2)]
    with closing(connect(server)) as admin:
        admin.autocommit = True
        for name in names:
            admin.execute(f"CREATE DATABASE {name}")
        try:
            address = make_url(server)
            full, own = (
                address.set(database=name).render_as_string(hide_password=False) for name in names
            )
            yield full, own
        finally:
            for name in names:
                admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def main() -> int:
    """Ask, print what became of it, return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.sql_hostile", description=__doc__)
    parser.add_argument("--generated", type=int, default=400, help="random SELECTs")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--timeout", type=float, default=0.3, help="seconds of one statement")
    parser.add_argument("--postgres", default="", help="a server on which databases may be created")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    kinds = ["sqlite", "duckdb", *(["postgres"] if args.postgres else [])]
    outcomes = {}
    try:
        for kind in kinds:
            with (
                tempfile.TemporaryDirectory() as folder,
                databases_of(kind, Path(folder), args.postgres) as (url, own_url),
            ):
                outcomes[kind] = run(url, own_url, args.generated, args.seed, args.timeout)
    except LetopisError as error:
        return refused(error)
    _show(outcomes, args.json)
    return 0 if all(outcome.clean for outcome in outcomes.values()) else 1


def _show(outcomes: dict[str, Outcome], as_json: bool) -> None:
    console = Console()
    if as_json:
        found = {
            kind: {
                "asked": o.asked,
                **{name: o.verdicts[name] for name in sorted(o.verdicts)},
                "compared": o.compared,
                "leaks": o.leaks,
                "writes": o.writes,
                "late": o.late,
                "worst_ms_past_limit": round(o.worst_ms, 1),
            }
            for kind, o in outcomes.items()
        }
        console.print_json(json.dumps(found))
        return
    verdicts = sorted({name for outcome in outcomes.values() for name in outcome.verdicts})
    table = Table(
        "database", "asked", *verdicts, "compared", "leaks", "writes", "late", "worst ms past"
    )
    for kind, o in outcomes.items():
        cells = [o.asked, *(o.verdicts[name] for name in verdicts), o.compared, len(o.leaks)]
        table.add_row(kind, *map(str, cells), str(o.writes), str(o.late), f"{o.worst_ms:.0f}")
    console.print(table)
    for kind, outcome in outcomes.items():
        for leak in outcome.leaks:
            console.print(f"{kind}: {leak}", markup=False)


if __name__ == "__main__":
    sys.exit(main())
