"""What the catalog's views count, on every database: kinds, owners, what is gone, what was."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from chunking.types import Session, Turn
from indexing.catalog import Catalog
from indexing.catalog_database import Database
from indexing.catalog_migrations import MIGRATIONS
from indexing.catalog_rows import About, SourceRow, note_scope
from indexing.catalog_schema import owner_key, versions
from indexing.catalog_views import SHARED, VIEWS
from indexing.closing import close_session
from indexing.conversations import read_conversations
from indexing.corrections import edit
from indexing.expire import sweep
from indexing.forget import forget
from indexing.index import Index
from indexing.remember import remember
from indexing.traces import memory_target, session_target, source_target, user_target
from indexing.transfer.export import export_user, write_lines
from indexing.transfer.restore import restore
from indexing.turns import ingest_session
from indexing.types import GLOBAL, Filter, Scope, session_scope, user_scope
from tests.conftest import FixedClock, PartsMaker, TinyEmbedder

ANN, BOB = user_scope("ann"), user_scope("bob")
LATER = ("kind", "role", "tool", "added_at", "failed")
FACT = f"fact:{'a' * 32}"
AT = datetime(2026, 5, 8, 10, tzinfo=UTC)


@pytest.fixture
def catalog(catalog_url: str) -> Iterator[Catalog]:
    opened = Catalog(catalog_url)
    yield opened
    opened.close()


def counts(catalog: Catalog, owner: str) -> dict[str, int]:
    """Return how many rows of an owner each view has that has any."""
    found = {}
    with catalog.database.read() as connection:
        for name in VIEWS:
            query = text(f"SELECT COUNT(*) FROM {name} WHERE owner = :owner")
            found[name.removeprefix("letopis_")] = connection.execute(
                query, {"owner": owner}
            ).scalar_one()
    return {name: count for name, count in found.items() if count}


def of(index: Index, scope: Scope = ANN) -> dict[str, int]:
    return counts(index.catalog, owner_key(scope.user_id))


def call(name: str, failed: bool | None, text: str = "42") -> Turn:
    return Turn(name, "tool", text, "search", AT, (), "search", failed)


def put(catalog: Catalog, scope: Scope, *rows: SourceRow) -> None:
    """Write rows as `write_batch` does."""
    catalog.begin(scope, [row.source_id for row in rows])
    catalog.commit(scope, rows)


def row(name: str, about: About, chunks: int = 1, talk: str = "") -> SourceRow:
    return SourceRow(name, "h", chunks, talk, 5.0 if talk else None, about)


def test_each_kind_is_counted_in_its_view_and_for_its_owner(catalog: Catalog) -> None:
    turn, reply = About("turn", "user"), About("turn", "assistant")
    put(catalog, ANN, row("1", turn, talk="s"), row("2", reply, talk="s"))
    put(catalog, ANN, row("3", About("turn", "system"), talk="s"), row("f", About("fact")))
    put(catalog, ANN, row("4", About("tool_result", "tool", "search", True), 0, "t"))
    now = session_scope("ann", "now")
    put(catalog, now, row("5", turn, talk="s"), row("d", About("digest")))
    put(catalog, GLOBAL, row("page", About("document")), row("empty", About("document"), 0))
    put(catalog, BOB, row("mine", About("document")))
    catalog.begin(BOB, ["begun"])
    assert counts(catalog, owner_key("ann")) == {
        "messages": 3,
        "own_messages": 2,
        "replies": 1,
        "sessions": 2,
        "tool_calls": 1,
        "facts": 1,
        "digests": 1,
    }
    assert counts(catalog, owner_key("bob")) == {"documents": 1, "own_documents": 1}
    assert counts(catalog, SHARED) == {"documents": 1}


def test_how_a_call_ended_is_failed_succeeded_or_not_known(catalog: Catalog) -> None:
    ends = [True, False, None]
    rows = [row(str(e), About("tool_result", "tool", "t", e), 1, "s") for e in ends]
    put(catalog, ANN, *rows)
    with catalog.database.read() as connection:
        found = connection.execute(text("SELECT outcome, failure FROM letopis_tool_calls"))
        assert {tuple(one) for one in found} == {
            ("failed", "tool_error"),
            ("succeeded", None),
            (None, None),
        }
    assert [catalog.sources(ANN)[str(end)].about.failed for end in ends] == ends


def test_a_document_that_changes_keeps_since_when_it_is_there(catalog: Catalog) -> None:
    put(catalog, ANN, row("a", About("document", added_at=5.0)))
    catalog.begin(ANN, ["a"])
    put(catalog, ANN, row("a", About("document", added_at=9.0)))
    assert catalog.sources(ANN)["a"].about.added_at == 5.0


def test_what_is_in_no_memory_any_more_counts_as_nothing(catalog: Catalog) -> None:
    put(catalog, ANN, row("1", About("turn", "user"), 2, "s"), row("f", About("fact")))
    catalog.recount(ANN, {"1": 1})
    assert counts(catalog, owner_key("ann"))["messages"] == 1
    catalog.recount(ANN, {"1": 0, "f": 0})
    assert counts(catalog, owner_key("ann")) == {}


def test_a_catalog_of_version_six_is_taken_over(catalog_url: str) -> None:
    Catalog(catalog_url).close()
    old = Database(catalog_url, 5)
    with old.write("schema") as connection:
        for name in VIEWS:
            connection.execute(text(f"DROP VIEW {name}"))
        for name in LATER:
            connection.execute(text(f"ALTER TABLE sources DROP COLUMN {name}"))
        connection.execute(text(f"DELETE FROM {versions.name} WHERE version > 6"))
        for scope, name, number, talk in (
            (GLOBAL, "docs/a.md", 2, ""),
            (GLOBAL, "docs/begun.md", 0, ""),
            (ANN, FACT, 1, ""),
            (ANN, f"digest:{'b' * 32}", 1, ""),
            (ANN, "turn:1", 1, "s"),
        ):
            connection.execute(
                text(
                    "INSERT INTO sources VALUES (:tenant, :key, :collection, :name, 'h', :number,"
                    " 7.0, :talk, NULL)"
                ),
                {
                    "tenant": scope.tenant,
                    "collection": scope.collection,
                    "key": name,
                    "name": name,
                    "number": number,
                    "talk": talk,
                },
            )
            note_scope(connection, scope)
    old.close()
    catalog = Catalog(catalog_url)
    assert counts(catalog, SHARED) == {"documents": 1}
    assert counts(catalog, owner_key("ann")) == {"sessions": 1, "facts": 1, "digests": 1}
    with catalog.database.read() as connection:
        assert len(connection.execute(versions.select()).all()) == len(MIGRATIONS)
        added = connection.execute(text("SELECT added_at FROM letopis_facts")).scalar_one()
    assert added == 7.0
    catalog.close()


def test_an_export_that_is_read_again_says_what_its_turns_are(
    index: Index, embedder: TinyEmbedder
) -> None:
    session = Session("s", (Turn("1", "user", "hello", at=AT), call("2", None), call("3", True)))
    ingest_session(index, ANN, session)
    with index.catalog.database.write("x") as connection:
        connection.execute(
            text("UPDATE sources SET kind = '', role = '', tool = '', failed = NULL")
        )
    assert of(index) == {"sessions": 1}
    embedded = len(embedder.embedded)
    again = (*session.turns[:1], call("2", False), *session.turns[2:])
    report = ingest_session(index, ANN, Session("s", again))
    assert (report.unchanged, report.indexed) == (3, 0)
    assert len(embedder.embedded) == embedded
    assert of(index) == {"messages": 1, "own_messages": 1, "sessions": 1, "tool_calls": 2}
    abouts = {row.about.failed for row in index.catalog.sources(ANN).values()}
    assert abouts == {None, False, True}


def test_forgetting_and_clearing_take_the_rows_along(index: Index, clock: FixedClock) -> None:
    talk = (Turn("1", "user", "the code is canary-4471", at=AT), call("2", True, "canary result"))
    ingest_session(index, ANN, Session("s", talk))
    ingest_session(index, session_scope("ann", "now"), Session("now", talk))
    ingest_session(index, BOB, Session("s", talk))
    assert of(index)["tool_calls"] == 2
    close_session(index, "ann", "now", "clear")
    assert of(index) == {"messages": 1, "own_messages": 1, "sessions": 1, "tool_calls": 1}
    assert forget(index, session_target("ann", "s"), "ann").clean
    assert of(index) == {}
    remember(index, ANN, "likes tea very much")
    assert of(index) == {"facts": 1}
    assert forget(index, user_target("ann"), "ann").clean
    assert of(index) == {}
    assert of(index, BOB)["tool_calls"] == 1


def test_a_turn_forgotten_by_its_memory_stays_uncounted(index: Index) -> None:
    session = Session("s", (Turn("1", "user", "hello there", at=AT), call("2", True, "")))
    ingest_session(index, ANN, session)
    (memory,) = index.store.scroll("user", Filter(ANN))
    forget(index, memory_target(ANN, [memory.id]), "ann")
    assert of(index) == {"sessions": 1, "tool_calls": 1}
    ingest_session(index, ANN, session)
    assert of(index) == {"sessions": 1, "tool_calls": 1}


def test_forgetting_a_source_leaves_none_of_it(index: Index) -> None:
    kept = remember(index, ANN, "likes green tea")
    gone = remember(index, ANN, "likes black coffee")
    assert of(index) == {"facts": 2}
    assert forget(index, source_target(ANN, [gone.source_id]), "ann").clean
    assert of(index) == {"facts": 1}
    assert set(index.catalog.sources(ANN)) == {kept.source_id}


def test_an_edited_fact_is_one_fact_of_the_same_time(index: Index, clock: FixedClock) -> None:
    told = remember(index, ANN, "likes green tea")
    since = clock.now.timestamp()
    clock.now += timedelta(days=40)
    edit(index, ANN, told.id, "likes white tea", "ann")
    (about,) = (row.about for row in index.catalog.sources(ANN).values())
    assert (about.kind, about.added_at) == ("fact", since)
    assert of(index) == {"facts": 1}


def test_a_fact_counts_from_when_it_was_said(index: Index) -> None:
    remember(index, ANN, "moved to Brno", at=AT)
    (row,) = index.catalog.sources(ANN).values()
    assert row.about == About("fact", added_at=AT.timestamp())


def test_expired_facts_are_not_counted(index: Index, clock: FixedClock) -> None:
    remember(index, ANN, "the sale ends", expires_at=clock.now + timedelta(hours=1))
    clock.now += timedelta(hours=2)
    sweep(index)
    assert of(index) == {}


def test_the_turn_after_a_forgotten_one_keeps_what_it_is(index: Index) -> None:
    first = Turn("1", "user", "canary-77 please look it up", at=AT)
    ingest_session(index, ANN, Session("s", (first, call("2", True, "not found at all"))))
    name = next(
        name for name, row in index.catalog.sources(ANN).items() if row.about.role == "user"
    )
    forget(index, source_target(ANN, [name]), "ann")
    (row,) = index.catalog.sources(ANN).values()
    assert replace(row.about, added_at=None) == About("tool_result", "tool", "search", True)


def test_a_blank_result_has_its_time(index: Index) -> None:
    ingest_session(index, ANN, Session("s", (call("1", False, ""),)))
    (one,) = read_conversations(index.catalog)
    assert one.started_at == AT


def test_an_imported_history_is_counted(
    index: Index, make_parts: PartsMaker, memory_folder: Path
) -> None:
    ingest_session(index, ANN, Session("s", (Turn("1", "user", "hi all", at=AT), call("2", True))))
    remember(index, ANN, "likes tea", at=AT)
    file = memory_folder / "ann.jsonl"
    write_lines(file, export_user(index.catalog, index.store, "ann", index.clock()))
    other = make_parts(memory_folder / "other").index
    restore(other, file, "eve")
    assert of(other, user_scope("eve")) == of(index)
    abouts = [row.about for row in other.catalog.sources(user_scope("eve")).values()]
    assert {(a.kind, a.role, a.tool, a.failed) for a in abouts} == {
        ("turn", "user", "", None),
        ("tool_result", "tool", "search", None),
        ("fact", "", "", None),
    }
