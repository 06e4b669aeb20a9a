"""Re-sync: time of a sync that finds nothing changed / time of the first one.

The first one is timed with made-up vectors, and the time to embed its texts is added at the rate
of a sample: minutes of embedding would say no more. Its files are read twice over: once with the
stamps trusted, once with every file read and hashed again.
"""

import tempfile
from functools import partial
from pathlib import Path
from random import Random

from configs.settings import Settings
from evals.filler import Filler
from evals.product import opened
from evals.synthetic import write_world
from evals.timing import Ratio, milliseconds
from indexing.dense import Embedder
from indexing.feeds.access import Access
from indexing.feeds.types import Feed
from indexing.sync import sync

SAMPLE = 512
"""Texts that are embedded to know the rate."""

CLOCKS = {"stamps": 2**62, "bytes": 0}
"""What a re-sync looks at -> a clock (ns) by which stamps are old enough, or are not."""


def resync_share(
    settings: Settings, embedder: Embedder, documents: int = 1_360, turns: int = 5_000
) -> list[Ratio]:
    """Measure a re-sync of that many files and one chat export, in both ways."""
    with tempfile.TemporaryDirectory(prefix="letopis-bench-") as name:
        world = Path(name) / "world"
        write_world(world, documents, turns)
        feed = Feed("path", str(world))
        filler = Filler(embedder)
        accesses = {what: Access(now=partial(int, now)) for what, now in CLOCKS.items()}
        with opened(settings, filler, Path(name) / "data") as parts:
            first = milliseconds(lambda: sync(parts.index, feed, accesses["stamps"]))
            texts = filler.taken()
            sample = Random(1).sample(texts, min(SAMPLE, len(texts)))  # noqa: S311
            embedder.passages(sample[:20])
            spent = milliseconds(partial(embedder.passages, sample))
            first += spent * len(texts) / len(sample)
            counts = parts.index.catalog.counts().values()
            chunks = sum(held["memories"] for held in counts)
            return [
                Ratio(
                    f"re-sync, {chunks} chunks, by {what} / first",
                    milliseconds(partial(sync, parts.index, feed, access)),
                    first,
                )
                for what, access in accesses.items()
            ]
