"""`letopis demo`: the sample world through the Prefect flow, then its questions.

The world lives in its own folder below the data folder, so a demo never touches a real memory; a
second run finds everything unchanged and embeds nothing.
"""

import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from configs.embedders import Progress as ModelProgress
from configs.embedders import build_embedder
from configs.settings import Settings
from indexing.index import Report
from indexing.ingest import Progress
from letopis.flow import flow_ingest
from letopis.memory import open_memory
from letopis.show.reports import report_record
from letopis.show.tables import shorten
from retrieval.types import Hit, Result

WORLD = Path(__file__).parent / "world"
TOP = 3
DEPTH = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of the world, what came back, and where the right source was (from 1)."""

    user: str
    kind: str
    result: Result
    found_at: int | None
    expected: bool
    leaked: bool

    @property
    def shown(self) -> Hit | None:
        """The hit to show: the right one when it is among the first three, else the first."""
        hits = self.result.hits
        place = self.found_at if self.found_at and self.found_at <= TOP else 1
        return hits[place - 1] if hits else None

    @property
    def verdict(self) -> str:
        """A word for the table."""
        if not self.expected:
            return "LEAK" if self.leaked else "kept secret"
        return f"right, #{self.found_at}" if self.found_at else "not found"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The report of the ingest, the answers, and seconds by step."""

    report: Report
    answers: Sequence[Answer]
    seconds: dict[str, float]

    @property
    def leaks(self) -> int:
        """How many answers showed another user's secret."""
        return sum(answer.leaked for answer in self.answers)

    def table(self) -> Table:
        """Return the answers for a person."""
        table = Table("asks", "question", "best memory", "source", "scope", "", show_lines=True)
        for answer in self.answers:
            hit = answer.shown
            cells = [answer.user, answer.result.query, "nothing found", "", "", answer.verdict]
            if hit is not None:
                memory = hit.memory
                said = f"{memory.speaker}: {memory.text}" if memory.speaker else memory.text
                cells[2:5] = [shorten(said, 140), memory.source, str(memory.scope)]
            table.add_row(*(Text(cell) for cell in cells))
        return table

    def summary(self) -> str:
        """Return the counts in a few lines."""
        asked = [answer for answer in self.answers if answer.expected]
        first = sum(answer.found_at == 1 for answer in asked)
        top = sum(answer.found_at is not None and answer.found_at <= TOP for answer in asked)
        secrets = len(self.answers) - len(asked)
        times = ", ".join(f"{name} {spent:.1f} s" for name, spent in self.seconds.items())
        report = self.report
        return (
            f"{report.seen} sources: {report.indexed} indexed, {report.unchanged} unchanged, "
            f"{report.embedded} texts embedded, {len(report.dead)} dead letters\n"
            f"{len(asked)} questions: right source first {first}, among the first {TOP} {top}; "
            f"{secrets} questions about other users' secrets: {self.leaks} leaks\n{times}"
        )

    def record(self) -> dict[str, Any]:
        """Return everything for a machine."""
        return {
            "report": report_record(self.report),
            "seconds": self.seconds,
            "leaks": self.leaks,
            "answers": [
                {
                    "user": answer.user,
                    "kind": answer.kind,
                    "question": answer.result.query,
                    "found_at": answer.found_at,
                    "verdict": answer.verdict,
                    "sources": [hit.memory.source for hit in answer.result.hits],
                }
                for answer in self.answers
            ],
        }


def run_demo(settings: Settings, model: ModelProgress, progress: Progress) -> Outcome:
    """Ingest the world through the flows and ask its questions."""
    started = time.perf_counter()
    settings = settings.model_copy(update={"data_dir": settings.data_dir / "demo"})
    build_embedder(settings, model)
    ready = time.perf_counter()
    report = Report()
    for part in ("docs", "sessions"):
        report.add(flow_ingest(settings, WORLD / part, None, progress))
    ingested = time.perf_counter()
    with open_memory(settings) as memory:
        asked = tomllib.loads((WORLD / "questions.toml").read_text())["question"]
        answers = [_ask(memory.retrieve(q["text"], q["user"], k=DEPTH), q) for q in asked]
    seconds = {
        "model": ready - started,
        "ingest": ingested - ready,
        "questions": time.perf_counter() - ingested,
    }
    return Outcome(report, answers, seconds)


def _ask(result: Result, question: dict[str, Any]) -> Answer:
    """Judge an answer by the question's expected sources and forbidden words."""
    expected = question["expect_source"]
    places = [hit.rank for hit in result.hits if _name(hit) in expected]
    forbidden = [word.casefold() for word in question.get("forbidden", ())]
    texts = [hit.memory.text.casefold() for hit in result.hits]
    leaked = any(word in text for word in forbidden for text in texts)
    found_at = min(places, default=None)
    return Answer(question["user"], question["kind"], result, found_at, bool(expected), leaked)


def _name(hit: Hit) -> str:
    """Return a hit's source as the questions file writes it."""
    memory = hit.memory
    if memory.conversation_id:
        return f"sessions/{memory.conversation_id}.jsonl#{memory.turn_id}"
    return memory.uri
