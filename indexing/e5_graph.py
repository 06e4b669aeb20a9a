"""Write multilingual-e5-small as an ONNX graph with token vectors as its output.

Does: build `model.onnx` of an `E5File` for a way to multiply and a set of pieces.
Does not: parse the file, pool or normalise vectors, create a session.

The graph is made for onnxruntime's CPU kernels and uses its operators (`com.microsoft`). Two
choices look odd and are there for speed (measured, batch of 205 tokens):
- residuals are added by `Sum`, because onnxruntime fuses `Add` and `LayerNormalization` into a
  `SkipLayerNormalization` that is 4 times slower than the two;
- the padding mask is a 33rd number of every head (1 in the query; in the key 0, or far below it for
  padding), because attention without a mask argument takes the faster tiled kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from indexing.e5 import BLOCK, HEADS, HIDDEN, INNER, LAYERS, MAX_TOKENS, Array, E5File

_MS = "com.microsoft"
_EPSILON = 1e-12
_HEAD = HIDDEN // HEADS
_FAR = -1e4

Weights = tuple[Array, Array]
"""A matrix as nibbles [out, blocks, 32] and scales [out, blocks]."""
MatMul = Callable[["Graph", str, Weights, Array], str]
"""Add x @ W.T + bias to a graph; return the result's name."""

OUTLIERS = {0: (318, 6.0), 4: (778, 4.5), 5: (658, 5.0)}
"""Layer -> (channel, bound). One inner channel of `<s>` and `</s>` reaches 33..62 there, all others
stay below the bound; left in, it takes most of the range of 8-bit activations (cosine .9964 instead
of .9984)."""


