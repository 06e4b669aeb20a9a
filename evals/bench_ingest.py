"""Ingest overhead: time of `ingest` over made-up folders / time to embed the same texts.

The floor embeds all texts of a folder in one call, which batches them best. Folders are small and
both take their turn on each, so that a busy machine slows both alike.
"""

import tempfile
from functools import partial
from pathlib import Path
from statistics import median

from configs.settings import Settings
from evals.filler import Filler
from evals.product import opened
from evals.synthetic import write_world
from evals.timing import Ratio, milliseconds
from indexing.dense import Embedder
from indexing.ingest import ingest

FOLDERS = 6


def ingest_overhead(
    settings: Settings, embedder: Embedder, documents: int = 10, turns: int = 60, tries: int = 3
) -> list[Ratio]:
    """Measure the write path on `FOLDERS` folders of that many files and turns.

    Times are medians of some tries, after a pass without the model that records the texts.
    """
    whole: list[float] = []
    pure: list[float] = []
    with tempfile.TemporaryDirectory(prefix="letopis-bench-") as name:
        worlds = [Path(name) / f"world-{number}" for number in range(FOLDERS)]
        filler = Filler(embedder)
        chunks = 0
        texts: list[list[str]] = []
        with opened(settings, filler, Path(name) / "first") as parts:
            for number, world in enumerate(worlds):
                write_world(world, documents, turns, seed=number)
                chunks += ingest(parts.index, world).memories
                texts.append(filler.taken())
        embedder.passages(texts[0][:20])
        for number in range(tries):
            with opened(settings, embedder, Path(name) / str(number)) as parts:
                pairs = [
                    (
                        milliseconds(partial(embedder.passages, given)),
                        milliseconds(partial(ingest, parts.index, world)),
                    )
                    for given, world in zip(texts, worlds, strict=True)
                ]
            pure.append(sum(floor for floor, _ in pairs))
            whole.append(sum(product for _, product in pairs))
    what = f"ingest, {chunks} chunks, {sum(map(len, texts))} texts embedded"
    return [Ratio(what, median(whole), median(pure))]
