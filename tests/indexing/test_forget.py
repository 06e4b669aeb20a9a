"""Forgetting, proven: random histories full of canaries, and no byte of them left in any file."""

import os
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient

from chunking.types import Chunk, Document, Session, Turn
from configs.forgetting import places
from configs.reindex import reindex
from indexing.catalog_rows import DeadLetter
from indexing.documents import document_source
from indexing.errors import Forgotten
from indexing.forget import forget, lift
from indexing.generations import Generations
from indexing.hashing import digest
from indexing.index import Index, Report, Source
from indexing.payload import to_payload
from indexing.receipts import Receipt, Receipts
from indexing.remember import remember
from indexing.server import ServerStore
from indexing.store import DENSE, SPARSE
from indexing.traces import Target, memory_target, session_target, source_target, user_target
from indexing.turns import ingest_session
from indexing.types import (
    COLLECTIONS,
    GLOBAL,
    Filter,
    Scope,
    VectorNames,
    session_scope,
    user_scope,
)
from indexing.write import bury, write
from tests.conftest import TinyEmbedder

BOB = user_scope("bob the neighbour")
HISTORIES = int(os.environ.get("FORGET_HISTORIES", "6"))
"""How many random histories are lived and forgotten; the bar of the project is 50."""


def run(parts: Any, target: Target, asked_by: str = "operator") -> Receipt:
    index = parts.index
    with places(parts.settings, index.catalog, index.store) as known:
        return forget(index, target, asked_by, known)


def found(folder: Path, canaries: Iterable[str]) -> dict[str, list[str]]:
    """Return which canaries are in which files, read the plain way."""
    there: dict[str, list[str]] = {}
    wanted = list(canaries)
    for file in (file for file in folder.rglob("*") if file.is_file()):
        held = stored(file)
        for canary in wanted:
            if canary.encode() in held:
                there.setdefault(canary, []).append(file.name)
    return there


def stored(file: Path) -> bytes:
    """Return the bytes of a file without its holes: most of a young one is one."""
    parts = []
    with file.open("rb") as held:
        try:
            while True:
                start = os.lseek(held.fileno(), held.tell(), os.SEEK_DATA)
                end = os.lseek(held.fileno(), start, os.SEEK_HOLE)
                held.seek(start)
                parts.append(held.read(end - start))
        except OSError:  # there is no more
            return b"".join(parts)


def state(index: Index, scope: Scope) -> list[tuple[str, Any, list[float]]]:
    """Return all that a scope has: ids, payloads, vectors."""
    memories = list(index.store.scroll(scope.collection, Filter(scope)))
    where = Filter(scope, ids=tuple(memory.id for memory in memories))
    vectors = index.store.vectors(scope.collection, where)
    return [(m.id, to_payload(m), vectors[m.id]["dense"].tolist()) for m in memories]


