"""Where the flow runs of some settings may have left records: databases here, servers elsewhere.

Prefect is imported only where a file configures it: its own rules then say which server counts.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from configs.settings import Settings
from pipelines.errors import FlowUnavailable
from pipelines.server import running

DATABASE = ("PREFECT_SERVER_DATABASE_CONNECTION_URL", "PREFECT_API_DATABASE_CONNECTION_URL")
API = "PREFECT_API_URL"
DEFAULT_HOME = Path("~/.prefect")


@dataclass(frozen=True, slots=True)
class Places:
    """SQLite files and logs that exist on this machine, and API addresses.

    An empty address stands for the server that Prefect starts for its configured database.
    """

    files: tuple[Path, ...]
    logs: tuple[Path, ...]
    servers: tuple[str, ...]


def places_of(settings: Settings) -> Places:
    """Return where runs with these settings leave their records; nothing is started.

    Raises `FlowUnavailable` where a file configures Prefect and it is not installed.
    """
    own = settings.data_dir.expanduser().resolve() / "prefect"
    usual = Path(os.environ.get("PREFECT_HOME") or DEFAULT_HOME).expanduser().resolve()
    homes = tuple(dict.fromkeys((own, usual)))
    address, database = _configured(usual)
    url = _parsed(database, usual)
    files = [home / "prefect.db" for home in homes]
    servers = [address] if address else []
    local = running(own)
    if url is not None and url.get_backend_name() != "sqlite":
        servers += [local.api if local else ""] if not address or local else []
    else:
        files += [Path(url.database)] if url is not None and url.database else []
        if local is not None and address == local.api:
            servers.remove(address)  # its database is a file of these
    return Places(
        tuple(file for file in dict.fromkeys(files) if file.is_file()),
        tuple(log for home in homes if (log := home / "server.log").is_file()),
        tuple(dict.fromkeys(servers)),
    )


def _configured(home: Path) -> tuple[str, str]:
    """Return the addresses of the server and of the database, empty where none is set."""
    address = os.environ.get(API, "")
    database = next(filter(None, map(os.environ.get, DATABASE)), "")
    if not _is_in_files(home):
        return address, database
    try:
        from prefect.settings import get_current_settings
    except ImportError as error:
        raise FlowUnavailable(f"Prefect is configured and not installed ({error})") from error
    found = get_current_settings()
    secret = found.server.database.connection_url
    written = secret.get_secret_value() if secret else ""
    return address or found.api.url or "", database or written


def _is_in_files(home: Path) -> bool:
    """Tell whether a file may configure Prefect: a profile, or one in the working folder."""
    profiles = Path(os.environ.get("PREFECT_PROFILES_PATH") or home / "profiles.toml")
    if profiles.is_file() or Path("prefect.toml").is_file():
        return True
    return _mentions(Path(".env"), "prefect_") or _mentions(Path("pyproject.toml"), "[tool.prefect")


def _mentions(file: Path, word: str) -> bool:
    try:
        return word in file.read_text(errors="replace").lower()
    except OSError:
        return False


def _parsed(database: str, home: Path) -> URL | None:
    if not database:
        return None
    try:
        return make_url(database.replace("$PREFECT_HOME", str(home)))
    except ArgumentError as error:
        raise FlowUnavailable(f"{DATABASE[0]} is no database URL") from error
