"""The vectors of questions, kept for a while: an agent asks the same thing again and again.

Keys are digests: no question's text stays in memory longer than its call.
"""

import threading
from collections import OrderedDict

from indexing.dense import Embedder
from indexing.hashing import digest
from indexing.types import Vector


class QueryVectors:
    """A bounded cache of query vectors, least recently used out first. Thread-safe."""

    def __init__(self, size: int = 1024) -> None:
        self._size = size
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, embedder: Embedder, text: str) -> Vector:
        """Return the vector of a question, shape ``(dim,)``; it is not to be written to."""
        key = digest(embedder.name, text)
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return kept
        vector: Vector = embedder.query(text)[0]
        vector.setflags(write=False)
        with self._lock:
            self._kept[key] = vector
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return vector

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)
