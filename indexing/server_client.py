"""The connection to a Qdrant server: TLS, key, time limits, and what is tried again.

REST only: one protocol, whose every request is checked against the server's published schema.
Trying again is safe because writes are idempotent: ids are deterministic, deletes are by filter.
"""

import ssl
import warnings
from urllib.parse import urlsplit

import httpx
from httpx_retries import RetryTransport
from qdrant_client import QdrantClient

from indexing.errors import ConfigError
from indexing.retries import PASSING, PassingRetry, network
from indexing.server_options import ServerOptions

LONGEST_WAIT = 30.0
"""Seconds between two tries, also when ``Retry-After`` asks for more."""

NO_URL = "the store's address is no URL; write it as https://HOST:PORT"

LOOPBACK = {"localhost", "127.0.0.1", "::1"}


def host_of(url: str) -> str:
    """Return the host and port that messages name. Raises `ConfigError` for a key in the URL."""
    try:
        parts = urlsplit(url)
        place = f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)
    except ValueError as error:
        raise ConfigError(NO_URL) from error
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"the store's address at {place} is more than https://HOST:PORT/PATH: "
            "put a key into LETOPIS_SERVER__API_KEY"
        )
    return place


def make_client(
    url: str, options: ServerOptions, transport: httpx.BaseTransport | None = None
) -> QdrantClient:
    """Return the client of a server; nothing is sent yet. ``transport`` stands in for the network.

    Raises `ConfigError` for an address or a CA file that cannot be used.
    """
    retry = PassingRetry(
        total=options.retries,
        allowed_methods=("GET", "POST", "PUT", "PATCH", "DELETE"),
        status_forcelist=PASSING,
        backoff_factor=options.backoff / 2,
        max_backoff_wait=LONGEST_WAIT,
    )
    parts = urlsplit(url)
    sender = transport or network(parts.scheme, parts.hostname or "", _trusted(options))
    with warnings.catch_warnings():
        if parts.hostname in LOOPBACK:
            warnings.filterwarnings("ignore", "Api key is used with an insecure connection")
        try:
            return QdrantClient(
                url=url,
                api_key=options.api_key or None,
                timeout=options.timeout,
                check_compatibility=False,
                transport=RetryTransport(sender, retry),
            )
        except ValueError as error:
            raise ConfigError(NO_URL) from error


def _trusted(options: ServerOptions) -> ssl.SSLContext | bool:
    """Return whose certificates are accepted: the usual ones, the CA file's, or any."""
    if options.ca_file is None:
        return options.verify
    path = options.ca_file.expanduser()
    try:
        return ssl.create_default_context(cafile=str(path))
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"server.ca_file {path}: {error.strerror or error}") from error
