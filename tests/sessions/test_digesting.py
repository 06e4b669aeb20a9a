"""Digests of stored sessions: read, think, write, and what happens in between."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from indexing.errors import StoreError
from indexing.index import Index
from sessions.digest import DigestPolicy
from sessions.digesting import make_digest
from sessions.kept import read_digest, write_digest
from sessions.log import TurnLog
from sessions.model_digest import Told
from sessions.types import Digest, LoggedTurn
from tests.conftest import FixedClock
from tests.sessions.spoken import START, entry, texts, words

POLICY = DigestPolicy(messages=4, keep=2, cap_tokens=200)


@pytest.fixture
def log(index: Index, clock: FixedClock) -> TurnLog:
    clock.now = START + timedelta(minutes=5)
    return TurnLog(index, words)


def _say(log: TurnLog, *said: str) -> None:
    start = log.last_seq("ann", "s") + 1
    log.append("ann", "s", [entry("user", text, n) for n, text in enumerate(said, start)])


def _held(log: TurnLog) -> Digest:
    digest = read_digest(log.index, "ann", "s")
    assert digest is not None
    return digest


class _Between:
    """Does something while the prose of the first digest is worded."""

    def __init__(self, act: Callable[[], object], times: int = 1) -> None:
        self.act, self.left, self.calls = act, times, 0

    def __call__(self, digest: Digest, turns: Sequence[LoggedTurn], before: Digest | None) -> Told:
        self.calls += 1
        if self.left:
            self.left -= 1
            self.act()
        return Told(replace(digest, summary=f"call {self.calls}"), {"by": "test"})


def test_nothing_is_folded_before_it_is_due(log: TurnLog) -> None:
    _say(log, "My size is L.", "My budget is 300.")
    assert make_digest(log, "ann", "s", POLICY).digest is None
    assert make_digest(log, "ann", "nobody", POLICY, closing=True).turns == 0


def test_folds_marks_and_goes_on_with_what_comes_after(log: TurnLog) -> None:
    _say(log, "My size is L.", "My budget is 300.", "One more.", "Two more.", "Three more.")
    first = make_digest(log, "ann", "s", POLICY)
    assert (first.reason, first.turns, first.details) == ("messages", 3, {"by": "rules"})
    assert first.digest == _held(log)
    assert [turn.digest for turn in log.read("ann", "s")] == [1, 1, 1, 0, 0]
    assert make_digest(log, "ann", "s", POLICY).turns == 0
    _say(log, "My phone is 8 999 123-45-67.")
    last = make_digest(log, "ann", "s", POLICY, closing=True)
    assert (last.reason, last.turns) == ("close", 3)
    assert (_held(log).number, _held(log).through) == (2, 6)
    kept = texts(_held(log).lines)
    assert {"My size is L.", "My budget is 300.", "My phone is 8 999 123-45-67."} <= {*kept}


def test_an_idle_session_is_folded_whole(log: TurnLog, clock: FixedClock) -> None:
    _say(log, "My size is L.")
    clock.now += POLICY.idle + timedelta(hours=1)
    assert make_digest(log, "ann", "s", POLICY).reason == "idle"
    assert make_digest(log, "ann", "s", POLICY).turns == 0


def test_old_talk_that_is_handed_over_now_is_not_idle(log: TurnLog, clock: FixedClock) -> None:
    clock.now += timedelta(days=30)
    _say(log, "My size is L.")
    assert make_digest(log, "ann", "s", POLICY).turns == 0


def test_a_turn_that_arrives_meanwhile_goes_to_the_next_digest(log: TurnLog) -> None:
    _say(log, "My size is L.")
    between = _Between(lambda: _say(log, "My budget is 300."))
    made = make_digest(log, "ann", "s", POLICY, closing=True, wording=between)
    assert made.turns == 1
    assert texts(_held(log).lines) == ["My size is L."]
    assert make_digest(log, "ann", "s", POLICY, closing=True).turns == 1
    assert texts(_held(log).lines) == ["My size is L.", "My budget is 300."]


def test_of_two_at_once_one_wins_and_nothing_is_lost_twice(log: TurnLog) -> None:
    _say(log, "My size is L.")

    def other() -> None:
        _say(log, "My budget is 300.")
        make_digest(log, "ann", "s", POLICY, closing=True)

    between = _Between(other)
    made = make_digest(log, "ann", "s", POLICY, closing=True, wording=between)
    assert (made.turns, between.calls) == (0, 1)
    assert (_held(log).number, _held(log).through) == (1, 2)
    assert texts(_held(log).lines) == ["My size is L.", "My budget is 300."]


def test_gives_up_with_a_named_error_when_others_always_win(log: TurnLog) -> None:
    _say(log, "My size is L.")

    def other() -> None:
        held = read_digest(log.index, "ann", "s")
        number = held.number + 1 if held else 1
        assert write_digest(log.index, Digest("s", "ann", number, 0, None, None, (), ()))

    with pytest.raises(StoreError, match="another process"):
        make_digest(log, "ann", "s", POLICY, closing=True, wording=_Between(other, times=99))


def test_says_what_had_no_place(log: TurnLog) -> None:
    rain = [f"The street number {n} has a nice old house with a garden." for n in range(30)]
    _say(log, "My size is L.", *rain)
    made = make_digest(log, "ann", "s", replace(POLICY, cap_tokens=5), closing=True)
    kept = _held(log).lines
    assert "My size is L." in texts(kept)
    assert made.dropped + len(kept) <= 31
    assert made.over == max(0, sum(words(one.text) + 4 for one in kept) - 5)
