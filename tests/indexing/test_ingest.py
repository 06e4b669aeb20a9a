"""Files and folders: increments, removals, dead letters, chats per user, odd names."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from chunking.types import Session, Turn
from indexing.errors import SourceError
from indexing.feeds.files import list_files, name_of
from indexing.feeds.types import Feed
from indexing.index import Index
from indexing.ingest import ingest, ingest_session, retry
from indexing.sync import Sync
from indexing.types import GLOBAL, Filter, Memory, Scope, session_scope, user_scope

ANN, BOB = user_scope("ann"), user_scope("bob")
AT = datetime(2026, 5, 8, 10, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of documents: Markdown, HTML, text, one below another."""
    made = tmp_path / "docs"
    (made / "sub").mkdir(parents=True)
    (made / "a.md").write_text("# Заказы\n\nЗаказ отменяют за день.\n")
    (made / "sub" / "a.md").write_text("# Orders\n\nCancel a day before.\n")
    (made / "page.HTML").write_text("<h1>Prices</h1><p>BX-4471-A costs 10.</p>")
    (made / "cp.txt").write_bytes(
        ("Датчики поверяют раз в год, акт подписывают. " * 3).encode("cp1251")
    )
    return made


def stored(index: Index, scope: Scope = GLOBAL) -> list[Memory]:
    return list(index.store.scroll(scope.collection, Filter(scope)))


def texts(index: Index, scope: Scope = GLOBAL) -> set[str]:
    return {memory.text for memory in stored(index, scope)}


def export(file: Path, *lines: dict[str, Any] | str) -> Path:
    """Write a chat export; a text stands for itself, a dict for what differs from the usual."""
    usual = {"text": "hi", "role": "user", "user_id": "ann", "session_id": "s"}
    made = []
    for number, item in enumerate(lines):
        at = (AT + timedelta(minutes=number)).isoformat()
        made.append(item if isinstance(item, str) else json.dumps(usual | {"at": at} | item))
    file.write_text("\n".join(made))
    return file


# documents


def test_a_folder_is_indexed_once(index: Index, folder: Path, embedder: Any) -> None:
    first = ingest(index, folder)
    assert (first.seen, first.indexed, first.unchanged, first.dead) == (4, 4, 0, [])
    assert first.memories == len(stored(index)) == 4
    assert first.embedded == len(embedder.embedded) == 4
    embedder.embedded.clear()
    second = ingest(index, folder)
    assert (second.seen, second.indexed, second.unchanged, second.embedded) == (4, 0, 4, 0)
    assert embedder.embedded == []


def test_what_a_memory_says_of_its_source(index: Index, folder: Path) -> None:
    ingest(index, folder)
    found = {memory.uri: memory for memory in stored(index)}
    assert sorted(found) == ["docs/a.md", "docs/cp.txt", "docs/page.HTML", "docs/sub/a.md"]
    memory = found["docs/a.md"]
    assert (memory.title, memory.kind, memory.source_id) == (
        "Заказы",
        "document",
        (folder / "a.md").as_posix(),
    )
    assert memory.text == (folder / "a.md").read_text()[memory.start : memory.end]
    assert found["docs/page.HTML"].text == "Prices\n\nBX-4471-A costs 10."
    assert found["docs/cp.txt"].text.startswith("Датчики поверяют")


def test_a_changed_file_replaces_its_memories(index: Index, folder: Path) -> None:
    ingest(index, folder)
    (folder / "a.md").write_text("# Заказы\n\nЗаказ отменяют за час.\n")
    report = ingest(index, folder)
    assert (report.indexed, report.unchanged) == (1, 3)
    found = [m.text for m in stored(index) if m.uri == "docs/a.md"]
    assert found == ["# Заказы\n\nЗаказ отменяют за час."]


def test_a_file_that_is_gone_leaves_the_index(index: Index, folder: Path) -> None:
    ingest(index, folder)
    (folder / "sub" / "a.md").unlink()
    (folder / "cp.txt").unlink()
    report = ingest(index, folder)
    assert (report.removed, report.unchanged) == (2, 2)
    assert {memory.uri for memory in stored(index)} == {"docs/a.md", "docs/page.HTML"}
    assert len(index.catalog.sources(GLOBAL)) == 2


def test_removal_stays_in_the_folder_and_the_scope(index: Index, folder: Path) -> None:
    twin = folder.with_name("docs2")
    folder.rename(twin)
    folder.mkdir()
    (folder / "a.md").write_text("Only one.")
    for scope in (None, ANN):
        ingest(index, twin, scope)
        ingest(index, folder, scope)
    (folder / "a.md").unlink()
    assert ingest(index, folder).removed == 1
    assert len(stored(index)) == 4  # "docs2" begins with "docs" and is another folder
    assert len(stored(index, ANN)) == 5


