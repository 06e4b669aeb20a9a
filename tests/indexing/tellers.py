"""Processes that tell statements about one subject to a store that they share."""

import multiprocessing
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random

from configs.build import Parts, build
from configs.settings import Settings
from indexing.remember import remember
from indexing.types import user_scope
from tests.conftest import TinyEmbedder

ANN = user_scope("ann")
SUBJECT = "user.employer"
START = datetime(2026, 1, 1, tzinfo=UTC)
FIRMS = ("Google", "Microsoft", "Apple", "Intel")

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__])


def opened(folder: Path) -> Parts:
    """Open the store as every process does."""
    chosen = Settings.model_construct(data_dir=folder, busy_timeout=30.0)
    return build(chosen, embedder=TinyEmbedder())


def at_once(folder: Path, barrier: Barrier, number: int, times: int) -> None:
    """Tell some values of one's own, all at the moment at which the others do."""
    parts = opened(folder)
    barrier.wait(60)
    for turn in range(times):
        remember(parts.index, ANN, f"employer {number}-{turn}", subject=SUBJECT)
    parts.close()


def without_end(folder: Path, said: Connection, seed: int) -> None:
    """Tell dated values in any order, no two of one moment; say each that was acknowledged."""
    random = Random(seed)
    parts = opened(folder)
    for minute in random.sample(range(seed, 400_000, 10), 10_000):
        firm, at = random.choice(FIRMS), START + timedelta(minutes=minute)
        remember(parts.index, ANN, f"I work at {firm}", at=at)
        said.send((firm.casefold(), at))
