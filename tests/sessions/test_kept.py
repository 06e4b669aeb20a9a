"""The digest, the notes and the state of a session: what is in force, what was, what is over."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from indexing.errors import InvalidInput, StoreError
from indexing.index import Index, Recipe
from indexing.session_schema import state as table
from indexing.types import session_scope
from sessions.kept import (
    drop_note,
    note_history,
    put_note,
    put_notes,
    read_digest,
    read_notes,
    write_digest,
)
from sessions.log import TurnLog
from sessions.state import SessionState, read_state, update_state, write_state
from sessions.types import Digest, Entry, Line, Note
from tests.conftest import FixedClock

AT = datetime(2026, 5, 8, 10, tzinfo=UTC)


@pytest.fixture
def log(index: Index) -> TurnLog:
    made = TurnLog(index, len)
    made.append("ann", "s", [Entry("user", f"turn number {n}", str(n), at=AT) for n in range(1, 5)])
    return made


def a_digest(number: int = 1, through: int = 2) -> Digest:
    lines = (
        Line("decision", "turn number 1", 1, "user", AT, weight=0.5),
        Line("rejected", "number 2", 2, "user", of="turn number 1"),
    )
    return Digest("s", "ann", number, through, AT, None, ("turn", "size"), lines, "turn number 1")


def values(notes: tuple[Note, ...]) -> dict[str, str]:
    return {note.name: note.value for note in notes}


def test_a_digest_comes_back_and_marks_its_turns(log: TurnLog, index: Index) -> None:
    assert read_digest(index, "ann", "s") is None
    assert write_digest(index, a_digest(), log.forgotten("ann", "s"))
    assert read_digest(index, "ann", "s") == a_digest()
    assert write_digest(index, a_digest(2, 3))
    assert [turn.digest for turn in log.read("ann", "s")] == [1, 1, 2, 0]
    assert read_digest(index, "ann", "other") is None


def test_of_two_who_digest_at_once_one_starts_again(log: TurnLog, index: Index) -> None:
    assert write_digest(index, a_digest())
    assert not write_digest(index, replace(a_digest(), through=4))
    assert not write_digest(index, a_digest(3))
    held = read_digest(index, "ann", "s")
    assert held is not None
    assert held.through == 2


def test_a_digest_whose_turns_were_forgotten_meanwhile_is_not_stored(
    log: TurnLog, index: Index
) -> None:
    seen = log.forgotten("ann", "s")
    _forget_turn(log, "2")
    assert not write_digest(index, a_digest(), seen)
    assert write_digest(index, a_digest(), log.forgotten("ann", "s"))


def _forget_turn(log: TurnLog, turn_id: str) -> None:
    from indexing.forget import forget
    from indexing.traces import source_target
    from sessions.log_write import source_of

    scope = session_scope("ann", "s")
    assert forget(log.index, source_target(scope, [source_of(scope, turn_id)]), "ann").clean


def test_a_newer_note_supersedes_and_the_old_one_is_known_for_its_time(
    log: TurnLog, index: Index, clock: FixedClock
) -> None:
    early, late = AT + timedelta(hours=1), AT + timedelta(hours=3)
    put_note(index, "ann", "s", Note("budget", "5000", "fact", 1, early))
    put_note(index, "ann", "s", Note("size", "L"))
    put_note(index, "ann", "s", Note("budget", "7000", "fact", 3, late))
    assert read_notes(index, "ann", "s") == (
        Note("budget", "7000", "fact", 3, late),
        Note("size", "L", at=clock.now),
    )
    put_note(index, "ann", "s", Note("budget", "5500", "fact", 2, early + timedelta(hours=1)))
    assert values(read_notes(index, "ann", "s"))["budget"] == "7000"
    assert [n.value for n in note_history(index, "ann", "s", "budget")] == ["5000", "5500", "7000"]
    for hours, value in ((1.5, "5000"), (2.5, "5500"), (3.0, "7000")):
        found = read_notes(index, "ann", "s", as_of=AT + timedelta(hours=hours))
        assert values(found) == {"budget": value}
    assert read_notes(index, "ann", "s", as_of=AT) == ()
    put_note(index, "ann", "s", Note("budget", "5000", "fact", 1, early))  # told again: the same
    assert len(note_history(index, "ann", "s", "budget")) == 3
    assert values(read_notes(index, "ann", "s"))["budget"] == "7000"
    _forget_turn(log, "3")
    assert values(read_notes(index, "ann", "s"))["budget"] == "5500"
    assert drop_note(index, "ann", "s", "budget")
    assert not drop_note(index, "ann", "s", "budget")
    assert values(read_notes(index, "ann", "s")) == {"size": "L"}


def test_a_note_ends_by_its_time(log: TurnLog, index: Index, clock: FixedClock) -> None:
    until = clock.now + timedelta(hours=1)
    put_note(index, "ann", "s", Note("team", "8 people", "outside", 2, None, until))
    assert values(read_notes(index, "ann", "s")) == {"team": "8 people"}
    assert read_notes(index, "ann", "s")[0].expires_at == until
    clock.now = until
    assert read_notes(index, "ann", "s") == ()


@pytest.mark.parametrize("bad", [Note("", "x"), Note("x", " "), Note("x", "y", seq=9)])
def test_a_bad_note_is_refused_with_the_others(log: TurnLog, index: Index, bad: Note) -> None:
    with pytest.raises(InvalidInput):
        put_notes(index, "ann", "s", [Note("size", "L"), bad])
    assert read_notes(index, "ann", "s") == ()


def test_the_state_of_a_session(index: Index) -> None:
    assert read_state(index, "ann", "s") == SessionState()
    state = SessionState("You are a clerk.", "orders", 1000, 2.5, {"task": ["a", 1]}, {"k": None})
    write_state(index, "ann", "s", state)
    assert read_state(index, "ann", "s") == state
    TurnLog(index, len).append("ann", "s", [Entry("user", "hello there")])
    assert read_state(index, "ann", "s") == state
    changed = update_state(index, "ann", "s", lambda old: replace(old, task="bills"))
    assert changed == read_state(index, "ann", "s") == replace(state, task="bills")
    for bad in (SessionState(details={"x": object()}), SessionState(token_ceiling=-1)):
        with pytest.raises(InvalidInput):
            write_state(index, "ann", "s", bad)
    assert read_state(index, "ann", "s") == changed


def test_a_state_of_a_newer_release_is_refused(index: Index) -> None:
    write_state(index, "ann", "s", SessionState("clerk"))
    with index.catalog.database.write("x") as connection:
        connection.execute(table.update().values(body='{"version": 2}'))
    with pytest.raises(StoreError, match="cannot be read: version"):
        read_state(index, "ann", "s")


def test_all_of_a_session_is_over_when_its_life_is(index: Index, clock: FixedClock) -> None:
    recipe: Recipe = replace(index.recipe, ttl={"session": timedelta(days=7)})
    index = replace(index, recipe=recipe)
    log = TurnLog(index, len)
    log.append("ann", "s", [Entry("user", "my size is L", "1")])
    assert write_digest(index, Digest("s", "ann", 1, 1, None, None, (), ()))
    put_note(index, "ann", "s", Note("size", "L", seq=1))
    write_state(index, "ann", "s", SessionState("clerk"))
    clock.now += timedelta(days=6)
    log.append("ann", "s", [Entry("user", "and the colour is red", "2")])
    clock.now += timedelta(days=6)
    assert log.count("ann", "s") == 2
    clock.now += timedelta(days=1)
    assert log.read("ann", "s") == log.sessions("ann") == log.idle(clock.now) == []
    assert read_digest(index, "ann", "s") is None
    assert read_notes(index, "ann", "s") == note_history(index, "ann", "s", "size") == ()
    assert read_state(index, "ann", "s") == SessionState()
    log.append("ann", "s", [Entry("user", "a new start of it", "3")])
    assert [turn.seq for turn in log.read("ann", "s")] == [3]
    assert read_digest(index, "ann", "s") is None


def test_what_is_written_to_a_session_that_is_over_begins_it_anew(
    index: Index, clock: FixedClock
) -> None:
    recipe: Recipe = replace(index.recipe, ttl={"session": timedelta(days=7)})
    index = replace(index, recipe=recipe)
    log = TurnLog(index, len)
    for name in ("told", "noted"):
        log.append("ann", name, [Entry("user", "my size is L", "1")])
        put_note(index, "ann", name, Note("size", "L", seq=1))
    clock.now += timedelta(days=7)
    write_state(index, "ann", "told", SessionState("clerk"))
    put_note(index, "ann", "noted", Note("colour", "red"))
    for _ in range(2):
        assert read_state(index, "ann", "told") == SessionState("clerk")
        assert read_notes(index, "ann", "told") == ()
        assert values(read_notes(index, "ann", "noted")) == {"colour": "red"}
        for name in ("told", "noted"):
            log.append("ann", name, [Entry("user", "a new start of it", "2")])
            assert [turn.seq for turn in log.read("ann", name)] == [2]
