"""The one write path: facts, batches, reuse, replacement, isolation, and crashes at every step."""

import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import pytest

from chunking.types import Document
from indexing.catalog_rows import SourceRow, Writing
from indexing.dense import PassageTooLong
from indexing.errors import InvalidId, InvalidInput, StoreUnavailable
from indexing.hashing import digest
from indexing.index import Index, Source
from indexing.ingest import document_source
from indexing.payload import to_payload
from indexing.remember import remember
from indexing.types import GLOBAL, Filter, Memory, Scope, session_scope, user_scope
from indexing.write import write

ANN = user_scope("ann")


def stored(index: Index, scope: Scope = ANN, **where: Any) -> list[Memory]:
    return list(index.store.scroll(scope.collection, Filter(scope, **where)))


def source(index: Index, name: str, text: str) -> Source:
    return document_source(index.recipe, Document(name, text), digest(text))


PARAGRAPHS = [
    f"{title}. " + " ".join(f"Пункт {title.lower()} номер {i}." for i in range(25))
    for title in ("Заказы", "Возвраты", "Датчики", "Шлюзы", "Отпуска", "Поверка")
]


# remember


def test_a_fact_is_stored_whole(index: Index, clock: Any) -> None:
    at = datetime(2026, 5, 8, 13, tzinfo=timezone(timedelta(hours=3)))
    fact = remember(index, ANN, " Бюджет — 40 000 € \n", at=at)
    assert fact.text == " Бюджет — 40 000 € \n"
    assert (fact.kind, fact.scope, fact.start, fact.end) == ("fact", ANN, 0, len(fact.text))
    assert (fact.at, fact.created_at, fact.expires_at) == (at, clock.now, None)
    assert (fact.lang, stored(index)) == ("ru", [fact])


def test_a_fact_told_twice_is_one_memory_and_one_embedding(
    index: Index, embedder: Any, clock: Any
) -> None:
    first = remember(index, ANN, "likes tea")
    clock.now += timedelta(days=1)
    assert remember(index, ANN, "likes tea") == first
    assert embedder.embedded == ["likes tea"]
    assert len(stored(index)) == 1


def test_a_fact_told_again_takes_its_new_time(index: Index, embedder: Any) -> None:
    remember(index, ANN, "likes tea")
    told = datetime(2026, 10, 1, tzinfo=UTC)
    assert remember(index, ANN, "likes tea", at=told).at == told
    assert [memory.at for memory in stored(index)] == [told]
    assert embedder.embedded == ["likes tea"]


def test_kinds_are_told_apart(index: Index) -> None:
    remember(index, ANN, "likes tea")
    remember(index, ANN, "likes tea", kind="procedure")
    assert sorted(memory.kind for memory in stored(index)) == ["fact", "procedure"]


def test_an_empty_fact_is_refused(index: Index) -> None:
    for text in ("", " ", "\n\t\u2003"):
        with pytest.raises(InvalidInput, match="the text is empty"):
            remember(index, ANN, text)


def test_a_fact_over_the_limit_is_refused_and_at_it_is_not(index: Index) -> None:
    limit = index.recipe.fact_tokens
    text = "a " * limit
    size = len(index.recipe.spans(text))
    with pytest.raises(InvalidInput, match=f"over the limit of {limit}: ingest it as a document"):
        remember(index, ANN, text + "b " * limit)
    assert remember(index, ANN, text[: -2 * (size - limit) or None].rstrip()).text


def test_a_fact_that_the_model_cannot_read_is_refused(make_parts: Any, embedder: Any) -> None:
    index = make_parts(embedder=embedder).index
    embedder.max_terms = 3
    with pytest.raises(PassageTooLong, match="5 terms"):
        remember(index, ANN, "one two three four five")
    assert stored(index) == []
    assert index.catalog.dead() == []


def test_a_lone_surrogate_is_refused(index: Index) -> None:
    with pytest.raises(InvalidInput, match="lone surrogate"):
        remember(index, ANN, "half \ud83d")


