"""What a scope should hold after any history: places by what they say, tellings by their subject.

Places of plain texts are counted by source. A statement is a list of tellings, and what held when
is read off them in the order of their times. The model knows no ids, vectors, points or files.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

Source = str


@dataclass(eq=False)
class Telling:
    """One time that a value was told; without a source only that it was."""

    at: datetime
    order: float
    value: str
    closes: bool
    source: Source | None
    until: datetime | None
    end: datetime | None = None


@dataclass(eq=False)
class Run:
    """A value from its first telling until another is told, or it is said to be over."""

    tellings: list[Telling]
    end: datetime | None = None
    by: "Run | None" = None

    @property
    def start(self) -> datetime:
        return self.tellings[0].at

    @property
    def said(self) -> tuple[str, bool]:
        return self.tellings[0].value, self.tellings[0].closes

    @property
    def sources(self) -> frozenset[tuple[Source, datetime | None]]:
        return frozenset((t.source, t.until) for t in self.tellings if t.source)

    def add(self, telling: Telling) -> None:
        self.tellings.append(telling)
        self.end = min(filter(None, (self.end, telling.end)), default=None)


@dataclass
class Model:
    """One scope: ``plain`` words -> source -> when it expires, ``told`` subject -> tellings."""

    plain: dict[str, dict[Source, datetime | None]] = field(default_factory=dict)
    told: dict[str, list[Telling]] = field(default_factory=dict)
    orders: int = 0

    def runs(self, subject: str) -> list[Run]:
        """Return what was said about a subject, in the order in which it held."""
        values: list[Run] = []
        closers: list[Run] = []
        for telling in sorted(self.told.get(subject, ()), key=lambda t: (t.at, t.order)):
            holds = values[-1] if values and _open(values[-1], telling.at) else None
            mine = closers if telling.closes else values[-1:]
            same = next((run for run in reversed(mine) if _same(run, telling)), None)
            if same:
                same.add(telling)
            run = same or Run([telling], telling.end)
            if telling.closes:
                closers += [] if same else [run]
                if holds and holds.said[0] == telling.value:
                    holds.end, holds.by = telling.at, run
            elif not same:
                for other in (*([holds] if holds else []), *closers):
                    if other.end is None or other.end > run.start:
                        other.end, other.by = run.start, run
                values.append(run)
        return sorted((*values, *closers), key=lambda run: run.start)

    def tell(
        self,
        subject: str,
        value: str,
        closes: bool,
        source: Source,
        at: datetime,
        until: datetime | None,
    ) -> None:
        """Add a statement; one that is told again lives as long as it says now."""
        tellings = self.told.setdefault(subject, [])
        twins = [t.order for t in tellings if (t.at, t.value, t.closes) == (at, value, closes)]
        self.orders += 1
        new = Telling(at, min(twins, default=self.orders), value, closes, source, until)
        before = [r for r in self.runs(subject) if r.start <= at and r.said[1] is closes]
        if before and not closes and _open(before[-1], at):
            new.end = min(filter(None, (t.end for t in before[-1].tellings)), default=None)
        tellings.append(new)
        for run in self.runs(subject):
            for name in {name for name, _ in run.sources}:
                again = [t for t in run.tellings if t.source == name]
                for middle in again[1:-1]:
                    tellings.remove(middle)
                for t in again if new in again else ():
                    t.until = until
        self._forget(subject, lambda *_: False)

    def say(self, words: str, source: Source, until: datetime | None) -> None:
        """Add a place of plain words."""
        self.plain.setdefault(words, {})[source] = until

    def forget(self, gone: Callable[[Source, datetime | None], bool]) -> None:
        """Take away places and tellings: what they ended stays ended, what they began has begun."""
        for places in self.plain.values():
            for source in [s for s, until in places.items() if gone(s, until)]:
                del places[source]
        for subject in self.told:
            self._forget(subject, gone)

    def _forget(self, subject: str, gone: Callable[[Source, datetime | None], bool]) -> None:
        runs = self.runs(subject)
        kept: dict[int, list[Telling]] = {}
        for run in runs:
            left = [t for t in run.tellings if t.source and not gone(t.source, t.until)]
            first = run.tellings[0]
            if left and first not in left:
                left.insert(0, Telling(first.at, first.order, *run.said, None, None, first.end))
            kept[id(run)] = left
        for run in runs:
            if run.end and not (run.by and kept[id(run.by)]):
                for telling in kept[id(run)]:
                    telling.end = run.end
                    telling.at = telling.at if telling.at < run.end else run.start
        self.told[subject] = [t for left in kept.values() for t in left]

    def expire(self, now: datetime) -> None:
        """Take away what has expired."""
        self.forget(lambda _, until: until is not None and until <= now)


def _open(run: Run, moment: datetime) -> bool:
    return run.end is None or moment < run.end


def _same(run: Run, telling: Telling) -> bool:
    said = (telling.value, telling.closes)
    return run.said == said and (_open(run, telling.at) or telling.at == run.start)
