"""A collection is opened only by what it was built with: `open_collections`.

The fingerprint is kept with the collection, so another machine, with an empty catalog, is refused
too. It holds the collection's birth, a random number; the catalog remembers it, since its list of
what is indexed means nothing for another collection: sources would count as indexed that are not.
"""

import json
import uuid
from collections.abc import Mapping

from indexing.catalog import Catalog
from indexing.errors import SchemaMismatch
from indexing.store import VectorStore
from indexing.types import COLLECTIONS, VectorNames

BIRTH = "birth"


def create_collections(
    store: VectorStore, names: VectorNames, wanted: Mapping[str, str]
) -> dict[str, str]:
    """Create the collections of a new generation, or open them again; return their fingerprints.

    Raises `SchemaMismatch` for a collection that is there and was built otherwise.
    """
    kept: dict[str, str] = {}
    for collection in COLLECTIONS:
        offered = _write({**wanted, BIRTH: uuid.uuid4().hex})
        kept[collection] = store.open_collection(collection, names, offered)
        _compare(collection, _read(kept[collection]), wanted)
    return kept


def changes(stored: str | None, wanted: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Return what a fingerprint says otherwise than is wanted: name -> what was, what is wanted."""
    known = _read(stored)
    names = (known.keys() | wanted.keys()) - {BIRTH}
    return {
        name: (known.get(name, ""), wanted.get(name, ""))
        for name in sorted(names)
        if known.get(name) != wanted.get(name)
    }


def open_collections(
    store: VectorStore, catalog: Catalog, names: VectorNames, wanted: Mapping[str, str]
) -> None:
    """Create or open every collection. Raises `SchemaMismatch` naming the change and the way out.

    ``wanted`` is what vectors are made with now: name -> value.
    """
    for collection in COLLECTIONS:
        known = _read(catalog.fingerprint(collection))
        _compare(collection, known, wanted)
        older = known and BIRTH not in known  # its collection may have no fingerprint of its own
        offered = known if older else {**wanted, BIRTH: uuid.uuid4().hex}
        try:
            text = store.open_collection(collection, names, _write(offered))
        except SchemaMismatch as error:
            raise SchemaMismatch(
                f"{error}. Set the embedder back, or make the vectors anew: letopis reindex"
            ) from error
        kept = _read(text)
        _compare(collection, kept, wanted)
        if _read(catalog.claim(collection, text)).get(BIRTH) != kept.get(BIRTH):
            raise SchemaMismatch(
                f"the catalog lists what is in another collection {collection!r}: the store was "
                "changed or emptied. Name the store of before, or start a catalog for this one: "
                "letopis --data-dir NEW_FOLDER ingest PATH"
            )


def _compare(collection: str, stored: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    found = changes(_write(stored), wanted) if stored else {}
    if found:
        told = ", ".join(f"{name} was {was!r} and is {now!r}" for name, (was, now) in found.items())
        raise SchemaMismatch(
            f"collection {collection!r} was built otherwise: {told}. Set it back, or make the "
            "vectors anew: letopis reindex"
        )


def _read(text: str | None) -> dict[str, str]:
    found = json.loads(text) if text else {}
    return {str(name): str(value) for name, value in found.items()}


def _write(fingerprint: Mapping[str, str]) -> str:
    return json.dumps(fingerprint, sort_keys=True)
