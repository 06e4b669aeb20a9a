"""Any file operations, syncs and crashes in any order end where a clean ingest would."""

import itertools
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from indexing.feeds.access import Access
from indexing.feeds.types import Feed
from indexing.index import Index, Report
from indexing.ingest import retry
from indexing.mentions import spread
from indexing.plan import plan
from indexing.sync import sync
from indexing.types import Filter, Scope, user_scope

FILES = st.sampled_from(["a.md", "b.txt", "c/a.md", "d.txt"])
GOOD = ("One text.", "Another text here.", "A third, the longest.")
BAD = "\0\1\2" * 100
TEXTS = st.sampled_from([*GOOD, BAD])
LATER = Access(now=lambda: 2**62)
"""Stamps are trusted at once; texts differ in length, so a changed file has another stamp."""

Row = tuple[str, str, str, str, int, int]

_numbers = itertools.count()


class Crash(Exception):
    """The process is gone."""


class Dies:
    """An embedder, or a store, that fails for good after some calls."""

    def __init__(self, inner: Any, calls: int) -> None:
        self._inner, self._left = inner, calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return self._counted(found) if name in ("passages", "upsert", "delete", "commit") else found

    def _counted(self, call: Any) -> Any:
        def counted(*given: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise Crash
            return call(*given)

        return counted


class Folder(RuleBasedStateMachine):
    """A folder that is changed, and synchronised into a user's scope now and then."""

    index: Index
    embedder: Any

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.root = self.home / "docs"
        self.scope = user_scope(f"synced {next(_numbers)}")
        self.feed = Feed("path", str(self.root), scope=self.scope)
        self.in_place = False

    @initialize()
    def start(self) -> None:
        self.root.mkdir()

    def teardown(self) -> None:
        if self.root.exists():
            self.synchronise()
            self.embedder.embedded.clear()
            again = sync(self.index, self.feed, LATER)
            assert (again.indexed, again.removed, self.embedder.embedded) == (0, 0, [])
            clean = user_scope(f"clean {next(_numbers)}")
            self.check(sync(self.index, replace(self.feed, scope=clean), LATER))
            assert self.rows(self.scope) - self.kept() == self.rows(clean)
        shutil.rmtree(self.home)

    @rule(name=FILES, text=TEXTS)
    def write(self, name: str, text: str) -> None:
        file = self.root / name
        self.in_place |= file.exists()
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)

    @rule(name=FILES)
    def delete(self, name: str) -> None:
        (self.root / name).unlink(missing_ok=True)

    @rule(name=FILES, other=FILES)
    def rename(self, name: str, other: str) -> None:
        if (self.root / name).exists():
            self.in_place |= (self.root / other).exists() and name != other
            (self.root / other).parent.mkdir(exist_ok=True)
            (self.root / name).rename(self.root / other)

    @rule(name=FILES, other=FILES)
    def copy(self, name: str, other: str) -> None:
        if (self.root / name).exists() and name != other:
            self.in_place |= (self.root / other).exists()
            (self.root / other).parent.mkdir(exist_ok=True)
            shutil.copyfile(self.root / name, self.root / other)

    @rule(name=FILES, other=FILES)
    def swap(self, name: str, other: str) -> None:
        one, two = self.root / name, self.root / other
        if one.exists() and two.exists():
            self.in_place = True
            said = one.read_text()
            one.write_text(two.read_text())
            two.write_text(said)

    @rule(name=FILES, other=FILES, text=TEXTS)
    def push(self, name: str, other: str, text: str) -> None:
        """What a file said goes to another one, and it says something else."""
        self.copy(name, other)
        self.write(name, text)

    @rule(calls=st.integers(0, 4))
    def crash(self, calls: int) -> None:
        """A sync that dies at one of its steps; nothing is known about how far it came."""
        index = replace(
            self.index,
            embedder=Dies(self.index.embedder, calls),  # type: ignore[arg-type]
            store=Dies(self.index.store, calls),  # type: ignore[arg-type]
            catalog=Dies(self.index.catalog, calls),  # type: ignore[arg-type]
        )
        try:
            sync(index, self.feed, LATER)
        except Crash:
            self.in_place = True  # what was replaced before it died is embedded again

    @rule()
    def mend(self) -> None:
        """A retry of dead letters keeps everything in step, whatever it finds."""
        retry(self.index, access=LATER)
        self.in_place = True

    @rule()
    def synchronise(self) -> None:
        done = {name for name, row in self.index.catalog.sources(self.scope).items() if row.chunks}
        memories = self.index.store.scroll("user", Filter(self.scope))
        held = {memory.text for memory in memories if done.intersection(memory.sources)}
        promised = plan(self.index.catalog, self.feed, LATER)
        self.embedder.embedded.clear()
        report = sync(self.index, self.feed, LATER, force=True)
        self.check(report)
        assert report.seen == promised.seen == len(self.present())
        keys = ("new", "changed", "renamed", "unchanged", "duplicate")
        assert promised.counts == {
            **{key: getattr(report, key) for key in keys},
            "dead": len(report.dead),
            "gone": report.removed,
        }
        if not self.in_place:
            known = [text for text in self.embedder.embedded if any(h in text for h in held)]
            assert known == [], "what was indexed is not embedded again"
        self.in_place = False
        self.agrees(report)

    def agrees(self, report: Report) -> None:
        """Compare with what the folder says: all good files, also equal ones, and broken ones."""
        texts = {str(file): file.read_text() for file in sorted(self.present())}
        good = {name: text for name, text in texts.items() if text != BAD}
        assert len(report.dead) == len(texts) - len(good)
        assert report.duplicate == len(good) - len(set(good.values()))
        assert {row[0]: row[2] for row in self.rows(self.scope) - self.kept()} == good
        held = [m.text for m in self.index.store.scroll("user", Filter(self.scope))]
        assert len(held) == len(set(held)), "what several files say is one memory"
        assert {letter.path for letter in self.index.catalog.dead(self.scope)} == (
            texts.keys() - good.keys()
        )

    def check(self, report: Report) -> None:
        assert report.indexed == report.new + report.changed + report.renamed
        assert report.seen == (
            report.indexed + report.unchanged + report.duplicate + len(report.dead)
        )

    def present(self) -> list[Path]:
        return [file for file in self.root.rglob("*") if file.is_file()]

    def rows(self, scope: Scope) -> set[Row]:
        """Return what a scope holds, and check that the catalog agrees."""
        memories = self.index.store.scroll("user", Filter(scope))
        found = [place for memory in memories for place in spread(memory)]
        assert {m.source_id for m in found} == self.index.catalog.sources(scope).keys()
        return {(m.source_id, m.uri, m.text, m.title, m.start, m.end) for m in found}

    def kept(self) -> set[Row]:
        """Return what stays of files that cannot be read now: what they held before."""
        dead = {letter.path for letter in self.index.catalog.dead(self.scope)}
        return {row for row in self.rows(self.scope) if row[0] in dead}


@pytest.mark.parametrize("batch", [1, 3])
def test_any_history_ends_where_a_clean_ingest_does(
    index: Index, embedder: Any, batch: int
) -> None:
    given = type("Given", (Folder,), {"index": replace(index, batch=batch), "embedder": embedder})
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        given,
        settings=settings(
            max_examples=15,
            stateful_step_count=16,
            phases=(Phase.reuse, Phase.generate),
            deadline=None,
        ),
    )