def test_a_time_that_cannot_be_kept_is_refused(index: Index) -> None:
    for moment, reason in (
        (datetime(2026, 5, 8), "has no time zone"),
        (datetime.max.replace(tzinfo=UTC), "is out of range"),
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=5))), "is out of range"),
    ):
        with pytest.raises(InvalidInput, match=f"^at {reason}"):
            remember(index, ANN, "fact", at=moment)
        with pytest.raises(InvalidInput, match=f"expires_at {reason}"):
            remember(index, ANN, "fact", expires_at=moment)
    assert stored(index) == []


def test_an_expired_fact_is_invisible_from_its_moment_on(index: Index, clock: Any) -> None:
    until = clock.now + timedelta(hours=1)
    remember(index, ANN, "the code is 4471", expires_at=until)
    assert len(stored(index, now=until - timedelta(seconds=1))) == 1
    assert stored(index, now=until) == []
    assert len(stored(index)) == 1


def test_a_new_expiry_replaces_the_old_one(index: Index, clock: Any, embedder: Any) -> None:
    for hours in (1, 5):
        remember(index, ANN, "fact", expires_at=clock.now + timedelta(hours=hours))
    assert [m.expires_at for m in stored(index)] == [clock.now + timedelta(hours=5)]
    assert remember(index, ANN, "fact").expires_at is None
    assert len(stored(index)) == 1
    assert embedder.embedded == ["fact"]


def test_an_expired_twin_does_not_block_a_new_memory(
    index: Index, clock: Any, embedder: Any
) -> None:
    week = timedelta(days=7)
    index = replace(index, recipe=replace(index.recipe, ttl={"fact": week}))
    remember(index, ANN, "likes tea")
    clock.now += week
    assert stored(index, now=clock.now) == []
    again = remember(index, ANN, "likes tea")
    assert (again.created_at, again.expires_at) == (clock.now, clock.now + week)
    assert stored(index, now=clock.now) == [again]
    assert embedder.embedded == ["likes tea"]


def test_life_is_that_of_the_kind_before_that_of_the_collection(index: Index, clock: Any) -> None:
    ttl = {"session": timedelta(days=7), "procedure": timedelta(days=1)}
    index = replace(index, recipe=replace(index.recipe, ttl=ttl))
    scope = session_scope("ann", "s")
    assert remember(index, scope, "a").expires_at == clock.now + timedelta(days=7)
    assert remember(index, scope, "b", "procedure").expires_at == clock.now + timedelta(days=1)
    assert remember(index, ANN, "c").expires_at is None
    until = clock.now + timedelta(hours=1)
    assert remember(index, scope, "d", expires_at=until).expires_at == until


# isolation

IDS = [
    *("ann", "Ann", "ann ", " ann", "an", "anna", "ann/1", "../x", "/etc/passwd", "user:ann"),
    *(
        "Жмыхова",
        "жмыхова",
        "й",
        unicodedata.normalize("NFD", "й"),
        "a\x00b",
        "a",
        "💬",
        "x" * 1024,
    ),
    *("ann*", "a%", "ｆｕｌｌ", "full", "1", "10"),
]


def test_every_user_sees_only_what_is_theirs(index: Index) -> None:
    assert len(set(IDS)) == len(IDS)
    for number, name in enumerate(IDS):
        remember(index, user_scope(name), f"secret {number}")
        remember(index, session_scope(name, "s"), f"session {number}")
    for number, name in enumerate(IDS):
        assert [m.text for m in stored(index, user_scope(name))] == [f"secret {number}"]
        assert [m.text for m in stored(index, session_scope(name, "s"))] == [f"session {number}"]
        assert stored(index, session_scope(name, "S")) == []
    assert stored(index, GLOBAL) == []


