"""Which memories of a scope may say the same as another one: `candidates`, of all at once.

They use the same words, in any spelling and order (`dedup.gist`), and they are written alike (a
common MinHash band) or mean alike (one is among the nearest of the other in the dense index). Ids
and hashes are held, some 300 bytes a memory, never all texts.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from indexing.dedup import bands, gist, signature
from indexing.index import Index
from indexing.store import DENSE
from indexing.types import Branch, Filter, Kind, Scope

WIDTH = 16
"""Of the memories in one band, each is paired with so many of those that come next in it."""

Codes = npt.NDArray[np.int64]
"""Pairs of places in a list of ``n``: ``first * n + second``, first < second."""


def candidates(index: Index, scope: Scope, kind: Kind) -> Iterator[tuple[str, str]]:
    """Yield pairs of ids of the memories of a kind that a reader sees now, each pair once."""
    where = Filter(scope, now=index.clock(), kinds=(kind,))
    ids, gists, marks = _read(index, where)
    if ids:
        codes = [*_banded(gists, marks), _near(index, where, ids, gists)]
        for code in np.unique(np.concatenate(codes)).tolist():
            yield ids[code // len(ids)], ids[code % len(ids)]


def _read(
    index: Index, where: Filter
) -> tuple[list[str], npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Return ids, gists (shape ``(n,)``) and bands (``(n, 16)``) of what shares its gist."""
    ids: list[str] = []
    gists: list[int] = []
    marks: list[npt.NDArray[np.uint32]] = []
    for memory in index.store.scroll(where.scope.collection, where):
        tokens = bands(signature(memory.text))
        if tokens:
            ids.append(memory.id)
            gists.append(int(gist(memory.text), 16))
            marks.append(np.array([int(token[2:], 16) for token in tokens], np.uint32))
    own = np.array(gists, np.uint64)
    _, group, sizes = np.unique(own, return_inverse=True, return_counts=True)
    shared = np.flatnonzero(sizes[group] > 1)
    rows = np.array([marks[n] for n in shared], np.uint32)
    return [ids[n] for n in shared], own[shared], rows


def _banded(gists: npt.NDArray[np.uint64], marks: npt.NDArray[np.uint32]) -> Iterator[Codes]:
    """Yield the pairs that share a gist and a band, for each band."""
    count = len(gists)
    for band in marks.T:
        order = np.lexsort((band, gists))
        for step in range(1, min(WIDTH, count - 1) + 1):
            one, other = order[:-step], order[step:]
            same = (gists[one] == gists[other]) & (band[one] == band[other])
            yield _coded(one[same], other[same], count)


def _near(index: Index, where: Filter, ids: Sequence[str], gists: npt.NDArray[np.uint64]) -> Codes:
    """Return the pairs that share a gist and are near in the dense index."""
    dedup, collection = index.recipe.dedup, where.scope.collection
    place = {name: number for number, name in enumerate(ids)}
    one: list[int] = []
    other: list[int] = []
    for start in range(0, len(ids), index.batch):
        asked = Filter(where.scope, ids=tuple(ids[start : start + index.batch]))
        held = index.store.vectors(collection, asked)
        branches = [
            Branch(DENSE, vectors[DENSE], dedup.neighbours + 1, dedup.cosine)  # itself is one
            for vectors in held.values()
        ]
        for name, hits in zip(held, index.store.search(collection, branches, where), strict=True):
            number = place[name]
            found = [place[hit.id] for hit in hits if hit.id in place]
            found = [n for n in found if n != number and gists[n] == gists[number]]
            one += [number] * len(found)
            other += found
    return _coded(np.array(one, np.int64), np.array(other, np.int64), len(ids))


def _coded(one: Codes, other: Codes, count: int) -> Codes:
    coded: Codes = np.minimum(one, other) * count + np.maximum(one, other)
    return coded
