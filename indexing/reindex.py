"""Bring a store in step with another one, with vectors of another model or template: `mirror`.

Ids, texts, times and everything else of a memory stay; what depends on the recipe is made anew.
Both stores are walked in id order and compared, so a pass can stop anywhere and the next one goes
on, and a pass that finds nothing has compared every memory.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from indexing.dense import PassageTooLong
from indexing.drafts import point_of, words_of
from indexing.embed import Reading, dense_vectors
from indexing.index import Index
from indexing.rebuild import Readings
from indexing.sparse import language
from indexing.store import VectorStore
from indexing.types import COLLECTIONS, Collection, Filter, Memory, Point

Progress = Callable[[str, int, int], None]
"""Called with a collection, how many of its memories are compared and how many there were."""


@dataclass(slots=True)
class MirrorReport:
    """What passes did: memories compared, made anew, dropped; and those that cannot be embedded."""

    compared: int = 0
    copied: int = 0
    dropped: int = 0
    refused: dict[str, str] = field(default_factory=dict)

    def add(self, other: "MirrorReport") -> None:
        """Add the counts of another pass."""
        self.compared += other.compared
        self.copied += other.copied
        self.dropped += other.dropped
        self.refused |= other.refused

    @property
    def changed(self) -> int:
        """How many memories of the new store were not as they should be."""
        return self.copied + self.dropped


def mirror(old: VectorStore, new: Index, progress: Progress | None = None) -> MirrorReport:
    """Make the new store hold what the old one holds, in one pass over both.

    ``new`` is the new store with the recipe and the embedder of its vectors. Raises `StoreError`.
    """
    report = MirrorReport()
    for collection in COLLECTIONS:
        total = new.catalog.counts().get(collection, {}).get("memories", 0)
        batch: list[Memory] = []
        for number, (wanted, found) in enumerate(_pairs(old, new.store, collection), 1):
            if progress:
                progress(collection, number, max(total, number))
            report.compared += 1
            if wanted is None:
                assert found is not None
                where = Filter(found.scope, ids=(found.id,))
                report.dropped += new.store.delete(collection, where)
            elif found is None or _kept(found) != _kept(wanted):
                batch.append(wanted)
            if len(batch) >= new.batch:
                report.add(_copy(old, new, collection, batch))
                batch = []
        report.add(_copy(old, new, collection, batch))
    return report


def _pairs(
    old: VectorStore, new: VectorStore, collection: Collection
) -> Iterator[tuple[Memory | None, Memory | None]]:
    """Yield the memories of both stores by id, None where one of them lacks it."""
    left, right = old.everything(collection), new.everything(collection)
    wanted, found = next(left, None), next(right, None)
    while wanted is not None or found is not None:
        if found is None or (wanted is not None and wanted.id < found.id):
            yield wanted, None
            wanted = next(left, None)
        elif wanted is None or found.id < wanted.id:
            yield None, found
            found = next(right, None)
        else:
            yield wanted, found
            wanted, found = next(left, None), next(right, None)


def _kept(memory: Memory) -> Memory:
    """Return a memory without what a recipe makes of it."""
    return replace(memory, embed_hash="", terms="", lang="")


def _copy(
    old: VectorStore, new: Index, collection: Collection, memories: list[Memory]
) -> MirrorReport:
    """Embed memories and write them; one that the model cannot read does not stop the others."""
    readings = Readings(old, new.recipe)
    made = [(memory, readings.of(memory)) for memory in memories]
    report = MirrorReport()
    points = list(_points(new, made, report))
    new.store.upsert(collection, points)
    report.copied = len(points)
    return report


def _points(
    new: Index, made: list[tuple[Memory, Reading]], report: MirrorReport
) -> Iterator[Point]:
    if not made:
        return
    factors = new.recipe.factors
    try:
        vectors, _ = dense_vectors(new.embedder, [reading for _, reading in made], factors)
    except PassageTooLong as error:
        if len(made) == 1:
            report.refused[made[0][0].id] = str(error)
            return
        for one in made:
            yield from _points(new, [one], report)
        return
    for (memory, reading), vector in zip(made, vectors, strict=True):
        words, lang = words_of(reading.view), language(memory.text)
        remade = replace(memory, embed_hash=reading.key, lang=lang, terms=words)
        yield point_of(new.recipe, remade, reading.view, vector)