def test_equal_names_in_two_folders_do_not_collide(index: Index, tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name / "docs").mkdir(parents=True)
        (tmp_path / name / "docs" / "a.md").write_text(f"Text {name}.")
        ingest(index, tmp_path / name / "docs")
    assert texts(index) == {"Text x.", "Text y."}
    assert {memory.uri for memory in stored(index)} == {"docs/a.md"}


def test_a_file_that_breaks_keeps_its_memories_until_it_is_mended(
    index: Index, folder: Path
) -> None:
    ingest(index, folder)
    before = texts(index)
    good = (folder / "a.md").read_bytes()
    (folder / "a.md").write_bytes(b"\x00\x01\x02" * 100)
    for attempt in (1, 2):
        report = ingest(index, folder)
        assert (report.seen, report.unchanged, len(report.dead)) == (4, 3, 1)
        (letter,) = index.catalog.dead()
        assert (letter.path, letter.place, letter.attempts) == (
            (folder / "a.md").as_posix(),
            "",
            attempt,
        )
        assert letter.reason == "binary content, not text"
    assert texts(index) == before
    (folder / "a.md").write_bytes(good)
    assert ingest(index, folder).unchanged == 4
    assert index.catalog.dead() == []


def test_a_retry_indexes_what_was_mended(index: Index, folder: Path, embedder: Any) -> None:
    (folder / "a.md").write_bytes(b"")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    ingest(index, folder)
    assert {Path(d.path).name: d.reason for d in index.catalog.dead()} == {
        "a.md": "empty file",
        "picture.png": "format not supported: a PNG image",
    }
    (folder / "a.md").write_text("Mended.")
    embedder.embedded.clear()
    report = retry(index)
    assert (report.seen, report.indexed, len(report.dead)) == (2, 1, 1)
    assert "Mended." in texts(index)
    assert [(Path(d.path).name, d.attempts) for d in index.catalog.dead()] == [("picture.png", 2)]
    assert len(embedder.embedded) == 1


def test_a_retry_of_what_is_gone_says_so(index: Index, folder: Path) -> None:
    (folder / "a.md").write_bytes(b"")
    ingest(index, folder, ANN)
    (folder / "a.md").unlink()
    report = retry(index)
    assert [letter.reason for letter in report.dead] == ["no such file"]
    assert [letter.scope for letter in report.dead] == [ANN]
    ingest(index, folder, ANN)
    assert index.catalog.dead() == []


