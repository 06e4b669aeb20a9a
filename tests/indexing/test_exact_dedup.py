"""What says the same in the same words is one memory of its scope, with all its sources."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from chunking.types import Document, Heading, Session, Turn
from indexing.index import Index, Report
from indexing.ingest import document_source, ingest_session
from indexing.remember import remember
from indexing.removal import remove_sources
from indexing.types import GLOBAL, Filter, Memory, Scope, session_scope, user_scope
from indexing.write import write

ANN, BOB = user_scope("ann"), user_scope("bob")
DAY = timedelta(days=1)


def stored(index: Index, scope: Scope = ANN, **where: Any) -> list[Memory]:
    return list(index.store.scroll(scope.collection, Filter(scope, **where)))


def add(index: Index, name: str, text: str, scope: Scope = ANN) -> Report:
    return write(index, scope, [document_source(index.recipe, Document(name, text), text)])


def test_documents_that_say_the_same_are_one_memory_and_one_embedding(
    index: Index, embedder: Any
) -> None:
    add(index, "a.md", "The gate opens at nine.")
    embedder.embedded.clear()
    report = add(index, "b.md", "The gate opens at nine.")
    assert embedder.embedded == []
    assert (report.indexed, report.repeated, report.embedded) == (1, 1, 0)
    (memory,) = stored(index)
    assert memory.sources == ("a.md", "b.md")
    assert [place.text for place in memory.also] == ["The gate opens at nine."]
    rows = index.catalog.sources(ANN)
    assert {name: row.chunks for name, row in rows.items()} == {"a.md": 1, "b.md": 1}
    assert [m.id for m in stored(index, source_ids=("b.md",))] == [memory.id]


def test_a_memory_lives_as_long_as_one_of_its_sources(index: Index, embedder: Any) -> None:
    for name in ("a.md", "b.md", "c.md"):
        add(index, name, "The gate opens at nine.")
    embedder.embedded.clear()
    (memory,) = stored(index)
    assert remove_sources(index, ANN, ["a.md"]) == 0
    assert [(m.id, m.sources) for m in stored(index)] == [(memory.id, ("b.md", "c.md"))]
    assert remove_sources(index, ANN, ["b.md"]) == 0
    assert [(m.id, m.sources) for m in stored(index)] == [(memory.id, ("c.md",))]
    assert remove_sources(index, ANN, ["c.md"]) == 1
    assert stored(index) == []
    assert index.catalog.sources(ANN) == {}
    assert embedder.embedded == []


def test_a_source_that_says_something_else_leaves_the_memory_to_the_others(index: Index) -> None:
    add(index, "a.md", "The gate opens at nine.")
    add(index, "b.md", "The gate opens at nine.")
    add(index, "a.md", "The gate is closed.")
    held = {memory.text: memory.sources for memory in stored(index)}
    assert held == {"The gate opens at nine.": ("b.md",), "The gate is closed.": ("a.md",)}


def test_scopes_and_kinds_keep_their_own(index: Index) -> None:
    scopes = [ANN, BOB, GLOBAL, session_scope("ann", "1"), session_scope("ann", "2")]
    made = [remember(index, scope, "likes tea").id for scope in scopes]
    made += [remember(index, ANN, "likes tea", kind="procedure").id]
    add(index, "a.md", "likes tea")
    made += [m.id for m in stored(index, kinds=("document",))]
    assert len(set(made)) == len(made) == 7
    assert all(len(memory.sources) == 1 for scope in scopes for memory in stored(index, scope))


def test_words_under_another_heading_are_another_memory(index: Index) -> None:
    for name, head in (("a.md", "Winter"), ("b.md", "Summer"), ("c.md", "Winter")):
        text = f"# {head}\n\nThe gate opens at nine."
        document = Document(name, text, headings=(Heading(0, 1, head),))
        write(index, ANN, [document_source(index.recipe, document, text)])
    held = sorted((memory.headings[-1], memory.sources) for memory in stored(index))
    assert held == [("Summer", ("b.md",)), ("Winter", ("a.md", "c.md"))]


def test_turns_of_other_speakers_and_times_are_other_memories(index: Index) -> None:
    at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    for name, (who, role, when) in enumerate(
        (
            ("Ann", "user", at),
            ("Ann", "user", at + DAY),
            ("Bob", "user", at),
            ("Ann", "assistant", at),
        )
    ):
        turn = Turn("1", role, "Yes, I agree with it.", who, when)
        ingest_session(index, ANN, Session(f"s{name}", (turn,)))
    assert len(stored(index)) == 4


SAME = [
    ("Ёлка стоит в зале", "елка стоит в зале"),
    ("ЕЁ ЗОВУТ АННА", "её зовут анна"),
    ("Ｃａｆｅ opens at 9", "cafe opens at 9"),
    ("the ﬁrst oﬃce", "The First Office"),
    ("STRASSE 5", "Straße 5"),
    ("likes  tea\n", "likes tea"),
    ("«Likes tea».", "Likes tea"),
    ("Likes tea!", "Likes tea."),
    ("re\u0301sume\u0301 sent", "r\u00e9sum\u00e9 sent"),
]
OTHER = [
    ("résumé sent", "resume sent"),
    ("Müller called", "Muller called"),
    ("кот спит", "кит спит"),
    ("мой пароль", "мои пароль"),
    ("budget -5", "budget 5"),
    ("version 1.2", "version 12"),
    ("likes C++", "likes C"),
    ("does he like tea?", "does he like tea"),
    ("казнить, нельзя помиловать", "казнить нельзя, помиловать"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_spellings_that_are_folded(index: Index, one: str, other: str) -> None:
    first = remember(index, ANN, one, subject="")
    second = remember(index, ANN, other, subject="")
    assert first.id == second.id
    (memory,) = stored(index)
    assert memory.text in (one, other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_spellings_that_are_not_folded(index: Index, one: str, other: str) -> None:
    words_only = replace(index.recipe.dedup, at_write=False)
    index = replace(index, recipe=replace(index.recipe, dedup=words_only))
    remember(index, ANN, one, subject="")
    remember(index, ANN, other, subject="")
    assert sorted(m.text for m in stored(index)) == sorted((one, other))


def test_another_spelling_is_not_embedded(index: Index, embedder: Any) -> None:
    add(index, "a.md", "The gate opens at nine.")
    remember(index, ANN, "Likes tea")
    embedder.embedded.clear()
    add(index, "b.md", "THE GATE opens at nine")
    remember(index, ANN, "likes tea!")
    assert embedder.embedded == []
    held = {m.text: [place.text for place in m.also] for m in stored(index, kinds=("document",))}
    assert held == {"The gate opens at nine.": ["THE GATE opens at nine"]}


def test_a_text_that_takes_the_place_of_its_twin_can_be_found(index: Index, clock: Any) -> None:
    """The one that lives longest stands for both: what finds it is made of its own words."""
    remember(index, ANN, "LIKES TEA", expires_at=clock.now + DAY, at=clock.now)
    remember(index, ANN, "likes tea", at=clock.now - DAY)
    (memory,) = stored(index)
    assert (memory.text, memory.expires_at, len(memory.also)) == ("likes tea", None, 1)
    vectors = index.store.vectors("user", Filter(ANN, ids=(memory.id,)))
    wanted = index.embedder.passages(["likes tea"])[0]
    assert vectors[memory.id]["dense"].tolist() == pytest.approx(wanted.tolist(), abs=1e-6)


def test_equal_texts_in_one_batch_are_one_memory(index: Index, embedder: Any) -> None:
    sources = [
        document_source(index.recipe, Document(f"{n}.md", "The same words."), str(n))
        for n in range(4)
    ]
    report = write(index, ANN, sources)
    assert (report.indexed, report.memories, report.repeated) == (4, 1, 3)
    assert embedder.embedded == ["The same words."]
    (memory,) = stored(index)
    assert memory.sources == ("0.md", "1.md", "2.md", "3.md")


def test_one_moment_in_two_zones_is_one_telling(index: Index) -> None:
    at = datetime(2026, 5, 8, 13, tzinfo=timezone(timedelta(hours=3)))
    for moment in (at, at.astimezone(UTC)):
        remember(index, ANN, "likes tea", at=moment)
    (memory,) = stored(index)
    assert (memory.at, memory.also) == (at, ())
    assert len(index.catalog.sources(ANN)) == 1


def test_an_expired_twin_stands_for_nothing(index: Index, clock: Any) -> None:
    remember(index, ANN, "likes tea", expires_at=clock.now + DAY)
    old = clock.now
    clock.now += 2 * DAY
    again = remember(index, ANN, "Likes tea.", at=old)
    assert stored(index, now=clock.now) == [again]
    assert (again.text, again.sources[0]) == ("Likes tea.", again.source_id)


def test_a_batch_of_one_does_the_same(index: Index) -> None:
    small = replace(index, batch=1)
    for name in ("a.md", "b.md"):
        add(small, name, "One text.\n\n" + "word " * 600)
    assert {memory.sources for memory in stored(index)} == {("a.md", "b.md")}
