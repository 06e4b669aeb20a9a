"""Late chunking: a text is embedded whole, in windows that overlap; a chunk pools its own tokens.

Does: plan the windows, pool the token vectors of one window over exact spans, join the windows.
Does not: embed, normalise, choose the chunks.

The join rule. Where windows overlap, a token's vector is the mix of what each of them says, and a
window's share falls linearly from 1 to 0 from where the next one starts to where it ends itself.
The shares of all windows sum to 1 at every token; at an edge of the text nothing falls. A token
that a chunk covers in part counts in part. So a chunk's vector changes by no more than one token's
part in it when its boundary moves by one token, wherever the windows lie: there is no seam.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from chunking.errors import ChunkingError
from chunking.types import TokenSpans
from chunking.windows import check, tokenise, windows

Floats = NDArray[np.float32]
Spans = NDArray[np.int64]
"""Character spans ``(start, end)``, shape ``(n, 2)``."""


@dataclass(frozen=True, slots=True)
class Window:
    """``text[start:end]``; the one before it ends at ``rise``, the next one starts at ``fall``.

    ``rise`` is ``start`` for the first window, ``fall`` is ``end`` for the last.
    """

    start: int
    end: int
    rise: int
    fall: int

    def share(self, at: NDArray[np.float64]) -> Floats:
        """Return this window's share of the vectors of tokens at these characters, 0 to 1."""
        shares = _ramp(at, self.start, self.rise) - _ramp(at, self.fall, self.end)
        return shares.astype(np.float32)


def plan(text: str, spans: TokenSpans, size: int, overlap: int) -> tuple[Window, ...]:
    """Return windows of at most ``size`` tokens that cover a text but for white space.

    They follow from the text alone, not from its chunks. A window prefers to end with a paragraph
    or sentence; neighbours share at most ``overlap`` tokens. Raises `ChunkingError` unless
    ``size >= 1`` and ``0 <= overlap < size``; without an overlap windows meet in a seam.
    """
    check(size, overlap)
    found = windows(tokenise(text, spans), size, overlap)
    ends = [found[0][0], *(end for _, end in found)] if found else []
    starts = [*(start for start, _ in found[1:]), found[-1][1]] if found else []
    return tuple(
        Window(start, end, max(before, start), min(after, end))
        for (start, end), before, after in zip(found, ends, starts, strict=False)
    )


def covering(planned: Sequence[Window], start: int, end: int) -> Sequence[Window]:
    """Return the windows that share characters with a span."""
    first = bisect_right(planned, start, key=lambda window: window.end)
    return planned[first : bisect_left(planned, end, key=lambda window: window.start)]


def pool(window: Window, tokens: Spans, vectors: Floats, chunks: Spans) -> tuple[Floats, Floats]:
    """Return what a window adds to each chunk: the weighted sum of its token vectors, and tokens.

    ``tokens`` and ``chunks`` are characters of the whole text, ``vectors`` has shape
    ``(tokens, dim)``, the sums ``(chunks, dim)``, the numbers of tokens ``(chunks,)``. Added up
    over all windows, a normalised sum is the chunk's late vector; a span without tokens has 0.
    """
    if tokens.shape != (len(vectors), 2):
        raise ChunkingError(f"{len(vectors)} token vectors, but spans of shape {tokens.shape}")
    starts, ends = tokens[:, 0], tokens[:, 1]
    covered = np.minimum(ends, chunks[:, 1:]) - np.maximum(starts, chunks[:, :1])
    parts = np.clip(covered, 0, None) / np.maximum(ends - starts, 1)
    weights = parts.astype(np.float32) * window.share((starts + ends) / 2)
    return weights @ vectors, weights.sum(axis=1)


def _ramp(at: NDArray[np.float64], start: int, end: int) -> NDArray[np.float64]:
    """Rise from 0 at ``start`` to 1 at ``end``; a step where they are one."""
    if start == end:
        return (at >= start).astype(np.float64)
    return np.clip((at - start) / (end - start), 0, 1)
