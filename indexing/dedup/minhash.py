"""MinHash: texts that share many shingles share a band, so candidates are found by keyword.

Shingles are the four-letter pieces of each word of the normal form, so an ending, a typo or another
order of words changes few of them. 64 hash functions make a signature; four of them at a time make
a band, and texts whose shingles overlap by half share one of the 16 bands two times in three. The
same text has the same bands in every process and on every machine. Paraphrases in other words are
not found here: those come from the dense index.

Source: Broder (1997), On the resemblance and containment of documents.
"""

import hashlib
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from indexing.dedup.normal import normal

SIZE = 64
ROWS = 4
SHINGLE = 4

Signature = npt.NDArray[np.uint32]

_constants = np.frombuffer(hashlib.shake_256(b"minhash").digest(16 * SIZE), "<u8")
_FACTOR = _constants[:SIZE].astype(np.uint64) | np.uint64(1)
_SHIFT = _constants[SIZE:].astype(np.uint64)


def shingles(text: str) -> set[str]:
    """Return the pieces of the normal form's words.

    >>> sorted(shingles("Мой чай"))
    [' мой', ' чай', 'мой ', 'чай ']
    """
    return {
        padded[at : at + SHINGLE]
        for word in normal(text).split()
        for padded in [f" {word} "]
        for at in range(max(len(padded) - SHINGLE, 0) + 1)
    }


def signature(text: str) -> Signature:
    """Return the 64 least hashes of the shingles; empty (shape ``(0,)``) for an empty normal form.

    ``h(x) = (a * crc32(x) + b mod 2^64) >> 32``, a odd.
    """
    found = np.array([zlib.crc32(piece.encode()) for piece in shingles(text)], np.uint64)
    if not found.size:
        return np.empty(0, np.uint32)
    hashed = (found[:, None] * _FACTOR + _SHIFT) >> np.uint64(32)
    least: Signature = hashed.min(axis=0).astype(np.uint32)
    return least


def similarity(a: Signature, b: Signature) -> float:
    """Return the estimated share of common shingles (Jaccard), 0 to 1; an empty one is like none.

    The standard error is at most 0.0625.
    """
    return float(np.mean(a == b)) if a.size and b.size else 0.0


def bands(own: Signature) -> Sequence[str]:
    """Return 16 keyword tokens, none for an empty signature: two texts are candidates if one is
    common.
    """
    return [
        f"{at // ROWS:x}:{zlib.crc32(own[at : at + ROWS].astype('<u4').tobytes()):08x}"
        for at in range(0, own.size, ROWS)
    ]