@dataclass
class History:
    """What one random person did; ``canaries`` are by what brought them in."""

    index: Index
    clock: Any
    dice: random.Random
    user: str = ""
    sessions: list[str] = field(default_factory=list)
    canaries: dict[str, set[str]] = field(default_factory=dict)

    def canary(self, of: str) -> str:
        """Return a text that is nowhere else; hexadecimal digits do not pack."""
        made = f"{self.dice.getrandbits(160):040x}"
        self.canaries.setdefault(of, set()).add(made)
        return made

    def live(self) -> None:
        """Remember, chat, ingest, fail, repeat, supersede and let expire."""
        self.user = f"user {self.canary('user')}"
        self.sessions = [f"session {self.canary(f'session {n}')}" for n in range(2)]
        deeds = [self.fact, self.subject, self.chat, self.document, self.letter, self.short]
        for _ in range(self.dice.randint(4, 12)):
            self.dice.choice(deeds)()
            self.clock.now += timedelta(minutes=self.dice.randint(1, 5000))
        for deed in deeds:
            deed()

    def scope(self) -> tuple[Scope, str]:
        number = self.dice.randint(-1, 1)
        if number < 0:
            return user_scope(self.user), "user"
        return session_scope(self.user, self.sessions[number]), f"session {number}"

    def fact(self) -> None:
        scope, of = self.scope()
        text = f"The code is {self.canary(of)}"
        remember(self.index, scope, text)
        if self.dice.random() < 0.5:
            remember(self.index, scope, f"  {text.upper()}! ")

    def subject(self) -> None:
        scope, of = self.scope()
        for _ in range(2):
            remember(self.index, scope, f"I live in {self.canary(of)}", subject="user.home")

    def short(self) -> None:
        scope, of = self.scope()
        until = self.clock.now + timedelta(minutes=1)
        remember(self.index, scope, f"Wait for {self.canary(of)}", expires_at=until)

    def chat(self) -> None:
        number = self.dice.randint(0, 1)
        scope, of = user_scope(self.user), f"session {number}"
        if self.dice.random() < 0.5:
            scope = session_scope(self.user, self.sessions[number])
        turns = [
            Turn(f"t{self.canary(of)}", "user", f"Word {self.canary(of)}", at=self.clock.now)
            for _ in range(3)
        ]
        ingest_session(self.index, scope, Session(self.sessions[number], tuple(turns)))

    def document(self) -> None:
        scope, of = self.scope()
        shared = f"A common paragraph {self.canary(of)}."
        for _ in range(2):
            name = f"/docs/{self.canary(of)}.md"
            text = f"# Plan\n\n{shared}\n\n# Own\n\nOnly here {self.canary(of)}."
            source = document_source(
                self.index.recipe, Document(name, text, uri=name), digest(text)
            )
            write(self.index, scope, [source])

    def letter(self) -> None:
        scope, of = self.scope()
        bury(self.index, Report(), DeadLetter(scope, f"/bad/{self.canary(of)}.pdf", "", "broken"))

    def of(self, what: str) -> Iterator[str]:
        """Yield the canaries that go with a user (all), or with one session."""
        for name, held in self.canaries.items():
            if what in ("user", name):
                yield from held


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_no_byte_of_a_random_history_is_left(seed: int, make_parts: Any, clock: Any) -> None:
    parts = make_parts()
    index, folder = parts.index, parts.settings.data_dir
    remember(index, BOB, "I like the window open")
    remember(index, GLOBAL, "The office closes at six")
    history = History(index, clock, random.Random(seed))
    history.live()
    before = state(index, BOB), state(index, GLOBAL)
    whole = history.dice.random() < 0.5
    if whole:
        target, gone = user_target(history.user), set(history.of("user"))
    else:
        target = session_target(history.user, history.sessions[0])
        gone = set(history.of("session 0"))
    for collection in COLLECTIONS:
        index.store.vacuum(collection)
    assert len(found(folder, gone)) > len(gone) / 2, "the look sees what is there"
    stay = {c for held in history.canaries.values() for c in held} - gone
    there = found(folder, stay).keys()

    receipt = run(parts, target)
    assert receipt.clean, receipt
    assert sum(receipt.draft.removed.values()) > 0
    assert found(folder, gone) == {}
    assert (state(index, BOB), state(index, GLOBAL)) == before
    assert found(folder, stay).keys() == there, "nothing else went"
    assert Receipts(index.catalog.database).verify().ok


# single sources and memories


def told(index: Index, name: str, text: str, scope: Scope = GLOBAL) -> None:
    """Index a document, each paragraph a chunk."""
    source = document_source(index.recipe, Document(name, text, uri=name), digest(text))
    (whole,) = source.chunks
    chunks = []
    for number, part in enumerate(text.split("\n\n")):
        start = text.index(part)
        cut = {"ordinal": number, "start": start, "end": start + len(part), "text": part}
        chunks.append(replace(whole, **cut))
    write(index, scope, [replace(source, chunks=chunks)])


def texts(index: Index, scope: Scope = GLOBAL) -> set[str]:
    return {memory.text for memory in index.store.scroll(scope.collection, Filter(scope))}


def test_a_source_goes_and_what_others_say_too_stays(parts: Any) -> None:
    index, folder = parts.index, parts.settings.data_dir
    told(index, "/docs/a7c1e9.md", "Only here: 5f0c9a7e2b.")
    told(index, "/docs/a7c1e9-copy.md", "Elsewhere.")
    shared = "Both say 77ab31c9e0d4."
    told(index, "/docs/first-71bb.md", shared)
    told(index, "/docs/second-93cc.md", shared)
    receipt = run(parts, source_target(GLOBAL, ["/docs/a7c1e9.md", "/docs/first-71bb.md"]))
    assert receipt.clean
    assert texts(index) == {"Elsewhere.", "Both say 77ab31c9e0d4."}
    assert sorted(index.catalog.sources(GLOBAL)) == ["/docs/a7c1e9-copy.md", "/docs/second-93cc.md"]
    (stays,) = (m for m in index.store.scroll("global", Filter(GLOBAL)) if "Both" in m.text)
    assert stays.sources == ("/docs/second-93cc.md",)
    assert found(folder, ["5f0c9a7e2b", "/docs/first-71bb.md"]) == {}
    assert found(folder, ["77ab31c9e0d4"])


