"""What every test may ask for: a tiny deterministic embedder and a memory built around it."""

import hashlib
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from sqlalchemy.engine import URL

from configs.build import Parts, build
from configs.rerank_settings import RerankSettings
from configs.retrieval_settings import RetrievalSettings
from configs.settings import Settings
from indexing.dense import Embedder, Matrix, PassageTooLong, normalize
from indexing.index import Index
from indexing.sparse import terms
from tests import postgres

# The machine is shared: time proves nothing. The same examples every time, so that what fails here
# fails everywhere; HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("letopis", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "letopis"))

# A run in the background ignores Ctrl-C, and so would all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What is not about the reranker that ships does without it: a model of its own to load.
os.environ.setdefault("LETOPIS_RERANK__KIND", "none")


class TinyEmbedder:
    """Stems hashed onto 32 signed dimensions: equal stems, equal vectors. Keeps what it embeds."""

    name = "tiny"
    dim = 32
    max_tokens = 400
    tokenizer: Any = None

    def __init__(self, max_terms: int = 10_000) -> None:
        self.max_terms = max_terms
        self.embedded: list[str] = []

    def passages(self, texts: Sequence[str]) -> Matrix:
        longest = max((len(terms(text)) for text in texts), default=0)
        if longest > self.max_terms:
            raise PassageTooLong(f"a passage of {longest} terms is over {self.max_terms}")
        self.embedded += texts
        return self._project(texts)

    def query(self, text: str) -> Matrix:
        return self._project([text])

    def _project(self, texts: Sequence[str]) -> Matrix:
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for term in terms(text):
                digest = hashlib.blake2s(term.encode()).digest()
                row[digest[0] % self.dim] += 1 if digest[1] % 2 else -1
        return normalize(rows)


class FixedClock:
    """A clock that stands still until a test sets ``now``."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def embedder() -> TinyEmbedder:
    return TinyEmbedder()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


PartsMaker = Callable[..., Parts]


@pytest.fixture
def memory_folder() -> Iterator[Path]:
    """A folder in memory where there is room: most tests do not need a disk that flushes."""
    shared = Path("/dev/shm")
    roomy = shared.is_dir() and shutil.disk_usage(shared).free > 2 << 30
    with tempfile.TemporaryDirectory(dir=shared if roomy else None) as folder:
        yield Path(folder)


@pytest.fixture
def make_parts(memory_folder: Path, clock: FixedClock) -> Iterator[PartsMaker]:
    """Build parts in a folder, with an embedder and settings of one's own; closed at the end.

    The settings are the defaults: neither the environment nor a ``letopis.toml`` is read. But no
    answer is left empty: what the confidence rests on are the cosines of E5. Nothing is reranked.
    """
    opened: list[Parts] = []

    def make(
        folder: Path | None = None, embedder: Embedder | None = None, **overrides: Any
    ) -> Parts:
        shown = RetrievalSettings(least_confidence=0)
        chosen = {"data_dir": folder or memory_folder, "busy_timeout": 5.0, "retrieval": shown}
        chosen["rerank"] = RerankSettings(kind="none")
        chosen |= overrides
        chosen_settings = Settings.model_construct(**chosen)
        parts = build(chosen_settings, clock=clock, embedder=embedder or TinyEmbedder())
        opened.append(parts)
        return parts

    yield make
    for parts in opened:
        parts.close()


@pytest.fixture
def parts(make_parts: PartsMaker, embedder: TinyEmbedder) -> Parts:
    """An empty memory in an embedded store."""
    return make_parts(embedder=embedder)


@pytest.fixture
def index(parts: Parts) -> Index:
    """The write side of ``parts``."""
    return parts.index


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[URL]:
    """The address of a PostgreSQL that runs as long as the tests."""
    with postgres.server() as address:
        yield address


@pytest.fixture
def postgres_url(postgres_server: URL) -> Iterator[str]:
    """The URL of an empty database on it."""
    with postgres.database(postgres_server) as address:
        yield address.render_as_string(hide_password=False)


@pytest.fixture(params=["sqlite", *(["postgres"] if postgres.available() else [])])
def catalog_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of every kind that the catalog runs on."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'catalog.sqlite'}"
    return str(request.getfixturevalue("postgres_url"))