def test_equal_texts_of_two_users_are_two_memories(index: Index) -> None:
    scopes = [GLOBAL, ANN, user_scope("Ann"), session_scope("ann", "1"), session_scope("an", "n1")]
    made = [remember(index, scope, "the same fact").id for scope in scopes]
    assert len(set(made)) == 5


@pytest.mark.parametrize("name", ["", " ", "*", "**", "%", "?", "* ", "x" * 10_000, "\ud800"])
def test_an_id_that_names_nobody_is_refused(name: str) -> None:
    with pytest.raises(InvalidId):
        user_scope(name)
    with pytest.raises(InvalidId):
        session_scope("ann", name)


# documents


def test_spans_are_exact(index: Index) -> None:
    text = "\n\n".join(PARAGRAPHS)
    report = write(index, ANN, [source(index, "d", text)])
    found = stored(index)
    assert len(found) == report.memories > 3
    assert all(text[m.start : m.end] == m.text for m in found)
    ordered = sorted(found, key=lambda m: m.ordinal)
    assert [m.ordinal for m in ordered] == list(range(len(found)))
    assert all(a.start < b.start for a, b in pairwise(ordered))


def test_a_change_embeds_only_what_changed(index: Index, embedder: Any) -> None:
    before = "\n\n".join(PARAGRAPHS)
    write(index, ANN, [source(index, "d", before)])
    old = {m.text for m in stored(index)}
    embedder.embedded.clear()
    after = before.replace("Поверка. ", "Поверка и ремонт. ")
    report = write(index, ANN, [source(index, "d", after)])
    new = {m.text for m in stored(index)}
    assert set(embedder.embedded) == new - old
    assert len(embedder.embedded) == report.embedded < len(new)
    assert all(after[m.start : m.end] == m.text for m in stored(index))
    assert index.catalog.sources(ANN) == {"d": SourceRow("d", digest(after), len(new))}


def test_text_that_moved_keeps_its_vectors(index: Index, embedder: Any) -> None:
    made = source(index, "d", "\n\n".join(PARAGRAPHS))
    write(index, ANN, [made])
    vectors = {m.text: m.id for m in stored(index)}
    kept = index.store.vectors("user", Filter(ANN, ids=tuple(vectors.values())))
    embedder.embedded.clear()
    moved = [replace(c, start=c.start + 7, end=c.end + 7) for c in made.chunks]
    write(index, ANN, [replace(made, content_hash="moved", chunks=moved)])
    assert embedder.embedded == []
    found = stored(index)
    assert {m.text for m in found} == vectors.keys()
    assert {m.id for m in found} == set(vectors.values())
    assert {m.start for m in found} == {chunk.start for chunk in moved}
    again = index.store.vectors("user", Filter(ANN, ids=tuple(m.id for m in found)))
    for memory in found:
        expected = kept[vectors[memory.text]]["dense"].tolist()
        assert again[memory.id]["dense"].tolist() == pytest.approx(expected, abs=1e-6)


def renamed(index: Index, was: str, name: str, text: str) -> Source:
    made = document_source(index.recipe, Document(name, text, uri=name), digest(text))
    return replace(made, was=was)


def test_a_renamed_source_keeps_its_vectors_and_leaves_nothing(index: Index, embedder: Any) -> None:
    text = "\n\n".join(PARAGRAPHS)
    write(index, ANN, [renamed(index, "", "docs/old.txt", text)])
    before = {memory.start: memory for memory in stored(index)}
    vectors = index.store.vectors("user", Filter(ANN, ids=tuple(m.id for m in before.values())))
    embedder.embedded.clear()

    report = write(index, ANN, [renamed(index, "docs/old.txt", "docs/new.txt", text)])

    assert embedder.embedded == []
    assert (report.indexed, report.embedded, report.memories) == (1, 0, len(before))
    after = stored(index)
    assert {memory.source_id for memory in after} == {"docs/new.txt"}
    assert list(index.catalog.sources(ANN)) == ["docs/new.txt"]
    moved = index.store.vectors("user", Filter(ANN, ids=tuple(m.id for m in after)))
    for memory in after:
        old = before[memory.start]
        assert (memory.text, memory.title, old.title) == (old.text, "new", "old")
        assert (moved[memory.id]["dense"] == vectors[old.id]["dense"]).all()


