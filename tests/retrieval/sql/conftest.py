"""A shop of two users in every kind of database."""

import random
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from sqlalchemy.engine import URL

from evals.sql_databases import Shop, fill, random_shop
from retrieval.sql.run import Databases
from tests.retrieval.sql.databases import KINDS, empty

USERS = ("u1", "u2")


@pytest.fixture(scope="session")
def sql_server(request: pytest.FixtureRequest) -> URL | None:
    """The server of the PostgreSQL databases, where there is one."""
    return request.getfixturevalue("postgres_server") if "postgres" in KINDS else None


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def shop() -> Shop:
    return random_shop(random.Random(11), USERS, orders=80)


@pytest.fixture(scope="session")
def shop_urls(
    tmp_path_factory: pytest.TempPathFactory, sql_server: URL | None, shop: Shop
) -> Iterator[dict[str, str]]:
    """The shop in UTC, by kind of database."""
    with ExitStack() as stack:
        urls = {}
        for kind in KINDS:
            folder = tmp_path_factory.mktemp("shop")
            [urls[kind]] = stack.enter_context(empty(kind, folder, sql_server))
            fill(urls[kind], shop)
        yield urls


@pytest.fixture
def shop_url(kind: str, shop_urls: dict[str, str]) -> str:
    return shop_urls[kind]


@pytest.fixture
def empty_urls(kind: str, tmp_path: Path, sql_server: URL | None) -> Iterator[list[str]]:
    """Two empty databases of a kind."""
    with empty(kind, tmp_path, sql_server, 2) as urls:
        yield urls


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    with closing(Databases()) as opened:
        yield opened
