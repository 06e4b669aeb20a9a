"""Conversations of indexed turns: closed when idle, open again when touched."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from chunking.types import Session, Turn
from indexing.catalog import Catalog
from indexing.catalog_database import Database
from indexing.catalog_migrations import MIGRATIONS
from indexing.catalog_rows import SourceRow
from indexing.catalog_schema import versions
from indexing.catalog_views import VIEWS
from indexing.conversations import ClosingReport, close_idle, read_conversations
from indexing.index import Index
from indexing.turns import ingest_session
from indexing.types import Scope, session_scope, user_scope
from tests.conftest import FixedClock

LATER = ("kind", "role", "tool", "added_at", "failed")
ANN = user_scope("ann")
START = datetime(2026, 11, 1, 9, tzinfo=UTC)
IDLE = timedelta(minutes=30)


def talk(name: str, minutes: Sequence[int], words: str = "hello") -> Session:
    turns = [
        Turn(f"t{m}", "user", f"{words} at {m}", "ann", START + timedelta(minutes=m))
        for m in minutes
    ]
    return Session(name, tuple(turns))


def close(index: Index) -> ClosingReport:
    return close_idle(index.catalog, index.clock(), IDLE)


def states(index: Index, scope: Scope | None = None) -> dict[str, bool]:
    found = read_conversations(index.catalog, scope)
    return {one.conversation_id: one.closed_at is not None for one in found}


def test_a_conversation_has_its_owner_times_and_turns(index: Index) -> None:
    ingest_session(index, ANN, talk("monday", [0, 5, 12]))
    ingest_session(index, session_scope("bob", "s"), talk("monday", [3]))
    mine, other = read_conversations(index.catalog)
    assert (mine.scope, mine.conversation_id, mine.turns) == (ANN, "monday", 3)
    assert (mine.started_at, mine.last_at) == (START, START + timedelta(minutes=12))
    assert mine.closed_at is None
    assert (other.scope, other.turns) == (session_scope("bob", "s"), 1)
    assert read_conversations(index.catalog, ANN) == [mine]


def test_only_what_is_idle_is_closed_and_only_once(index: Index, clock: FixedClock) -> None:
    ingest_session(index, ANN, talk("old", [0]))
    ingest_session(index, ANN, talk("live", [100]))
    clock.now = START + timedelta(minutes=110)
    assert close(index) == ClosingReport(seen=2, closed=1, open=1)
    assert states(index) == {"old": True, "live": False}
    assert close(index) == ClosingReport(seen=2, open=1)
    (closed,) = (one for one in read_conversations(index.catalog) if one.closed_at)
    assert closed.closed_at == clock.now


@pytest.mark.parametrize(
    "later", [talk("monday", [0, 5]), talk("monday", [0], "goodbye")], ids=["added", "changed"]
)
def test_a_turn_that_is_added_or_changed_opens_it_again(
    index: Index, clock: FixedClock, later: Session
) -> None:
    ingest_session(index, ANN, talk("monday", [0]))
    clock.now = START + timedelta(hours=2)
    close(index)
    assert states(index) == {"monday": True}
    ingest_session(index, ANN, later)
    assert states(index) == {"monday": False}
    assert close(index).closed == 1


def test_what_has_no_turns_any_more_is_forgotten(index: Index) -> None:
    ingest_session(index, ANN, talk("monday", [0]))
    index.catalog.remove(ANN, list(index.catalog.sources(ANN)))
    assert read_conversations(index.catalog) == []
    assert close(index) == ClosingReport(gone=1)
    assert close(index) == ClosingReport()


def test_turns_without_times_are_closed_at_once(index: Index) -> None:
    index.catalog.commit(ANN, [SourceRow("t", "h", 1, "undated")])
    assert close(index).closed == 1
    (one,) = read_conversations(index.catalog)
    assert (one.started_at, one.last_at, one.turns) == (None, None, 1)


def test_documents_are_no_conversation(index: Index) -> None:
    index.catalog.commit(ANN, [SourceRow("d", "h", 1)])
    assert read_conversations(index.catalog) == []


def test_a_catalog_of_before_gets_the_columns(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.sqlite'}"
    Catalog(url).close()
    old = Database(url, 5)
    with old.write("schema") as connection:
        for statement in (
            *(f"DROP VIEW {name}" for name in VIEWS),
            *(f"ALTER TABLE sources DROP COLUMN {name}" for name in LATER),
            "DROP TABLE conversations",
            "ALTER TABLE sources DROP COLUMN conversation_id",
            "ALTER TABLE sources DROP COLUMN said_at",
            f"DELETE FROM {versions.name} WHERE version > 2",
        ):
            connection.execute(text(statement))
        connection.execute(
            text("INSERT INTO sources VALUES ('t', 'k', 'user', 'turn:1', 'h', 1, 0.0)")
        )
    old.close()
    catalog = Catalog(url)
    catalog.commit(ANN, [SourceRow("turn:2", "h", 1, "monday", 5.0)])
    (one,) = read_conversations(catalog)
    assert one.conversation_id == "monday"
    with catalog.database.read() as connection:
        found = connection.execute(text("SELECT conversation_id, said_at FROM sources"))
        assert ("", None) in [tuple(row) for row in found]
        count = connection.execute(versions.select()).all()
    assert len(count) == len(MIGRATIONS)
    catalog.close()