def test_a_renamed_source_is_what_a_clean_run_gives(
    index: Index, make_parts: Any, tmp_path: Path
) -> None:
    text = "\n\n".join(PARAGRAPHS)
    write(index, ANN, [renamed(index, "", "old.txt", text)])
    write(index, ANN, [renamed(index, "old.txt", "new.txt", text)])
    clean = make_parts(folder=tmp_path / "clean").index
    write(clean, ANN, [renamed(clean, "", "new.txt", text)])
    assert sorted(map(str, stored(index))) == sorted(map(str, stored(clean)))


def test_a_memory_at_its_old_place_takes_its_new_fields(index: Index, embedder: Any) -> None:
    made = source(index, "d", "One chunk.")
    write(index, ANN, [made])
    chunks = [replace(chunk, ordinal=3) for chunk in made.chunks]
    write(index, ANN, [replace(made, content_hash="other", chunks=chunks, uri="new/d.md")])
    (found,) = stored(index)
    assert (found.ordinal, found.uri) == (3, "new/d.md")
    assert embedder.embedded == ["One chunk."]


def test_a_shorter_source_leaves_nothing_behind(index: Index) -> None:
    write(index, ANN, [source(index, "d", "\n\n".join(PARAGRAPHS)), source(index, "e", "Other.")])
    write(index, ANN, [source(index, "d", "Now short.")])
    assert sorted(m.text for m in stored(index)) == ["Now short.", "Other."]
    write(index, ANN, [Source("d", "document", "empty", [])])
    assert [m.text for m in stored(index)] == ["Other."]


def test_batches_change_nothing_but_their_number(make_parts: Any, memory_folder: Path) -> None:
    found = []
    for batch in (3, 1000):
        index = replace(make_parts(memory_folder / str(batch)).index, batch=batch)
        report = write(index, ANN, [source(index, str(i), p) for i, p in enumerate(PARAGRAPHS)])
        assert (report.indexed, report.dead) == (6, [])
        found.append([to_payload(m) for m in stored(index)])
    assert found[0] == found[1]


def test_one_source_that_cannot_be_embedded_does_not_sink_the_others(
    make_parts: Any, embedder: Any
) -> None:
    index = make_parts(embedder=embedder).index
    embedder.max_terms = 6
    texts = ["short one", "far too long for this model here", "short two"]
    report = write(index, ANN, [source(index, str(i), text) for i, text in enumerate(texts)])
    assert sorted(m.text for m in stored(index)) == ["short one", "short two"]
    assert report.indexed == 2
    (letter,) = report.dead
    assert (letter.scope, letter.path, letter.place) == (ANN, "1", "")
    assert "7 terms" in letter.reason
    assert "model here" not in letter.reason
    assert [dead.path for dead in index.catalog.dead()] == ["1"]
    assert sorted(index.catalog.sources(ANN)) == ["0", "2"]


def test_no_text_gets_into_the_catalog(make_parts: Any, memory_folder: Path, embedder: Any) -> None:
    folder = memory_folder / "own"
    parts = make_parts(folder, embedder)
    remember(parts.index, ANN, "canary fact")
    write(parts.index, ANN, [source(parts.index, "d", "canary document")])
    embedder.max_terms = 3
    write(parts.index, ANN, [source(parts.index, "e", "canary letter of many words")])
    assert len(parts.index.catalog.dead()) == 1
    parts.close()
    files = sorted(folder.glob("catalog.sqlite*"))
    assert files
    for file in files:
        assert b"canary" not in file.read_bytes()


# crashes


class Crash(RuntimeError):
    """The process dies here."""


