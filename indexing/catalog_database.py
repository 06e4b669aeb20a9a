"""Transactions on the catalog's database: SQLite in a file, or PostgreSQL. `Database`.

Writes that touch the same names go one after the other: SQLite has one writer at a time, on
PostgreSQL each transaction first takes an advisory lock per name, in one order, so writers neither
deadlock nor insert the same row twice, and writers of other tenants do not wait. A wait is bounded
by the busy timeout. Reads see one moment throughout, and never a lock.
"""

import hashlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from operator import itemgetter
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine, event, func, select
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from indexing.errors import MissingExtra, StoreError, StoreLocked, StoreUnavailable

POSTGRES = "postgresql"
LOCK_NOT_AVAILABLE = "55P03"

PAGE = 500
"""Keys in one statement: engines limit its parameters."""

Key = TypeVar("Key")


def in_pages(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """Yield keys in pages, each of which fits in a statement."""
    for start in range(0, len(keys), PAGE):
        yield keys[start : start + PAGE]


class Database:
    """A pool of connections to one database; ``url`` is any SQLAlchemy URL."""

    def __init__(self, url: str, busy_timeout: float) -> None:
        self._engine = _engine(url, busy_timeout)
        self._busy_ms = max(1, int(busy_timeout * 1000))
        self._postgres = self._engine.dialect.name == POSTGRES
        plain = self._engine.url.set(query={})  # a query may hold a password
        self._where = plain.render_as_string(hide_password=True)

    def close(self) -> None:
        """Close the pooled connections."""
        self._engine.dispose()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that sees one moment of the database."""
        options: dict[str, Any] = {"letopis_write": False}
        if self._postgres:
            options |= {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._named_errors(), self._engine.execution_options(**options).begin() as connection:
            yield connection

    @contextmanager
    def write(self, *names: str, shared: Sequence[str] = ()) -> Iterator[Connection]:
        """Open a transaction that no other writer of these names runs beside.

        Of a ``shared`` name there may be many at once, but none beside one that writes it.
        """
        engine = self._engine.execution_options(letopis_write=True)
        with self._named_errors(), engine.begin() as connection:
            if self._postgres:
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {self._busy_ms}")
                locks = {_lock_key(name): func.pg_advisory_xact_lock_shared for name in shared}
                locks |= {_lock_key(name): func.pg_advisory_xact_lock for name in names}
                for key, lock in sorted(locks.items(), key=itemgetter(0)):
                    connection.execute(select(lock(key)))
            yield connection

    def purge(self, tables: Sequence[str] = ()) -> None:
        """Take the bytes of deleted rows out of the files.

        On SQLite the file is written anew, since moving rows between pages leaves bytes of them
        behind whatever ``secure_delete`` says, and its log is emptied; both wait for others up to
        the busy timeout (`StoreLocked`). On PostgreSQL it vacuums the tables; its log and backups
        are the server's.
        """
        engine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        if self._postgres:
            with self._named_errors(), engine.connect() as connection:
                for name in tables:
                    connection.exec_driver_sql(f'VACUUM "{name}"')
            return
        with self._named_errors(), closing(self._engine.raw_connection()) as raw:
            raw.cursor().execute("VACUUM")
        deadline = time.monotonic() + self._busy_ms / 1000
        while True:
            with self._named_errors(), closing(self._engine.raw_connection()) as raw:
                busy, *_ = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                return
            if time.monotonic() > deadline:
                raise StoreLocked(f"the catalog {self._where} is read by another process for long")
            time.sleep(0.05)

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Map the vendor's errors to the project's; never the values of a statement."""
        try:
            yield
        except DBAPIError as error:
            reason = self._without_password(str(error.orig))
            if "is locked" in reason or _sqlstate(error) == LOCK_NOT_AVAILABLE:
                raise StoreLocked(
                    f"the catalog {self._where} is locked by another process"
                ) from error
            if isinstance(error, OperationalError) or error.connection_invalidated:
                raise StoreUnavailable(f"the catalog {self._where} failed: {reason}") from error
            first, *_ = reason.splitlines() or [type(error.orig).__name__]
            raise StoreError(f"the catalog {self._where} failed: {first}") from error
        except PoolTimeout as error:
            raise StoreUnavailable(
                f"the catalog {self._where} is busy: every connection is taken"
            ) from error
        except SQLAlchemyError as error:
            raise StoreError(f"the catalog {self._where} failed: {error}") from error

    def _without_password(self, text: str) -> str:
        password = self._engine.url.password
        return text.replace(str(password), "***") if password else text


def _sqlstate(error: DBAPIError) -> str:
    return str(getattr(error.orig, "sqlstate", ""))


def _lock_key(name: str) -> int:
    """Return the advisory lock of a name: a signed 64-bit number."""
    digest = hashlib.sha256(b"letopis\0" + name.encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


def _engine(text: str, busy_timeout: float) -> Engine:
    try:
        url = _with_driver(make_url(text))
        options = _postgres_options(url, busy_timeout) if _is_postgres(url) else {}
        engine = create_engine(url, hide_parameters=True, **options)
    except ImportError as error:
        if _is_postgres(url):
            raise MissingExtra("psycopg", "postgres") from error
        raise StoreError(f"the catalog URL cannot be used: {error}") from error
    except (SQLAlchemyError, ValueError) as error:  # its text may hold the URL, with a password
        raise StoreError(
            "the catalog URL cannot be used: write one as sqlite:///FILE or "
            "postgresql://USER:PASSWORD@HOST/DATABASE"
        ) from error
    if engine.dialect.name == "sqlite":
        _prepare_sqlite(engine, busy_timeout)
    return engine


def _is_postgres(url: URL) -> bool:
    return url.get_backend_name() in {POSTGRES, "postgres"}


def _with_driver(url: URL) -> URL:
    """Name our driver where the URL names none."""
    plain = url.drivername in {POSTGRES, "postgres"}
    return url.set(drivername=f"{POSTGRES}+psycopg") if plain else url


def _postgres_options(url: URL, busy_timeout: float) -> dict[str, Any]:
    """Return the pool's options: what hangs is given up, what was lost is replaced at next use."""
    usual = {
        "connect_timeout": str(max(1, round(busy_timeout))),
        "client_encoding": "utf8",
        "application_name": "letopis",
        "keepalives_idle": "30",
        "tcp_user_timeout": "60000",
    }
    chosen = {name: value for name, value in usual.items() if name not in url.query}
    return {"pool_pre_ping": True, "pool_timeout": busy_timeout, "connect_args": chosen}


def _prepare_sqlite(engine: Engine, busy_timeout: float) -> None:
    @event.listens_for(engine, "connect")
    def _pragmas(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # transactions are opened below, not by the driver
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {int(busy_timeout * 1000)}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.execute("PRAGMA secure_delete = ON")
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        # A write takes its lock at once: upgrading a read lock fails without waiting.
        write = connection.get_execution_options().get("letopis_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")
