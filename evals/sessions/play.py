"""The product under test: conversations are appended as they would be, and asked at their end."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from configs.build import build
from configs.settings import Settings
from evals.sessions.arms import assembled
from evals.sessions.score import Assembled
from evals.sessions.script import Script
from indexing.dense import Embedder
from sessions.session import Desk, Session, resized
from sessions.types import Entry

BATCH = 10
"""Turns that are appended at once."""


class Clock:
    """The time that the product sees: that of the conversation."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now


class Player:
    """Plays conversations into one product, whose clock goes with them."""

    def __init__(self, desk: Desk, clock: Clock) -> None:
        self._desk, self._clock = desk, clock

    def append(
        self, user_id: str, session_id: str, entries: Sequence[Entry], role: str = ""
    ) -> Session:
        """Append a session's turns at the times they were said; return it, still open."""
        session = Session(self._desk, user_id, session_id)
        session.configure(role=role)
        for start in range(0, len(entries), BATCH):
            batch = entries[start : start + BATCH]
            self._clock.now = (batch[-1].at or self._clock.now) + timedelta(seconds=10)
            session.append(batch)
        return session

    def play(self, script: Script) -> Session:
        """Append all sessions of a script and close all but the last, which is returned."""
        *earlier, last = script.parts
        for part in earlier:
            self.append(script.name, part.session_id, part.entries, script.role).close()
        return self.append(script.name, last.session_id, last.entries, script.role)

    def ask(self, arm: str, session: Session, question: str, budget: int) -> Assembled:
        """Return the context of a question, all of the budget's tokens being for it."""
        policy = resized(self._desk.policy.context, budget, 0)
        log, retriever = self._desk.log, self._desk.retriever
        asker = session.user_id, session.session_id
        return assembled(arm, log, retriever, asker, question, policy)


@contextmanager
def opened(settings: Settings, embedder: Embedder) -> Iterator[Player]:
    """Open an empty product in a folder that is gone afterwards."""
    clock = Clock()
    with tempfile.TemporaryDirectory(prefix="letopis-eval-") as folder:
        here = {"data_dir": Path(folder), "store": "", "catalog": ""}
        parts = build(settings.model_copy(update=here), clock=clock, embedder=embedder)
        try:
            yield Player(parts.desk, clock)
        finally:
            parts.close()
