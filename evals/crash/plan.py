"""When to kill: moments spread over all of a run's time, and over all of its steps.

A moment is an event of the clean run (a step begins) and a delay after it: where a kill lands does
not drift when a run is slower than the clean one was.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

AGAIN = 0.25
"""Share of the points where the run after the kill is killed too."""
MOVED_ON = 0.35
"""Share of the points where the files have changed before the run after the kill."""


@dataclass(frozen=True, slots=True)
class Event:
    """A step begins: seconds since the process started, the phase, the step's name."""

    at: float
    phase: int
    step: str


@dataclass(frozen=True, slots=True)
class Moment:
    """Kill ``delay`` seconds after event number ``event`` of a run."""

    event: int
    delay: float


@dataclass(frozen=True, slots=True)
class Point:
    """One try: when to kill the first run.

    ``again``: at which share of its time the second run is killed too. ``moved_on``: the run after
    the first kill finds the files of the next phase.
    """

    number: int
    kill: Moment
    again: float | None
    moved_on: bool


def plan(events: Sequence[Event], end: float, count: int, seed: int) -> list[Point]:
    """Return the points: one half by time, the other by step, so that short steps are hit too."""
    random = Random(seed)  # noqa: S311
    halves = (count + 1) // 2
    steps = sorted({event.step for event in events})
    points: list[Point] = []
    for number in range(count):
        if number % 2 == 0:
            kill = _at(events, end * (number // 2 + random.random()) / halves)
        else:
            kill = _inside(events, end, steps[number // 2 % len(steps)], random)
        again = random.random() if random.random() < AGAIN else None
        points.append(Point(number, kill, again, random.random() < MOVED_ON))
    return points


def later(events: Sequence[Event], end: float, phase: int, share: float) -> Moment:
    """Return the moment at a share of the time of a run that begins with a phase."""
    first = next(number for number, event in enumerate(events) if event.phase == phase)
    start = events[first].at
    found = _at(events, start + share * (end - start))
    return Moment(found.event - first, found.delay)


def _at(events: Sequence[Event], when: float) -> Moment:
    number = max(0, bisect_right(events, when, key=lambda event: event.at) - 1)
    return Moment(number, max(0.0, when - events[number].at))


def _inside(events: Sequence[Event], end: float, step: str, random: Random) -> Moment:
    number = random.choice([n for n, event in enumerate(events) if event.step == step])
    until = events[number + 1].at if number + 1 < len(events) else end
    return Moment(number, random.random() * (until - events[number].at))
