"""Databases of every kind that can be had here, for tests."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy.engine import URL

from tests import postgres

KINDS = ("sqlite", "duckdb", *(("postgres",) if postgres.available() else ()))


@contextmanager
def empty(kind: str, folder: Path, server: URL | None, count: int = 1) -> Iterator[list[str]]:
    """Give the URLs of new, empty databases of a kind."""
    with ExitStack() as stack:
        if kind != "postgres":
            yield [f"{kind}:///{folder / f'{number}.{kind}'}" for number in range(count)]
            return
        assert server is not None
        made = [stack.enter_context(postgres.database(server)) for _ in range(count)]
        yield [address.render_as_string(hide_password=False) for address in made]
