"""What the commands of this package share: the cached embedder, a progress display, their errors.

A command reads its options, measures within `measuring` and prints.
"""

import argparse
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console

from chunking.errors import LetopisError
from configs.embedders import build_embedder
from configs.settings import Settings, load
from evals.cache import Cached
from evals.progress import shown
from indexing.dense import Embedder
from indexing.ingest import Progress

CACHE = Path("evals") / "embeddings.sqlite"
"""Below the model cache folder."""


def options(name: str, about: str | None) -> argparse.ArgumentParser:
    """Return the parser of ``python -m NAME``, with ``--data``."""
    parser = argparse.ArgumentParser(prog=f"python -m {name}", description=about)
    parser.add_argument("--data", type=Path, help="folder of sets in BEIR layout")
    return parser


def cached(settings: Settings) -> Cached:
    """Load the settings' embedder, its embeddings kept between runs; to be closed."""
    return Cached(build_embedder(settings), settings.cache_dir.expanduser() / CACHE)


@contextmanager
def measuring() -> Iterator[tuple[Settings, Embedder, Progress]]:
    """Yield the user's settings, their embedder with its cache, and a progress display."""
    settings = load()
    with cached(settings) as embedder, shown() as progress:
        yield settings, embedder, progress


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)  # noqa: T201


def printed(tables: Iterable[str]) -> list[str]:
    """Print each table as soon as it is made; return them all."""
    found = []
    for text in tables:
        print(text, end="\n\n", flush=True)  # noqa: T201
        found.append(text)
    return found


def refused(error: LetopisError) -> int:
    """Say on standard error what went wrong; return the exit status."""
    Console(stderr=True).print(f"error: {error}", markup=False)
    return 1
