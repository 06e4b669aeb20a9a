"""Re-index: the same memories with other vectors; resumable, and switched in one step."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from chunking.types import Document, Session, Turn
from configs.build import Parts, build
from configs.reindex import abort, reindex
from indexing.dense import PassageTooLong
from indexing.errors import ReindexRefused, SchemaMismatch, StoreLocked
from indexing.index import Source
from indexing.ingest import ingest_chats
from indexing.remember import remember
from indexing.types import COLLECTIONS, GLOBAL, Filter, Memory, session_scope, user_scope
from indexing.write import write
from tests.conftest import TinyEmbedder

ANN = user_scope("ann")
LATE_EVENING = datetime(2026, 5, 8, 23, 30, tzinfo=timezone(timedelta(hours=3)))
MakeParts = Callable[..., Parts]


class OtherEmbedder(TinyEmbedder):
    """Another model of the same dimension; ``stop`` texts before it is interrupted."""

    def __init__(self, stop: int | None = None, refuse: str = "") -> None:
        super().__init__()
        self.name = "other"
        self.stop = stop
        self.refuse = refuse

    def passages(self, texts: Any) -> Any:
        if self.refuse and any(self.refuse in text for text in texts):
            raise PassageTooLong("too long for this model")
        if self.stop is not None:
            self.stop -= len(texts)
            if self.stop < 0:
                raise KeyboardInterrupt
        return -super().passages(texts)


def fill(parts: Parts) -> None:
    index = parts.index
    text = "\n\n".join(f"Глава {n}. " + "Слово за слово. " * 40 for n in range(12))
    cutter = index.recipe.chunkers["fixed"]
    chunks = cutter.chunk(Document("guide.md", text, "Гид", uri="docs/guide.md"))
    write(index, GLOBAL, [Source("guide.md", "document", "h", chunks, "docs/guide.md")])
    said = [
        Turn(str(n), "user" if n % 2 else "assistant", f"Реплика {n}", at=LATE_EVENING)
        for n in range(9)
    ]
    ingest_chats(index, ANN, [Session("s", tuple(said))])
    remember(index, ANN, "Бюджет 40 000 €", expires_at=datetime(2040, 1, 1, tzinfo=UTC))
    remember(index, session_scope("ann", "s"), "черновик")


def everything(parts: Parts) -> dict[str, list[Memory]]:
    store = parts.index.store
    return {collection: list(store.everything(collection)) for collection in COLLECTIONS}


def vectors(parts: Parts) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for collection, memories in everything(parts).items():
        for memory in memories:
            where = Filter(memory.scope, ids=(memory.id,))
            found |= parts.index.store.vectors(collection, where)  # type: ignore[arg-type]
    return {name: row["dense"] for name, row in found.items()}


@pytest.fixture
def filled(make_parts: MakeParts, catalog_url: str) -> Parts:
    parts = make_parts(catalog=catalog_url, busy_timeout=1.0)
    fill(parts)
    return parts


def test_memories_stay_and_vectors_are_the_other_models(filled: Parts, clock: Any) -> None:
    before, old = everything(filled), vectors(filled)
    filled.close()
    report = reindex(filled.settings, embedder=OtherEmbedder())
    assert report.changes == {"embedder": ("tiny", "other")}
    assert report.memories == report.embedded == sum(map(len, before.values()))
    again = build(filled.settings, clock=clock, embedder=OtherEmbedder())
    try:
        assert everything(again) == before
        new = vectors(again)
        assert all(np.allclose(new[name], -row, atol=1e-6) for name, row in old.items())
        fill(again)  # nothing changed: nothing is written
        assert everything(again) == before
    finally:
        again.close()
    folders = {path.name for path in filled.settings.data_dir.glob("store*/*") if path.is_dir()}
    assert folders == set(COLLECTIONS)
    assert not list((filled.settings.data_dir / "store").glob("*/segments"))
    assert not reindex(filled.settings, embedder=OtherEmbedder()).done


def test_the_model_of_before_is_refused_with_the_command(filled: Parts, clock: Any) -> None:
    filled.close()
    with pytest.raises(SchemaMismatch, match="letopis reindex"):
        build(filled.settings, clock=clock, embedder=OtherEmbedder())
    reindex(filled.settings, embedder=OtherEmbedder())
    with pytest.raises(SchemaMismatch, match="was 'other' and is 'tiny'"):
        build(filled.settings, clock=clock, embedder=TinyEmbedder())


def test_a_stopped_run_goes_on_where_it_was(filled: Parts) -> None:
    count = sum(map(len, everything(filled).values()))
    filled.close()
    settings = filled.settings.model_copy(
        update={"ingest": filled.settings.ingest.model_copy(update={"batch": 4})}
    )
    with pytest.raises(KeyboardInterrupt):
        reindex(settings, embedder=OtherEmbedder(stop=count // 2))
    embedder = OtherEmbedder()
    report = reindex(settings, embedder=embedder)
    assert report.done
    assert 0 < report.embedded < count
    assert report.memories == count


def test_until_the_switch_the_old_generation_answers_and_takes_writes(filled: Parts) -> None:
    kept = remember(filled.index, ANN, "пишу до")
    with pytest.raises(KeyboardInterrupt):
        reindex(filled.settings, embedder=OtherEmbedder(stop=0))
    assert filled.retriever.retrieve("пишу до", "ann").hits
    later = remember(filled.index, ANN, "пишу во время")
    filled.index.store.delete("user", Filter(ANN, ids=(kept.id,)))
    expected = everything(filled)
    filled.close()
    reindex(filled.settings, embedder=OtherEmbedder())
    again = build(filled.settings, embedder=OtherEmbedder())
    try:
        assert everything(again) == expected
        assert later in expected["user"]
    finally:
        again.close()


def test_after_a_switch_a_writer_of_before_is_refused(
    make_parts: MakeParts, tmp_path: Path
) -> None:
    parts = make_parts()
    fill(parts)
    parts.index.store.close()
    reindex(parts.settings, embedder=OtherEmbedder())
    with pytest.raises(SchemaMismatch, match="re-indexed since"):
        parts.index.catalog.remove(ANN, ["x"])


def test_writes_wait_while_the_switch_is_near(filled: Parts) -> None:
    generations = filled.index.catalog.generations
    generations.begin("{}")
    generations.hold()
    with pytest.raises(StoreLocked, match="about to switch"):
        filled.index.catalog.remove(ANN, ["x"])
    generations.release()
    remember(filled.index, ANN, "снова пишу")


def test_writes_that_a_killed_run_held_go_on_with_the_next(filled: Parts) -> None:
    generations = filled.index.catalog.generations
    generations.begin("{}")
    held = generations.hold()  # and here it was killed
    generations.begin("{}")
    remember(filled.index, ANN, "снова пишу")
    with pytest.raises(StoreLocked, match="nothing was switched"):
        generations.switch({}, recut=False, held=held)
    assert generations.active() == ""


def test_writes_that_a_killed_run_held_go_on_after_an_abort(filled: Parts) -> None:
    filled.index.catalog.generations.begin("{}")
    filled.index.catalog.generations.hold()
    with pytest.raises(StoreLocked, match="letopis reindex --abort"):
        remember(filled.index, ANN, "рано")
    assert abort(filled.settings)
    remember(filled.index, ANN, "снова пишу")


def test_another_re_index_is_refused_until_the_first_is_dropped(filled: Parts) -> None:
    filled.close()
    with pytest.raises(KeyboardInterrupt):
        reindex(filled.settings, embedder=OtherEmbedder(stop=0))
    third = OtherEmbedder()
    third.name = "third"
    with pytest.raises(StoreLocked, match="letopis reindex --abort"):
        reindex(filled.settings, embedder=third)
    assert abort(filled.settings)
    assert not abort(filled.settings)
    left = {path.name for path in filled.settings.data_dir.glob("store@*/*") if path.is_dir()}
    assert left == set()
    assert reindex(filled.settings, embedder=third).changes == {"embedder": ("tiny", "third")}


def test_a_memory_that_the_model_cannot_read_stops_the_switch(filled: Parts, clock: Any) -> None:
    before = everything(filled)
    filled.close()
    with pytest.raises(ReindexRefused, match="1 memories cannot be embedded by other"):
        reindex(filled.settings, embedder=OtherEmbedder(refuse="Бюджет"))
    again = build(filled.settings, clock=clock, embedder=TinyEmbedder())
    try:
        assert everything(again) == before
    finally:
        again.close()


def test_other_chunks_are_cut_at_the_next_sync(filled: Parts) -> None:
    filled.close()
    chunking = filled.settings.chunking.model_copy(update={"size": 128})
    settings = filled.settings.model_copy(update={"chunking": chunking})
    report = reindex(settings, embedder=TinyEmbedder())
    assert report.recut
    again = build(settings, embedder=TinyEmbedder())
    try:
        assert again.index.catalog.sources(GLOBAL)["guide.md"].content_hash != "h"
        fill(again)
        sizes = [len(memory.text) for memory in again.index.store.everything("global")]
        assert len(sizes) > len(set(COLLECTIONS))
        clean = build(
            settings.model_copy(update={"data_dir": settings.data_dir / "clean", "catalog": ""}),
            clock=again.index.clock,
            embedder=TinyEmbedder(),
        )
        try:
            fill(clean)
            ids = {name: [m.id for m in held] for name, held in everything(clean).items()}
            assert {n: [m.id for m in held] for n, held in everything(again).items()} == ids
        finally:
            clean.close()
    finally:
        again.close()