def test_a_forgotten_source_stays_away_until_lifted(parts: Any) -> None:
    index = parts.index
    target = source_target(GLOBAL, ["/docs/a.md"])
    told(index, "/docs/a.md", "Once more.")
    run(parts, target)
    source = document_source(index.recipe, Document("/docs/a.md", "Once more."), "h")
    other = document_source(index.recipe, Document("/docs/b.md", "Welcome."), "h")
    report = write(index, GLOBAL, [source, other])
    assert (report.forgotten, report.indexed, texts(index)) == (1, 1, {"Welcome."})
    assert list(index.catalog.sources(GLOBAL)) == ["/docs/b.md"]
    assert lift(index, target, "operator") == 1
    assert write(index, GLOBAL, [source]).indexed == 1
    assert texts(index) == {"Welcome.", "Once more."}


def test_a_memory_goes_and_only_being_told_again_brings_it_back(parts: Any) -> None:
    index, folder = parts.index, parts.settings.data_dir
    doc = "Keep this.\n\nDrop 0c5d17f2ee41."
    told(index, "/docs/a.md", doc, BOB)
    fact = remember(index, BOB, "My code is 99ffe1027b", subject="code")
    later = remember(index, BOB, "My code is 35aa70c1d9", subject="code")
    (chunk,) = (m for m in index.store.scroll("user", Filter(BOB)) if "Drop" in m.text)
    receipt = run(parts, memory_target(BOB, [chunk.id, later.id]))
    assert receipt.clean
    assert texts(index, BOB) == {"Keep this.", "My code is 99ffe1027b"}
    assert found(folder, ["0c5d17f2ee41", "35aa70c1d9", chunk.id, later.id]) == {}
    (old,) = (m for m in index.store.scroll("user", Filter(BOB)) if m.id == fact.id)
    assert (old.valid_to is not None, old.superseded_by) == (True, ""), "an end stays an end"
    assert index.catalog.sources(BOB)["/docs/a.md"].chunks == 1
    told(index, "/docs/a.md", f"Before.\n\n{doc}", BOB)
    assert "Before." in texts(index, BOB)
    assert not any("Drop" in text for text in texts(index, BOB))
    again = remember(index, BOB, "My code is 35aa70c1d9", subject="code")
    assert again.valid_to is None
    assert "My code is 35aa70c1d9" in texts(index, BOB)


def test_a_forgotten_turn_is_no_longer_what_was_said_before(parts: Any) -> None:
    index, folder = parts.index, parts.settings.data_dir
    said = [
        Turn(str(n), "user", text) for n, text in enumerate(("One c4f1a07d.", "Two.", "Three."))
    ]
    ingest_session(index, BOB, Session("talk", tuple(said)))
    (first,) = (m for m in index.store.scroll("user", Filter(BOB)) if "One" in m.text)
    assert run(parts, memory_target(BOB, [first.id])).clean
    assert found(folder, ["c4f1a07d"]) == {}
    befores = {m.text: m.before for m in index.store.scroll("user", Filter(BOB))}
    assert befores == {"Two.": "", "Three.": "user: Two."}


# whole people


def test_a_session_goes_from_the_users_own_memory_too(parts: Any) -> None:
    index = parts.index
    for name in ("talk one", "talk two"):
        turns = (Turn("1", "user", f"This is {name}"),)
        ingest_session(index, BOB, Session(name, turns))
        remember(index, session_scope(BOB.user_id, name), f"Working on {name}")
    receipt = run(parts, session_target(BOB.user_id, "talk one"))
    assert receipt.clean
    assert receipt.draft.removed["vectors:user"] == receipt.draft.removed["vectors:session"] == 1
    assert texts(index, BOB) == {"This is talk two"}
    assert texts(index, session_scope(BOB.user_id, "talk two")) == {"Working on talk two"}


def test_a_user_is_blocked_in_every_scope_until_lifted(parts: Any) -> None:
    index = parts.index
    remember(index, BOB, "Hello")
    run(parts, user_target(BOB.user_id))
    for scope in (BOB, session_scope(BOB.user_id, "never seen before")):
        with pytest.raises(Forgotten, match="forget --lift"):
            remember(index, scope, "Hello again")
    report = Report()
    bury(index, report, DeadLetter(BOB, "/bad.pdf", "", "broken"))
    assert index.catalog.dead() == []
    remember(index, user_scope("bob the neighbour "), "Another id, another person")
    lift(index, user_target(BOB.user_id), "operator")
    remember(index, BOB, "Hello again")
    assert texts(index, BOB) == {"Hello again"}


