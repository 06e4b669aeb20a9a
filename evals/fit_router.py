"""Fit the linear classifier: ``python -m evals.fit_router FOLDER [--data DIR]``.

It learns from the half ``seen`` of the router's questions, in both languages, so the half ``held``
stays fair to it; `evals.router` with ``--weights FOLDER`` scores it. The vectors are those of the
embedder that the settings name, and it works with no other.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from chunking.errors import LetopisError
from configs.embedders import build_embedder
from configs.settings import load
from evals.errors import DataMissing
from evals.routing import EXPECTED, Question, read
from indexing.dense import Embedder
from retrieval.routing.linear import LinearModel, fit


def fitted(questions: Sequence[Question], embedder: Embedder) -> LinearModel:
    """Return a model of the half ``seen``. Raises `DataMissing` for fewer than two labels."""
    seen = [question for question in questions if question.half == "seen"]
    labels = [EXPECTED[question.label] for question in seen]
    if len(set(labels)) < 2:
        raise DataMissing("the questions to learn from have fewer than two labels")
    vectors = np.vstack([embedder.query(question.text) for question in seen])
    return fit(vectors, labels, embedder.name)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and save; 2 where something is missing."""
    parser = argparse.ArgumentParser(prog="python -m evals.fit_router", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the weights go")
    parser.add_argument("--data", type=Path, help="folder of the eval sets")
    options = parser.parse_args(arguments)
    try:
        model = fitted(read(options.data), build_embedder(load()))
        model.save(options.folder)
    except (LetopisError, OSError) as error:
        Console(stderr=True).print(f"evals.fit_router: {error}", markup=False)
        return 2
    Console().print(f"{options.folder}: {', '.join(model.labels)} over {model.embedder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
