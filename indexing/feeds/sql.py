"""Rows of a query as documents: read-only, streamed, the password never shown.

The query is one SELECT whose columns have the names of `DocumentRecord`: ``id`` and ``text``, and
perhaps ``title``, ``at``, ``uri``, ``tags`` (one text, with commas), ``user_id``. It runs in a
transaction that is rolled back.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from indexing.errors import ConfigError, SourceError
from indexing.feeds.records import Reader, record_offers
from indexing.feeds.types import Entry, Feed, Listing, Offer
from indexing.hashing import digest

PAGE = 500
"""Rows fetched at a time."""

_COMMENTS = r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?\*/)*"
_READS = re.compile(rf"{_COMMENTS}(?:select|with|values|table)\b", re.IGNORECASE | re.DOTALL)


def list_query(feed: Feed) -> Listing:
    """Return the query as the one entry. Raises `ConfigError` for one that is no SELECT."""
    if not _READS.match(feed.query):
        raise ConfigError("query: write one SELECT that gives the columns id and text")
    name = feed.name or f"sql-{digest(feed.label, feed.query)[:12]}"
    return Listing((Entry(f"sql:{name}", name),))


def row_offers(feed: Feed, entry: Entry, timezone: str = "") -> Iterator[Offer]:
    """Yield one offer a row. Raises `SourceError` when the database or the query fails."""
    with _reading(feed) as connection:
        rows = connection.execution_options(stream_results=True, yield_per=PAGE).execute(
            text(feed.query.rstrip().rstrip(";"))
        )
        missing = {"id", "text"} - set(rows.keys())
        if missing:
            raise SourceError(f"the query gives no column {', '.join(sorted(missing))}")
        numbered = ((f"row {number}", dict(row)) for number, row in enumerate(rows.mappings(), 1))
        yield from record_offers(feed, entry, numbered, Reader(timezone))


@contextmanager
def _reading(feed: Feed) -> Iterator[Connection]:
    """Open a transaction that can only read; map the vendor's errors."""
    label = feed.label
    engine = _engine(feed)
    try:
        with engine.connect() as connection:
            yield connection
            connection.rollback()
    except DBAPIError as error:
        first, *_ = str(error.orig).splitlines() or [type(error.orig).__name__]
        raise SourceError(f"{label}: {_without_password(engine, first)}") from error
    except SQLAlchemyError as error:
        raise SourceError(f"{label}: {type(error).__name__}: the query cannot be run") from error
    finally:
        engine.dispose()


def _engine(feed: Feed) -> Engine:
    options: dict[str, Any] = {}
    if feed.place.startswith("postgres"):
        options["execution_options"] = {"postgresql_readonly": True}
    try:
        engine = create_engine(feed.place, hide_parameters=True, **options)
    except ImportError as error:
        raise ConfigError(f"{feed.label}: its driver is not installed: {error}") from error
    except (ArgumentError, SQLAlchemyError, ValueError) as error:  # the text may hold the URL
        raise ConfigError(f"{feed.label}: the database URL cannot be used") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _only_read)
    return engine


def _only_read(connection: Any, _: object) -> None:
    connection.execute("PRAGMA query_only = ON")


def _without_password(engine: Engine, said: str) -> str:
    password = engine.url.password
    return said.replace(str(password), "***") if password else said
