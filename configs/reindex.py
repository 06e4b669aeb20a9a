"""Make all vectors anew with the settings in force, beside the old ones: `reindex`.

The old generation answers until the switch. A re-index that was stopped goes on where it was. What
is written meanwhile goes to the old generation and is brought over by the next pass; for the last
pass, which finds nothing to do or little, writes wait.
"""

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from configs.build import fingerprint
from configs.embedders import Progress as ModelProgress
from configs.embedders import build_embedder
from configs.fingerprints import changes, create_collections
from configs.recipe import build_recipe
from configs.settings import Settings
from configs.stores import build_catalog, build_store
from indexing.catalog import Catalog
from indexing.dense import Embedder
from indexing.errors import ReindexRefused
from indexing.index import Index
from indexing.reindex import MirrorReport, Progress, mirror
from indexing.store import vector_names
from indexing.types import COLLECTIONS

PASSES = 5
"""Passes before writes are held, at most: each is as long as what was written in the last one."""

FEW = 64
"""Memories that may be left to the last pass, while which writes wait."""

RECUT = ("chunking.", "memory")
"""What says how texts are cut and named: stored chunks stay, the next sync cuts sources anew."""


@dataclass(slots=True)
class ReindexReport:
    """What a re-index did: what is made otherwise, name -> (was, is), and the memories."""

    changes: dict[str, tuple[str, str]] = field(default_factory=dict)
    memories: int = 0
    embedded: int = 0
    passes: int = 0
    recut: bool = False

    @property
    def done(self) -> bool:
        """Whether there was anything to do."""
        return bool(self.changes)


def reindex(
    settings: Settings,
    progress: Progress | None = None,
    model_progress: ModelProgress | None = None,
    embedder: Embedder | None = None,
) -> ReindexReport:
    """Build the collections anew where the settings ask for other vectors, then switch to them.

    Raises `StoreLocked` while another re-index is under way with other settings, and
    `ReindexRefused` when the model cannot read a memory: then the old generation stays in force.
    """
    with ExitStack() as stack:
        catalog = build_catalog(settings)
        stack.callback(catalog.close)
        clean(settings, catalog)
        embedder = embedder or build_embedder(settings, model_progress)
        wanted = fingerprint(settings, embedder)
        report = ReindexReport(_changes(catalog, wanted))
        if not report.done:
            return report
        report.recut = any(name.startswith(RECUT) for name in report.changes)
        building = catalog.generations.begin(json.dumps(wanted, sort_keys=True))
        old = build_store(settings, catalog.generation)
        stack.callback(old.close)
        store = build_store(settings, building.name)
        stack.callback(store.close)
        names = vector_names(embedder.dim, settings.template.views)
        claims = create_collections(store, names, wanted)
        recipe = build_recipe(settings, embedder)
        new = Index(store, catalog, embedder, recipe, settings.ingest.batch)

        def run() -> MirrorReport:
            passed = mirror(old, new, progress)
            report.passes += 1
            report.embedded += passed.copied
            report.memories = passed.compared - passed.dropped
            if passed.refused:
                first, reason = next(iter(passed.refused.items()))
                raise ReindexRefused(
                    f"{len(passed.refused)} memories cannot be embedded by {embedder.name}, such "
                    f"as {first}: {reason}. The old vectors stay in force; drop the new ones with: "
                    "letopis reindex --abort"
                )
            return passed

        while run().changed > FEW and report.passes < PASSES:
            pass
        held = catalog.generations.hold()
        try:
            while run().changed:
                pass
            for collection in COLLECTIONS:
                store.vacuum(collection)
            catalog.generations.switch(claims, report.recut, held)
        except BaseException:
            catalog.generations.release()
            raise
        stack.close()
    with ExitStack() as stack:
        catalog = build_catalog(settings)
        stack.callback(catalog.close)
        clean(settings, catalog)
    return report


def abort(settings: Settings) -> bool:
    """Drop what a stopped re-index has made; return whether there was one."""
    with ExitStack() as stack:
        catalog = build_catalog(settings)
        stack.callback(catalog.close)
        found = catalog.generations.building() is not None
        catalog.generations.abort()
        clean(settings, catalog)
    return found


def clean(settings: Settings, catalog: Catalog) -> None:
    """Drop the collections of generations that are no longer in force."""
    for name in catalog.generations.retired():
        with ExitStack() as stack:
            store = build_store(settings, name)
            stack.callback(store.close)
            for collection in COLLECTIONS:
                store.drop(collection)
        catalog.generations.forget(name)


def _changes(catalog: Catalog, wanted: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for collection in COLLECTIONS:
        stored = catalog.fingerprint(collection)
        if stored is not None:
            found |= changes(stored, wanted)
    return found
