"""A classifier over the embedder's vector of the question: multinomial logistic regression.

``python -m evals.fit_router`` fits it. Its folder holds ``router.json`` (labels, embedder) and
``router.npy`` (shape ``(labels, dim + 1)``, the last column the intercepts). It costs one query
vector, which the search needs anyway.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from indexing.dense import Embedder, Matrix
from indexing.errors import ModelError
from retrieval.route import LABELS, Label, Route, Vocabulary, route

Weights = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class LinearModel:
    """``softmax(weights @ [vector, 1])`` over ``labels``, for vectors of one ``embedder``."""

    embedder: str
    labels: tuple[Label, ...]
    weights: Weights

    def probabilities(self, vectors: Matrix) -> Matrix:
        """Return one row of probabilities a vector: ``(n, dim)`` -> ``(n, labels)``."""
        scores = vectors @ self.weights[:, :-1].T + self.weights[:, -1]
        return np.asarray(_softmax(scores), np.float32)

    def save(self, folder: Path) -> None:
        """Write both files; the folder is made."""
        folder.mkdir(parents=True, exist_ok=True)
        np.save(folder / "router.npy", self.weights, allow_pickle=False)
        about = {"embedder": self.embedder, "labels": self.labels}
        (folder / "router.json").write_text(json.dumps(about), encoding="utf-8")


def load(folder: Path) -> LinearModel:
    """Read a fitted model. Raises `ModelError`."""
    try:
        about = json.loads((folder / "router.json").read_text(encoding="utf-8"))
        weights = np.load(folder / "router.npy", allow_pickle=False)
        labels = tuple(LABELS[name] for name in about["labels"])
        if weights.ndim != 2 or len(weights) != len(labels) or not np.isfinite(weights).all():
            raise ModelError(f"{folder}: the weights are {weights.shape}, not a row a label")
        return LinearModel(str(about["embedder"]), labels, np.asarray(weights, np.float32))
    except (OSError, KeyError, TypeError, ValueError, EOFError) as error:
        raise ModelError(
            f"{folder} holds no fitted router ({error}): make one with python -m evals.fit_router"
        ) from error


def fit(
    vectors: Matrix,
    labels: Sequence[Label],
    embedder: str,
    penalty: float = 1e-3,
    steps: int = 500,
) -> LinearModel:
    """Fit by accelerated gradient descent on the mean cross-entropy, every label weighing the same.

    ``penalty`` is half the weight of the squared coefficients (not the intercepts). Deterministic.

    Source: Nesterov (1983); the step is one over the Lipschitz constant of unit vectors with a one.
    """
    names = tuple(sorted(set(labels)))
    index = np.array([names.index(label) for label in labels])
    truth = np.eye(len(names))[index]
    share = (1 / np.bincount(index) / len(names))[index][:, None]
    inputs = np.hstack([np.asarray(vectors, np.float64), np.ones((len(vectors), 1))])
    decay = np.full(inputs.shape[1], penalty)
    decay[-1] = 0
    step = 1 / (np.max(np.sum(inputs**2, axis=1)) / 2 + penalty)
    weights = ahead = np.zeros((len(names), inputs.shape[1]))
    for n in range(steps):
        residual = (_softmax(inputs @ ahead.T) - truth) * share
        moved = ahead - step * (residual.T @ inputs + decay * ahead)
        ahead = moved + n / (n + 3) * (moved - weights)
        weights = moved
    return LinearModel(embedder, names, np.asarray(weights, np.float32))


def _softmax(scores: NDArray[np.floating]) -> NDArray[np.floating]:
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


class LinearClassifier:
    """Labels by a fitted model; a model of another embedder is refused with `ModelError`."""

    def __init__(self, model: LinearModel, embedder: Embedder) -> None:
        shape = (len(model.labels), embedder.dim + 1)
        if model.embedder != embedder.name or model.weights.shape != shape:
            raise ModelError(
                f"the router was fitted for {model.embedder}, not for {embedder.name}: "
                "fit it again with python -m evals.fit_router"
            )
        self._model = model
        self._embedder = embedder

    def classify(self, question: str, vocabulary: Vocabulary | None = None) -> Route:
        """Label by the most probable class; the cues are those of the rules."""
        row = self._model.probabilities(self._embedder.query(question))[0]
        best = int(row.argmax())
        label, sure = self._model.labels[best], float(row[best])
        cues = route(question, vocabulary).cues
        return Route(label, round(sure, 3), f"the linear classifier: {sure:.0%} {label}", cues)
