"""The HTTP client of a model's endpoint: address, key and time limit, and how often it tries."""

import httpx
from httpx_retries import RetryTransport

from indexing.errors import ConfigError
from indexing.retries import PASSING, PassingRetry, network


def client_of(
    url: str, setting: str, api_key: str, timeout: float, retries: int = 0, backoff: float = 0.1
) -> httpx.Client:
    """Return a client whose requests start at ``url``; nothing is asked yet.

    ``timeout`` is seconds of one try; ``retries`` are tries after the first, with pauses that
    start at twice ``backoff`` seconds and double. Raises `ConfigError` naming the ``setting``
    where the address is none.
    """
    try:
        address = httpx.URL(url.rstrip("/"))
    except httpx.InvalidURL as error:
        raise ConfigError(f"{setting} is no URL: {error}") from error
    if address.scheme not in ("http", "https") or not address.host:
        raise ConfigError(f"{setting} is no URL; write it as https://HOST/PATH")
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    retry = PassingRetry(
        total=retries,
        allowed_methods=("POST",),
        status_forcelist=PASSING,
        backoff_factor=backoff,
        max_backoff_wait=timeout,
    )
    transport = RetryTransport(network(address.scheme, address.host), retry)
    return httpx.Client(base_url=address, headers=headers, timeout=timeout, transport=transport)
