"""From the rows that are counted to columns of other tables: only along references, many to one.

Each row of the table finds at most one of the other, so no row is ever counted twice.
"""

from collections.abc import Callable

from indexing.errors import SqlRefused
from retrieval.sql.schema import Reference, Source, Table

Path = tuple[Reference, ...]


def path_to(source: Source, start: Table, name: str) -> Path:
    """Return the shortest chain of references to a table; empty for the table itself.

    Raises `SqlRefused` where there is none, where two are equally short, and where a reference
    is not to the key of its table.
    """
    found = nearest(source, start, lambda table: table.name == name)
    if found is None:
        raise SqlRefused(f"{start.name} has no reference to {name}: its rows cannot be told by it")
    return found


def nearest(source: Source, start: Table, wanted: Callable[[Table], bool]) -> Path | None:
    """Return the chain of references to the nearest table that is wanted, or None.

    Raises `SqlRefused` where two are equally near.
    """
    level: list[tuple[Path, Table]] = [((), start)]
    seen: set[str] = set()
    while level:
        hits = [path for path, table in level if wanted(table)]
        if len(hits) > 1:
            raise SqlRefused(f"{start.name} reaches what is asked for by two references")
        if hits:
            return hits[0]
        seen |= {table.name for _, table in level}
        level = [
            ((*path, reference), source.table(reference.table))
            for path, table in level
            for reference in table.references
            if reference.table not in seen and _is_key(source, reference)
        ]
    return None


def _is_key(source: Source, reference: Reference) -> bool:
    return reference.key == source.table(reference.table).key
