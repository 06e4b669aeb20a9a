"""A product's time over its floor's, what it should be, a stopwatch and quantiles."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import quantiles


@dataclass(frozen=True, slots=True)
class Ratio:
    """One line of a bench: ``product`` over ``floor``, both in one ``unit``.

    ``most`` and ``least`` are the bar that the ratio has to keep, None where there is none.
    """

    what: str
    product: float
    floor: float
    most: float | None = None
    least: float | None = None
    unit: str = "ms"

    @property
    def ratio(self) -> float:
        """Return how many times the floor the product takes."""
        return self.product / self.floor

    @property
    def kept(self) -> bool:
        """Whether the ratio keeps its bar."""
        above = self.most is None or self.ratio <= self.most
        return above and (self.least is None or self.ratio >= self.least)

    @property
    def bar(self) -> str:
        """Return the bar in words, empty for none."""
        if self.most is not None:
            return f"<= {self.most:g}"
        return "" if self.least is None else f">= {self.least:g}"


def milliseconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000


def p95(values: Sequence[float]) -> float:
    """Return the value that 95 % of two or more do not exceed, interpolated."""
    return quantiles(values, n=20)[-1]


def quantile(values: Sequence[float], part: float) -> float:
    """Return the value that this part of them does not exceed; of none, 0."""
    ordered = sorted(values)
    return ordered[min(int(part * len(ordered)), len(ordered) - 1)] if ordered else 0.0
