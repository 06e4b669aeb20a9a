"""Run ingests in processes of their own, kill them where a plan says, and compare what is left.

Children are forked by a server that has imported everything and opened nothing, so one starts in
milliseconds. POSIX only.
"""

import multiprocessing
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from evals.crash import child, state
from evals.crash.plan import Event, Moment, Point, later
from evals.crash.world import phases
from evals.errors import EvalError

PATIENCE = 120.0
"""Seconds without a sign after which a child counts as hanging."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a child ended, and the events up to then."""

    events: list[Event]
    seconds: float
    exit_code: int

    @property
    def killed(self) -> bool:
        """Return whether the kill came before the end."""
        return self.exit_code == -signal.SIGKILL


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a point came to: where its kills landed, as ``phase:step``, and what differs."""

    number: int
    kills: list[str]
    moved_on: bool
    differences: list[str]


class Harness:
    """One folder of work: ``world`` is ingested, ``clean`` is the run to compare with."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.world = folder / "world"
        self.world.mkdir(parents=True, exist_ok=True)
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([state.__name__])

    def clean(self) -> tuple[Ended, state.State]:
        """Ingest everything unharmed. Raises `EvalError` when that fails."""
        data = self._empty("clean")
        ended = self._ingest(data, 0)
        if ended.exit_code:
            raise EvalError(f"the clean run failed with exit code {ended.exit_code}")
        return ended, self._read(data)

    def try_point(self, point: Point, clean: Ended, wanted: state.State) -> Outcome:
        """Kill and run again to the end; the data folder stays when something differs."""
        for delay in (point.kill.delay, point.kill.delay / 2, 0.0):
            data = self._empty(f"point-{point.number}")
            ended = self._ingest(data, 0, replace(point.kill, delay=delay))
            if ended.killed:  # not when the run was faster than the clean one
                break
        kills, reached = [_where(ended)], _phase(ended)
        moved_on = point.moved_on and reached + 1 < len(phases(self.seed))
        first = reached + moved_on
        if point.again is not None:
            ended = self._ingest(
                data, first, later(clean.events, clean.seconds, first, point.again)
            )
            kills.append(_where(ended))
            first = max(first, _phase(ended))
        ended = self._ingest(data, first)
        if ended.exit_code:
            found = [f"the run after the kill failed with exit code {ended.exit_code}"]
        else:
            found = state.differences(wanted, self._read(data), times=not moved_on)
        if not found:
            shutil.rmtree(data)
        return Outcome(point.number, kills, moved_on, found)

    def _empty(self, name: str) -> Path:
        data = self.folder / name
        shutil.rmtree(data, ignore_errors=True)
        return data

    def _ingest(self, data: Path, first: int, kill: Moment | None = None) -> Ended:
        """Ingest from a phase on; killed at the moment, unless it has ended before."""
        reader, process = self._start(child.run, data, self.world, self.seed, first)
        started = time.perf_counter()
        events: list[Event] = []
        try:
            while True:
                if not reader.poll(PATIENCE):
                    raise EvalError(f"an ingest gave no sign for {PATIENCE:.0f} s")
                phase, step = reader.recv_bytes()
                events.append(Event(time.perf_counter() - started, phase, child.STEPS[step]))
                if kill and len(events) == kill.event + 1:
                    time.sleep(kill.delay)
                    process.kill()
        except EOFError:  # it has ended, one way or the other
            pass
        except BaseException:
            process.kill()
            raise
        finally:
            process.join()
            reader.close()
        return Ended(events, time.perf_counter() - started, process.exitcode or 0)

    def _read(self, data: Path) -> state.State:
        reader, process = self._start(state.read, data)
        try:
            found: state.State = reader.recv()
        except EOFError:
            raise EvalError(f"the state of {data} cannot be read") from None
        finally:
            process.join()
            reader.close()
        return found

    def _start(
        self, work: Callable[..., None], *args: object
    ) -> tuple[Connection, multiprocessing.process.BaseProcess]:
        reader, writer = self._context.Pipe(duplex=False)
        process = self._context.Process(target=work, args=(writer, *args))
        process.start()
        writer.close()
        return reader, process


def _phase(ended: Ended) -> int:
    return ended.events[-1].phase if ended.events else 0


def _where(ended: Ended) -> str:
    if not ended.killed:
        return "after the end" if not ended.exit_code else f"exit code {ended.exit_code}"
    return f"{_phase(ended)}:{ended.events[-1].step}" if ended.events else "before the start"
