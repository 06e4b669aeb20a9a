"""Classifiers in the rules' place: a chat endpoint on this machine, and a fitted linear model."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from indexing.errors import ConfigError, ModelError
from retrieval.route import Classifier, Label, route
from retrieval.routing.chat import CONFIDENCE, ChatClassifier
from retrieval.routing.linear import LinearClassifier, LinearModel, fit, load
from tests.conftest import TinyEmbedder
from tests.endpoint import Endpoint, serving

QUESTION = "my orders in April"


def said(content: str) -> tuple[int, bytes]:
    return 200, json.dumps({"choices": [{"message": {"content": content}}]}).encode()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving(lambda body: (500, b"")) as server:
        yield server


def _classifier(server: Endpoint, timeout: float = 5.0) -> ChatClassifier:
    return ChatClassifier(server.url("/v1/"), "some-model", "key", timeout)


def test_a_chat_model_labels(endpoint: Endpoint) -> None:
    endpoint.answer = lambda body: said(
        '```json\n{"label": "analytical", "reason": "a number"}\n```'
    )
    found = _classifier(endpoint).classify(QUESTION)
    assert (found.label, found.confidence) == ("analytical", CONFIDENCE)
    assert found.reason == "some-model: a number"
    assert found.cues == route(QUESTION).cues
    path, key, body = endpoint.seen[0]
    assert (path, key) == ("/v1/chat/completions", "Bearer key")
    assert (body["model"], body["temperature"]) == ("some-model", 0)
    assert body["messages"][1] == {"role": "user", "content": QUESTION}


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ((500, b""), "no answer (HTTPStatusError)"),
        ((200, b"not JSON"), "no label in its answer"),
        ((200, b"[]"), "no label in its answer"),
        ((200, b'{"choices": []}'), "no label in its answer"),
        (said("analytical, I think"), "no label in its answer"),
        (said('{"label": "poetic"}'), "no label in its answer"),
        (said('{"label": ["lookup"]}'), "no label in its answer"),
    ],
)
def test_a_chat_model_that_fails_leaves_it_to_the_rules(
    endpoint: Endpoint, answer: tuple[int, bytes], why: str
) -> None:
    endpoint.answer = lambda body: answer
    ruled, found = route(QUESTION), _classifier(endpoint).classify(QUESTION)
    assert (found.label, found.confidence, found.cues) == (
        ruled.label,
        ruled.confidence,
        ruled.cues,
    )
    assert found.reason == f"{ruled.reason}; by the rules: the classifier gave {why}"


def test_a_chat_model_that_is_slow_leaves_it_to_the_rules(endpoint: Endpoint) -> None:
    waiting = threading.Event()

    def late(body: Any) -> tuple[int, bytes]:
        waiting.wait(10)
        return said('{"label": "analytical"}')

    endpoint.answer = late
    found = _classifier(endpoint, timeout=0.05).classify(QUESTION)
    waiting.set()
    assert found.label == route(QUESTION).label
    assert found.reason.endswith("the classifier gave no answer (ReadTimeout)")


def test_a_chat_model_needs_a_name_and_an_address() -> None:
    with pytest.raises(ConfigError, match="model name"):
        ChatClassifier("http://127.0.0.1", "")
    for url in ("", "127.0.0.1/v1", "ftp://127.0.0.1", "http://", "http://127.0.0.1:x"):
        with pytest.raises(ConfigError, match="url"):
            ChatClassifier(url, "some-model")


TAUGHT: list[tuple[str, Label]] = [
    ("count the tall trees", "analytical"),
    ("count old red cars", "analytical"),
    ("total of the blue boats", "analytical"),
    ("name of the tall tree", "lookup"),
    ("name my red car", "lookup"),
    ("owner of the blue boat", "lookup"),
    ("why is the tree tall", "factual"),
    ("why did the red car stop", "factual"),
    ("explain the blue boat", "factual"),
]


@pytest.fixture
def model(embedder: TinyEmbedder) -> LinearModel:
    rows = np.vstack([embedder.query(text) for text, _ in TAUGHT])
    return fit(rows, [label for _, label in TAUGHT], embedder.name)


def test_a_fitted_model_knows_what_it_was_taught(
    model: LinearModel, embedder: TinyEmbedder
) -> None:
    classifier: Classifier = LinearClassifier(model, embedder)
    found = [classifier.classify(text) for text, _ in TAUGHT]
    assert [one.label for one in found] == [label for _, label in TAUGHT]
    assert all(1 / 3 < one.confidence <= 1 for one in found)
    assert found[0].reason == f"the linear classifier: {found[0].confidence:.0%} analytical"


def test_probabilities_are_those_of_the_formula() -> None:
    weights = np.array([[1, 0, 0.5], [0, 1, 0]], np.float32)
    model = LinearModel("tiny", ("analytical", "lookup"), weights)
    # scores of (1, 0): 1 + 0.5 and 0 + 0; softmax: e^1.5 / (e^1.5 + 1)
    assert model.probabilities(np.array([[1, 0]], np.float32))[0] == pytest.approx(
        [np.e**1.5 / (np.e**1.5 + 1), 1 / (np.e**1.5 + 1)]
    )


def test_the_fit_is_where_the_gradient_is_zero(embedder: TinyEmbedder) -> None:
    penalty = 0.1
    rows = np.vstack([embedder.query(text) for text, _ in TAUGHT])
    model = fit(rows, [label for _, label in TAUGHT], "tiny", penalty, steps=3000)
    truth = np.array([[name == label for name in model.labels] for _, label in TAUGHT])
    residual = model.probabilities(rows) - truth
    # every label has the same number of questions, so each question weighs one over all
    slope = residual.T @ rows / len(rows) + penalty * model.weights[:, :-1]
    assert np.abs(slope).max() < 1e-4
    assert np.abs(residual.mean(axis=0)).max() < 1e-4


def test_a_model_is_the_same_after_a_round_trip(model: LinearModel, tmp_path: Path) -> None:
    model.save(tmp_path / "router")
    again = load(tmp_path / "router")
    assert (again.embedder, again.labels) == (model.embedder, model.labels)
    assert again.weights.tolist() == model.weights.tolist()


def test_a_model_of_another_embedder_is_refused(model: LinearModel, embedder: TinyEmbedder) -> None:
    with pytest.raises(ModelError, match=r"fitted for other, not for tiny: fit it again"):
        LinearClassifier(LinearModel("other", model.labels, model.weights), embedder)
    with pytest.raises(ModelError, match="fit it again"):
        LinearClassifier(LinearModel("tiny", model.labels, model.weights[:, 1:]), embedder)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("router.json", b"{"),
        ("router.json", b"[]"),
        ("router.json", b'{"embedder": "tiny", "labels": ["poetic"]}'),
        ("router.json", b'{"embedder": "tiny", "labels": ["lookup"]}'),
        ("router.npy", b""),
        ("router.npy", b"no array"),
    ],
)
def test_a_damaged_folder_is_named(
    model: LinearModel, tmp_path: Path, file: str, content: bytes
) -> None:
    model.save(tmp_path)
    (tmp_path / file).write_bytes(content)
    with pytest.raises(ModelError, match=tmp_path.name):
        load(tmp_path)


def test_a_missing_folder_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"python -m evals\.fit_router"):
        load(tmp_path / "none")
