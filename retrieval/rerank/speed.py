"""How long a reranker takes, learnt from its own calls: milliseconds a token, and a call.

Each call weighs less the older it is: a machine that gets busy is noticed within a few calls. Kept
per process; nothing is written.
"""

import threading

FADE = 0.9
"""Weight of a call against the one after it."""


class Speed:
    """``milliseconds = call + token * tokens``, learnt from pairs of both. Thread-safe.

    ``call`` is learnt for a ``remote`` model alone, by least squares; for one on this machine it is
    0, as a call costs next to nothing and a busy machine's noise would be taken for it.
    """

    def __init__(self, remote: bool = False) -> None:
        self._remote = remote
        self._lock = threading.Lock()
        self._sums = (0.0, 0.0, 0.0, 0.0, 0.0)

    def learn(self, tokens: int, milliseconds: float) -> None:
        """Take in one call."""
        x, y = float(tokens), milliseconds
        with self._lock:
            faded = (FADE * total for total in self._sums)
            weight, sx, sy, sxx, sxy = faded
            self._sums = (weight + 1, sx + x, sy + y, sxx + x * x, sxy + x * y)

    @property
    def known(self) -> bool:
        """Whether a call was taken in."""
        return self._sums[0] > 0

    def line(self) -> tuple[float, float]:
        """Return milliseconds a call and a token.

        Calls of one size, or a line that would fall or start below zero, say no more than a mean:
        then a call costs nothing and a token its share.
        """
        weight, sx, sy, sxx, sxy = self._sums
        if not sx:
            return 0.0, 0.0
        spread = weight * sxx - sx * sx
        if self._remote and spread > 1e-9 * weight * sxx:
            token = (weight * sxy - sx * sy) / spread
            call = (sy - token * sx) / weight
            if token >= 0 and call >= 0:
                return call, token
        return 0.0, sy / sx

    def affords(self, milliseconds: float) -> float:
        """Return how many tokens one call may have to end in that time."""
        call, token = self.line()
        left = milliseconds - call
        if left <= 0:
            return 0.0
        return left / token if token else float("inf")

    def __str__(self) -> str:
        call, token = self.line()
        each = f" and {_short(call)} ms a call" if call >= 0.5 else ""
        return f"{_short(token)} ms a token{each}"


def _short(number: float) -> str:
    return f"{number:.0f}" if number >= 10 else f"{number:.2g}"
