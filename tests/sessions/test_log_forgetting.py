"""What is forgotten, cleared or over leaves the log too, and no byte of it stays in a file."""

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from configs.forgetting import places
from indexing.closing import close_session
from indexing.errors import Forgotten
from indexing.expire import sweep
from indexing.forget import forget, lift
from indexing.receipts import Receipt
from indexing.session_schema import SESSION_TABLES, state
from indexing.traces import Target, memory_target, session_target, source_target, user_target
from indexing.types import Filter, session_scope
from sessions.calls import CallLog, ModelCall
from sessions.kept import put_note, read_digest, read_notes, write_digest
from sessions.log import TurnLog
from sessions.log_write import source_of
from sessions.state import SessionState, write_state
from sessions.types import Digest, Entry, Line, Note, ToolCall
from tests.conftest import FixedClock, PartsMaker

AT = datetime(2026, 5, 8, 10, tzinfo=UTC)
CANARIES = ("canary-4471-budget", "canary-4472-idea", "canary-4473-result", "canary-4474-asked")


class World:
    """A session of a user with everything that may be kept of its turns."""

    def __init__(self, parts: Any, folder: Path) -> None:
        self.parts, self.folder, self.index = parts, folder, parts.index
        self.log = TurnLog(self.index, len)

    def live(self, user_id: str = "ann", session_id: str = "talk-of-today") -> None:
        budget, idea, result, asked = (f"{canary} of {user_id}" for canary in CANARIES)
        call = ToolCall("call-1", "search", json.dumps({"q": asked}))
        self.log.append(user_id, session_id, [
            Entry("user", f"The budget is {budget}.", "turn-of-the-budget", at=AT),
            Entry("user", f"What if we take {idea}?", "turn-of-the-idea", at=AT),
            Entry("assistant", "Rather not, no.", "turn-of-the-no", calls=(call,)),
            Entry("tool", f"found: {result} " + "and more " * 80, "turn-result", call_id="call-1"),
        ])  # fmt: skip
        lines = (
            Line("fact", f"The budget is {budget}.", 1, "user", AT),
            Line("rejected", "Rather not, no.", 3, "assistant", AT, f"What if we take {idea}?"),
        )
        topics = ("budget", "nothing")
        digest = Digest(session_id, user_id, 1, 4, AT, AT, topics, lines, f"About {budget}")
        assert write_digest(self.index, digest)
        put_note(self.index, user_id, session_id, Note("budget", budget, seq=1))
        put_note(self.index, user_id, session_id, Note("size", "L", seq=3))
        write_state(self.index, user_id, session_id, SessionState(f"A clerk of {asked}"))
        CallLog(self.index).record(user_id, session_id, ModelCall("gpt", 10, 5, 0.5))

    def forget(self, target: Target) -> Receipt:
        with places(self.parts.settings, self.index.catalog, self.index.store) as known:
            return forget(self.index, target, "operator", known)

    def found(self, canaries: Iterable[str]) -> set[str]:
        """Return which of these are in any file, read the plain way."""
        files = [file.read_bytes() for file in self.folder.rglob("*") if file.is_file()]
        return {c for c in canaries if any(c.encode() in data for data in files)}

    def rows(self) -> dict[str, int]:
        with self.index.catalog.database.read() as connection:
            return {t.name: len(connection.execute(select(t)).all()) for t in SESSION_TABLES}

    def source(self, turn_id: str) -> Target:
        scope = session_scope("ann", "talk-of-today")
        return source_target(scope, [source_of(scope, turn_id)])


@pytest.fixture
def world(make_parts: PartsMaker, memory_folder: Path) -> World:
    made = World(make_parts(), memory_folder)
    made.live()
    return made


NOTHING = {table.name: 0 for table in SESSION_TABLES}


@pytest.mark.parametrize("target", [user_target("ann"), session_target("ann", "talk-of-today")])
def test_forgetting_a_user_or_a_session_leaves_nothing_of_the_log(
    world: World, target: Target
) -> None:
    assert world.found(CANARIES)
    receipt = world.forget(target)
    assert receipt.clean, receipt.draft
    removed = {table.name: receipt.draft.removed[table.name] for table in SESSION_TABLES}
    assert list(removed.values()) == [4, 1, 2, 1, 1]
    assert {receipt.draft.left[table.name] for table in SESSION_TABLES} == {0}
    assert world.rows() == NOTHING
    assert world.found(CANARIES) == set()
    for write in (
        lambda: world.log.append("ann", "talk-of-today", [Entry("user", "it is back")]),
        lambda: put_note(world.index, "ann", "talk-of-today", Note("size", "L")),
        lambda: write_state(world.index, "ann", "talk-of-today", SessionState("x")),
        lambda: CallLog(world.index).record("ann", "talk-of-today", ModelCall("gpt")),
    ):
        with pytest.raises(Forgotten):
            write()
    assert world.rows() == NOTHING
    lift(world.index, target, "operator")
    done = world.log.append("ann", "talk-of-today", [Entry("user", "it is back")])
    assert done.new == 1


