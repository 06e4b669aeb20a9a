"""Context overhead: time of `Session.context` / time of the `retrieve` inside it.

One session of 200 turns, which has a digest and facts, in a store with other users' memories. Both
times are of the same call, and every question is embedded.
"""

import tempfile
from dataclasses import replace
from pathlib import Path
from random import Random
from statistics import median

from configs.settings import Settings
from evals.bench_retrieve import fill, uncached
from evals.filler import Filler
from evals.product import opened
from evals.sessions.filler import Chatter
from evals.timing import Ratio, milliseconds, p95
from indexing.dense import Embedder
from sessions.session import Session
from sessions.types import Context

OVERHEAD = 1.3
"""What a context may take, in times of the search inside it."""

TURNS = 200
USER = "u0"
SESSION = "talk"

WARM = 5
"""Questions that are asked before time is taken."""


def context_overhead(
    settings: Settings,
    embedder: Embedder,
    size: int = 1_000,
    turns: int = TURNS,
    questions: int = 100,
) -> list[Ratio]:
    """Measure contexts of a session of that many turns beside that many memories."""
    chatter = Chatter("en", "code", Random(2))  # noqa: S311
    with tempfile.TemporaryDirectory(prefix="letopis-bench-") as name:
        data = Path(name)
        with opened(settings, Filler(embedder), data) as parts:
            fill(parts, size)
            Session(parts.desk, USER, SESSION).append(list(chatter.turns(turns)))
        with opened(settings, embedder, data) as parts:
            desk = replace(parts.desk, retriever=uncached(parts.retriever))
            session = Session(desk, USER, SESSION)
            asked = [e.text for e in chatter.turns(8 * questions) if e.role == "user" and e.text]
            times = [_timed(session, question) for question in asked[: questions + WARM]][WARM:]
    whole, inside = zip(*times, strict=True)
    what = f"context, {turns} turns, / the search inside"
    return [
        Ratio(f"{what}, p50", median(whole), median(inside), most=OVERHEAD),
        Ratio(f"{what}, p95", p95(whole), p95(inside)),
    ]


def _timed(session: Session, question: str) -> tuple[float, float]:
    """Return the milliseconds of a context and of the search inside it."""
    made: list[Context] = []
    whole = milliseconds(lambda: made.append(session.context(question)))
    return whole, float(made[0].details["milliseconds"]["retrieve"])
