"""What a scan looks for, and how many thousands of them are found in one pass: `Finder`.

A needle is found by eight of its bytes, the rarest it has: texts begin alike, so not the first.
The eight bytes at every position of the data are looked up in a table of the anchors' hashes, and
what the table lets through is compared with the whole needle: the result is exact.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from indexing.types import Scope

Words = NDArray[np.uint64]

ANCHOR = 8
"""Bytes by which a needle is found; a shorter one would match by chance among the vectors."""

LONGEST_TEXT = 64
"""Bytes of a text that are looked for."""

MIXER = np.uint64(0x9E3779B97F4A7C15)
"""The golden ratio of 64 bits: multiplying by it spreads a number over the high bits."""


TIMES = 8.0
"""How much more it says that other needles have the same eight bytes than how usual each byte is:
a word is in many texts, two words beside each other are not."""


@dataclass(frozen=True, slots=True)
class Needle:
    """Bytes to look for, and whether they are of a text or of an id."""

    data: bytes
    kind: Literal["text", "id"] = "text"


def text_needle(text: str) -> Needle:
    """Return the middle of the longest run of a text that no encoding of JSON escapes.

    At most 64 bytes, whole characters. It may be too short to be looked for.
    """
    run = max(re.split(r'[\x00-\x1f\x7f"\\]', text), key=lambda part: len(part.encode()))
    data = run.encode(errors="backslashreplace")
    start = max(0, (len(data) - LONGEST_TEXT) // 2)
    kept = data[start : start + LONGEST_TEXT].decode(errors="ignore")
    return Needle(kept.encode())


def id_needles(name: str) -> list[Needle]:
    """Return an id as it is written: as a text, as in JSON, and a UUID as 16 bytes both ways."""
    plain = name.encode(errors="backslashreplace")
    found = {plain: None, _escaped(plain): None}
    try:
        number = UUID(name).int
    except ValueError:
        pass
    else:
        found |= {number.to_bytes(16, "big"): None, number.to_bytes(16, "little"): None}
    return [Needle(data, "id") for data in found]


def scope_needles(scope: Scope) -> list[Needle]:
    """Return what names a scope: its tenant, and the ids of the user and the session."""
    names = [name for name in (scope.user_id, scope.session_id) if name]
    tenant = Needle(scope.tenant.encode(), "id")
    return [tenant, *(needle for name in names for needle in id_needles(name))]


def _escaped(data: bytes) -> bytes:
    short = {8: b"\\b", 9: b"\\t", 10: b"\\n", 12: b"\\f", 13: b"\\r", 34: b'\\"', 92: b"\\\\"}
    long = {code: f"\\u{code:04x}".encode() for code in range(32)}
    table = long | short
    return b"".join(table.get(code, bytes([code])) for code in data)


class Finder:
    """Counts needles in data: each of equal ones, none that is shorter than `ANCHOR`."""

    def __init__(self, needles: Sequence[Needle]) -> None:
        owners: defaultdict[bytes, list[int]] = defaultdict(list)
        for number, needle in enumerate(needles):
            owners[needle.data].append(number)
        self.too_short = sum(len(n) for data, n in owners.items() if len(data) < ANCHOR)
        self._owners = {data: n for data, n in owners.items() if len(data) >= ANCHOR}
        self.longest = max(map(len, self._owners), default=0)
        self.blank = not all(map(any, self._owners))
        self._at: defaultdict[int, list[tuple[bytes, int]]] = defaultdict(list)
        for data, offset in _rarest(list(self._owners)):
            anchor = int.from_bytes(data[offset : offset + ANCHOR], "little")
            self._at[anchor].append((data, offset))
        self._anchors = np.array(sorted(self._at), np.uint64)
        bits = min(24, max(16, (32 * len(self._at)).bit_length()))
        self._shift = np.uint64(64 - bits)
        self._table = np.zeros(1 << bits, np.bool_)
        self._table[self._slots(self._anchors)] = True

    def count(self, data: bytes, seen: int = 0) -> Counter[int]:
        """Return needle number -> how often it is in the data, not counting what ends by ``seen``.

        Matches may overlap. ``seen`` bytes are the end of the data before, repeated.
        """
        found: Counter[int] = Counter()
        if not self._at:
            return found
        for shift in range(min(ANCHOR, max(0, len(data) - ANCHOR + 1))):
            words = np.frombuffer(data, "<u8", (len(data) - shift) // ANCHOR, shift)
            likely = np.flatnonzero(self._table.take(self._slots(words), mode="clip"))
            near = words[likely]
            place = np.searchsorted(self._anchors, near)
            place[place == len(self._anchors)] = 0
            sure = self._anchors[place] == near
            for word, where in zip(near[sure].tolist(), likely[sure].tolist(), strict=True):
                self._verify(data, seen, word, where * ANCHOR + shift, found)
        return found

    def _verify(
        self, data: bytes, seen: int, anchor: int, position: int, found: Counter[int]
    ) -> None:
        for needle, offset in self._at[anchor]:
            start = position - offset
            if start >= 0 and start + len(needle) > seen and data.startswith(needle, start):
                found.update(self._owners[needle])

    def _slots(self, words: Words) -> NDArray[np.int64]:
        slots = words * MIXER
        slots >>= self._shift
        return slots.view(np.int64)  # the top bit is zero, and numpy indexes by signed numbers


def _rarest(needles: list[bytes]) -> Iterable[tuple[bytes, int]]:
    """Yield each needle with the offset of its rarest eight bytes.

    How rare they are is judged by how many needles have the same and by how usual each byte is.
    """
    if not needles:
        return
    data = np.frombuffer(b"".join(needles), np.uint8)
    lengths = np.array([len(needle) for needle in needles])
    starts = np.cumsum(lengths) - lengths
    shares = np.log(np.bincount(data, minlength=256) / len(data) + 1e-12)
    windows = np.lib.stride_tricks.sliding_window_view(data, ANCHOR)
    places = lengths - ANCHOR + 1
    firsts = np.cumsum(places) - places
    owner = np.repeat(np.arange(len(needles)), places)
    inside = np.arange(places.sum()) - firsts[owner] + starts[owner]
    words = np.ascontiguousarray(windows[inside]).view("<u8").ravel()
    _, kind, times = np.unique(words, return_inverse=True, return_counts=True)
    usual = np.concatenate([[0.0], np.cumsum(shares[data])])
    cost = TIMES * np.log(times[kind]) + usual[inside + ANCHOR] - usual[inside]
    best = np.flatnonzero(cost == np.minimum.reduceat(cost, firsts)[owner])
    _, chosen = np.unique(owner[best], return_index=True)
    for needle, position, start in zip(needles, inside[best[chosen]], starts, strict=True):
        yield needle, int(position - start)