def test_an_ingest_that_runs_meanwhile_ends_forgotten(parts: Any, embedder: Any) -> None:
    index = parts.index
    passages, calls = embedder.passages, []

    def slow(batch: Sequence[str]) -> Any:
        calls.append(len(batch))
        if len(calls) == 2:  # in the middle of the second batch
            assert run(parts, user_target(BOB.user_id)).clean
        return passages(batch)

    embedder.passages = slow
    sources = [
        document_source(index.recipe, Document(f"/d/{n}", f"Text number {n}."), str(n))
        for n in range(6)
    ]
    report = write(replace(index, batch=2), BOB, sources)
    assert (report.indexed, report.forgotten) == (2, 4)
    assert texts(index, BOB) == set()
    assert index.catalog.sources(BOB) == {}


def test_what_was_never_there_gives_a_receipt_of_zeros(parts: Any) -> None:
    receipt = run(parts, user_target("nobody at all"))
    assert receipt.clean
    assert set(receipt.draft.removed.values()) == {0}


def test_forgetting_that_was_killed_is_run_again(parts: Any, monkeypatch: Any) -> None:
    index = parts.index
    remember(index, BOB, "Canary 7c7c19aa")
    with monkeypatch.context() as patch:
        patch.setattr(type(index.store), "delete", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(parts, user_target(BOB.user_id))
    assert [stone.receipt for stone in index.catalog.tombstones.all()] == [None]
    with pytest.raises(Forgotten):
        remember(index, BOB, "Again")
    assert run(parts, user_target(BOB.user_id)).clean
    assert [stone.receipt for stone in index.catalog.tombstones.all()] == [1]
    assert found(parts.settings.data_dir, ["7c7c19aa"]) == {}


def test_a_receipt_names_nobody(parts: Any) -> None:
    index = parts.index
    remember(index, BOB, "Something private")
    receipt = run(parts, user_target(BOB.user_id), asked_by=BOB.user_id)
    shown = str(receipt)
    assert BOB.user_id not in shown
    assert BOB.tenant not in shown
    assert "private" not in shown


def test_on_a_server_the_receipt_says_what_its_optimizer_has_to_do(parts: Any) -> None:
    server = ServerStore(QdrantClient(":memory:"))
    names = VectorNames({DENSE: parts.index.embedder.dim}, (SPARSE,))
    for collection in COLLECTIONS:
        server.open_collection(collection, names)
    index = replace(parts.index, store=server)
    remember(index, BOB, "My code is 41c0ffee77")
    remember(index, GLOBAL, "The office closes at six")
    receipt = forget(index, user_target(BOB.user_id), "operator")
    assert receipt.clean
    assert (receipt.draft.removed["vectors:user"], receipt.draft.files) == (1, 0)
    assert "optimizer" in receipt.draft.notes[0]
    assert texts(index, BOB) == set()
    assert texts(index) == {"The office closes at six"}


def test_a_generation_that_is_being_built_forgets_too(parts: Any, monkeypatch: Any) -> None:
    index, folder = parts.index, parts.settings.data_dir
    remember(index, BOB, "Canary 55d0c1aa42")
    remember(index, GLOBAL, "The office closes at six")
    other = TinyEmbedder()
    other.name = "another"
    with monkeypatch.context() as patch:
        patch.setattr(Generations, "hold", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            reindex(parts.settings, embedder=other)
    assert index.catalog.generations.building() is not None
    assert len(found(folder, ["55d0c1aa42"])["55d0c1aa42"]) > 1
    assert run(parts, user_target(BOB.user_id)).clean
    assert found(folder, ["55d0c1aa42"]) == {}


def test_an_id_that_only_two_values_make_together_is_not_left(parts: Any) -> None:
    index = parts.index
    for name, content in (("/docs/report-1", "2f"), ("/docs/report-12f", "h")):
        chunk = Chunk(name, 0, 0, 4, f"Said in {name[-2:]}.")
        write(index, GLOBAL, [Source(name, "document", content, [chunk])])
    receipt = run(parts, source_target(GLOBAL, ["/docs/report-12f"]))
    assert receipt.clean, "a path and the hash beside it read like the other path"
    assert receipt.draft.rewrites == 1


def test_what_was_told_and_forgotten_as_a_source_is_refused_by_name(parts: Any) -> None:
    index = parts.index
    told = remember(index, BOB, "My cup is red")
    run(parts, source_target(BOB, told.sources))
    with pytest.raises(Forgotten, match="--lift --source"):
        remember(index, BOB, "My cup is red")
    assert lift(index, source_target(BOB, told.sources), "operator") == 1
    assert remember(index, BOB, "My cup is red").id == told.id
