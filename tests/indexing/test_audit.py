"""The audit log: pages, actors, and that it names neither scopes nor memories."""

from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from indexing.audit import PERSON, Audit
from indexing.catalog_database import Database
from indexing.catalog_schema import events
from indexing.errors import InvalidInput
from indexing.keyed import Keyed
from indexing.types import GLOBAL, session_scope, user_scope

ANN, BOB = user_scope("ann"), user_scope("bob")
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture
def audit(database: Database) -> Audit:
    return Audit(database)


def test_events_come_in_pages_the_newest_first(audit: Audit) -> None:
    for number in range(5):
        audit.note("edit", ANN, f"memory {number}", actor="operator", now=NOW, receipt=number)
    assert [event.receipt for event in audit.events(2)] == [4, 3]
    assert [event.receipt for event in audit.events(2, 4)] == [0]
    numbers = [event.number for event in audit.events()]
    assert numbers == sorted(numbers, reverse=True)
    with pytest.raises(InvalidInput):
        audit.events(0)


def test_an_event_is_found_by_those_who_know_its_scope_and_memory(
    audit: Audit, database: Database
) -> None:
    audit.note("pin", ANN, "memory-of-ann", actor="operator", now=NOW)
    audit.note("export", BOB, actor="operator", now=NOW)
    (event,) = audit.events(scope=ANN)
    assert (event.action, event.actor, event.at, event.receipt) == ("pin", "operator", NOW, None)
    assert event.memory == Keyed(database).memory("memory-of-ann")
    assert event.scope == Keyed(database).scope(ANN)
    assert audit.events(scope=BOB)[0].memory == ""
    assert audit.events(scope=GLOBAL) == []


def test_the_log_names_neither_the_person_nor_the_memory(audit: Audit, database: Database) -> None:
    audit.note("delete", ANN, "memory-of-ann", actor="ann", now=NOW)
    audit.note("forget", session_scope("ann", "monday"), actor="monday", now=NOW, receipt=1)
    with database.read() as connection:
        rows = str([tuple(row) for row in connection.execute(select(events))])
    for raw in ("ann", "monday", ANN.tenant):
        assert raw not in rows
    assert {event.actor for event in audit.events()} == {PERSON}


def test_a_forgotten_user_who_acted_for_others_is_not_named_any_more(
    audit: Audit, database: Database
) -> None:
    audit.note("edit", BOB, "m", actor="ann", now=NOW)
    audit.note("edit", BOB, "m", actor="operator", now=NOW)
    audit.note("import", GLOBAL, actor="", now=NOW)
    with database.write() as connection:
        assert audit.disown(connection, "ann") == 1
    assert [event.actor for event in audit.events()] == ["", "operator", PERSON]


def test_an_event_stands_with_the_change_that_it_tells_of(audit: Audit, database: Database) -> None:
    def fail() -> None:
        with database.write() as connection:
            audit.note("lift", ANN, actor="operator", now=NOW, connection=connection)
            raise InvalidInput("stop")

    with pytest.raises(InvalidInput):
        fail()
    assert audit.events() == []
