"""Purging the catalog: no byte of a deleted row stays in the files of a SQLite database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexing.catalog import Catalog, DeadLetter
from indexing.catalog_schema import metadata
from indexing.errors import StoreLocked
from indexing.needles import Needle
from indexing.scan import scan
from indexing.types import user_scope

ANN = user_scope("ann")
CANARY = "canary-that-is-to-leave"


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    opened = Catalog(f"sqlite:///{tmp_path / 'catalog.sqlite'}", busy_timeout=0.3)
    letters = [DeadLetter(ANN, f"{CANARY}-{n}", "", CANARY * (n % 400)) for n in range(800)]
    opened.bury(letters)
    yield opened
    opened.close()


def forget(catalog: Catalog) -> None:
    for letter in catalog.dead(ANN):
        catalog.revive(ANN, letter.path)


def seen(folder: Path) -> set[str]:
    return {hit.file for hit in scan(folder, [Needle(CANARY.encode())]).hits}


def test_nothing_of_a_deleted_row_is_in_the_database_or_its_log(
    catalog: Catalog, tmp_path: Path
) -> None:
    forget(catalog)
    assert "catalog.sqlite-wal" in seen(tmp_path)
    catalog.database.purge()
    assert seen(tmp_path) == set()
    assert (tmp_path / "catalog.sqlite-wal").stat().st_size == 0


def test_a_reader_of_an_older_moment_is_waited_for_but_not_for_ever(
    catalog: Catalog, tmp_path: Path
) -> None:
    with catalog.database.read() as connection:
        connection.exec_driver_sql("SELECT count(*) FROM dead_letters").one()
        forget(catalog)
        with pytest.raises(StoreLocked):
            catalog.database.purge()
    catalog.database.purge()
    assert seen(tmp_path) == set()


def test_tables_may_be_named_on_every_database(catalog_url: str) -> None:
    opened = Catalog(catalog_url)
    opened.bury([DeadLetter(ANN, CANARY, "", "bad")])
    forget(opened)
    opened.database.purge([*metadata.tables])
    assert opened.dead() == []
    opened.close()
