"""The tables of conversations, on every database: made anew and taken over they are the same."""

from typing import Any

import pytest
from sqlalchemy import inspect, text

from indexing.catalog import Catalog
from indexing.catalog_database import Database
from indexing.catalog_migrations import MIGRATIONS
from indexing.catalog_rows import note_scope
from indexing.catalog_schema import owner_key, versions
from indexing.catalog_views import CALL_VIEWS
from indexing.errors import StoreError
from indexing.session_schema import SESSION_TABLES, calls
from indexing.types import session_scope


def described(url: str) -> dict[str, Any]:
    """Return the tables, columns, indexes and views of a catalog."""
    database = Database(url, 5)
    with database.read() as connection:
        seen = inspect(connection)
        found: dict[str, Any] = {"views": sorted(seen.get_view_names())}
        for name in sorted(seen.get_table_names()):
            columns = [(c["name"], str(c["type"]), c["nullable"]) for c in seen.get_columns(name)]
            indexes = {(i["name"], tuple(i["column_names"]), bool(i["unique"]))
                       for i in seen.get_indexes(name)}  # fmt: skip
            found[name] = columns, indexes, seen.get_pk_constraint(name)["constrained_columns"]
        found["version"] = len(connection.execute(versions.select()).all())
    database.close()
    return found


def test_a_catalog_of_version_seven_becomes_what_a_new_one_is(catalog_url: str) -> None:
    Catalog(catalog_url).close()
    new = described(catalog_url)
    assert new["version"] == len(MIGRATIONS)
    assert {table.name for table in SESSION_TABLES} <= new.keys()
    assert set(CALL_VIEWS) <= set(new["views"])
    old = Database(catalog_url, 5)
    with old.write("schema") as connection:
        for name in CALL_VIEWS:
            connection.execute(text(f"DROP VIEW {name}"))
        for table in SESSION_TABLES:
            table.drop(connection)
        connection.execute(text(f"DELETE FROM {versions.name} WHERE version > 7"))
        note_scope(connection, session_scope("ann", "s"))
    old.close()
    assert described(catalog_url)["version"] == 7
    catalog = Catalog(catalog_url)
    assert catalog.scopes("ann") == [session_scope("ann", "s")]
    catalog.close()
    assert described(catalog_url) == new


def test_a_newer_catalog_is_refused(catalog_url: str) -> None:
    Catalog(catalog_url).close()
    newer = Database(catalog_url, 5)
    with newer.write("schema") as connection:
        connection.execute(versions.insert().values(version=len(MIGRATIONS) + 1))
    newer.close()
    with pytest.raises(StoreError, match="upgrade letopis"):
        Catalog(catalog_url)


def test_calls_of_models_are_seen_by_their_owner(catalog_url: str) -> None:
    catalog = Catalog(catalog_url)
    with catalog.database.write("x") as connection:
        for user, cache in (("ann", ""), ("ann", "semantic"), ("bob", "")):
            scope = session_scope(user, "s")
            note_scope(connection, scope)
            row = {
                "tenant": scope.tenant,
                "key": user + cache,
                "called_at": 5.0,
                "model": "big",
                "tokens_in": 10,
                "tokens_out": 3,
                "cached_tokens": 0,
                "tool_calls": 0,
                "cost": 0.5,
                "cache": cache,
            }
            connection.execute(calls.insert().values(row))
    query = (
        "SELECT model, tokens_in, tokens_out, tokens, cost, cached, cache FROM "
        "letopis_model_calls WHERE owner = :owner ORDER BY cached"
    )
    with catalog.database.read() as connection:
        rows = connection.execute(text(query), {"owner": owner_key("ann")}).all()
    assert [tuple(row) for row in rows] == [
        ("big", 10, 3, 13, 0.5, "hit", "semantic"),
        ("big", 10, 3, 13, 0.5, "missed", None),
    ]
    catalog.close()
