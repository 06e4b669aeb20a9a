"""A user's export has the logs of the sessions, and an import brings them back."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from indexing.closing import close_session
from indexing.errors import Forgotten, InvalidInput
from indexing.forget import forget
from indexing.index import Index
from indexing.portable import check, lines_of, load, load_records
from indexing.traces import session_target, source_target
from indexing.transfer.export import export_user, write_lines
from indexing.transfer.restore import restore
from indexing.types import Filter, session_scope
from sessions.calls import CallLog, ModelCall
from sessions.kept import put_notes, read_digest, read_notes, write_digest
from sessions.log import TurnLog
from sessions.log_write import source_of
from sessions.state import SessionState, read_state, write_state
from sessions.types import Digest, Entry, Line, Note, ToolCall
from tests.conftest import FixedClock, PartsMaker

AT = datetime.fromisoformat("2026-05-08T13:30:00+03:00")


def live(index: Index) -> None:
    log = TurnLog(index, len)
    write_state(index, "ann", "s", SessionState("A clerk.", "orders", 900, None, {"task": "x"}))
    log.append("ann", "s", [
        Entry("user", "hi there"),
        Entry("user", "My budget is 5000.\u2028", "u-2", "Анна", AT, tags=("money",)),
        Entry("assistant", "", calls=(ToolCall("c1", "find", '{"q": "bolt"}'),), cost=0.5),
        Entry("tool", "two bolts " * 80, call_id="c1", status="ok"),
        Entry("user", "hi there"),
    ])  # fmt: skip
    lines = (Line("fact", "My budget is 5000.", 2, "user", AT, "hi there", 0.25),)
    assert write_digest(index, Digest("s", "ann", 1, 3, AT, None, ("budget",), lines, "5000"))
    put_notes(index, "ann", "s", [Note("budget", "4000", at=AT), Note("budget", "5000", seq=2)])
    CallLog(index).record("ann", "s", ModelCall("big", 10, 5, 0.5, "exact", 3, 1, AT))
    log.append("ann", "t", [Entry("user", "another session of it")])
    close_session(index, "ann", "t", "archive")
    log.append("bob", "s", [Entry("user", "this is bob's")])


def exported(index: Index, path: Path, user_id: str = "ann") -> list[str]:
    lines = list(export_user(index.catalog, index.store, user_id, index.clock()))
    write_lines(path, lines, force=True)
    return lines


def kept(index: Index, user_id: str = "ann") -> list[Any]:
    log = TurnLog(index, len)
    digest = read_digest(index, user_id, "s")
    return [
        log.read(user_id, "s"),
        replace(digest, user_id="") if digest else None,
        read_notes(index, user_id, "s"),
        read_notes(index, user_id, "s", as_of=AT + timedelta(hours=1)),
        read_state(index, user_id, "s"),
        CallLog(index).spent(user_id, "s"),
        log.sessions(user_id),
    ]


@pytest.fixture
def other(make_parts: PartsMaker, tmp_path: Path) -> Callable[[], Index]:
    return lambda: make_parts(tmp_path / "other").index


def test_a_log_goes_out_and_comes_back(
    index: Index, other: Callable[[], Index], tmp_path: Path
) -> None:
    live(index)
    path = tmp_path / "ann.jsonl"
    lines = exported(index, path)
    head = json.loads(lines[0])
    assert (head["version"], head["records"]) == (2, 2 + 6 + 1 + 2 + 1)
    assert "bob" not in "".join(lines)
    there = other()
    report = restore(there, path, "ann", dry_run=True)
    assert (report.talk.seen, report.talk.new) == (12, 12)
    assert kept(there)[0] == []
    report = restore(there, path, "ann")
    assert (report.talk.new, report.talk.unchanged) == (12, 0)
    assert kept(there) == kept(index)
    assert exported(there, tmp_path / "again.jsonl") == lines
    again = restore(there, path, "ann")
    assert (again.talk.new, again.talk.unchanged) == (0, 12)
    assert kept(there) == kept(index)
    log = TurnLog(there, len)
    done = log.append("ann", "s", [Entry("user", "hi there"), Entry("user", "bye for now")])
    assert [turn.seq for turn in done.turns] == [6, 7]
    known = log.append("ann", "s", [Entry("user", "My budget is 5000.\u2028", "u-2", "Анна", AT)])
    assert (known.new, known.known) == (0, 1)


def test_another_user_gets_a_copy(index: Index, tmp_path: Path) -> None:
    live(index)
    path = tmp_path / "ann.jsonl"
    exported(index, path)
    restore(index, path, "eve")
    mine, copy = kept(index), kept(index, "eve")
    assert copy == mine
    held = {m.text for m in index.store.scroll("session", Filter(session_scope("eve", "s")))}
    assert "My budget is 5000." in held


def test_a_log_that_is_there_is_added_to(
    index: Index, other: Callable[[], Index], tmp_path: Path
) -> None:
    live(index)
    path = tmp_path / "ann.jsonl"
    exported(index, path)
    there = other()
    log = TurnLog(there, len)
    log.append("ann", "s", [Entry("user", "said here"), Entry("user", "hi there")])
    report = restore(there, path, "ann")
    texts = [turn.entry.text for turn in log.read("ann", "s")]
    assert texts[:3] == ["said here", "hi there", "My budget is 5000.\u2028"]
    assert len(texts) == 6
    assert [turn.seq for turn in log.read("ann", "s")] == [1, 2, 3, 4, 5, 6]
    assert report.talk.unchanged == 3  # the state, the turn, and the digest, which gives way
    (note,) = read_notes(there, "ann", "s")
    assert (note.value, note.seq) == ("5000", 3)
    assert read_digest(there, "ann", "s") is None


def test_what_was_forgotten_does_not_come_back(index: Index, tmp_path: Path) -> None:
    live(index)
    path = tmp_path / "ann.jsonl"
    exported(index, path)
    scope = session_scope("ann", "s")
    assert forget(index, source_target(scope, [source_of(scope, "u-2")]), "ann").clean
    before = kept(index)
    assert restore(index, path, "ann").talk.forgotten == 2
    assert kept(index) == before
    assert forget(index, session_target("ann", "s"), "ann").clean
    with pytest.raises(Forgotten):
        restore(index, path, "ann")
    assert kept(index)[0] == []


def test_what_is_over_is_not_brought_back(
    index: Index, other: Callable[[], Index], tmp_path: Path, clock: FixedClock
) -> None:
    short = replace(index, recipe=replace(index.recipe, ttl={"session": timedelta(days=7)}))
    live(short)
    path = tmp_path / "ann.jsonl"
    exported(index, path)
    clock.now += timedelta(days=8)
    there = other()
    report = restore(there, path, "ann")
    assert (report.talk.expired, report.talk.new) == (11, 1)  # what it cost is known
    assert kept(there)[0] == []
    assert CallLog(there).spent("ann", "s").calls == 1
    assert json.loads(exported(index, path)[0])["records"] == 1


def test_a_file_without_logs_is_as_it_was(index: Index, tmp_path: Path) -> None:
    from indexing.remember import remember
    from indexing.types import user_scope

    remember(index, user_scope("ann"), "I live in Tver")
    path = tmp_path / "ann.jsonl"
    head = json.loads(exported(index, path)[0])
    assert head["version"] == 1
    assert "records" not in head
    assert list(load_records(lines_of(path))) == []
    assert restore(index, path, "ann").talk.seen == 0


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"record": "letter"}, "record: must be one of"),
        ({"seq": -1}, "seq: "),
        ({"at": "2026-05-08T10:00:00"}, "at: "),
        ({"role": "robot"}, "role: "),
        ({"extra": 1}, "extra: "),
        ({"name": "u", "turn_id": "u-x"}, ".*is not its name"),
    ],
)
def test_a_bad_record_is_refused_before_anything_is_written(
    index: Index, tmp_path: Path, change: dict[str, Any], reason: str
) -> None:
    live(index)
    path = tmp_path / "ann.jsonl"
    lines = exported(index, path)
    place = next(n for n, line in enumerate(lines) if '"record": "turn"' in line)
    changed = json.dumps(json.loads(lines[place]) | change) + "\n"
    path.write_text("".join([*lines[:place], changed, *lines[place + 1 :]]))
    with pytest.raises(InvalidInput, match=f"line {place + 1}: {reason}"):
        check(lines_of(path))
    with pytest.raises(InvalidInput):
        restore(index, path, "eve")
    assert kept(index, "eve")[0] == []


def test_a_file_that_is_cut_short_or_counts_wrong_is_refused(index: Index, tmp_path: Path) -> None:
    live(index)
    path = tmp_path / "ann.jsonl"
    lines = exported(index, path)
    assert len(list(load(lines_of(path)))) == json.loads(lines[0])["memories"]
    path.write_text("".join(lines[:-2]))
    with pytest.raises(InvalidInput, match="cut short: 2 of the 12 records"):
        check(lines_of(path))
    path.write_text("".join([*lines, lines[-1]]))
    with pytest.raises(InvalidInput, match="more records"):
        check(lines_of(path))
    head = json.loads(lines[0]) | {"version": 1}
    path.write_text("".join([json.dumps(head) + "\n", *lines[1:]]))
    with pytest.raises(InvalidInput, match="version 1 has no records"):
        check(lines_of(path))
