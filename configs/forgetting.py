"""Everything that a forgetting has to look at, as the settings say: `places`."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from configs.fingerprints import create_collections
from configs.reindex import clean
from configs.settings import Settings
from configs.stores import build_store
from indexing.catalog import Catalog
from indexing.edge import EdgeStore
from indexing.erasing import Erase, Places
from indexing.store import VectorStore, vector_names


@contextmanager
def places(
    settings: Settings, catalog: Catalog, store: VectorStore, erasers: Sequence[Erase] = ()
) -> Iterator[Places]:
    """Open the other generations of the collections, and name the folders that hold files.

    Generations that are no longer in force are dropped; one that is being built is opened.
    """
    clean(settings, catalog)
    with ExitStack() as stack:
        others: list[VectorStore] = []
        building = catalog.generations.building()
        if building is not None:
            other = build_store(settings, building.name)
            stack.callback(other.close)
            wanted = json.loads(building.fingerprint)
            views = wanted.get("template.views") == "True"
            names = vector_names(int(wanted["embedder.dimension"]), views)
            create_collections(other, names, wanted)
            others.append(other)
        yield Places(others, folders(settings, [store, *others]), erasers)


def folders(settings: Settings, stores: Sequence[VectorStore]) -> list[Path]:
    """Return the folders of this machine that hold the memory, none inside another."""
    found = [settings.data_dir.expanduser().resolve()]
    found += [store.folder.resolve() for store in stores if isinstance(store, EdgeStore)]
    there = sorted({folder for folder in found if folder.is_dir()})
    return [one for one in there if not any(other in one.parents for other in there)]
