"""A session that is over: archived or cleared, closed when idle, open again when written to."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chunking.types import Session, Turn
from indexing.closing import Closed, close_idle_sessions, close_session
from indexing.errors import InvalidInput
from indexing.index import Index
from indexing.remember import history, remember
from indexing.turns import ingest_session
from indexing.types import Filter, Scope, session_scope, user_scope

OWN, OTHER = session_scope("ann", "s1"), session_scope("ann", "s2")
HOUR = timedelta(hours=1)


def seen(index: Index, scope: Scope, **where: Any) -> set[str]:
    found = index.store.scroll(scope.collection, Filter(scope, now=index.clock(), **where))
    return {memory.text for memory in found}


@pytest.fixture
def filled(index: Index, clock: Any) -> Index:
    for scope in (OWN, OTHER, user_scope("ann")):
        remember(index, scope, "I live in Prague")
        remember(index, scope, "The blue folder is on the desk")
    clock.now += HOUR
    return index


def test_what_is_archived_is_seen_only_as_of_before(filled: Index, clock: Any) -> None:
    before = clock.now - HOUR / 2
    assert close_session(filled, "ann", "s1", "archive") == Closed(1, 2, 0)
    assert seen(filled, OWN) == set()
    assert len(seen(filled, OTHER)) == len(seen(filled, user_scope("ann"))) == 2
    assert seen(filled, OWN, as_of=before) == {
        "I live in Prague",
        "The blue folder is on the desk",
    }
    assert [m.text for m in history(filled, OWN, "user.home")] == ["I live in Prague"]
    assert close_session(filled, "ann", "s1", "archive") == Closed(1, 0, 0)


def test_a_session_that_is_written_to_again_is_open(filled: Index, clock: Any) -> None:
    close_session(filled, "ann", "s1", "archive")
    clock.now += HOUR
    remember(filled, OWN, "I live in Prague")
    remember(filled, OWN, "The blue folder is on the desk")
    assert len(seen(filled, OWN)) == 2
    remember(filled, OWN, "I live in Brno")
    assert "I live in Prague" not in seen(filled, OWN)


def test_what_is_cleared_leaves_no_byte_and_no_row(filled: Index, parts: Any) -> None:
    canary = "qz81-Blau-77mm"
    remember(filled, OWN, canary)
    said = Turn("t1", "user", f"{canary} as a turn")
    ingest_session(filled, OWN, Session("talk", (said,)))
    assert close_session(filled, "ann", "s1", "clear") == Closed(1, 0, 4)
    assert filled.store.count("session", Filter(OWN)) == 0
    assert filled.catalog.sources(OWN) == {}
    folder = parts.settings.data_dir / "store"
    for file in folder.rglob("*"):
        assert not (file.is_file() and canary.encode() in file.read_bytes()), file
    assert len(seen(filled, OTHER)) == 2


def test_only_idle_sessions_are_closed_and_each_once(filled: Index, clock: Any) -> None:
    clock.now = datetime.now(UTC)  # the catalog's rows have the machine's time
    assert close_idle_sessions(filled, HOUR, "archive") == Closed()
    clock.now += 2 * HOUR
    assert close_idle_sessions(filled, HOUR, "archive") == Closed(2, 4, 0)
    assert close_idle_sessions(filled, HOUR, "archive") == Closed()
    assert len(seen(filled, user_scope("ann"))) == 2


def test_an_unknown_ending_is_refused(filled: Index) -> None:
    with pytest.raises(InvalidInput, match="archive or clear"):
        close_session(filled, "ann", "s1", "burn")  # type: ignore[arg-type]
