"""A PostgreSQL for tests: the one that ``LETOPIS_TEST_POSTGRES`` names, or one of our own.

Our own is started from the machine's binaries in a temporary folder, on a Unix socket only, and is
gone with the test session. Where there is neither, tests have no PostgreSQL parameter.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text
from sqlalchemy.engine import URL, make_url

VARIABLE = "LETOPIS_TEST_POSTGRES"
DEBIAN = Path("/usr/lib/postgresql")


def binaries() -> Path | None:
    """Return the folder of ``initdb`` and ``pg_ctl``: the newest that is installed."""
    installed = sorted(DEBIAN.glob("*/bin"), key=lambda folder: float(folder.parent.name))
    found = shutil.which("pg_config")
    if found:
        asked = subprocess.run([found, "--bindir"], capture_output=True, text=True, check=True)
        installed.append(Path(asked.stdout.strip()))
    complete = [f for f in installed if (f / "initdb").is_file() and (f / "pg_ctl").is_file()]
    return complete[-1] if complete else None


def available() -> bool:
    """Whether the tests can have a PostgreSQL here."""
    return VARIABLE in os.environ or binaries() is not None


@contextmanager
def server() -> Iterator[URL]:
    """Give the address of a running server whose user may create databases."""
    if VARIABLE in os.environ:
        yield make_url(os.environ[VARIABLE])
        return
    folder = binaries()
    assert folder is not None
    with tempfile.TemporaryDirectory(prefix="letopis-pg-") as home:
        user = _unprivileged(Path(home))
        data = f"{home}/data"
        _run(user, folder / "initdb", "-D", data, "-U", "test", "-A", "trust", "-E", "UTF8", "-N")
        settings = f"-F -k {home} -c listen_addresses='' -c max_connections=40"
        _run(
            user, folder / "pg_ctl", "-D", data, "-o", settings, "-l", f"{home}/log", "-w", "start"
        )
        try:
            yield URL.create(
                "postgresql+psycopg", "test", database="postgres", query={"host": home}
            )
        finally:
            _run(user, folder / "pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")


def _unprivileged(home: Path) -> str | None:
    """The server refuses to run as root: return another user and give it the folder."""
    if os.geteuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    user = "postgres" if "postgres" in known else "nobody"
    shutil.chown(home, user)
    return user


def _run(user: str | None, *command: str | Path) -> None:
    # No pipe: the server keeps what it inherits open for as long as it runs.
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(
            command, user=user, cwd="/", stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        output.seek(0)
        assert done.returncode == 0, output.read().decode(errors="replace")


@contextmanager
def database(address: URL) -> Iterator[URL]:
    """Give a new, empty database of the server; dropped afterwards."""
    name = f"test_{uuid.uuid4().hex}"
    admin = create_engine(address, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    try:
        yield address.set(database=name)
    finally:
        with admin.connect() as connection:
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
        admin.dispose()
