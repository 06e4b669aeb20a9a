"""One dense vector a memory: its own text, what it reads like in its context, the turn before.

``normalize(mix(own, late) + dense_before * before)``; with views also ``mix(own, late)`` alone.
Texts and windows that are needed several times are embedded once; a vector that counts for nothing
is not made.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from indexing.dense import Embedder, token_embedder
from indexing.hashing import digest
from indexing.late import Place, late_vectors
from indexing.store import DENSE, OWN
from indexing.template import Factors, Views, blend, dense_texts, mix
from indexing.types import Vector

Named = Mapping[str, Vector]
"""The dense vectors of one memory by name: ``dense``, and ``dense.own`` where views are stored."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a memory's dense vector is made from; ``place`` is None without late chunking."""

    view: Views
    place: Place | None = None

    @property
    def key(self) -> str:
        """Name the vector: equal keys, equal vectors."""
        texts = (self.view.dense, self.view.dense_before)
        late = (self.place.context.key(self.place.start, self.place.end),) if self.place else ()
        return digest(*texts, *late)[:32]


def dense_vectors(
    embedder: Embedder, readings: Sequence[Reading], factors: Factors
) -> tuple[list[Named], int]:
    """Return the vectors of each reading and how many texts and windows were embedded.

    Raises `PassageTooLong`, and `ConfigError` for a late share with an embedder that gives no
    token vectors.
    """
    late, windows = _late(embedder, readings)
    factor = factors.dense_before
    views = [_needed(reading.view, late.get(i), factor) for i, reading in enumerate(readings)]
    texts = dense_texts(views)
    found = dict(zip(texts, embedder.passages(texts), strict=True)) if texts else {}
    vectors: list[Named] = []
    for i, view in enumerate(views):
        row, share = late.get(i, (None, 0.0))
        own = mix(found.get(view.dense), row, share)
        both = blend(own, found.get(view.dense_before), factor)
        vectors.append({DENSE: both, DENSE + OWN: own} if factors.views else {DENSE: both})
    return vectors, len(texts) + windows


_Late = tuple[Vector, float]
"""A late vector and its share."""


def _late(embedder: Embedder, readings: Sequence[Reading]) -> tuple[dict[int, _Late], int]:
    """Return the late vectors by reading, where there are some, and how many windows were read."""
    places = {i: reading.place for i, reading in enumerate(readings) if reading.place}
    if not places:
        return {}, 0
    made = late_vectors(token_embedder(embedder), list(places.values()))
    rows = zip(made.rows, made.shares, strict=True)
    return {i: late for i, late in zip(places, rows, strict=True) if late[1]}, made.windows


def _needed(view: Views, late: _Late | None, factor: float) -> Views:
    """Return the view without the texts whose vectors would count for nothing."""
    alone = late is not None and late[1] == 1
    return replace(
        view,
        dense="" if alone else view.dense,
        dense_before=view.dense_before if factor else "",
    )
