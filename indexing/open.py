"""From a setting to a store: `open_store`."""

from collections.abc import Callable
from pathlib import Path

from indexing.edge import EdgeStore
from indexing.errors import ConfigError
from indexing.server_options import USUAL, ServerOptions
from indexing.store import VectorStore


def open_store(
    spec: str, *, busy_timeout: float = 10.0, server: ServerOptions = USUAL
) -> VectorStore:
    """Return the store of a spec; nothing is touched before its first call.

    >>> store = open_store("edge:./data")

    ``busy_timeout`` is how many seconds the embedded store waits for its lock; ``server`` is how
    a server is reached. Raises `ConfigError` for a spec of no known scheme.
    """
    scheme, _, place = spec.partition(":")
    if scheme not in SCHEMES or not place.strip("/"):
        known = ", ".join(f"{name}:" for name in SCHEMES)
        raise ConfigError(f"{spec!r} is no store; give one of {known} and a place, as edge:./data")
    return SCHEMES[scheme](spec, busy_timeout, server)


def _edge(spec: str, busy_timeout: float, server: ServerOptions) -> VectorStore:
    return EdgeStore(Path(spec.removeprefix("edge:")).expanduser(), busy_timeout=busy_timeout)


def _server(spec: str, busy_timeout: float, server: ServerOptions) -> VectorStore:
    from indexing.server import connect  # its client takes a second to import

    return connect(spec, server)


SCHEMES: dict[str, Callable[[str, float, ServerOptions], VectorStore]] = {
    "edge": _edge,
    "http": _server,
    "https": _server,
}
