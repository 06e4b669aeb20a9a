"""A product's time over its floor's, and a stopwatch."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ratio:
    """One line of a bench; times in milliseconds."""

    what: str
    product: float
    floor: float

    @property
    def ratio(self) -> float:
        """Return how many times the floor the product takes."""
        return self.product / self.floor


def milliseconds(call: Callable[[], object]) -> float:
    """Return how long a call takes."""
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1000
