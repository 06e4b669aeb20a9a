"""Tags: their one form, and their way through every write, correction, export and erasure."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunking.types import Document, Session, Turn
from indexing.chat import parse_turns
from indexing.corrections import edit, pin, unpin
from indexing.documents import document_source
from indexing.errors import InvalidInput, SourceError
from indexing.feeds.types import Feed
from indexing.forget import forget
from indexing.formats.markdown import parse_markdown
from indexing.index import Index
from indexing.ingest import ingest, ingest_session
from indexing.needles import Needle
from indexing.plan import plan
from indexing.remember import history, remember
from indexing.scan import scan
from indexing.sync import sync
from indexing.tags import MAX_TAG_CHARS, MAX_TAGS, tags_of
from indexing.traces import user_target
from indexing.transfer.export import export_user
from indexing.transfer.restore import restore
from indexing.types import GLOBAL, Filter, Memory, Scope, user_scope
from indexing.worker import from_json, to_json
from indexing.write import write

ANN = user_scope("ann")


def stored(index: Index, scope: Scope = ANN, **where: Any) -> list[Memory]:
    return list(index.store.scroll(scope.collection, Filter(scope, **where)))


def tagged(index: Index, *tags: str, scope: Scope = ANN) -> set[str]:
    return {memory.text for memory in stored(index, scope, tags=tags)}


# the form


def test_one_form() -> None:
    assert tags_of([" Отчёт", "ОТЧЁТ", "Q3"], ("ﬁnal", "Straße")) == (
        *("final", "q3", "strasse", "отчёт"),
    )
    assert tags_of() == tags_of([]) == ()


@pytest.mark.parametrize(
    "bad",
    [[""], ["  "], ["x" * (MAX_TAG_CHARS + 1)], ["\ud800"], [7], [str(n) for n in range(33)], "ab"],
)
def test_what_is_no_tag_is_refused(bad: Any) -> None:
    with pytest.raises(InvalidInput):
        tags_of(bad)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=MAX_TAGS))
def test_the_form_is_its_own_form(given_tags: list[str]) -> None:
    try:
        tags = tags_of(given_tags)
    except InvalidInput:
        return
    assert tags_of(tags) == tags == tuple(sorted(set(tags)))


# what is remembered


def test_a_fact_is_found_by_its_tags_and_keeps_its_id(index: Index) -> None:
    plain = remember(index, ANN, "Anna rows on Sundays")
    again = remember(index, ANN, "Anna rows on Sundays", tags=["Sport", "weekend"])
    assert (again.id, again.tags) == (plain.id, ("sport", "weekend"))
    assert tagged(index, "sport") == tagged(index, "weekend", "x") == {"Anna rows on Sundays"}
    assert tagged(index, "spor") == set()
    told = remember(index, ANN, "Anna rows on Sundays", tags=["club"])
    assert told.tags == ("club", "sport", "weekend")


def test_tags_alone_cost_no_embedding(index: Index, embedder: Any) -> None:
    remember(index, ANN, "Anna rows on Sundays", tags=["sport"])
    embedder.embedded.clear()
    remember(index, ANN, "Anna rows on Sundays", tags=["club"])
    assert embedder.embedded == []


def test_a_statement_told_again_has_the_tags_of_both(index: Index, clock: Any) -> None:
    remember(index, ANN, "Anna lives in Tver", subject="home", tags=["move"])
    clock.now += timedelta(days=1)
    remember(index, ANN, "Anna lives in Tver", subject="home", tags=["city"])
    clock.now += timedelta(days=1)
    remember(index, ANN, "Anna lives in Kazan", subject="home")
    assert [m.all_tags for m in history(index, ANN, "home")] == [("city", "move"), ()]


def test_every_place_has_its_own_and_the_memory_all(index: Index) -> None:
    for name, tags in (("a", ["x"]), ("b", ["y"]), ("c", [])):
        source = document_source(index.recipe, Document(name, "The pump runs."), name, tags=tags)
        write(index, ANN, [source])
    (memory,) = stored(index)
    own = {place.source_id: place.tags for place in (memory, *memory.also)}
    assert own == {"a": ("x",), "b": ("y",), "c": ()}
    assert memory.all_tags == ("x", "y")
    assert tagged(index, "y") == {"The pump runs."}


def test_bad_tags_store_nothing(index: Index) -> None:
    with pytest.raises(InvalidInput):
        remember(index, ANN, "Anna rows", tags=["x" * 65])
    with pytest.raises(SourceError, match="tags: a tag has 1 to 64"):
        document_source(index.recipe, Document("a", "text", tags=("x" * 65,)), "a")
    assert stored(index) == []


def test_corrections_keep_them(index: Index) -> None:
    made = remember(index, ANN, "Anna rows on Sundays", tags=["sport"])
    changed = edit(index, ANN, made.id, "Anna rows on Mondays", "me")
    assert changed.tags == ("sport",)
    assert pin(index, ANN, changed.id, "me").tags == ("sport",)
    assert unpin(index, ANN, changed.id, "me").tags == ("sport",)
    assert tagged(index, "sport") == {"Anna rows on Mondays"}


# documents and talk


def test_a_feeds_tags_are_those_of_its_last_run(
    index: Index, tmp_path: Path, embedder: Any
) -> None:
    file = tmp_path / "a.md"
    file.write_text("---\ntags: [Own]\n---\n\n# Pumps\n\nThe pump runs.\n")
    feed = Feed("path", str(file), scope=ANN)
    assert sync(index, feed).new == 1
    embedder.embedded.clear()
    for tags, change in ((("x",), "changed"), (("y", "z"), "changed"), ((), "changed")):
        now = replace(feed, tags=tags)
        assert plan(index.catalog, now).counts[change] == 1
        report = sync(index, now)
        assert (report.changed, report.embedded) == (1, 0)
        assert {m.tags for m in stored(index)} == {tuple(sorted(("own", *tags)))}
        assert sync(index, now).unchanged == 1
    assert embedder.embedded == []


def test_a_file_that_is_not_opened_gets_them_too(index: Index, tmp_path: Path, clock: Any) -> None:
    from indexing.feeds.access import Access

    file = tmp_path / "a.md"
    file.write_text("The pump runs.")
    chat = tmp_path / "c.jsonl"
    line = {"text": "hello", "role": "user", "at": "2026-05-08T10:00:00+00:00", "session_id": "s"}
    chat.write_text(json.dumps(line))
    access = Access(now=lambda: file.stat().st_mtime_ns + 10**10)
    feed = Feed("path", str(tmp_path), scope=ANN)
    sync(index, feed, access)
    assert sync(index, feed, access).unchanged == 2
    sync(index, replace(feed, tags=("x",)), access)
    assert tagged(index, "x") == {"The pump runs.", "hello"}
    sync(index, feed, access)
    assert tagged(index, "x") == set()
    access.parser.close()


def test_records_and_turns_state_their_own(index: Index, tmp_path: Path, embedder: Any) -> None:
    records = tmp_path / "r.jsonl"
    turns = tmp_path / "t.jsonl"

    def told(*tags: object) -> None:
        given_tags = {"tags": tags[0]} if tags else {}
        records.write_text(json.dumps({"id": "1", "text": "The pump runs.", **given_tags}))
        turn = {"text": "hello", "role": "user", "at": "2026-05-08T10:00:00+00:00", "id": "1"}
        turns.write_text(json.dumps({**turn, "session_id": "s", **given_tags}))

    told()
    ingest(index, tmp_path, ANN)
    embedder.embedded.clear()
    told(["Plan", ""])
    assert ingest(index, tmp_path, ANN).changed == 2
    assert tagged(index, "plan") == {"The pump runs.", "hello"}
    told("a, b ,")
    assert ingest(index, tmp_path, ANN).changed == 2
    assert {memory.tags for memory in stored(index)} == {("a", "b")}
    assert embedder.embedded == []
    told([7])
    report = ingest(index, tmp_path, ANN)
    assert [letter.reason for letter in report.dead] == ["tags: a tag is a text, not int"] * 2
    assert tagged(index, "a") == {"The pump runs.", "hello"}  # what cannot be read stays as it was


def test_a_session_given_in_code_has_them(index: Index) -> None:
    turns = (Turn("1", "user", "hello", tags=("Greeting",)), Turn("2", "user", "well"))
    ingest_session(index, ANN, Session("s", turns))
    assert tagged(index, "greeting") == {"hello"}
    (line,) = parse_turns(
        '{"text": "x", "role": "user", "at": "2026-05-08T10:00Z"}', "a", "", ["B"]
    )
    assert line.turn
    assert line.turn.tags == ("b",)


@pytest.mark.parametrize(
    ("front", "tags"),
    [
        ("tags: [a, 'b c', \"d\"]", ("a", "b c", "d")),
        ("title: T\ntags: one, two", ("one", "two")),
        ("tags:\n  - one\n  - two three\ntitle: T", ("one", "two three")),
        ("tags:\n- план\n", ("план",)),
        ("tags: []", ()),
        ("tags:\ntitle: T", ()),
        ("hashtags: a", ()),
    ],
)
def test_front_matter(front: str, tags: tuple[str, ...]) -> None:
    for end in ("\n", "\r\n", "\r"):
        text = f"---\n{front}\n---\n\n# Head\n".replace("\n", end)
        document = parse_markdown(text)
        assert document.tags == tags
        assert from_json(json.loads(json.dumps(to_json(document)))).tags == tags
    assert parse_markdown(f"# Head\n\n{front}\n").tags == ()


# out, in again, and gone


def test_a_round_trip(index: Index, make_parts: Any, tmp_path: Path) -> None:
    remember(index, ANN, "Anna rows on Sundays", tags=["sport", "план"])
    for name in ("a", "b"):
        source = document_source(index.recipe, Document(name, "The pump."), name, tags=[name])
        write(index, ANN, [source])
    lines = list(export_user(index.catalog, index.store, "ann", index.clock()))
    (fact,) = (found for line in lines[1:] if (found := json.loads(line))["kind"] == "fact")
    assert fact["tags"] == ["sport", "план"]
    file = tmp_path / "ann.jsonl"
    file.write_text("".join(lines), encoding="utf-8")
    other = make_parts(tmp_path / "other").index
    restore(other, file, "ann")
    assert list(export_user(other.catalog, other.store, "ann", index.clock())) == lines
    assert tagged(other, "план") == {"Anna rows on Sundays"}
    file.write_text("".join(lines).replace('"sport"', f'"{"x" * 65}"'), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"line \d: tags: a tag has 1 to 64 characters"):
        restore(other, file, "ann")


def test_forgotten_with_their_memory(index: Index, parts: Any) -> None:
    kept = remember(index, user_scope("bob"), "Bob sails", tags=["hobbies of bob"])
    remember(index, ANN, "Anna rows", tags=["hobbies of anna"])
    index.store.vacuum("user")
    folder = index.store.folder  # type: ignore[attr-defined]
    needles = [Needle(b"hobbies of anna"), Needle(b"hobbies of bob")]
    assert scan(folder, needles).needles == {0, 1}
    forget(index, user_target("ann"), "me")
    assert scan(folder, needles).needles == {1}
    assert stored(index, kept.scope, tags=("hobbies of bob",)) == [kept]
    assert stored(index, GLOBAL) == []