def test_formats_that_are_not_supported_are_dead_letters(index: Index, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    (docs / "blank.md").write_text(" \n")
    (docs / "page.html").write_text("<script>x</script>")
    report = ingest(index, docs)
    assert {Path(letter.path).name: letter.reason for letter in report.dead} == {
        "a.png": "format not supported: a PNG image",
        "blank.md": "empty file",
        "page.html": "a page without visible text",
    }
    assert (report.seen, report.indexed) == (3, 0)


def test_a_path_that_is_not_there_is_an_error(index: Index, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="nowhere: no such file or folder"):
        ingest(index, tmp_path / "nowhere")


def test_one_source_over_the_models_limit_does_not_sink_the_folder(
    make_parts: Any, folder: Path, embedder: Any
) -> None:
    index = make_parts(embedder=embedder).index
    embedder.max_terms = 12
    report = ingest(index, folder)
    assert (report.seen, report.indexed, len(report.dead)) == (4, 3, 1)
    assert [Path(d.path).name for d in index.catalog.dead()] == ["cp.txt"]
    embedder.max_terms = 100
    assert retry(index).indexed == 1
    assert index.catalog.dead() == []


# which files


def test_hidden_files_are_left_alone(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".git" / "x.md").touch()
    (folder / "sub" / ".hidden.md").touch()
    names = [file.relative_to(folder).as_posix() for file in list_files(folder)[0]]
    assert names == ["a.md", "cp.txt", "page.HTML", "sub/a.md"]
    assert list_files(folder / ".git" / "x.md") == ([folder / ".git" / "x.md"], [])


def test_a_hidden_folder_that_is_named_is_read(tmp_path: Path) -> None:
    hidden = tmp_path / ".notes"
    hidden.mkdir()
    (hidden / "a.md").touch()
    assert list_files(hidden) == ([hidden / "a.md"], [])


def test_links_in_circles_end(index: Index, folder: Path) -> None:
    (folder / "sub" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "self.md").symlink_to(folder / "self.md")
    (folder / "broken.md").symlink_to(folder / "none.md")
    report = ingest(index, folder)
    assert report.indexed == 4
    assert {Path(letter.path).name for letter in report.dead} == {"self.md", "broken.md"}


def test_a_folder_that_cannot_be_opened_is_listed_and_named(index: Index, tmp_path: Path) -> None:
    """A path past the system's limit is what even root cannot open."""
    home = tmp_path / "deep"
    home.mkdir()
    (home / "good.md").write_text("readable")
    here = os.open(home, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=here)
        inner = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    report = ingest(index, home)
    assert (report.seen, report.indexed, len(report.dead)) == (2, 1, 1)
    assert "too long" in report.dead[0].reason.lower()


def test_what_is_below_a_closed_folder_stays_indexed(index: Index, folder: Path) -> None:
    ingest(index, folder)
    (folder / "sub" / "a.md").unlink()
    (folder / "a.md").unlink()
    run = Sync(index.catalog, Feed("path", str(folder)))
    run.listing = replace(run.listing, closed=(f"{(folder / 'sub').resolve()}/",))
    run.apply(index)
    assert run.remove(index).removed == 1
    assert {memory.uri for memory in stored(index)} > {"docs/sub/a.md"}


def test_a_pipe_is_no_file(index: Index, folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    report = ingest(index, folder)
    assert [letter.reason for letter in report.dead] == ["not a file: a named pipe"]


def test_a_name_that_is_no_unicode(index: Index, folder: Path) -> None:
    raw = os.fsencode(folder) + "/привет".encode("cp1251") + b".md"
    with open(raw, "w") as opened:
        opened.write("Text under an odd name.")
    report = ingest(index, folder)
    assert (report.indexed, report.dead) == (5, [])
    (memory,) = [m for m in stored(index) if "odd name" in m.text]
    assert memory.uri == r"docs/\xef\xf0\xe8\xe2\xe5\xf2.md"
    os.unlink(raw)
    assert ingest(index, folder).removed == 1


def test_names_are_text() -> None:
    assert name_of(Path("docs/Ёлка.md")) == "docs/Ёлка.md"
    assert name_of(Path(os.fsdecode(b"a\xff"))) == r"a\xff"


# chats


def test_turns_go_to_the_users_they_name(index: Index, tmp_path: Path) -> None:
    file = export(
        tmp_path / "a.jsonl", {"text": "ann says"}, {"text": "bob says", "user_id": "bob"}
    )
    report = ingest(index, file)
    assert (report.seen, report.indexed, report.dead) == (2, 2, [])
    assert (texts(index, ANN), texts(index, BOB)) == ({"ann says"}, {"bob says"})
    assert texts(index) == set()
    (memory,) = stored(index, BOB)
    assert (memory.kind, memory.conversation_id, memory.before) == ("turn", "s", "")


def test_a_second_run_embeds_nothing(index: Index, tmp_path: Path, embedder: Any) -> None:
    file = export(tmp_path / "a.jsonl", {"text": "one"}, {"text": "two"}, {"text": "two"})
    ingest(index, file)
    embedder.embedded.clear()
    report = ingest(index, file)
    assert (report.seen, report.unchanged, embedder.embedded) == (3, 3, [])


def test_a_grown_export_embeds_only_what_is_new(
    index: Index, tmp_path: Path, embedder: Any
) -> None:
    lines = [{"text": f"turn {i}"} for i in range(4)]
    ingest(index, export(tmp_path / "a.jsonl", *lines[:3]))
    embedder.embedded.clear()
    report = ingest(index, export(tmp_path / "a.jsonl", *lines))
    assert (report.indexed, report.unchanged) == (1, 3)
    assert [text.split()[-1] for text in embedder.embedded] == ["2", "3"]
    assert len(stored(index, ANN)) == 4


def test_turns_know_what_came_before_within_their_session(index: Index, tmp_path: Path) -> None:
    file = export(
        tmp_path / "a.jsonl",
        {"text": "late", "at": "2026-05-09T10:00:00Z"},
        {"text": "early"},
        {"text": "other", "session_id": "t"},
        {"text": "result", "role": "tool", "at": "2026-05-10T10:00:00Z"},
    )
    ingest(index, file)
    found = {m.text: m for m in stored(index, ANN)}
    assert {text: m.before for text, m in found.items()} == {
        "early": "",
        "late": "user: early",
        "other": "",
        "result": "user: late",
    }
    assert found["result"].kind == "tool_result"
    assert found["late"].at == datetime(2026, 5, 9, 10, tzinfo=UTC)


def test_a_bad_line_is_a_dead_letter_and_the_others_are_read(index: Index, tmp_path: Path) -> None:
    lines: list[Any] = [{"text": f"turn {i}"} for i in range(5)]
    lines[2] = '{"text": "canary'
    file = export(tmp_path / "a.jsonl", *lines)
    report = ingest(index, file)
    assert (report.seen, report.indexed) == (5, 4)
    (letter,) = index.catalog.dead()
    assert (letter.scope, letter.path, letter.place) == (GLOBAL, file.as_posix(), "line 3")
    assert letter.reason.startswith("not JSON")
    assert "canary" not in letter.reason
    ingest(index, file)
    assert [d.attempts for d in index.catalog.dead()] == [2]
    export(file, *lines[:2], {"text": "mended"}, *lines[3:])
    assert retry(index).dead == []
    assert index.catalog.dead() == []
    assert "mended" in texts(index, ANN)


def test_a_line_of_nobody_is_refused_until_a_user_is_named(index: Index, tmp_path: Path) -> None:
    file = export(tmp_path / "a.jsonl", {"user_id": ""}, {"text": "mine"})
    report = ingest(index, file)
    assert [letter.reason for letter in report.dead] == [
        "user_id: missing; write it in the line or name a user for the file"
    ]
    report = ingest(index, file, ANN)
    assert (report.dead, texts(index, ANN)) == ([], {"hi", "mine"})


def test_a_line_of_another_user_is_refused(index: Index, tmp_path: Path) -> None:
    file = export(
        tmp_path / "a.jsonl", {}, {"user_id": "bob"}, {"user_id": "Ann"}, {"user_id": "an"}
    )
    for scope in (ANN, session_scope("ann", "now")):
        report = ingest(index, file, scope)
        assert [letter.place for letter in report.dead] == ["line 2", "line 3", "line 4"]
        assert {letter.scope for letter in report.dead} == {scope}
        assert all("belongs to another user" in letter.reason for letter in report.dead)
        assert len(stored(index, scope)) == 1
    assert stored(index, BOB) == []


def test_chats_never_go_to_the_global_scope(index: Index, tmp_path: Path) -> None:
    report = ingest(index, export(tmp_path / "a.jsonl", {}, {"user_id": ""}), GLOBAL)
    assert {letter.reason for letter in report.dead} == {
        "chat turns are personal: name a user, not the global scope"
    }
    assert stored(index) == stored(index, ANN) == []


def test_an_export_that_cannot_be_read_is_one_dead_letter(index: Index, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"")
    report = ingest(index, file)
    assert (report.seen, [letter.reason for letter in report.dead]) == (1, ["empty file"])
    export(file, {"text": "fine"})
    assert ingest(index, file).dead == []
    assert index.catalog.dead() == []


def test_a_turn_over_the_models_limit_is_retried_with_its_file(
    make_parts: Any, tmp_path: Path, embedder: Any
) -> None:
    index = make_parts(embedder=embedder).index
    embedder.max_terms = 8
    lines = [{"text": "short"}, {"text": "long " * 12, "turn_id": "t2", "user_id": "bob"}]
    file = export(tmp_path / "a.jsonl", *lines)
    report = ingest(index, file)
    assert (report.seen, report.indexed, len(report.dead)) == (2, 1, 1)
    (letter,) = index.catalog.dead()
    assert (letter.scope, letter.path) == (GLOBAL, file.as_posix())
    assert letter.place == "session s, turn t2"
    assert "long" not in letter.reason
    assert [d.attempts for d in (ingest(index, file), *index.catalog.dead())[1:]] == [2]
    embedder.max_terms = 100
    assert retry(index).dead == []
    assert index.catalog.dead() == []
    assert len(stored(index, BOB)) == 1


def test_sessions_and_turns_whose_names_run_together_are_apart(
    index: Index, tmp_path: Path
) -> None:
    file = export(
        tmp_path / "a.jsonl",
        {"session_id": "a:b", "turn_id": "c", "text": "one"},
        {"session_id": "a", "turn_id": "b:c", "text": "two"},
    )
    ingest(index, file)
    assert texts(index, ANN) == {"one", "two"}


def test_users_of_one_file_may_use_the_same_ids(index: Index, tmp_path: Path) -> None:
    lines = [{"turn_id": "1", "user_id": user, "text": f"of {user}"} for user in ("ann", "bob")]
    ingest(index, export(tmp_path / "a.jsonl", *lines))
    assert (texts(index, ANN), texts(index, BOB)) == ({"of ann"}, {"of bob"})


def turn(name: str, text: str) -> Turn:
    return Turn(name, "user", text, at=AT)


def test_of_turns_with_one_id_the_last_counts(index: Index, embedder: Any) -> None:
    session = Session("s", (turn("1", "first"), turn("2", "second"), turn("1", "edited")))
    report = ingest_session(index, ANN, session)
    assert (report.seen, report.indexed, report.unchanged) == (3, 2, 1)
    found = {m.turn_id: m for m in stored(index, ANN)}
    assert {name: m.text for name, m in found.items()} == {"1": "edited", "2": "second"}
    assert found["2"].before == "user: edited"


def test_an_edited_turn_replaces_itself_and_renews_the_next(index: Index) -> None:
    ingest_session(index, ANN, Session("s", (turn("1", "a"), turn("2", "b"), turn("3", "c"))))
    report = ingest_session(
        index, ANN, Session("s", (turn("1", "A!"), turn("2", "b"), turn("3", "c")))
    )
    assert (report.indexed, report.unchanged) == (2, 1)
    assert {m.text: m.before for m in stored(index, ANN)} == {
        "A!": "",
        "b": "user: A!",
        "c": "user: b",
    }


def test_spans_of_turns_are_exact(index: Index) -> None:
    said = [
        "  Короткая реплика.\n",
        " ".join(f"Слово {n} за слово." for n in range(200)),
        "🙂 e\u0301 конец",
    ]
    turns = [turn(str(i), text) for i, text in enumerate(said)]
    report = ingest_session(index, ANN, Session("s", tuple(turns)))
    found = stored(index, ANN)
    assert len(found) == report.memories > 4
    for memory in found:
        assert memory.text == said[int(memory.turn_id)][memory.start : memory.end]


def test_a_blank_turn_is_known_and_gives_no_memory(index: Index) -> None:
    session = Session("s", (turn("1", "one"), turn("2", " "), turn("3", "two")))
    report = ingest_session(index, ANN, session)
    assert (report.indexed, report.memories) == (3, 2)
    assert ingest_session(index, ANN, session).unchanged == 3


# interruptions


class Stops:
    """An embedder that is interrupted at its n-th batch."""

    def __init__(self, embedder: Any, at: int, error: type[BaseException]) -> None:
        self._embedder, self._left, self._error = embedder, at, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def passages(self, texts: Sequence[str]) -> Any:
        self._left -= 1
        if not self._left:
            raise self._error
        return self._embedder.passages(texts)


def test_an_interrupted_run_keeps_what_it_acknowledged(
    index: Index, folder: Path, embedder: Any
) -> None:
    index = replace(index, batch=1)
    stopping = replace(index, embedder=Stops(embedder, 3, KeyboardInterrupt))  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        ingest(stopping, folder)
    kept = texts(index)
    assert len(kept) == len(index.catalog.sources(GLOBAL)) == 2
    report = ingest(index, folder)
    assert (report.unchanged, report.indexed) == (2, 2)
    assert texts(index) > kept


def test_progress_names_every_source(index: Index, folder: Path) -> None:
    export(folder / "z.jsonl", {"session_id": "s1"}, {"session_id": "s2"})
    told: list[tuple[str, int, int]] = []
    ingest(index, folder, progress=lambda name, done, known: told.append((name, done, known)))
    assert told == [
        ("docs/a.md", 0, 5),
        ("docs/cp.txt", 1, 5),
        ("docs/page.HTML", 2, 5),
        ("docs/sub/a.md", 3, 5),
        ("docs/z.jsonl", 4, 5),
        ("docs/z.jsonl s1", 0, 2),
        ("docs/z.jsonl s2", 1, 2),
    ]


def test_nothing_of_a_text_gets_into_the_catalog(
    make_parts: Any, memory_folder: Path, embedder: Any
) -> None:
    data, docs = memory_folder / "data", memory_folder / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("# canary heading\n\ncanary text")
    (docs / "b.html").write_text("<title>canary title</title>")
    (docs / "c.md").write_bytes(b"canary \x00\x00\x00\x00")
    (docs / "d.md").write_text("canary " * 50)
    bad: list[Any] = [
        '{"text": "canary',
        {"at": "canary"},
        {"role": "canary"},
        {"text": ["canary"]},
    ]
    export(docs / "e.jsonl", {"text": "canary", "speaker": "canary"}, *bad)
    parts = make_parts(data, embedder)
    embedder.max_terms = 30
    report = ingest(parts.index, docs)
    assert len(report.dead) == 3 + len(bad)
    parts.close()
    files = sorted(data.glob("catalog.sqlite*"))
    assert files
    for file in files:
        assert b"canary" not in file.read_bytes()
