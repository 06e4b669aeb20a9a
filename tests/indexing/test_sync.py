"""Sync of files: what each class costs, what is gone, what is refused, what a crash leaves."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from indexing.catalog_rows import Writing
from indexing.errors import SourceError
from indexing.feeds.access import Access
from indexing.feeds.files import stamp_of
from indexing.feeds.types import Feed
from indexing.index import Index, Report
from indexing.ingest import ingest, retry
from indexing.members import Members
from indexing.mentions import mentions
from indexing.plan import plan
from indexing.sync import Sync, sync
from indexing.types import GLOBAL, Filter, Memory, user_scope

LATER = Access(now=lambda: 2**62)
"""A clock that is far ahead: every file was changed long ago, so its stamp is trusted."""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "sub").mkdir(parents=True)
    for number, name in enumerate(("a.md", "b.md", "sub/c.md")):
        (folder / name).write_text(f"# Part {number}\n\nIt costs {number}00 euro, says {name}.")
    return folder


def stored(index: Index) -> list[Memory]:
    return sorted(
        index.store.scroll("global", Filter(GLOBAL)), key=lambda m: (m.source_id, m.start)
    )


def names(index: Index) -> list[str]:
    """Return the file of every place of every memory."""
    return sorted(place.uri for memory in stored(index) for place in mentions(memory))


def counts(report: Report) -> dict[str, int]:
    """Return what is not zero, after checking that it adds up."""
    assert report.seen == report.indexed + report.unchanged + report.duplicate + len(report.dead)
    assert report.indexed == report.new + report.changed + report.renamed
    keys = ("new", "changed", "renamed", "unchanged", "duplicate", "removed", "kept", "embedded")
    found = {key: getattr(report, key) for key in keys} | {"dead": len(report.dead)}
    return {key: count for key, count in found.items() if count}


def planned(index: Index, feed: Feed) -> dict[str, int]:
    return {name: count for name, count in plan(index.catalog, feed).counts.items() if count}


# classes


def test_a_renamed_file_costs_no_embedding(index: Index, docs: Path, embedder: Any) -> None:
    feed = Feed("path", str(docs))
    assert counts(sync(index, feed)) == {"new": 3, "embedded": 3}
    before = {memory.text: memory.created_at for memory in stored(index)}
    (docs / "a.md").rename(docs / "z.md")
    (docs / "sub").rename(docs / "moved")
    embedder.embedded.clear()
    assert planned(index, feed) == {"renamed": 2, "unchanged": 1}
    assert counts(sync(index, feed)) == {"renamed": 2, "unchanged": 1}
    assert embedder.embedded == []
    assert names(index) == ["docs/b.md", "docs/moved/c.md", "docs/z.md"]
    assert {memory.text for memory in stored(index)} == before.keys()
    assert sorted(index.catalog.sources(GLOBAL)) == sorted(m.source_id for m in stored(index))


def test_a_changed_document_embeds_only_the_chunks_that_changed(
    index: Index, docs: Path, embedder: Any
) -> None:
    parts = [f"## Section {n}\n\n" + f"Sentence {n} of many words. " * 40 for n in range(6)]
    (docs / "long.md").write_text("# Long\n\n" + "\n\n".join(parts))
    sync(index, Feed("path", str(docs / "long.md")))
    total = len(embedder.embedded)
    assert total > 6
    embedder.embedded.clear()
    parts[-1] = parts[-1] + "One more sentence."
    (docs / "long.md").write_text("# Long\n\n" + "\n\n".join(parts))
    report = sync(index, Feed("path", str(docs / "long.md")))
    assert (report.changed, report.indexed) == (1, 1)
    assert 0 < len(embedder.embedded) == report.embedded < total / 3
    text = (docs / "long.md").read_text()
    assert all(m.text == text[m.start : m.end] for m in stored(index))


def test_equal_files_are_one_memory_that_the_next_keeps_when_the_first_goes(
    index: Index, docs: Path, embedder: Any
) -> None:
    feed = Feed("path", str(docs))
    (docs / "b.md").write_bytes((docs / "a.md").read_bytes())
    assert counts(sync(index, feed)) == {"new": 2, "duplicate": 1, "embedded": 2}
    assert counts(sync(index, feed)) == {"unchanged": 2, "duplicate": 1}
    (docs / "a.md").unlink()
    embedder.embedded.clear()
    assert planned(index, feed) == {"unchanged": 2, "gone": 1}
    assert counts(sync(index, feed)) == {"unchanged": 2, "removed": 1}
    assert (names(index), embedder.embedded) == (["docs/b.md", "docs/sub/c.md"], [])
    (docs / "0.md").write_bytes((docs / "b.md").read_bytes())
    assert counts(sync(index, feed)) == {"new": 1, "unchanged": 1, "duplicate": 1}
    assert names(index) == ["docs/0.md", "docs/b.md", "docs/sub/c.md"]


def test_two_files_that_change_places_embed_nothing(
    index: Index, docs: Path, embedder: Any
) -> None:
    feed = Feed("path", str(docs))
    sync(index, feed)
    one, other = (docs / "a.md").read_text(), (docs / "b.md").read_text()
    (docs / "a.md").write_text(other)
    (docs / "b.md").write_text(one)
    embedder.embedded.clear()
    assert counts(sync(index, feed)) == {"changed": 2, "unchanged": 1}
    assert embedder.embedded == []
    assert [memory.text for memory in stored(index)][:2] == [other.rstrip(), one.rstrip()]


def test_equal_files_that_cannot_be_read_are_all_named(index: Index, docs: Path) -> None:
    for name in ("x.md", "y.md"):
        (docs / name).write_bytes(b"\x00\x01\x02" * 100)
    report = sync(index, Feed("path", str(docs)))
    assert [Path(letter.path).name for letter in report.dead] == ["x.md", "y.md"]
    assert counts(report) == {"new": 3, "dead": 2, "embedded": 3}


# cheap


def test_a_file_with_its_old_stamp_is_not_opened(index: Index, docs: Path) -> None:
    feed = Feed("path", str(docs))
    sync(index, feed, LATER)
    members = Members(index.catalog).of(feed.key)
    secret = docs / "a.md"
    stamp = stamp_of(secret, LATER.now())
    assert [m.stamp for m in members.values() if m.source_id == str(secret)] == [stamp]
    assert counts(sync(index, feed, replace(LATER, parser=Refuses()))) == {"unchanged": 3}


class Refuses:
    """A parser that must not be asked."""

    def parse_bytes(self, *_: object) -> None:
        raise AssertionError("parsed")


def test_a_file_that_was_just_written_is_read_again(index: Index, docs: Path) -> None:
    """It may change within one tick of the clock, and keep its size and time."""
    feed = Feed("path", str(docs))
    sync(index, feed)
    assert {m.stamp for m in Members(index.catalog).of(feed.key).values()} == {""}
    file = docs / "a.md"
    before = file.stat()
    file.write_text(file.read_text().replace("costs 000", "costs 777"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert counts(sync(index, feed)) == {"changed": 1, "unchanged": 2, "embedded": 1}


def test_a_touched_file_is_read_and_stays(index: Index, docs: Path, embedder: Any) -> None:
    feed = Feed("path", str(docs))
    sync(index, feed, LATER)
    os.utime(docs / "a.md", ns=(1, 1))
    embedder.embedded.clear()
    assert counts(sync(index, feed, LATER)) == {"unchanged": 3}
    (member,) = [m for m in Members(index.catalog).of(feed.key).values() if "a.md" in m.uri]
    assert member.stamp == stamp_of(docs / "a.md", LATER.now())


# gone


def test_folders_that_overlap_do_not_remove_each_others_documents(index: Index, docs: Path) -> None:
    outer, inner = Feed("path", str(docs)), Feed("path", str(docs / "sub"))
    sync(index, outer)
    assert counts(sync(index, inner)) == {"unchanged": 1}
    assert counts(sync(index, outer)) == {"unchanged": 3}
    pattern = Feed("path", str(docs / "*.md"))
    assert counts(sync(index, pattern)) == {"unchanged": 2}
    (docs / "b.md").unlink()
    assert counts(sync(index, pattern)) == {"unchanged": 1, "removed": 1}
    (docs / "sub" / "c.md").unlink()
    assert counts(sync(index, inner)) == {"removed": 1}
    assert counts(sync(index, outer)) == {"unchanged": 1}
    assert names(index) == ["docs/a.md"]


def test_what_a_narrower_pattern_leaves_out_goes_unless_another_feed_offers_it(
    index: Index, docs: Path
) -> None:
    home = docs.parent / "files.txt"
    home.write_text("docs/a.md\ndocs/b.md\n")
    listed = Feed("list", str(home))
    assert counts(sync(index, listed)) == {"new": 2, "embedded": 2}
    sync(index, Feed("path", str(docs / "a.md")))
    home.write_text("docs/sub/c.md\n")
    assert counts(sync(index, listed)) == {"new": 1, "removed": 1, "embedded": 1}
    assert names(index) == ["docs/a.md", "docs/sub/c.md"]


def test_most_of_a_feed_is_not_removed_at_once(index: Index, docs: Path) -> None:
    feed = Feed("path", str(docs))
    for number in range(9):
        (docs / f"{number}.txt").write_text(f"Text number {number}.")
    sync(index, feed)
    hidden = docs.rename(docs.with_name("unmounted"))
    docs.mkdir()
    assert counts(sync(index, feed)) == {"kept": 12}
    assert plan(index.catalog, feed).refused
    assert len(stored(index)) == 12
    docs.rmdir()
    with pytest.raises(SourceError, match="no such file or folder"):
        sync(index, feed)
    hidden.rename(docs)
    assert counts(sync(index, feed)) == {"unchanged": 12}
    for number in range(9):
        (docs / f"{number}.txt").unlink()
    assert counts(sync(index, feed)) == {"unchanged": 3, "kept": 9}
    assert counts(sync(index, feed, max_removed=0.8)) == {"unchanged": 3, "removed": 9}
    for file in docs.rglob("*.md"):
        file.unlink()
    (docs / "new.md").write_text("Something else.")
    assert counts(sync(index, feed, force=True)) == {"new": 1, "removed": 3, "embedded": 1}
    assert names(index) == ["docs/new.md"]


def test_the_files_of_the_memory_itself_are_left_alone(index: Index, docs: Path) -> None:
    own = docs / "memory"
    own.mkdir()
    (own / "note.md").write_text("Not for the index.")
    access = Access(own=(own,))
    assert counts(sync(index, Feed("path", str(docs)), access)) == {"new": 3, "embedded": 3}
    assert counts(sync(index, Feed("path", str(own)), access)) == {}
    below = own / "given"
    below.mkdir()
    (below / "a.md").write_text("Put here on purpose.")
    assert sync(index, Feed("path", str(below)), access).new == 1


# retries and crashes


def test_a_retry_shows_a_file_as_its_folder_did(index: Index, docs: Path) -> None:
    broken = docs / "sub" / "d.md"
    broken.write_bytes(b"")
    sync(index, Feed("path", str(docs)))
    broken.write_text("Mended.")
    assert counts(retry(index)) == {"new": 1, "embedded": 1}
    assert "docs/sub/d.md" in names(index)
    assert counts(sync(index, Feed("path", str(docs)))) == {"unchanged": 4}


def test_a_retry_of_one_of_equal_files_indexes_neither_twice(index: Index, docs: Path) -> None:
    (docs / "0.md").write_bytes(b"")
    sync(index, Feed("path", str(docs)))
    (docs / "0.md").write_bytes((docs / "a.md").read_bytes())
    assert counts(retry(index)) == {"duplicate": 1}
    assert index.catalog.dead() == []
    assert len(stored(index)) == 3


class Stops:
    """An embedder that is interrupted at its n-th call."""

    def __init__(self, embedder: Any, at: int) -> None:
        self._embedder, self._left = embedder, at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def passages(self, texts: Sequence[str]) -> Any:
        self._left -= 1
        if not self._left:
            raise KeyboardInterrupt
        return self._embedder.passages(texts)


@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_interrupted_sync_is_finished_by_the_next(
    index: Index, docs: Path, embedder: Any, at: int
) -> None:
    index = replace(index, batch=1)
    feed = Feed("path", str(docs))
    sync(index, feed)
    (docs / "a.md").rename(docs / "z.md")
    for number in range(3):
        (docs / f"m{number}.md").write_text(f"# New {number}\n\nText {number}.")
    embedder.embedded.clear()
    with pytest.raises(KeyboardInterrupt):
        sync(replace(index, embedder=Stops(embedder, at)), feed)  # type: ignore[arg-type]
    report = sync(index, feed)
    assert counts(report)["renamed"] == 1
    assert len(embedder.embedded) == 3
    assert names(index) == [f"docs/{n}.md" for n in ("b", "m0", "m1", "m2", "sub/c", "z")]
    assert counts(sync(index, feed)) == {"unchanged": 6}


def test_steps_can_be_tried_again(index: Index, docs: Path, embedder: Any) -> None:
    feed = Feed("path", str(docs))
    sync(index, feed)
    (docs / "a.md").rename(docs / "0.md")
    run = Sync(index.catalog, feed)
    (first, *rest) = run.pages(1)
    embedder.embedded.clear()
    for page in (first, first, *rest):
        run.apply(index, page)
    assert run.remove(index).removed == 0
    assert embedder.embedded == []
    assert names(index) == ["docs/0.md", "docs/b.md", "docs/sub/c.md"]


def test_two_runs_at_once_over_equal_files_make_one_memory(index: Index, docs: Path) -> None:
    (docs / "b.md").write_bytes((docs / "a.md").read_bytes())
    feed = Feed("path", str(docs))
    first, second = Sync(index.catalog, feed), Sync(index.catalog, feed)
    pages = list(first.pages(1))
    first.apply(index, pages[0])
    second.apply(index, pages[1])
    assert names(index) == ["docs/a.md", "docs/b.md"]
    assert len(stored(index)) == 1
    assert counts(sync(index, feed)) == {"new": 1, "unchanged": 1, "duplicate": 1, "embedded": 1}
    assert names(index) == ["docs/a.md", "docs/b.md", "docs/sub/c.md"]


# chats


def line(number: int, text: str = "") -> str:
    at = datetime(2026, 5, 8, 10, tzinfo=UTC) + timedelta(minutes=number)
    said = text or f"turn {number}"
    turn = {"turn_id": str(number), "session_id": "s", "user_id": "ann", "role": "user"}
    return json.dumps(turn | {"text": said, "at": at.isoformat()})


def test_an_export_that_starts_later_leaves_its_first_turn_as_it_is(
    index: Index, tmp_path: Path, embedder: Any
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(line, range(5))))
    ingest(index, file)
    file.write_text("\n".join(map(line, range(3, 7))))
    embedder.embedded.clear()
    assert planned(index, Feed("path", str(file))) == {"unchanged": 2, "new": 2}
    report = ingest(index, file)
    assert (report.unchanged, report.new) == (2, 2)
    found = index.store.scroll("user", Filter(user_scope("ann")))
    before = {memory.turn_id: memory.before for memory in found}
    assert before == {"0": ""} | {str(n): f"user: turn {n - 1}" for n in range(1, 7)}
    file.write_text("\n".join([line(3, "edited"), *map(line, range(4, 7))]))
    assert ingest(index, file).changed == 2  # the turn itself and the one after it
    (edited,) = [
        m for m in index.store.scroll("user", Filter(user_scope("ann"))) if m.turn_id == "3"
    ]
    assert (edited.text, edited.before) == ("edited", "user: turn 2")


def test_an_export_that_did_not_change_is_counted_and_not_cut(index: Index, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(line, range(4))))
    feed = Feed("path", str(file))
    sync(index, feed, LATER)
    blind = replace(index, recipe=replace(index.recipe, chunk_turns=_not_cut))
    assert counts(sync(blind, feed, LATER)) == {"unchanged": 4}
    assert planned(index, feed) == {"unchanged": 4}
    file.write_text(file.read_text() + "\n{")
    assert counts(sync(index, feed)) == {"unchanged": 4, "dead": 1}
    assert planned(index, feed) == {"unchanged": 4, "dead": 1}
    file.write_text("\n".join(map(line, range(5))))
    assert counts(sync(index, feed))["new"] == 1
    assert index.catalog.dead() == []


def _not_cut(_: object) -> Any:
    raise AssertionError("cut again")


def test_a_file_that_is_gone_when_the_run_after_a_crash_starts_leaves_nothing(
    index: Index, docs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Writing, "commit", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            ingest(index, docs)
    assert len(stored(index)) == 3
    (docs / "a.md").unlink()
    (docs / "b.md").rename(docs / "z.md")
    report = ingest(index, docs)
    assert report.seen == report.indexed == 2
    assert names(index) == ["docs/sub/c.md", "docs/z.md"]
    assert sorted(index.catalog.sources(GLOBAL)) == [f"{docs}/sub/c.md", f"{docs}/z.md"]