def test_the_log_of_others_stays(world: World) -> None:
    world.live("anna")
    assert world.forget(user_target("ann")).clean
    assert world.found([f"{CANARIES[0]} of ann."]) == set()
    assert world.rows() == {**dict.fromkeys(NOTHING, 1), "session_turns": 4, "session_notes": 2}
    assert len(world.log.read("anna", "talk-of-today")) == 4


def test_forgetting_a_turn_takes_its_lines_and_notes_along(world: World) -> None:
    receipt = world.forget(world.source("turn-of-the-budget"))
    assert receipt.clean, receipt.draft
    assert receipt.draft.removed["session_turns"] == 1
    assert receipt.draft.removed["session_digests"] == receipt.draft.removed["session_notes"] == 1
    assert receipt.draft.left["session_turns"] == 0
    assert world.found(CANARIES[:1]) == set()
    digest = read_digest(world.index, "ann", "talk-of-today")
    assert digest is not None
    assert [line.seq for line in digest.lines] == [3]
    assert (digest.topics, digest.summary) == ((), "")
    assert [note.name for note in read_notes(world.index, "ann", "talk-of-today")] == ["size"]
    assert [turn.seq for turn in world.log.read("ann", "talk-of-today")] == [2, 3, 4]
    again = Entry("user", f"The budget is {CANARIES[0]} of ann.", "turn-of-the-budget", at=AT)
    done = world.log.append("ann", "talk-of-today", [again, Entry("user", "another turn")])
    assert (done.new, done.known, done.forgotten) == (1, 0, 1)
    assert done.turns[0].seq == 5
    assert world.found(CANARIES[:1]) == set()


def test_a_line_about_what_a_forgotten_turn_said_goes_too(world: World) -> None:
    receipt = world.forget(world.source("turn-of-the-idea"))
    assert receipt.clean, receipt.draft
    digest = read_digest(world.index, "ann", "talk-of-today")
    assert digest is not None
    assert [line.seq for line in digest.lines] == [1]
    assert world.found([CANARIES[1]]) == set()


def test_deleting_the_memory_of_a_turn_takes_it_from_the_log(world: World) -> None:
    scope = session_scope("ann", "talk-of-today")
    held = world.index.store.scroll("session", Filter(scope))
    (memory,) = (m for m in held if m.turn_id == "turn-result")
    target = memory_target(scope, [memory.id])
    receipt = world.forget(target)
    assert receipt.clean, receipt.draft
    assert receipt.draft.removed["session_turns"] == 1
    assert world.found(CANARIES[2:3]) == set()
    again = [Entry("tool", f"found: {CANARIES[2]}", "turn-result", call_id="call-1")]
    assert world.log.append("ann", "talk-of-today", again).forgotten == 1
    assert lift(world.index, target, "operator") == 1
    assert world.log.append("ann", "talk-of-today", again).new == 1


def test_the_words_of_a_forgotten_turn_may_be_said_in_a_new_one(world: World) -> None:
    log = world.log
    (first,) = log.append("ann", "talk-of-today", [Entry("user", "yes, do it")]).turns
    world.forget(world.source(first.entry.turn_id))
    done = log.append("ann", "talk-of-today", [Entry("user", "yes, do it")])
    assert (done.new, done.forgotten) == (1, 0)
    assert done.turns[0].entry.turn_id != first.entry.turn_id
    assert log.append("ann", "talk-of-today", [Entry("user", "yes, do it")], whole=True).new == 0


@pytest.mark.parametrize("ending", ["archive", "clear"])
def test_a_closed_session_keeps_its_log_or_loses_it(world: World, ending: Any) -> None:
    close_session(world.index, "ann", "talk-of-today", ending)
    is_kept = ending == "archive"
    assert bool(world.found(CANARIES)) == is_kept
    assert len(world.log.read("ann", "talk-of-today")) == (4 if is_kept else 0)
    assert world.rows()["session_calls"] == 1  # what was spent stays known
    (turn,) = world.log.append("ann", "talk-of-today", [Entry("user", "once more")]).turns
    assert turn.seq == 5


def test_the_sweep_takes_what_is_over(world: World, clock: FixedClock) -> None:
    index = replace(world.index, recipe=replace(world.index.recipe, ttl={"session": timedelta(7)}))
    TurnLog(index, len).append("ann", "talk-of-today", [Entry("user", "the last one")])
    assert sweep(index).sessions == 0
    clock.now += timedelta(days=7)
    assert TurnLog(index, len).count("ann", "talk-of-today") == 0
    report = sweep(index)
    assert report.sessions == 1
    assert sweep(index).sessions == 0
    kept = {"session_calls": 1, "session_state": 1}
    assert world.rows() == NOTHING | kept
    with index.catalog.database.read() as connection:
        assert connection.execute(select(state.c.body)).scalars().all() == ["{}"]
    assert world.found([CANARIES[3]]) == set()  # the others are in memories without a life
