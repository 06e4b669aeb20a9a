"""The catalog on PostgreSQL alone: who waits for whom, lost connections, one moment per read."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import make_url

from indexing.catalog import Catalog
from indexing.catalog_database import Database
from indexing.catalog_rows import DeadLetter, SourceRow
from indexing.errors import StoreLocked, StoreUnavailable
from indexing.types import user_scope

ANN, BOB = user_scope("ann"), user_scope("bob")


@pytest.fixture
def catalog(postgres_url: str) -> Iterator[Catalog]:
    opened = Catalog(postgres_url)
    yield opened
    opened.close()


@contextmanager
def transaction(url: str) -> Iterator[Connection]:
    engine = create_engine(url)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def rows(count: int, step: int = 1) -> list[SourceRow]:
    return [SourceRow(f"s{i}", "h", 1) for i in range(count)][::step]


def letters(count: int, step: int = 1) -> list[DeadLetter]:
    made = [DeadLetter((ANN, BOB)[i % 2], f"f{i}", "", "bad") for i in range(count)]
    return made[::step]


def test_a_writer_waits_for_its_tenant_only_and_not_for_ever(
    catalog: Catalog, postgres_url: str
) -> None:
    impatient = Catalog(postgres_url, busy_timeout=0.05)
    other = Database(postgres_url, busy_timeout=5)
    with other.write(ANN.tenant):
        with pytest.raises(StoreLocked, match=r"test_\w+ is locked by another process"):
            impatient.commit(ANN, rows(1))
        impatient.commit(BOB, rows(1))
        assert impatient.sources(ANN) == {}  # reading goes on
    impatient.commit(ANN, rows(1))
    assert list(catalog.sources(ANN)) == ["s0"]
    other.close()
    impatient.close()


def test_a_switch_waits_for_the_writes_under_way_and_they_for_it(postgres_url: str) -> None:
    one, two, switching = (Database(postgres_url, busy_timeout=0.05) for _ in range(3))
    with (
        one.write("ann", shared=["generations"]),
        two.write("bob", shared=["generations"]),
        pytest.raises(StoreLocked),
        switching.write("generations"),
    ):
        pass
    with (
        switching.write("generations"),
        pytest.raises(StoreLocked),
        one.write("ann", shared=["generations"]),
    ):
        pass
    for database in (one, two, switching):
        database.close()


def test_opening_waits_for_a_migration(catalog: Catalog, postgres_url: str) -> None:
    migrating = Database(postgres_url, busy_timeout=5)
    with migrating.write("schema"), pytest.raises(StoreLocked):
        Catalog(postgres_url, busy_timeout=0.05)
    migrating.close()


def test_the_first_openers_make_the_tables_once(postgres_url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(lambda _: Catalog(postgres_url), range(8)))
        claims = list(pool.map(lambda c: c.claim("user", str(id(c))), opened))
    assert len(set(claims)) == 1
    for one in opened:
        one.close()


def test_writers_of_the_same_rows_in_opposite_order(catalog: Catalog) -> None:
    def write(turn: int) -> None:
        step = 1 if turn % 2 else -1
        catalog.commit(ANN, rows(30, step))
        catalog.bury(letters(20, step))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(24)))
    assert len(catalog.sources(ANN)) == 30
    assert {dead.attempts for dead in catalog.dead()} == {24}
    assert len(catalog.dead()) == 20


def test_a_lost_connection_is_replaced(catalog: Catalog, postgres_url: str) -> None:
    catalog.commit(ANN, rows(1))
    with transaction(postgres_url) as connection:
        connection.execute(text(KILL_OTHERS))
    assert list(catalog.sources(ANN)) == ["s0"]


def test_a_connection_lost_at_work_is_unavailable_and_nothing_is_half_done(
    catalog: Catalog, postgres_url: str
) -> None:
    database = Database(postgres_url, busy_timeout=5)

    def interrupted() -> None:
        with database.write(ANN.tenant) as connection:
            connection.execute(text("INSERT INTO fingerprints VALUES ('user', 'half')"))
            with transaction(postgres_url) as other:
                other.execute(text(KILL_OTHERS))
            connection.execute(text("INSERT INTO fingerprints VALUES ('global', 'half')"))

    with pytest.raises(StoreUnavailable):
        interrupted()
    assert catalog.fingerprint("user") is None
    database.close()


def test_a_read_sees_one_moment(catalog: Catalog, postgres_url: str) -> None:
    catalog.claim("user", "one")
    database = Database(postgres_url, busy_timeout=5)
    count = text("SELECT count(*) FROM fingerprints")
    with database.read() as connection:
        assert connection.execute(count).scalar() == 1
        catalog.claim("global", "one")
        assert connection.execute(count).scalar() == 1
    with database.read() as connection:
        assert connection.execute(count).scalar() == 2
    database.close()


def test_another_schema_keeps_a_second_deployment_apart(
    catalog: Catalog, postgres_url: str
) -> None:
    with transaction(postgres_url) as connection:
        connection.execute(text("CREATE SCHEMA second"))
    url = make_url(postgres_url).update_query_dict({"options": "-csearch_path=second"})
    second = Catalog(url.render_as_string(hide_password=False))
    second.commit(ANN, rows(3))
    assert (len(catalog.sources(ANN)), len(second.sources(ANN))) == (0, 3)
    second.close()


KILL_OTHERS = (
    "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
