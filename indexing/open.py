"""From a setting to a store: `open_store`."""

from collections.abc import Callable
from pathlib import Path

from indexing.edge import EdgeStore
from indexing.errors import ConfigError
from indexing.server import connect
from indexing.store import VectorStore


def open_store(spec: str, *, api_key: str | None = None, busy_timeout: float = 10.0) -> VectorStore:
    """Return the store of a spec; nothing is touched before its first call.

    >>> store = open_store("edge:./data")

    ``busy_timeout`` is how many seconds the embedded store waits for its lock, and a server call
    for its answer. Raises `ConfigError` for a spec of no known scheme.
    """
    scheme, _, place = spec.partition(":")
    if scheme not in SCHEMES or not place.strip("/"):
        known = ", ".join(f"{name}:" for name in SCHEMES)
        raise ConfigError(f"{spec!r} is no store; give one of {known} and a place, as edge:./data")
    return SCHEMES[scheme](spec, api_key, busy_timeout)


def _edge(spec: str, api_key: str | None, busy_timeout: float) -> VectorStore:
    return EdgeStore(Path(spec.removeprefix("edge:")).expanduser(), busy_timeout=busy_timeout)


def _server(spec: str, api_key: str | None, busy_timeout: float) -> VectorStore:
    return connect(spec, api_key=api_key, timeout=busy_timeout)


SCHEMES: dict[str, Callable[[str, str | None, float], VectorStore]] = {
    "edge": _edge,
    "http": _server,
    "https": _server,
}
