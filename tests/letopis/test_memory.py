"""The front door in Python: isolation, sessions, expiry, explanations, the README's example."""

import json
import re
import subprocess
import sys
import unicodedata
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import letopis
from configs.build import Parts, fingerprint
from configs.forgetting import places
from indexing.errors import InvalidId, InvalidInput, UnknownMemory
from indexing.needles import text_needle
from indexing.reindex import mirror
from indexing.scan import scan
from indexing.types import Filter
from letopis import LongTermMemory
from tests.conftest import FixedClock, PartsMaker
from tests.letopis.conftest import ROOT, environment

NFC = "Andr\u00e9"
NFD = unicodedata.normalize("NFD", NFC)
USERS = ("user", "User", "user1", "user ", "../x", "u*", "Анна", "анна", NFC, NFD, "y" * 1024)


@pytest.fixture
def memory(parts: Parts) -> LongTermMemory:
    return LongTermMemory(parts)


def texts(memory: LongTermMemory, user: str | None, session: str | None = None) -> list[str]:
    return sorted(hit.memory.text for hit in memory.retrieve("secret number", user, session, k=50))


def test_a_user_sees_the_own_secret_only(memory: LongTermMemory) -> None:
    for number, user in enumerate(USERS):
        memory.remember(user, f"secret number {number}")
    for number, user in enumerate(USERS):
        assert texts(memory, user) == [f"secret number {number}"]
    assert texts(memory, None) == texts(memory, "stranger") == []


def test_a_session_adds_its_own_memories_and_no_other_session_sees_them(
    memory: LongTermMemory,
) -> None:
    memory.remember("ann", "secret number of ann")
    memory.remember("ann", "secret number of monday", session_id="monday")
    memory.remember("bob", "secret number of bob", session_id="monday")
    assert texts(memory, "ann") == texts(memory, "ann", "tuesday") == ["secret number of ann"]
    assert texts(memory, "ann", "monday") == ["secret number of ann", "secret number of monday"]
    assert texts(memory, "bob", "monday") == ["secret number of bob"]


def test_a_text_in_place_of_a_list_is_refused(memory: LongTermMemory) -> None:
    memory.remember("ann", "secret number of ann")
    for name in ("kinds", "sources", "tags", "languages"):
        with pytest.raises(InvalidInput, match=f"{name} is a text"):
            memory.retrieve("secret number", "ann", **{name: "fact"})  # type: ignore[arg-type]


def test_an_expired_fact_is_invisible_from_its_moment_on(
    memory: LongTermMemory, clock: FixedClock
) -> None:
    until = clock.now + timedelta(minutes=1)
    memory.remember("ann", "secret number one", expires_at=until)
    assert texts(memory, "ann") == ["secret number one"]
    clock.now = until
    assert texts(memory, "ann") == []


def test_what_is_remembered_is_seen_and_corrected(
    memory: LongTermMemory, clock: FixedClock
) -> None:
    memory.remember("bob", "secret number of bob")
    memory.remember("ann", "secret number of monday", session_id="monday")
    old = memory.remember("ann", "secret number one", expires_at=clock.now + timedelta(days=1))
    assert memory.memories("ann").memories == (old,)
    page = memory.memories("ann", limit=1, all_sessions=True)
    assert (page.total, page.memories) == (2, (old,))
    (last,) = memory.memories("ann", after=page.after, all_sessions=True).memories
    assert last.text == "secret number of monday"
    new = memory.edit("ann", old.id, "secret number two", asked_by="boss")
    assert memory.pin("ann", new.id).expires_at is None
    clock.now += timedelta(days=30)
    assert texts(memory, "ann") == ["secret number two"]
    assert memory.unpin("ann", new.id).pinned is False
    with pytest.raises(UnknownMemory, match="user:bob has no memory"):
        memory.delete("bob", new.id)
    receipt = memory.delete("ann", new.id, asked_by="boss")
    assert (receipt.clean, receipt.draft.removed["vectors:user"]) == (True, 1)
    assert memory.memories("ann").total == 0
    assert texts(memory, "bob") == ["secret number of bob"]


def test_an_edit_reaches_the_vectors_that_are_being_made(make_parts: PartsMaker) -> None:
    parts = make_parts()
    memory, catalog = LongTermMemory(parts), parts.index.catalog
    old = memory.remember("ann", "secret number 5f0e7731c2d94ab8")
    catalog.generations.begin(json.dumps(fingerprint(parts.settings, parts.index.embedder)))
    with places(parts.settings, catalog, parts.index.store) as known:
        other = replace(parts.index, store=known.others[0])
        mirror(parts.index.store, other)
        assert other.store.count("user", Filter(old.scope)) == 1
    memory.edit("ann", old.id, "secret number two")
    assert scan(parts.settings.data_dir, [text_needle("5f0e7731c2d94ab8")]).hits == ()


def test_a_result_iterates_and_its_shares_add_up(memory: LongTermMemory) -> None:
    for number in range(6):
        memory.remember("ann", f"secret number {number} about the budget")
    result = memory.retrieve("a secret number about the budget", "ann", k=4)
    assert len(result) == len(list(result)) == 4
    assert [hit.rank for hit in result] == [1, 2, 3, 4]
    assert [hit.score for hit in result] == sorted((h.score for h in result), reverse=True)
    for hit in result:
        assert hit.stages.keys() == {"dense", "sparse"}
        assert sum(stage.share for stage in hit.stages.values()) == pytest.approx(hit.score)
    assert [scope.scope for scope in result.trace.scopes] == ["global", "user:ann"]


def test_ingest_goes_to_the_scope_that_is_named(memory: LongTermMemory, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("secret number in a file")
    assert memory.ingest(tmp_path / "note.txt", "ann", "monday").indexed == 1
    assert texts(memory, "ann") == texts(memory, None) == []
    assert texts(memory, "ann", "monday") == ["secret number in a file"]


def test_what_names_nobody_is_refused(memory: LongTermMemory) -> None:
    with pytest.raises(InvalidInput, match="the path is empty"):
        memory.ingest("")
    with pytest.raises(InvalidInput, match="a session belongs to a user"):
        memory.ingest(".", session_id="monday")
    with pytest.raises(InvalidInput, match="not valid Unicode"):
        memory.retrieve("\udcff", "ann")
    with pytest.raises(InvalidId, match="wildcard"):
        memory.remember("*", "secret number")


def test_the_front_door_exports_what_it_says() -> None:
    names = {"LongTermMemory", "close", "open_memory", "remember", "retrieve"}
    assert set(letopis.__all__) == names
    assert all(hasattr(letopis, name) for name in names)


def test_the_example_of_the_readme_runs(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    found = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert found
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", found[1]],
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert "Anna's budget for sensors is 1,760,000 roubles user:anna" in process.stdout
    assert (tmp_path / "memory" / "store").is_dir()
