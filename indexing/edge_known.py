"""What is true of a whole shard until it is written to: read off it once, used by every search.

A condition is checked on every memory that the others leave, 0.1 ms for 1,000 of them, also where
no memory can fail it. So a search leaves out what holds anyway.
"""

import threading
from dataclasses import dataclass

import qdrant_edge as engine

ENDS = frozenset({"expires_at", "valid_to"})
"""Payload keys of the times from which a memory is hidden."""

EVER = 1e300
"""Seconds since the epoch that no time of a memory comes after."""


@dataclass(frozen=True, slots=True)
class Facts:
    """How many points there are, and which of `ENDS` any of them has."""

    points: int
    ends: frozenset[str]


class Known:
    """The facts of one open shard. Thread-safe: facts read before a write end with it."""

    def __init__(self) -> None:
        self._writes = 0
        self._found: tuple[int, Facts] | None = None
        self._counting = threading.Lock()

    def changed(self) -> None:
        """Forget; to be called when a write has ended, before it is reported as done."""
        with self._counting:
            self._writes += 1

    def facts(self, shard: engine.EdgeShard) -> Facts:
        """Return the facts as of the last write."""
        writes, found = self._writes, self._found
        if found is not None and found[0] == writes:
            return found[1]
        facts = _facts(shard)
        self._found = writes, facts
        return facts


def _facts(shard: engine.EdgeShard) -> Facts:
    """Read off a shard: 0.1 ms, whatever it holds."""
    return Facts(shard.info().points_count, frozenset(key for key in ENDS if _any(shard, key)))


def _any(shard: engine.EdgeShard, key: str) -> bool:
    has = engine.FieldCondition(key, range=engine.RangeFloat(lte=EVER))
    return bool(shard.scroll(engine.ScrollRequest(limit=1, filter=engine.Filter(must=[has])))[0])
