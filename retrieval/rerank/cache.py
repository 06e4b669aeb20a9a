"""Scores that were computed before, under digests: no text of a query or a memory is kept.

Digests are keyed with random bytes of this process, so that a known text cannot be looked up in
them from outside; `clear` forgets scores and key together.
"""

import hashlib
import os
import threading
from collections import OrderedDict


class ScoreCache:
    """The last ``size`` scores asked for, by model, query and passage. Thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._secret = os.urandom(32)
        self._scores: OrderedDict[bytes, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._scores)

    def key(self, *parts: str) -> bytes:
        """Return the digest of some texts; their lengths are in it, so joins cannot collide."""
        digest = hashlib.blake2b(key=self._secret, digest_size=16)
        for part in parts:
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.digest()

    def get(self, key: bytes) -> float | None:
        """Return a score that is kept; it is now the newest."""
        with self._lock:
            score = self._scores.get(key)
            if score is not None:
                self._scores.move_to_end(key)
            return score

    def put(self, key: bytes, score: float) -> None:
        """Keep a score; the one that was asked for longest ago makes room."""
        with self._lock:
            self._scores[key] = score
            self._scores.move_to_end(key)
            while len(self._scores) > self._size:
                self._scores.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._scores.clear()
            self._secret = os.urandom(32)
