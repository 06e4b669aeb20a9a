"""What runs in the processes that are killed: ingest the phases, and say at each step where it is.

Does: everything a `letopis ingest` does, with a light embedder and a clock that stands still.
Does not: kill anything; that comes from outside, at any moment.
"""

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from configs.build import build
from configs.settings import Settings
from configs.text_settings import ChunkingSettings
from configs.write_settings import IngestSettings
from evals.crash.world import moment, phases, put
from indexing.catalog import Catalog
from indexing.dense import FunctionEmbedder, Matrix
from indexing.ingest import ingest
from indexing.store import VectorStore
from indexing.types import Scope

DIM = 64
STEPS = (
    "rest",
    "open",
    "embed",
    "begin",
    "upsert",
    "delete",
    "commit",
    "remove",
    "dead letters",
    "close",
)
"""Where a process can be. The rest is reading files, cutting, and reads of store and catalog."""

STORE_STEPS = {"upsert": "upsert", "delete": "delete"}
CATALOG_STEPS = {
    "begin": "begin",
    "bury": "dead letters",
    "revive": "dead letters",
}

TURN_STEPS = {"commit": "commit", "remove": "remove"}
"""Steps of the turn in which a tenant's memories are written."""


class Steps:
    """Tells the parent which step begins, as (phase, step)."""

    def __init__(self, channel: Connection) -> None:
        self._channel = channel
        self.phase = 0

    def enter(self, step: str) -> None:
        """Say that a step begins."""
        self._channel.send_bytes(bytes((self.phase, STEPS.index(step))))

    def during(self, step: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return the call, said to be this step while it runs."""

        def said(*args: Any, **kwargs: Any) -> Any:
            self.enter(step)
            try:
                return call(*args, **kwargs)
            finally:
                self.enter("rest")

        return said


class Watched:
    """Another object, some of whose methods are steps."""

    def __init__(self, inner: Any, named: dict[str, str], steps: Steps) -> None:
        self._inner, self._named, self._steps = inner, named, steps

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._steps.during(self._named[name], found) if name in self._named else found


class WatchedCatalog(Watched):
    """A catalog whose turns are watched too."""

    @contextmanager
    def writing(self, scope: Scope) -> Iterator[Watched]:
        """Take a tenant's turn."""
        with self._inner.writing(scope) as turn:
            yield Watched(turn, TURN_STEPS, self._steps)


def embedder() -> FunctionEmbedder:
    """Return an embedder of hashed letter trigrams: deterministic, and made in a millisecond."""
    tokenizer = Tokenizer(WordLevel({"?": 0}, unk_token="?"))  # noqa: S106 - no password
    tokenizer.pre_tokenizer = Whitespace()
    return FunctionEmbedder(_trigrams, "trigrams", tokenizer=tokenizer)


def _trigrams(texts: list[str]) -> Matrix:
    rows = np.full((len(texts), DIM), 0.01, np.float32)
    for row, text in zip(rows, texts, strict=True):
        for start in range(len(text)):
            found = zlib.crc32(text[start : start + 3].casefold().encode())
            row[found % DIM] += 1 if found & 1024 else -1
    return rows


def settings(data: Path) -> Settings:
    """Return settings with small chunks and batches: many steps in a short time."""
    return Settings.model_construct(
        data_dir=data,
        chunking=ChunkingSettings(size=48, overlap=8, before=16),
        ingest=IngestSettings(batch=16),
    )


def run(channel: Connection, data: Path, folder: Path, seed: int, first: int) -> None:
    """Ingest the folder at each phase from ``first`` on, opened and closed as a command does."""
    steps = Steps(channel)
    for number, state in enumerate(phases(seed)):
        steps.phase = number
        if number < first:
            continue
        steps.enter("rest")
        put(folder, state, moment(number))
        steps.enter("open")
        parts = build(settings(data), clock=partial(moment, number), embedder=embedder())
        steps.enter("rest")
        index = replace(
            parts.index,
            store=cast(VectorStore, Watched(parts.index.store, STORE_STEPS, steps)),
            catalog=cast(Catalog, WatchedCatalog(parts.index.catalog, CATALOG_STEPS, steps)),
            embedder=Watched(parts.index.embedder, {"passages": "embed"}, steps),
        )
        ingest(index, folder)
        steps.enter("close")
        parts.close()
    steps.enter("rest")
    channel.close()