class Failing:
    """A part that works until the n-th call of one of some methods, before or after its effect."""

    def __init__(self, part: Any, methods: tuple[str, ...], at: int, after: bool) -> None:
        self._part, self._methods = part, methods
        self._at, self._after, self._calls = at, after, count(1)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)
        if name not in self._methods:
            return method

        def call(*args: Any, **named: Any) -> Any:
            if next(self._calls) != self._at:
                return method(*args, **named)
            if self._after:
                method(*args, **named)
            raise Crash

        return call


def two_versions(index: Index) -> tuple[list[Source], list[Source]]:
    """Sources as they were, and as they are now: one moved, one shorter, one new, one equal."""
    before = {"a": PARAGRAPHS[:3], "b": PARAGRAPHS[3:], "c": ["Без изменений."]}
    after = {
        "a": ["Новое.", *PARAGRAPHS[:3]],
        "b": PARAGRAPHS[4:5],
        "c": before["c"],
        "d": ["New."],
    }
    old, new = (
        [source(index, name, "\n\n".join(parts)) for name, parts in version.items()]
        for version in (before, after)
    )
    return old, new


def state(index: Index) -> tuple[list[tuple[str, dict[str, Any]]], dict[str, SourceRow]]:
    memories = [(m.id, to_payload(m)) for m in stored(index)]
    return memories, index.catalog.sources(ANN)


class Written:
    """The real commit, kept where a test replaces it."""

    commit = staticmethod(Writing.commit)


STEPS = {"store": ("upsert", "delete"), "catalog": ("begin",), "embedder": ("passages",)}


@pytest.mark.parametrize(
    ("part", "after"),
    [
        ("embedder", False),
        *((part, after) for part in ("store", "catalog", "commit") for after in (0, 1)),
    ],
)
def test_a_run_after_a_crash_converges_to_a_clean_one(
    index: Index, part: str, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = replace(index, batch=4)
    old, new = two_versions(index)
    write(index, ANN, old)
    write(index, ANN, new)
    expected = state(index)
    assert len(expected[0]) > 4

    for at in count(1):
        write(index, ANN, old)
        with monkeypatch.context() as patch, suppress(Crash):
            crashed = 1
            if part == "commit":
                failing = Failing(Written, ("commit",), at, after)
                patch.setattr(Writing, "commit", lambda *given, f=failing: f.commit(*given))
                write(index, ANN, new)
            else:
                failing = Failing(getattr(index, part), STEPS[part], at, after)
                write(replace(index, **{part: failing}), ANN, new)
            crashed = 0
        write(index, ANN, new)
        assert state(index) == expected
        if not crashed:
            break
    assert at > 2  # the loop saw a crash at each of several calls, then a run without one


def test_what_was_acknowledged_before_an_interrupt_is_there(index: Index) -> None:
    index = replace(index, batch=1)

    def interrupted() -> Iterator[Source]:
        yield source(index, "a", "First.")
        yield source(index, "b", "Second.")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(index, ANN, interrupted())
    assert sorted(m.text for m in stored(index)) == ["First.", "Second."]
    assert sorted(index.catalog.sources(ANN)) == ["a", "b"]
    report = write(index, ANN, [source(index, "c", "Third.")])
    assert report.indexed == 1
    assert len(stored(index)) == 3


class Full:
    """A store whose disk is full for writing."""

    def __init__(self, part: Any) -> None:
        self._part = part

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def upsert(self, *args: Any) -> None:
        raise StoreUnavailable("the disk is full")


def test_a_full_disk_is_named_and_commits_no_row(index: Index) -> None:
    full = replace(index, store=Full(index.store))  # type: ignore[arg-type]
    with pytest.raises(StoreUnavailable, match="full"):
        write(full, ANN, [source(index, "a", "First.")])
    assert index.catalog.sources(ANN) == {"a": SourceRow("a", "", 0)}  # begun, nothing indexed
    with pytest.raises(StoreUnavailable, match="full"):
        remember(full, ANN, "fact")
    assert write(index, ANN, [source(index, "a", "First.")]).indexed == 1
