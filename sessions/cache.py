"""What contexts of one deployment have in common from question to question: `ContextCache`.

Cuts of texts, and how many tokens a text has: both are the same each time. Keys are digests. Only
cuts are texts of users; `ContextCache.clear` takes them all, and a context that was begun before
adds none afterwards. So whoever forgets calls it, and no process holds what was forgotten.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from indexing.hashing import digest
from sessions.types import CountTokens, Cut

CUTS = 512
"""Cut texts that are kept, each of some hundred tokens."""

COUNTS = 16_384
"""Numbers of tokens that are kept."""

Value = TypeVar("Value")


class _Recent(Generic[Value]):
    """A bounded cache, least recently used out first. Not thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[str, Value] = OrderedDict()

    def get(self, key: str) -> Value | None:
        if key not in self._kept:
            return None
        self._kept.move_to_end(key)
        return self._kept[key]

    def put(self, key: str, value: Value) -> None:
        self._kept[key] = value
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        self._kept.clear()

    def __len__(self) -> int:
        return len(self._kept)


class ContextCache:
    """Cuts and counts by one counter of tokens, both bounded. Thread-safe."""

    def __init__(self, cuts: int = CUTS, counts: int = COUNTS) -> None:
        self._cuts = _Recent[Cut](cuts)
        self._numbers = _Recent[int](counts)
        self._cleared = 0
        self._lock = threading.Lock()

    def begin(self) -> "Lease":
        """Return the use of it for one context. Call it before the context's texts are read."""
        with self._lock:
            return Lease(self, self._cleared)

    def clear(self) -> None:
        """Forget all texts; counts name none."""
        with self._lock:
            self._cuts.clear()
            self._cleared += 1

    @property
    def texts(self) -> int:
        """The number of texts that it holds."""
        with self._lock:
            return len(self._cuts)

    def cut(self, key: str, make: Callable[[], Cut], cleared: int) -> Cut:
        """Return a cut, made if it is not there; kept if nothing was cleared since ``cleared``."""
        with self._lock:
            if (kept := self._cuts.get(key)) is not None:
                return kept
        made = make()
        with self._lock:
            if cleared == self._cleared:
                self._cuts.put(key, made)
        return made

    def number(self, key: str, make: Callable[[], int]) -> int:
        """Return a number that a text has: its tokens, or 1 for what a rule says yes to."""
        with self._lock:
            if (kept := self._numbers.get(key)) is not None:
                return kept
        made = make()
        with self._lock:
            self._numbers.put(key, made)
        return made


@dataclass(frozen=True, slots=True)
class Lease:
    """A cache as one context uses it: what was cleared since it began is not put back."""

    cache: ContextCache
    cleared: int

    def cut(self, parts: tuple[str, ...], make: Callable[[], Cut]) -> Cut:
        """Return the cut that these parts name whole: text, limit and all that it depends on."""
        return self.cache.cut(digest(*parts), make, self.cleared)

    def counting(self, count: CountTokens) -> CountTokens:
        """Return a counter that counts no text twice."""
        return lambda text: self.cache.number(digest(text), lambda: count(text))

    def judged(self, text: str, judge: Callable[[str], bool]) -> bool:
        """Return what a rule says of a text, the same only once."""
        key = digest(judge.__name__, text)  # two parts: no text alone has this key
        return bool(self.cache.number(key, lambda: int(judge(text))))
