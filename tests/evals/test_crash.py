"""Kill -9 at any moment of an ingest, then run it again: nothing lost, nothing twice, no litter."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from evals.crash import __main__ as command
from evals.crash.child import STEPS
from evals.crash.kill import Harness
from evals.crash.plan import Event, later, plan
from evals.crash.state import State, differences
from evals.crash.world import phases, put

EVENTS = [
    Event(0.0, 0, "open"),
    Event(1.0, 0, "upsert"),
    Event(1.1, 0, "rest"),
    Event(5.0, 1, "open"),
    Event(9.0, 1, "close"),
]


def test_moments_are_spread_over_time_and_over_steps() -> None:
    points = plan(EVENTS, 10.0, 40, seed=3)
    assert points == plan(EVENTS, 10.0, 40, seed=3)
    times = [EVENTS[p.kill.event].at + p.kill.delay for p in points[::2]]
    assert all(a < b for a, b in pairwise(times))
    assert [int(time * 2) for time in times] == list(range(20))
    assert {EVENTS[p.kill.event].step for p in points[1::2]} == {"open", "upsert", "rest", "close"}
    assert {p.moved_on for p in points} == {True, False}
    assert any(p.again for p in points)


def test_a_later_run_has_the_moments_of_its_own_phases() -> None:
    assert later(EVENTS, 10.0, 1, 0.5) == later(EVENTS[3:], 10.0, 1, 0.5)
    assert later(EVENTS, 10.0, 1, 0.5).event == 0
    assert later(EVENTS, 10.0, 1, 0.9).event == 1


def test_the_folder_becomes_each_state(tmp_path: Path) -> None:
    from evals.crash.world import moment

    first, second, third = phases(1)
    for number, state in enumerate((first, second, third, first)):
        put(tmp_path, state, moment(number))
        found = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
        assert found == set(state)
    assert any(name in first and second[name] != first[name] for name in second if name in first)
    assert first.keys() - second.keys()
    assert set(first.values()) & {second[name] for name in second.keys() - first.keys()}


def test_differences_are_named_and_times_can_be_left_out() -> None:
    clean = State({"user/1": ({"text": "a", "created_at": 1.0}, {})}, {"user": 1}, {}, {}, {})
    other = replace(
        clean, points={"user/1": ({"text": "a", "created_at": 2.0}, {})}, counts={"user": 2}
    )
    assert differences(clean, clean) == []
    assert differences(clean, other) == ["points: user/1 differs", "counts: user differs"]
    assert differences(clean, other, times=False) == ["counts: user differs"]
    assert differences(clean, replace(clean, points={}, files={"x.new": True})) == [
        "points: user/1 is missing",
        "files: x.new is too much",
    ]


def test_ten_kills_leave_no_difference(
    memory_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = command.main(["--points", "10", "--seed", "7", "--folder", str(memory_folder)])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert "10 points" in shown.out
    record = memory_folder / "points-7-10.jsonl"
    assert len(record.read_text().splitlines()) == 10
    assert sorted(p.name for p in memory_folder.iterdir()) == ["clean", record.name, "world"]


def test_a_run_that_was_stopped_goes_on(memory_folder: Path) -> None:
    first = list(command.outcomes(memory_folder, 1, 7, command.Console(stderr=True)))
    record = memory_folder / "points-7-1.jsonl"
    before = record.read_text()
    assert list(command.outcomes(memory_folder, 1, 7, command.Console(stderr=True))) == first
    assert record.read_text() == before


def test_the_harness_sees_a_difference(memory_folder: Path) -> None:
    harness = Harness(memory_folder, 7)
    clean, wanted = harness.clean()
    assert {event.step for event in clean.events} == set(STEPS)
    lost = dict(list(wanted.points.items())[1:])
    assert differences(replace(wanted, points=lost), wanted)[0].endswith("is too much")
    assert {key.partition("/")[0] for key in wanted.points} == {"global", "user"}
    assert len(wanted.answers) > 5
