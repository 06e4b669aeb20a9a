"""Many callers at once: `retrieve` by 16 threads while one thread writes, against one thread.

Both take turns, so that a busy machine slows both. Every thread asks as a user of its own choice,
and an answer with a memory of any other user is a wrong-tenant hit: one is too many.
"""

import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from chunking.types import Document
from configs.build import Parts
from configs.settings import Settings
from evals.bench_retrieve import USERS, fill, uncached
from evals.filler import Filler
from evals.product import opened
from evals.synthetic import speakers
from evals.timing import Ratio
from indexing.dense import Embedder
from indexing.hashing import digest
from indexing.ingest import document_source
from indexing.types import GLOBAL, user_scope
from indexing.write import write
from retrieval.types import Result

CALLERS = 16
ROUNDS = 6
GAIN = 1.5
"""What many callers get done at least, in times of what one does."""

PAUSE = 0.25
"""Seconds between two documents of the writer."""


@dataclass(slots=True)
class Load:
    """What many callers did: answers a second of one and of all, and what went wrong."""

    callers: int
    one: list[float] = field(default_factory=list)
    all: list[float] = field(default_factory=list)
    written: int = 0
    wrong: int = 0
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def answers(self) -> Ratio:
        """Return the answers a second of all callers over those of one, medians of the rounds."""
        what = f"answers a second, {self.callers} threads / 1, with a writer"
        return Ratio(what, median(self.all), median(self.one), least=GAIN, unit="1/s")

    @property
    def clean(self) -> bool:
        """Whether nothing went wrong."""
        return not self.wrong and not self.errors

    def shown(self) -> str:
        """Say what went wrong, or that nothing did."""
        named = ", ".join(f"{count} x {name}" for name, count in self.errors.items())
        return (
            f"{self.callers} threads and a writer of {self.written} documents: "
            f"{self.errors.total()} errors{f' ({named})' if named else ''}, "
            f"{self.wrong} wrong-tenant hits"
        )


def many_callers(
    settings: Settings,
    embedder: Embedder,
    seconds: float = 60.0,
    size: int = 1_000,
    callers: int = CALLERS,
    rounds: int = ROUNDS,
) -> Load:
    """Ask for that long by all callers, and half as long by one, in rounds."""
    load = Load(callers)
    with tempfile.TemporaryDirectory(prefix="letopis-bench-") as name:
        data = Path(name) / "data"
        with opened(settings, Filler(embedder), data) as parts:
            fill(parts, size)
        with opened(settings, embedder, data) as parts:
            stop = threading.Event()
            writer = threading.Thread(target=_write, args=(parts, load, stop))
            writer.start()
            try:
                for _ in range(rounds):
                    load.one.append(_ask(parts, load, 1, seconds / rounds / 2))
                    load.all.append(_ask(parts, load, callers, seconds / rounds))
            finally:
                stop.set()
                writer.join()
    return load


def _ask(parts: Parts, load: Load, callers: int, seconds: float) -> float:
    """Return the answers a second of that many threads."""
    retriever = uncached(parts.retriever)
    done = [0] * callers
    started = time.perf_counter()

    def call(number: int) -> None:
        voices = speakers(100 + number)
        while time.perf_counter() - started < seconds:
            user = f"u{(number + done[number]) % USERS}"
            query = next(voices).sentence(4, 9)
            with _counted(load):
                load.wrong += foreign(retriever.retrieve(query, user), user)
                done[number] += 1

    threads = [threading.Thread(target=call, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (time.perf_counter() - started)


def foreign(result: Result, user_id: str) -> int:
    """Return how many of the memories of an answer are neither global nor the user's."""
    allowed = (GLOBAL, user_scope(user_id))
    memories = (memory for hit in result.hits for memory in (hit.memory, *hit.also))
    return sum(memory.scope not in allowed for memory in memories)


def _write(parts: Parts, load: Load, stop: threading.Event) -> None:
    """Write one document after another for the users in turn."""
    voices = speakers(7)
    while not stop.wait(PAUSE):
        document = Document(f"new/{load.written}", next(voices).paragraph(2, 5))
        source = document_source(parts.index.recipe, document, digest(document.text))
        with _counted(load):
            write(parts.index, user_scope(f"u{load.written % USERS}"), [source])
            load.written += 1


class _counted:  # noqa: N801 - reads as a function
    """Count any error of a block by its name instead of raising it."""

    def __init__(self, load: Load) -> None:
        self._load = load

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        if kind is None or not issubclass(kind, Exception):
            return False
        self._load.errors[kind.__name__] += 1
        return True
