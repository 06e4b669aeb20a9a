"""Scopes: all sessions of a user are found, and an older catalog's are taken over."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from indexing.catalog import Catalog, DeadLetter, SourceRow
from indexing.catalog_database import Database
from indexing.catalog_schema import DIGEST_KEY, MIGRATIONS, deployment, owner_key, versions
from indexing.errors import StoreError
from indexing.keyed import Keyed
from indexing.members import Member, Members
from indexing.scopes import Scopes
from indexing.types import GLOBAL, session_scope, user_scope

ANN, BOB = user_scope("ann"), user_scope("bob")
MONDAY, TUESDAY = session_scope("ann", "monday"), session_scope("ann", "tuesday")
NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)


def test_the_scopes_of_a_user_are_noted_once_and_dropped(catalog_url: str) -> None:
    catalog = Catalog(catalog_url)
    scopes = Scopes(catalog.database)
    with catalog.database.write("scopes") as connection:
        for number, scope in enumerate([TUESDAY, ANN, BOB, GLOBAL, MONDAY, ANN]):
            scopes.note(connection, scope, NOW + timedelta(seconds=number))
    assert scopes.of_user("ann") == [TUESDAY, ANN, MONDAY]
    assert scopes.of_user("Ann") == []
    assert scopes.all() == [TUESDAY, ANN, BOB, GLOBAL, MONDAY]
    with catalog.database.write("scopes") as connection:
        assert scopes.drop(connection, [*scopes.of_user("ann", connection), ANN]) == 3
        assert scopes.of_user("ann", connection) == []
    assert scopes.all() == [BOB, GLOBAL]
    catalog.close()


def test_an_older_catalog_gives_the_scopes_that_its_tables_name(catalog_url: str) -> None:
    catalog = Catalog(catalog_url)
    catalog.commit(MONDAY, [SourceRow("turn:1", "h", 1, "monday", 5.0)])
    catalog.bury([DeadLetter(BOB, "letter.pdf", "", "damaged")])
    Members(catalog).put("feed", [Member(GLOBAL, "a"), Member(BOB, "b")])
    with catalog.database.write("schema") as connection:
        for name in ("scopes", "deployment", "tombstones", "receipts", "events"):
            connection.execute(text(f"DROP TABLE {name}"))
        connection.execute(versions.delete().where(versions.c.version > 4))
    catalog.close()
    again = Catalog(catalog_url)
    found = Scopes(again.database).all()
    assert sorted(map(str, found)) == ["global", "session:ann/monday", "user:bob"]
    assert Scopes(again.database).of_user("ann") == [MONDAY]
    with again.database.read() as connection:
        assert len(connection.execute(versions.select()).all()) == len(MIGRATIONS)
    again.close()


def test_the_secret_is_made_once_and_its_loss_is_told(catalog_url: str) -> None:
    for _ in range(2):
        Catalog(catalog_url).close()
    database = Database(catalog_url, 5)
    one = Keyed(database).digest("a")
    Catalog(catalog_url).close()
    assert Keyed(database).digest("a") == one
    with database.write() as connection:
        connection.execute(deployment.delete().where(deployment.c.name == DIGEST_KEY))
    with pytest.raises(StoreError, match="lost the key"):
        Keyed(database).digest("a")
    database.close()


def test_an_owner_is_looked_up_by_a_digest() -> None:
    assert owner_key("") == ""
    assert len(owner_key("я" * 1000)) == 64
    assert owner_key("a") != owner_key("A")
