"""The sweep: what expired leaves the disk of every tenant, and nothing else does."""

from datetime import timedelta
from typing import Any

from chunking.types import Document
from indexing.expire import sweep
from indexing.index import Index
from indexing.ingest import document_source
from indexing.remember import remember
from indexing.types import GLOBAL, Filter, Scope, session_scope, user_scope
from indexing.write import write

ANN, BOB = user_scope("ann"), user_scope("bob")
DAY = timedelta(days=1)


def texts(index: Index, scope: Scope) -> set[str]:
    return {memory.text for memory in index.store.scroll(scope.collection, Filter(scope))}


def test_a_sweep_takes_what_expired_of_every_tenant(index: Index, clock: Any) -> None:
    for scope in (ANN, BOB, session_scope("ann", "s")):
        remember(index, scope, "short", expires_at=clock.now + DAY)
        remember(index, scope, "long", expires_at=clock.now + 3 * DAY)
        remember(index, scope, "ever")
    assert sweep(index).total == 0
    clock.now += DAY
    seen: list[tuple[str, int, int]] = []
    report = sweep(index, lambda *told: seen.append(told))
    assert report.removed == {"global": 0, "user": 2, "session": 1}
    assert seen == [("global", 0, 3), ("user", 1, 3), ("session", 2, 3)]
    for scope in (ANN, BOB, session_scope("ann", "s")):
        assert texts(index, scope) == {"long", "ever"}


def test_rows_stay_and_count_what_is_left(make_parts: Any, clock: Any) -> None:
    index = make_parts().index
    index.recipe.ttl["document"] = 2 * DAY
    write(index, GLOBAL, [document_source(index.recipe, Document("a", "Первый текст."), "hash")])
    remember(index, GLOBAL, "stays")
    clock.now += 2 * DAY
    assert sweep(index).removed["global"] == 1
    row = index.catalog.sources(GLOBAL)["a"]
    assert (row.content_hash, row.chunks) == ("hash", 0)
    assert index.catalog.counts()["global"]["memories"] == 1


def test_no_byte_of_what_expired_stays_in_the_store(index: Index, clock: Any, parts: Any) -> None:
    canary = "zq7f-KX3w-91vb-UHd2"
    remember(index, ANN, canary, expires_at=clock.now + DAY)
    remember(index, ANN, "stays")
    folder = parts.settings.data_dir / "store"
    held = [f for f in folder.rglob("*") if f.is_file() and canary.encode() in f.read_bytes()]
    assert held
    clock.now += DAY
    sweep(index)
    for file in folder.rglob("*"):
        assert not (file.is_file() and canary.encode() in file.read_bytes()), file
