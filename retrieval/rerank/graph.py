"""Write a trained cross-encoder as an ONNX graph: a pair's tokens -> one logit.

Does: put the encoder of trained layers and the head together. Does not: read files, keep a cache.

The head is that of `evals.reranker.model`: a perceptron over the vector of ``<s>``, and a weighted
mean over the question's tokens of the best cosine among the passage's tokens; then the calibration
``scale * logit + shift``, after which a sigmoid gives a probability.
"""

from collections.abc import Sequence

import numpy as np
from onnx import TensorProto

from indexing.e5 import E5File
from indexing.e5_graph import Graph, MatMul, encode, finish
from retrieval.rerank.trained import Trained

INPUTS = ("input_ids", "attention_mask", "token_type_ids")
FAR = -1e4
"""Added to what is no token of a side, so that it is never the best."""
END = 2**31 - 1


def model(words: E5File, trained: Trained, kept: Sequence[int], matmul: MatMul) -> bytes:
    """Return `model.onnx`, whose output is one logit a pair, shape [batch]."""
    graph = Graph()
    sides = graph.node("Gather", graph.constant(trained.tensors["sides"]), "token_type_ids")
    x = encode(graph, words, trained, kept, matmul, trained.layers, sides)
    score = graph.node("Add", _first(graph, trained, x), _late(graph, trained, x))
    scaled = graph.node("Mul", score, graph.constant(float(trained.meta["scale"])))
    logit = graph.node("Add", scaled, graph.constant(float(trained.meta["shift"])))
    return finish(graph, "letopis-rerank", INPUTS, logit, "logits", ["batch"])


def _first(graph: Graph, trained: Trained, x: str) -> str:
    """Add the perceptron over the vector of ``<s>``, [batch]."""
    head = trained.tensors
    vector = graph.node("Gather", x, graph.constant(np.array(0)), axis=1)
    inner = graph.node("MatMul", vector, graph.constant(head["pooled.w"].T))
    inner = graph.node("Tanh", graph.node("Add", inner, graph.constant(head["pooled.b"])))
    outer = graph.node("MatMul", inner, graph.constant(head["first.w"].T))
    outer = graph.node("Add", outer, graph.constant(head["first.b"]))
    return graph.node("Squeeze", outer, graph.constant([1]))


def _late(graph: Graph, trained: Trained, x: str) -> str:
    """Add the late interaction with its weight and constant, [batch]."""
    head = trained.tensors
    one = graph.constant(1.0)
    sides = graph.node("Cast", "token_type_ids", to=TensorProto.FLOAT)
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    passage = graph.node("Mul", sides, mask)
    question = graph.node("Mul", graph.node("Sub", one, sides), mask)
    unit = graph.node("LpNormalization", x, axis=-1, p=2)
    same = graph.node("MatMul", unit, graph.node("Transpose", unit, perm=[0, 2, 1]))
    same = graph.node(
        "Add", same, graph.node("Unsqueeze", _far(graph, passage, one), graph.constant([1]))
    )
    best = graph.node("ReduceMax", same, axes=[2], keepdims=0)
    weights = graph.node("MatMul", x, graph.constant(head["weigh.w"].T))
    weights = graph.node("Squeeze", weights, graph.constant([2]))
    weights = graph.node("Add", weights, _far(graph, question, one))
    share = graph.node("Softmax", _after_first(graph, weights), axis=-1)
    each = graph.node("Mul", share, _after_first(graph, best))
    total = graph.node("ReduceSum", each, graph.constant([1]), keepdims=0)
    scaled = graph.node("Mul", total, graph.constant(float(head["late"][0])))
    return graph.node("Add", scaled, graph.constant(float(head["late"][1])))


def _far(graph: Graph, held: str, one: str) -> str:
    """Add ``(1 - held) * FAR``."""
    return graph.node("Mul", graph.node("Sub", one, held), graph.constant(FAR))


def _after_first(graph: Graph, rows: str) -> str:
    """Add rows [batch, seq] without the ``<s>`` that they begin with."""
    start, end, axis = graph.constant([1]), graph.constant([END]), graph.constant([1])
    return graph.node("Slice", rows, start, end, axis)