@dataclass
class Graph:
    """Nodes and constants gathered so far."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, value: Array | float | Sequence[int]) -> str:
        """Add a constant (a float as float32, integers as int64); return its name."""
        array = np.asarray(value, np.float32 if isinstance(value, float) else None, order="C")
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def node(self, op: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node of one output; return the output's name."""
        return self.nodes_of(op, *inputs, outputs=1, domain=domain, **attributes)[0]

    def nodes_of(
        self, op: str, *inputs: str, outputs: int, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add a node of several outputs; return their names."""
        names = [f"n{len(self.nodes)}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), names, domain=domain, **attributes))
        return names


def model(file: E5File, kept: Sequence[int], matmul: MatMul) -> bytes:
    """Return `model.onnx`: token vectors [batch, seq, 384] of the pieces `kept`, renumbered."""
    graph = Graph()
    x = encode(graph, file, file, kept, matmul)
    inputs = ("input_ids", "attention_mask")
    axes: list[str | int] = ["batch", "seq", HIDDEN]
    return finish(graph, "multilingual-e5-small", inputs, x, "last_hidden_state", axes)


def encode(
    graph: Graph,
    file: E5File,
    layers: E5File,
    kept: Sequence[int],
    matmul: MatMul,
    count: int = LAYERS,
    added: str = "",
) -> str:
    """Add an encoder; return the name of its token vectors [batch, seq, 384].

    Words come from ``file`` and the first ``count`` layers from ``layers``; ``added`` is the name
    of vectors that are added to those of the words.
    """
    x = _embeddings(graph, file, kept)
    if added:
        x = graph.node("Add", x, added)
    mask = _mask(graph)
    for layer in range(count):
        x = _layer(graph, layers, layer, x, mask, matmul)
    return x


def finish(
    graph: Graph, name: str, inputs: Sequence[str], last: str, output: str, axes: list[str | int]
) -> bytes:
    """Return a graph as a file: integer inputs [batch, seq], the value ``last`` as ``output``."""
    value = helper.make_tensor_value_info
    for node in graph.nodes:
        names = [output if each == last else each for each in node.output]
        del node.output[:]
        node.output.extend(names)
    body = helper.make_graph(
        graph.nodes,
        name,
        [value(each, TensorProto.INT64, ["batch", "seq"]) for each in inputs],
        [value(output, TensorProto.FLOAT, axes)],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_MS, 1)]
    made: bytes = helper.make_model(
        body, opset_imports=opsets, ir_version=10, producer_name="letopis"
    ).SerializeToString()
    return made


def float_matmul(graph: Graph, x: str, weights: Weights, bias: Array) -> str:
    """Multiply in float32."""
    product = graph.node("MatMul", x, graph.constant(_dense(weights)))
    return graph.node("Add", product, graph.constant(bias))


def int8_matmul(graph: Graph, x: str, weights: Weights, bias: Array) -> str:
    """Multiply in integers: weights of 7 bits by column, activations of 8 bits by tensor.

    The eighth bit is left out because processors without VNNI add two products in 16 bits, which
    would overflow; it is worth .0003 of cosine.
    """
    return _in_integers(graph, x, *_rounded(weights), bias)


def _rounded(weights: Weights) -> tuple[Array, Array]:
    """Return a matrix as 7 bits [in, out] and a scale a column; as it is, where it is that."""
    blocks, scales = weights
    if (scales == scales[:, :1]).all():
        whole = blocks.reshape(len(blocks), -1).astype(np.int16) - 8
        if np.abs(whole).max() <= 63:
            return whole.astype(np.int8).T, scales[:, 0]
    dense = _dense(weights)
    scale = (np.abs(dense).max(axis=0) / 63).astype(np.float32)
    return np.rint(dense / np.where(scale == 0, 1, scale)).astype(np.int8), scale


def _in_integers(graph: Graph, x: str, whole: Array, scale: Array, bias: Array) -> str:
    return graph.node(
        "DynamicQuantizeMatMul",
        x,
        graph.constant(np.ascontiguousarray(whole)),
        graph.constant(np.ascontiguousarray(scale)),
        graph.constant(np.zeros(scale.size, np.int8)),
        graph.constant(bias),
        domain=_MS,
    )


def int4_matmul(graph: Graph, x: str, weights: Weights, bias: Array) -> str:
    """Multiply by the file's own blocks: exact weights, activations of 8 bits by block."""
    nibbles, scales = weights
    out, blocks = scales.shape
    return graph.node(
        "MatMulNBits",
        x,
        graph.constant(_packed(nibbles)),
        graph.constant(scales),
        graph.constant(np.full((out, blocks // 2), 0x88, np.uint8)),
        "",
        graph.constant(bias),
        domain=_MS,
        K=blocks * BLOCK,
        N=out,
        bits=4,
        block_size=BLOCK,
        accuracy_level=4,
    )


MATMULS: dict[str, MatMul] = {"float": float_matmul, "int8": int8_matmul, "int4": int4_matmul}
"""The ways to multiply, by name."""


def _dense(weights: Weights) -> Array:
    """Return the float32 matrix [in, out]."""
    nibbles, scales = weights
    dense = (nibbles.astype(np.float32) - 8) * scales[..., None]
    columns: Array = dense.reshape(len(nibbles), -1).T
    return columns


def _packed(nibbles: Array) -> Array:
    """Put two neighbours into a byte, the first one low."""
    pairs: Array = nibbles[..., 0::2] | nibbles[..., 1::2] << 4
    return pairs


def _embeddings(graph: Graph, file: E5File, kept: Sequence[int]) -> str:
    """Add the normalised sum of word, position and type vectors.

    Words stay in the file's 4 bits, written as signed int4 whose zero is 0: the same nibbles as
    unsigned ones would need an explicit zero point of 8.
    """
    nibbles, scales = file.blocks("emb.word", file.rows("emb.word"))
    signed = _packed(nibbles[kept].reshape(len(kept), HIDDEN)) ^ 0x88
    shape = [len(kept), HIDDEN]
    table = helper.make_tensor("words", TensorProto.INT4, shape, signed.tobytes(), raw=True)
    graph.constants.append(table)
    words = graph.node(
        "GatherBlockQuantized",
        "words",
        "input_ids",
        graph.constant(scales[kept]),
        domain=_MS,
        gather_axis=0,
        quantize_axis=1,
        block_size=BLOCK,
    )
    places = (
        file.floats("emb.pos").reshape(1, MAX_TOKENS, HIDDEN) + file.floats("emb.type")[:HIDDEN]
    )
    length = graph.node("Shape", "input_ids", start=1, end=2)
    start, axis = graph.constant([0]), graph.constant([1])
    used = graph.node("Slice", graph.constant(places), start, length, axis)
    return _add_and_norm(graph, file, words, used, "emb.ln")


def _mask(graph: Graph) -> str:
    """Add what is summed to every key [batch, seq, 12 * 33]: 0, and `_FAR` last for padding."""
    last = np.zeros((HEADS, _HEAD + 1), np.float32)
    last[:, -1] = 1
    kept = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    far = graph.node("Mul", graph.node("Sub", kept, graph.constant(1.0)), graph.constant(-_FAR))
    column = graph.node("Unsqueeze", far, graph.constant([2]))
    return graph.node("Mul", column, graph.constant(last.reshape(-1)))


def _layer(graph: Graph, file: E5File, layer: int, x: str, mask: str, matmul: MatMul) -> str:
    """Add a transformer layer: attention and a perceptron, each with its residual and norm."""
    name = f"l{layer}"
    context = _attention(graph, file, name, x, mask, matmul)
    narrow = file.blocks(f"{name}.ao.w", HIDDEN), file.floats(f"{name}.ao.b")
    context = _product(graph, context, *narrow, matmul, file.wide(f"{name}.ao"))
    x = _add_and_norm(graph, file, context, x, f"{name}.aln")
    wide = file.blocks(f"{name}.fi.w", INNER), file.floats(f"{name}.fi.b")
    inner = _product(graph, x, *wide, matmul, file.wide(f"{name}.fi"))
    inner = graph.node("Gelu", inner, domain=_MS)
    outer = file.blocks(f"{name}.fo.w", HIDDEN), file.floats(f"{name}.fo.b")
    apart = file.wide(f"{name}.fo")
    if matmul is int8_matmul and not apart and layer in OUTLIERS:
        inner = _clipped_matmul(graph, inner, *outer, *OUTLIERS[layer])
    else:
        inner = _product(graph, inner, *outer, matmul, apart)
    return _add_and_norm(graph, file, inner, x, f"{name}.oln")


def _attention(graph: Graph, file: E5File, name: str, x: str, mask: str, matmul: MatMul) -> str:
    """Add the heads' weighted values [batch, seq, 384]."""
    parts = [(file.blocks(f"{name}.{k}.w", HIDDEN), file.floats(f"{name}.{k}.b")) for k in "qkv"]
    parts[0], parts[1] = _widened(*parts[0], fill=1.0), _widened(*parts[1], fill=0.0)
    joined = (
        np.concatenate([nibbles for (nibbles, _), _ in parts]),
        np.concatenate([scales for (_, scales), _ in parts]),
    )
    bias = np.concatenate([bias for _, bias in parts])
    product = _product(graph, x, joined, bias, matmul, file.wide(f"{name}.qkv"))
    sizes = graph.constant([len(bias) for _, bias in parts])
    query, key, value = graph.nodes_of("Split", product, sizes, outputs=3, axis=-1)
    key = graph.node("Add", key, mask)
    return graph.node(
        "MultiHeadAttention", query, key, value, domain=_MS, num_heads=HEADS, scale=_HEAD**-0.5
    )


def _widened(weights: Weights, bias: Array, fill: float) -> tuple[Weights, Array]:
    """Give every head of 32 outputs a 33rd one that is always `fill`."""
    nibbles, scales = (part.reshape(HEADS, _HEAD, *part.shape[1:]) for part in weights)
    one = [(0, 0), (0, 1)]
    nibbles = np.pad(nibbles, [*one, (0, 0), (0, 0)], constant_values=8)
    scales = np.pad(scales, [*one, (0, 0)])
    bias = np.pad(bias.reshape(HEADS, _HEAD), one, constant_values=fill)
    rows = HEADS * (_HEAD + 1)
    return (nibbles.reshape(rows, -1, BLOCK), scales.reshape(rows, -1)), bias.reshape(rows)


def _clipped_matmul(
    graph: Graph, x: str, weights: Weights, bias: Array, channel: int, bound: float
) -> str:
    """Multiply in integers what is below `bound`, and one channel's excess in float32."""
    limit = graph.constant(bound)
    product = int8_matmul(graph, graph.node("Clip", x, "", limit), weights, bias)
    column = graph.node("Gather", x, graph.constant([channel]), axis=2)
    excess = graph.node("Relu", graph.node("Sub", column, limit))
    effect = graph.node("Mul", excess, graph.constant(_dense(weights)[channel]))
    return graph.node("Add", product, effect)


def _product(
    graph: Graph, x: str, weights: Weights, bias: Array, matmul: MatMul, apart: Sequence[int]
) -> str:
    """Multiply; in integers, what the channels ``apart`` give is added in float32, so that their
    range is not that of all others."""
    if matmul is not int8_matmul or not apart:
        return matmul(graph, x, weights, bias)
    channels = list(apart)
    whole, scale = _rounded(weights)
    lines = whole[channels].astype(np.float32) * scale
    kept = np.ones(len(whole), np.float32)
    kept[channels] = 0
    product = _in_integers(graph, graph.node("Mul", x, graph.constant(kept)), whole, scale, bias)
    taken = graph.node("Gather", x, graph.constant(channels), axis=2)
    return graph.node("Add", product, graph.node("MatMul", taken, graph.constant(lines)))


def _add_and_norm(graph: Graph, file: E5File, new: str, old: str, name: str) -> str:
    weight, bias = (graph.constant(file.floats(f"{name}.{part}")) for part in "wb")
    return graph.node(
        "LayerNormalization", graph.node("Sum", new, old), weight, bias, epsilon=_EPSILON
    )
