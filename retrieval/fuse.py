"""Fuse ranked lists into one ranking: pure functions.

Reciprocal rank fusion: Cormack, Clarke, Büttcher (2009), doi:10.1145/1571941.1572114.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Ranked(NamedTuple):
    """An id at its place in a list; ``weight`` is what that place counts."""

    id: str
    weight: float = 1.0


def rrf(lists: Mapping[str, Sequence[Ranked]], k: float) -> dict[str, dict[str, float]]:
    """Return id -> list name -> its share, ``weight / (k + rank)``, ranks from 1.

    An id's fused score is the sum of its shares; an id missing from a list gets nothing there.

    >>> rrf({"dense": [Ranked("a"), Ranked("b")], "sparse": [Ranked("b", 0.5)]}, k=1)
    {'a': {'dense': 0.5}, 'b': {'dense': 0.3333333333333333, 'sparse': 0.25}}
    """
    shares: dict[str, dict[str, float]] = {}
    for name, ranking in lists.items():
        for rank, item in enumerate(ranking, 1):
            shares.setdefault(item.id, {})[name] = item.weight / (k + rank)
    return shares


def order(shares: Mapping[str, Mapping[str, float]]) -> list[tuple[str, float]]:
    """Return ``(id, fused score)``, best first; ties by id, so that a ranking is repeatable."""
    fused = ((name, sum(parts.values())) for name, parts in shares.items())
    return sorted(fused, key=lambda pair: (-pair[1], pair[0]))
