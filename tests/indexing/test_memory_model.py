"""Any history of telling, writing, removing, expiring, crashing and opening again is the model's.

``MEMORY_STEPS`` is how many steps are made in all.
"""

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from chunking.types import Chunk
from configs.build import Parts
from indexing.dedup import exact_key
from indexing.expire import sweep
from indexing.forget import forget, lift
from indexing.hashing import digest
from indexing.index import Index, Source
from indexing.mentions import mentions
from indexing.recovery import recover
from indexing.remember import history, remember
from indexing.removal import remove_sources
from indexing.traces import source_target, user_target
from indexing.types import Filter, Kind, Memory, user_scope
from indexing.write import write
from tests.indexing.memory_model import Model

STEPS = int(os.environ.get("MEMORY_STEPS", "300"))
PER_EXAMPLE = 40
PHASES = (Phase.generate,)

START = datetime(2026, 11, 1, 12, tzinfo=UTC)
JOB, CAR = "user.employer", "car"
STATED = {
    "I work at Google": (JOB, "google", False),
    "I work at Microsoft": (JOB, "microsoft", False),
    "I work at Apple": (JOB, "apple", False),
    "I no longer work at Google": (JOB, "google", True),
    "I no longer work at Apple": (JOB, "apple", True),
    "a red Volvo": (CAR, "red volvo", False),
    "a blue Fiat": (CAR, "blue fiat", False),
}
PLAIN = ["likes green tea", "Likes  GREEN tea!", "the gate code is 4471", "the gate code is 4472"]
WORDS = ["The depot closes at six.", "the depot closes at SIX", "Pumps are checked in May."]
NAMES = st.sampled_from(["a.md", "b.md", "c.md"])
HOURS = st.none() | st.integers(0, 12)
"""How long ago it was said; None: no time is given."""
LIVES = st.none() | st.integers(1, 8)
"""Hours until it expires."""

_numbers = itertools.count()

Act = Callable[[Index], object]
Step = Callable[[], None]


class Crash(Exception):
    """The process is gone."""


class Dies:
    """A part that fails for good at one of its writes: before it, in the middle, or after it."""

    WRITES = ("passages", "upsert", "delete", "begin", "commit", "remove", "recount")

    def __init__(self, inner: Any, left: list[int], how: str) -> None:
        self._inner, self._left, self._how = inner, left, how

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if name == "writing":
            return self._turn
        return self._counted(name, found) if name in self.WRITES else found

    @contextmanager
    def _turn(self, *given: Any) -> Iterator[Any]:
        with self._inner.writing(*given) as turn:
            yield Dies(turn, self._left, self._how)

    def _counted(self, name: str, call: Any) -> Any:
        def counted(*given: Any) -> Any:
            self._left[0] -= 1
            if self._left[0] >= 0:
                return call(*given)
            if self._left[0] == -1 and self._how == "after":
                call(*given)
            if self._left[0] == -1 and self._how == "half" and name == "upsert":
                collection, points = given
                call(collection, list(points)[::2])
            raise Crash

        return counted


