"""A tiny real cross-encoder, made here, and rerankers whose time is a test's own."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer

from retrieval.rerank.types import Scores
from tests.tiny_models import SPECIAL, save_onnx, word_level

WORDS = [*SPECIAL, "кот", "пёс", "cat", "dog", "question", "answer", "?"]
DIM = 8


def tokenizer() -> Tokenizer:
    return word_level(WORDS)


def weights() -> tuple[Any, Any, Any]:
    made = np.random.default_rng(5)
    return (
        made.normal(size=(len(WORDS), DIM)).astype(np.float32),
        made.normal(size=(DIM, 1)).astype(np.float32) * 3,
        np.array([0.25], np.float32),
    )


def by_hand(query: str, passage: str) -> float:
    """Return what the tiny model should answer: sigmoid(mean of token rows, times head, + bias)."""
    table, head, bias = weights()
    logit = table[tokenizer().encode(query, passage).ids].mean(0) @ head + bias
    return float(1 / (1 + np.exp(-logit[0])))


def write_model(
    folder: Path, *, types: bool = False, labels: int = 1, extra: tuple[str, ...] = ()
) -> None:
    """Write embedding -> mean over the mask -> linear; ``labels`` logits a pair."""
    table, head, bias = weights()
    names = ["input_ids", "attention_mask", *["token_type_ids"] * types, *extra]
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["rows"]),
        helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
        helper.make_node("Mul", ["rows", "wide"], ["seen"]),
        helper.make_node("ReduceSum", ["seen", "middle"], ["sum"], keepdims=0),
        helper.make_node("ReduceSum", ["mask", "middle"], ["count"], keepdims=1),
        helper.make_node("Div", ["sum", "count"], ["mean"]),
        helper.make_node("Gemm", ["mean", "head", "bias"], ["logits"]),
    ]
    constants = {
        "table": table,
        "head": np.repeat(head, labels, axis=1),
        "bias": np.repeat(bias, labels),
        "last": np.array([2], np.int64),
        "middle": np.array([1], np.int64),
    }
    save_onnx(folder, nodes, constants, "logits", names)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tiny"
    made.mkdir()
    write_model(made)
    tokenizer().save(str(made / "tokenizer.json"))
    (made / "config.json").write_text(json.dumps({"max_position_embeddings": 32}))
    return made


class Time:
    """A clock that stands still until something takes time."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Words:
    """A reranker that scores by the share of the query's words, ``cost`` seconds a token."""

    name = "words"
    remote = False
    call_tokens = 64

    def __init__(self, time: Time | None = None, cost: float = 0.0, max_tokens: int = 23) -> None:
        self.tokenizer: Any = tokenizer()
        self.max_tokens = max_tokens
        self.time, self.cost = time or Time(), cost
        self.asked: list[list[str]] = []
        self.before: Callable[[], None] = lambda: None

    def scores(self, query: str, passages: Sequence[str]) -> Scores:
        self.before()
        self.asked.append(list(passages))
        pairs = [(query, passage) for passage in passages]
        lengths = [len(row.ids) for row in self.tokenizer.encode_batch(pairs)]
        assert max(lengths) <= self.max_tokens, "the stage sent more than the model reads"
        self.time.now += self.cost * sum(lengths)
        words = set(query.split())
        shares = [len(words & set(passage.split())) / len(words) for passage in passages]
        return np.array(shares, np.float64)
