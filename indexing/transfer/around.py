"""What a scope holds around the memories of an import, and the catalog's rows of their sources."""

from collections.abc import Iterable, Iterator, Sequence

from indexing.catalog_rows import About, SourceRow, about_place
from indexing.index import Index
from indexing.mentions import mentions
from indexing.transfer.joining import Joined
from indexing.types import Filter, Memory, Mention, Scope


def around(index: Index, scope: Scope, batch: Sequence[Memory]) -> dict[str, Memory]:
    """Return the stored memories with an id, key, source or subject of a batch, by id.

    Of each subject that one of them is about all statements are there.
    """
    found: dict[str, Memory] = {}
    ids, keys = {memory.id for memory in batch}, {memory.key for memory in batch}
    sources = {name for memory in batch for name in memory.sources}
    for where in (
        Filter(scope, ids=_sorted(ids)),
        Filter(scope, keys=_sorted(keys)),
        Filter(scope, source_ids=_sorted(sources)),
    ):
        found |= {memory.id: memory for memory in _read(index, where)}
    subjects = {memory.subject for memory in (*batch, *found.values())} - {""}
    if subjects:
        chains = _read(index, Filter(scope, subjects=_sorted(subjects)))
        found |= {memory.id: memory for memory in chains}
    return found


def naming(index: Index, scope: Scope, ids: Sequence[str]) -> Iterator[Memory]:
    """Yield the stored memories that one of these superseded."""
    if ids:
        yield from _read(index, Filter(scope, successors=tuple(ids)))


def touched(batch: Iterable[Memory], made: Joined) -> set[str]:
    """Return the sources of the memories of a batch that are written."""
    put = {memory.id for memory in made.put}
    return {name for m in batch if made.homes.get(m.id) in put for name in m.sources}


def rows(sources: Iterable[str], held: Iterable[Memory]) -> list[SourceRow]:
    """Return rows of sources without a content hash: a sync that meets one reads it again.

    ``held`` are all memories of the scope that the sources are said by.
    """
    places: dict[str, list[tuple[Memory, Mention]]] = {name: [] for name in sources}
    for memory in held:
        for place in mentions(memory):
            if place.source_id in places:
                places[place.source_id].append((memory, place))
    return [_row(name, found) for name, found in sorted(places.items())]


def _row(source_id: str, found: Sequence[tuple[Memory, Mention]]) -> SourceRow:
    told = [place for _, place in found if place.conversation_id]
    first = min(told, key=lambda place: place.ordinal, default=None)
    return SourceRow(
        source_id,
        content_hash="",
        chunks=len({memory.id for memory, _ in found}),
        conversation_id=first.conversation_id if first else "",
        said_at=first.at.timestamp() if first and first.at else None,
        about=about_place(found[0][0].kind, found[0][1]) if found else About(),
    )


def _read(index: Index, where: Filter) -> Iterator[Memory]:
    yield from index.store.scroll(where.scope.collection, where)


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))
