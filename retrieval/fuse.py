"""Fuse ranked lists into one ranking: pure functions of one signature, by name in `METHODS`.

Every method gives an id a *share* of each list that has it; the fused score is the sum of its
shares, and an id missing from a list gets nothing there. So a trace can show where a score is from.

- `rrf`, reciprocal rank fusion: Cormack, Clarke, Büttcher (2009), doi:10.1145/1571941.1572114.
  Ranks only: nothing depends on how a branch scores.
- `dbsf`, distribution-based score fusion: Mazzeschi (2023); Qdrant's ``dbsf``. Scores normalised by
  their mean and deviation.
- `convex`, a weighted sum of normalised scores: Bruch, Gai, Ingber (2023), doi:10.1145/3596512.
  What a normaliser sees is one list, as long as it was asked for: see `retrieval.normalise`.

Measured in docs/decisions/0012-fusion-methods.md.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from retrieval.normalise import Normaliser, three_sigma


class Ranked(NamedTuple):
    """An id at its place in a list, best first.

    ``weight`` is what the place counts: the weight of its scope and branch, times its coverage in a
    lexical list. ``score`` is what it was ranked by (a shift of its language is part of it);
    ``k`` is its scope's own k where that differs.
    """

    id: str
    weight: float = 1.0
    score: float = 0.0
    k: float | None = None


Lists = Mapping[str, Sequence[Ranked]]
"""List name -> ranking. The caller says what a list is: a branch, or a branch of one scope."""

Shares = dict[str, dict[str, float]]
"""Id -> list name -> share."""


@dataclass(frozen=True, slots=True)
class Method:
    """Which method, by its name in `METHODS`.

    ``k`` is what `rrf` takes, ``normalise`` (by list name) what `convex` does.
    """

    name: str = "rrf"
    k: float = 10.0
    normalise: Mapping[str, Normaliser] = field(default_factory=dict)


def fuse(lists: Lists, method: Method) -> Shares:
    """Return the shares that a method gives."""
    return METHODS[method.name](lists, method)


def rrf(lists: Lists, k: float) -> Shares:
    """Return shares ``weight / (k + rank)``, ranks from 1.

    >>> rrf({"dense": [Ranked("a"), Ranked("b")], "sparse": [Ranked("b", 0.5)]}, k=1)
    {'a': {'dense': 0.5}, 'b': {'dense': 0.3333333333333333, 'sparse': 0.25}}
    """
    shares: Shares = {}
    for name, ranking in lists.items():
        for rank, item in enumerate(ranking, 1):
            own = k if item.k is None else item.k
            shares.setdefault(item.id, {})[name] = item.weight / (own + rank)
    return shares


def dbsf(lists: Lists) -> Shares:
    """Return shares ``weight * clip((score - (mean - 3 sd)) / (6 sd), 0, 1)``.

    >>> dbsf({"dense": [Ranked("a", 1, 0.8), Ranked("b", 1, 0.8)]})
    {'a': {'dense': 0.5}, 'b': {'dense': 0.5}}
    """
    return convex(lists, dict.fromkeys(lists, three_sigma))


def convex(lists: Lists, normalise: Mapping[str, Normaliser]) -> Shares:
    """Return shares ``weight * normalised score``; weights are the caller's, and need not sum to 1.

    A list without a normaliser of its own has its scores counted as they are.

    >>> convex({"x": [Ranked("a", 2, 5.0), Ranked("b", 3, 4.0)]}, {"x": bounds(0)})
    {'a': {'x': 2.0}, 'b': {'x': 2.4000000000000004}}
    """
    shares: Shares = {}
    for name, ranking in lists.items():
        scores: Sequence[float] = [item.score for item in ranking]
        if name in normalise:
            scores = normalise[name](scores)
        for item, score in zip(ranking, scores, strict=True):
            shares.setdefault(item.id, {})[name] = item.weight * score
    return shares


METHODS: dict[str, Callable[[Lists, Method], Shares]] = {
    "rrf": lambda lists, method: rrf(lists, method.k),
    "dbsf": lambda lists, method: dbsf(lists),
    "convex": lambda lists, method: convex(lists, method.normalise),
}


def order(shares: Mapping[str, Mapping[str, float]]) -> list[tuple[str, float]]:
    """Return ``(id, fused score)``, best first; ties by id, so that a ranking is repeatable."""
    found = sorted((-sum(parts.values()), name) for name, parts in shares.items())
    return [(name, -score) for score, name in found]
