"""Which questions are taken for ones about the memory itself: ``python -m evals.own_catalog``.

With no source but the memory's own catalog, every question of the eval sets is planned for a caller
whose tools have the usual names. None of LoCoMo and XQuAD may be sent to SQL: they ask for what was
said. Those of the router's set from PAUQ ask a database of something else, and a few of them ("how
many documents are there?") are word for word what one asks of a memory. What is sent is printed.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from chunking.errors import LetopisError
from evals import routing
from evals.datasets import load
from evals.timing import quantile
from indexing.catalog_schema import owner_key
from retrieval.analyst import Analyst
from retrieval.own_catalog import OwnCatalog
from retrieval.sql.catalog_source import catalog_source, with_tools
from retrieval.sql.run import Databases

SETS = ("locomo", "xquad-en", "xquad-ru", "xquad-r-en", "xquad-r-ru", "scifact")
NOW = datetime(2026, 5, 15, 12, tzinfo=UTC)
TOOLS = (
    *("search", "browser", "calculator", "python", "read_file", "write_file", "send_email"),
    *("get_weather", "calendar", "database", "maps", "translate", "image_generator", "memory"),
)
"""Tools that the caller is taken to have used: their words are understood as well."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A question of a set, what it is understood as (empty: it goes to the vectors), and the
    microseconds of processor time that this took."""

    name: str
    question: str
    understood: str
    microseconds: float


def analyst() -> Analyst:
    """Return what plans with the catalog alone; no database is there, and none is asked."""
    databases = Databases()
    source = with_tools(catalog_source("sqlite:///none.sqlite"), TOOLS)
    return Analyst({}, databases, own=OwnCatalog(source, databases, owner_key))


def planned(name: str, questions: Iterable[str], asked: Analyst) -> Iterator[Planned]:
    """Plan each question once."""
    for question in questions:
        started = time.thread_time()
        parts = asked.plan(question, NOW).to("sql")
        spent = 1e6 * (time.thread_time() - started)
        intents = (part.understanding.intent for part in parts if part.understanding)
        words = "; ".join(f"{i.aggregate} of {i.table}" for i in intents if i)
        yield Planned(name, question, words, spent)


def ask(data: Path | None = None) -> list[Planned]:
    """Plan the questions of all sets. Raises `DataMissing`, `DataMalformed`."""
    one = analyst()
    found: list[Planned] = []
    list(planned("warm", ["how many sessions?", "сколько сессий?"], one))
    for name in SETS:
        queries = load(name, data).queries.values()
        found += planned(name, (query.text for query in queries), one)
    questions = routing.read(data)
    for source in dict.fromkeys(question.source for question in questions):
        of_it = (question.text for question in questions if question.source == source)
        found += planned(f"router/{source}", of_it, one)
    return found


def table(found: Sequence[Planned]) -> Table:
    """Return how many questions of each set were sent to SQL."""
    made = Table("set", "questions", "to SQL", "p50, us", "p99, us")
    for name in dict.fromkeys(one.name for one in found):
        mine = [one for one in found if one.name == name]
        times = [one.microseconds for one in mine]
        taken = (f"{quantile(times, part):.0f}" for part in (0.5, 0.99))
        made.add_row(name, str(len(mine)), str(sum(bool(o.understood) for o in mine)), *taken)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table and what was sent; 2 where the data cannot be read."""
    parser = argparse.ArgumentParser(prog="python -m evals.own_catalog", description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the eval sets")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    console = Console()
    try:
        found = ask(options.data)
    except LetopisError as error:
        Console(stderr=True).print(f"evals.own_catalog: {error}", markup=False)
        return 2
    sent = [one for one in found if one.understood]
    if options.json:
        console.print_json(json.dumps([asdict(one) for one in sent]))
        return 0
    console.print(table(found))
    for one in sent:
        console.print(f"{one.name}: {one.question} -> {one.understood}", markup=False)
    return 0


if __name__ == "__main__":
    sys.exit(main())