class Scope(RuleBasedStateMachine):
    """One user's scope, and what the model says about it."""

    make: Callable[[], Parts]
    clock: Any
    parts: Parts

    def __init__(self) -> None:
        super().__init__()
        self.clock.now = START
        self.scope = user_scope(f"user {next(_numbers)}")
        self.model = Model()
        self.known: set[str] = set()

    @property
    def index(self) -> Index:
        return type(self).parts.index

    def tick(self) -> datetime:
        """Return the time, which is never the same twice."""
        self.clock.now += timedelta(microseconds=1)
        now: datetime = self.clock.now
        return now

    # what happens: an act on the store, and the step of the model

    def told(self, text: str, ago: int | None, life: int | None) -> tuple[Act, Step]:
        subject, value, closes = STATED[text]
        now = self.tick()
        at = None if ago is None else now.replace(microsecond=0) - timedelta(hours=ago)
        until = None if life is None else now + timedelta(hours=life)
        given = subject if subject == CAR else None
        source = named("fact", text, subject, at)
        self.known.add(source)

        def act(index: Index) -> None:
            remember(index, self.scope, text, at=at, expires_at=until, subject=given)

        return act, lambda: self.model.tell(subject, value, closes, source, at or now, until)

    def said(self, text: str, kind: Kind, ago: int | None, life: int | None) -> tuple[Act, Step]:
        now = self.tick()
        at = None if ago is None else now.replace(microsecond=0) - timedelta(hours=ago)
        until = None if life is None else now + timedelta(hours=life)
        source = named(kind, text, "", at)
        self.known.add(source)

        def act(index: Index) -> None:
            remember(index, self.scope, text, kind, at=at, expires_at=until)

        return act, lambda: self.model.say(f"{kind} {exact_key(text)}", source, until)

    def written(self, name: str, texts: list[str]) -> tuple[Act, Step]:
        chunks = [Chunk(name, n, 100 * n, 100 * n + 50, text) for n, text in enumerate(texts)]
        self.known.add(name)

        def act(index: Index) -> None:
            write(index, self.scope, [Source(name, "document", digest(*texts), chunks)])

        def step() -> None:
            self.model.forget(lambda source, _: source == name)
            for text in texts:
                self.model.say(f"document {exact_key(text)}", name, None)

        return act, step

    def removed(self, source: str) -> tuple[Act, Step]:
        return (
            lambda index: remove_sources(index, self.scope, [source]),
            lambda: self.model.forget(lambda name, _: name == source),
        )

    def forgotten(self, source: str | None) -> tuple[Act, Step]:
        """Forget a source, or the user; then let it be written again."""
        whole = source is None
        target = user_target(self.scope.user_id) if whole else source_target(self.scope, [source])

        def act(index: Index) -> None:
            assert forget(index, target, "operator").clean
            lift(index, target, "operator")

        return act, lambda: self.model.forget(lambda name, _: whole or name == source)

    # rules

    @rule(text=st.sampled_from(sorted(STATED)), ago=HOURS, life=LIVES)
    def tell(self, text: str, ago: int | None, life: int | None) -> None:
        self.do(*self.told(text, ago, life))

    @rule(
        text=st.sampled_from(PLAIN),
        kind=st.sampled_from(["fact", "procedure"]),
        ago=HOURS,
        life=LIVES,
    )
    def say(self, text: str, kind: Kind, ago: int | None, life: int | None) -> None:
        self.do(*self.said(text, kind, ago, life))

    @rule(name=NAMES, texts=st.lists(st.sampled_from(WORDS), max_size=3))
    def ingest(self, name: str, texts: list[str]) -> None:
        self.do(*self.written(name, texts))

    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        if self.known:
            self.do(*self.removed(data.draw(st.sampled_from(sorted(self.known)))))

    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        named = st.none() | st.sampled_from(sorted(self.known)) if self.known else st.none()
        self.do(*self.forgotten(data.draw(named)))

    @rule(hours=st.integers(1, 6))
    def wait(self, hours: int) -> None:
        self.clock.now += timedelta(hours=hours)
        self.model.expire(self.clock.now)

    @rule()
    def sweep(self) -> None:
        sweep(self.index)

    @rule()
    def reopen(self) -> None:
        type(self).parts.close()
        type(self).parts = type(self).make()

    @rule(
        data=st.data(),
        calls=st.integers(0, 6),
        how=st.sampled_from(["before", "half", "after"]),
        again=st.booleans(),
    )
    def crash(self, data: st.DataObject, calls: int, how: str, again: bool) -> None:
        """An act that dies on its way, and is done again; or is never heard of any more."""
        act, step = self.any_act(data, again)
        left = [calls]

        def dies(part: str) -> Any:
            return Dies(getattr(self.index, part), left, how)

        index = replace(
            self.index, store=dies("store"), catalog=dies("catalog"), embedder=dies("embedder")
        )
        before = self.stored()
        try:
            act(index)
            step()
            return
        except Crash:
            recover(self.index)
        if again:
            self.do(act, step)
            return
        found = self.stored()
        if found != before:
            step()
            assert found == self.expected(), "half of it is there"

    def any_act(self, data: st.DataObject, again: bool) -> tuple[Act, Step]:
        texts = st.sampled_from(sorted(STATED))
        kinds = ["tell", "say", "ingest", "remove", "forget"] if again else ["tell", "say"]
        kind = data.draw(st.sampled_from(kinds))
        if kind == "say":
            return self.said(data.draw(st.sampled_from(PLAIN)), "fact", None, data.draw(LIVES))
        if kind == "ingest":
            written = data.draw(st.lists(st.sampled_from(WORDS), max_size=3))
            return self.written(data.draw(NAMES), written)
        if kind == "remove" and self.known:
            return self.removed(data.draw(st.sampled_from(sorted(self.known))))
        if kind == "forget":
            return self.forgotten(data.draw(st.none() | st.sampled_from(sorted(self.known or "?"))))
        return self.told(data.draw(texts), data.draw(HOURS), data.draw(LIVES))

    def do(self, act: Act, step: Step) -> None:
        act(self.index)
        step()

    # what is compared

    @invariant()
    def agrees(self) -> None:
        assert self.stored() == self.expected()
        self.is_whole()

    def stored(self) -> dict[str, Any]:
        """Return what a reader sees of the scope."""
        index, now = self.index, self.clock.now
        seen = list(index.store.scroll("user", Filter(self.scope, now)))
        found: dict[str, Any] = {
            "plain": sorted(
                (f"{m.kind} {exact_key(m.text)}", self.sources(m)) for m in seen if not m.subject
            ),
            "now": sorted((m.subject, m.value, m.closes) for m in seen if m.subject),
        }
        for subject in (JOB, CAR):
            found[subject] = sorted(
                (str(m.valid_from), str(m.valid_to), m.value, m.closes, self.sources(m))
                for m in history(index, self.scope, subject)
            )
        for hours in (1, 5, 11):
            then = now - timedelta(hours=hours)
            held = index.store.scroll("user", Filter(self.scope, now, as_of=then))
            found[f"{hours} ago"] = sorted(
                (m.subject, m.value, m.closes) for m in held if m.subject
            )
        return found

    def expected(self) -> dict[str, Any]:
        """Return what the model says that a reader sees."""
        now, model = self.clock.now, self.model
        runs = [(subject, run) for subject in (JOB, CAR) for run in model.runs(subject)]

        def held(moment: Any) -> list[tuple[str, str, bool]]:
            return sorted(
                (subject, *run.said)
                for subject, run in runs
                if run.start <= moment and (run.end is None or moment < run.end)
            )

        found: dict[str, Any] = {
            "plain": sorted(
                (words, sorted((source, str(until)) for source, until in places.items()))
                for words, places in model.plain.items()
                if places
            ),
            "now": held(now),
        }
        for subject in (JOB, CAR):
            found[subject] = sorted(
                (
                    str(run.start),
                    str(run.end),
                    *run.said,
                    sorted((source, str(until)) for source, until in run.sources),
                )
                for name, run in runs
                if name == subject
            )
        for hours in (1, 5, 11):
            found[f"{hours} ago"] = held(now - timedelta(hours=hours))
        return found

    def sources(self, memory: Memory) -> list[tuple[str, str]]:
        """Return the sources that count, each with its end."""
        now = self.clock.now
        live = [p for p in mentions(memory) if p.expires_at is None or p.expires_at > now]
        return sorted({(place.source_id, str(place.expires_at)) for place in live})

    def is_whole(self) -> None:
        """What is stored names only what is stored, and every source has its row."""
        every = list(self.index.store.scroll("user", Filter(self.scope)))
        ids = {memory.id for memory in every}
        assert all(m.superseded_by in ids for m in every if m.superseded_by)
        rows = self.index.catalog.sources(self.scope)
        assert {source for m in every for source in m.sources} <= rows.keys()
        values = [m for m in every if m.subject and not m.closes and m.valid_to is None]
        assert len({m.subject for m in values if self.sources(m)}) == len(
            [m for m in values if self.sources(m)]
        )


def named(kind: str, text: str, subject: str, at: Any) -> str:
    """Return the id of the source of what was told."""
    key = exact_key(text) or text
    return f"{kind}:{digest(key, subject, at.isoformat() if at else '')[:32]}"


def test_any_history_is_that_of_the_model(
    make_parts: Callable[..., Parts], memory_folder: Path, clock: Any
) -> None:
    def make() -> Parts:
        return make_parts(memory_folder)

    given = {"make": staticmethod(make), "clock": clock, "parts": make()}
    run_state_machine_as_test(
        type("Given", (Scope,), given),
        settings=settings(
            max_examples=max(1, STEPS // PER_EXAMPLE),
            stateful_step_count=PER_EXAMPLE,
            phases=PHASES,
            deadline=None,
        ),
    )
