"""Tombstones: what they block, in whose transaction, and that they name nobody."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from sqlalchemy import select

from indexing.catalog import Catalog
from indexing.catalog_database import Database
from indexing.catalog_schema import tombstones
from indexing.errors import LIFT, Forgotten, InvalidInput
from indexing.keyed import Keyed
from indexing.tombstones import FREE, Blocked, Tombstones, What, owner_lock
from indexing.types import GLOBAL, Scope, session_scope, user_scope

ANN, BOB = user_scope("ann"), user_scope("bob")
MONDAY, TUESDAY = session_scope("ann", "monday"), session_scope("ann", "tuesday")
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


@pytest.fixture
def stones(database: Database) -> Tombstones:
    return Tombstones(database)


def check(
    stones: Tombstones, database: Database, scope: Scope, ids: list[str] | None = None
) -> Blocked:
    """Ask in the middle of a write, for the ids as sources and as memories."""
    with database.write(scope.tenant, shared=[owner_lock(scope)]) as connection:
        return stones.check(connection, scope, ids or [], ids or [])


def test_nothing_is_blocked_before_the_first(stones: Tombstones, database: Database) -> None:
    assert check(stones, database, ANN, ["a"]) == FREE
    assert not FREE
    FREE.refuse()


def test_a_user_is_blocked_with_every_session_and_nobody_else(
    stones: Tombstones, database: Database
) -> None:
    stones.put("user", ANN, now=NOW)
    for scope in (ANN, MONDAY, session_scope("ann", "never seen")):
        assert check(stones, database, scope).by == "user"
    for scope in (BOB, session_scope("bob", "monday"), GLOBAL, user_scope("Ann")):
        assert check(stones, database, scope) == FREE
    assert stones.lift("user", ANN) == 1
    assert check(stones, database, MONDAY) == FREE


def test_a_session_is_blocked_alone(stones: Tombstones, database: Database) -> None:
    stones.put("session", MONDAY, now=NOW)
    assert check(stones, database, MONDAY).by == "session"
    assert check(stones, database, TUESDAY) == FREE
    assert check(stones, database, ANN) == FREE


@pytest.mark.parametrize("scope", [GLOBAL, ANN, MONDAY], ids=str)
def test_ids_are_blocked_in_their_scope_only(
    stones: Tombstones, database: Database, scope: Scope
) -> None:
    many = [f"id-{number}" for number in range(1200)]
    stones.put("source", scope, many[:700], now=NOW)
    stones.put("memory", scope, many[600:], now=NOW)
    blocked = check(stones, database, scope, many)
    assert blocked == Blocked("", frozenset(many[:700]), frozenset(many[600:]))
    assert check(stones, database, BOB, many) == FREE
    assert stones.lift("source", scope, many[1:]) == 699
    assert check(stones, database, scope, many[:600]).source_ids == {many[0]}


@pytest.mark.parametrize("what", LIFT)
def test_what_is_blocked_is_refused_with_the_command_that_lifts_it(
    stones: Tombstones, database: Database, what: What
) -> None:
    ids = ["private-name"] if what in ("source", "memory") else []
    stones.put(what, MONDAY, ids, now=NOW)
    with pytest.raises(Forgotten, match="letopis forget --lift") as refused:
        check(stones, database, MONDAY, ids).refuse()
    assert LIFT[what] in str(refused.value)
    assert not {"ann", "monday", "private-name"} & set(str(refused.value).split())
    assert str(pickle.loads(pickle.dumps(refused.value))) == str(refused.value)


@pytest.mark.parametrize(
    ("what", "scope", "ids"),
    [
        ("user", GLOBAL, []),
        ("session", ANN, []),
        ("user", ANN, ["a"]),
        ("source", ANN, []),
        ("memory", GLOBAL, []),
    ],
)
def test_a_selector_that_names_nothing_or_too_much_is_refused(
    stones: Tombstones, what: What, scope: Scope, ids: list[str]
) -> None:
    with pytest.raises(InvalidInput):
        stones.put(what, scope, ids, now=NOW)
    with pytest.raises(InvalidInput):
        stones.lift(what, scope, ids)
    assert stones.all() == []


def test_putting_again_keeps_the_first_and_a_receipt_is_noted(stones: Tombstones) -> None:
    keys = stones.put("source", ANN, ["a", "a", "b"], now=NOW)
    assert stones.put("source", ANN, ["b", "a"], now=NOW + timedelta(days=1)) == keys[::-1]
    stones.close(keys[:1], 7)
    found = {one.key: (one.created_at, one.receipt) for one in stones.all()}
    assert found == {keys[0]: (NOW, 7), keys[1]: (NOW, None)}


def test_the_table_names_nobody_and_another_deployment_has_other_keys(
    stones: Tombstones, database: Database, tmp_path_factory: pytest.TempPathFactory
) -> None:
    keys = stones.put("user", user_scope("ann-of-the-north"), now=NOW)
    keys += stones.put("source", MONDAY, ["notes/ann.md"], now=NOW)
    with database.read() as connection:
        rows = str([tuple(row) for row in connection.execute(select(tombstones))])
    for raw in ("ann", "monday", "notes", MONDAY.tenant, ANN.tenant):
        assert raw not in rows
    other = Catalog(f"sqlite:///{tmp_path_factory.mktemp('other') / 'catalog.sqlite'}")
    assert Tombstones(other.database).put("source", MONDAY, ["notes/ann.md"], now=NOW) != keys[1:]
    other.close()


def test_digests_are_of_framed_parts(database: Database) -> None:
    keyed = Keyed(database)
    parts = [("a", "bc"), ("ab", "c"), ("abc",), ("abc", ""), ()]
    assert len({keyed.digest(*one) for one in parts}) == len(parts)
    assert keyed.digest("a") == Keyed(database).digest("a")
    assert keyed.scope(ANN) != keyed.scope(BOB)
    assert keyed.memory("a") != keyed.digest("a")


def test_a_tombstone_waits_for_a_write_that_did_not_see_it(
    stones: Tombstones, database: Database
) -> None:
    stones.digest()  # the secret is read before anything waits
    checked, committed = Event(), Event()

    def write() -> None:
        with database.write(MONDAY.tenant, shared=[owner_lock(MONDAY)]) as connection:
            assert stones.check(connection, MONDAY) == FREE
            checked.set()
            assert not committed.wait(0.2)  # the tombstone is not there while this goes on

    def forget() -> None:
        assert checked.wait(10)
        stones.put("user", ANN, now=NOW)
        committed.set()

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(write), pool.submit(forget)]:
            done.result()
    assert check(stones, database, MONDAY).by == "user"


def test_a_tombstone_of_a_transaction_that_fails_is_none(
    stones: Tombstones, database: Database
) -> None:
    def fail() -> None:
        with database.write(owner_lock(ANN)) as connection:
            stones.put("user", ANN, now=NOW, connection=connection)
            raise InvalidInput("stop")

    with pytest.raises(InvalidInput):
        fail()
    assert stones.all() == []
