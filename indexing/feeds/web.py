"""Web pages: fetched only when they changed, within limits of time, size and redirects.

A page is asked for with the validators of the last time (``ETag``, ``Last-Modified``); "not
modified" costs no download. What can pass (a timeout, 429, 5xx) is tried again; what cannot is a
dead letter, and what was indexed from it stays. A redirect leads neither to another scheme than
http and https nor from a public address to a private one.
"""

import hashlib
import ipaddress
import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from chunking.types import Document
from indexing.errors import SourceError
from indexing.feeds.access import WebLimits
from indexing.feeds.files import lines_of
from indexing.feeds.types import Entry, Failure, Feed, Item, Listing, Offer, Parse
from indexing.hashing import digest
from indexing.members import Member
from indexing.retries import PASSING
from indexing.types import GLOBAL

TOGETHER = 4
"""Pages that are fetched at once, and held in memory."""

NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True)
class Web:
    """A client with its limits; ``sleep`` waits between tries."""

    client: httpx.Client
    limits: WebLimits = field(default_factory=WebLimits)
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Page:
    """What a server answered: nothing in ``data`` when the page did not change."""

    data: bytes | None
    media_type: str = ""
    stamp: str = ""


class _MayPass(Exception):
    """A failure that may be gone at the next try, after so many seconds at least."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


def connect(limits: WebLimits | None = None) -> Web:
    """Return a client that keeps its connections; close ``client`` afterwards."""
    chosen = limits or WebLimits()
    client = httpx.Client(timeout=chosen.timeout, headers={"User-Agent": "letopis"})
    return Web(client, chosen)


def list_urls(feed: Feed) -> Listing:
    """List the URLs that a file names, one a line. Raises `SourceError`.

    A URL with a password is refused: ids are shown and stored.
    """
    names = dict.fromkeys(lines_of(Path(feed.place)))
    if any("@" in name.split("://", 1)[-1].split("/", 1)[0] for name in names):
        raise SourceError(f"{feed.place}: a URL holds a user or a password; write it without")
    return Listing(tuple(Entry(name, name) for name in names))


def page_offers(
    feed: Feed, pages: list[tuple[Entry, Member | None]], parse: Parse, web: Web
) -> Iterator[Offer]:
    """Yield one offer a URL, in order; some are fetched at once."""
    with ThreadPoolExecutor(TOGETHER) as pool:
        for start in range(0, len(pages), TOGETHER):
            some = pages[start : start + TOGETHER]
            yield from pool.map(lambda page: _offer(feed, page[0], page[1], parse, web), some)


def _offer(feed: Feed, entry: Entry, old: Member | None, parse: Parse, web: Web) -> Offer:
    scope = feed.scope or GLOBAL
    try:
        page = fetch(web, entry.id, feed.unmarked(old.stamp) if old and old.content else "")
    except SourceError as error:
        return Failure(Member(scope, entry.id, "", entry.uri), str(error))
    if page.data is None and old is not None:
        stamp = feed.marked(page.stamp) or old.stamp
        member = Member(scope, entry.id, "", entry.uri, stamp, old.content)
        return Item(member, partial(_again, entry, parse, web))
    data = page.data or b""
    content = digest(hashlib.sha256(data).hexdigest(), page.media_type, feed.chunker, *feed.tags)
    member = Member(scope, entry.id, "", entry.uri, feed.marked(page.stamp), content)
    return Item(member, partial(parse, data, entry.id, entry.uri, page.media_type))


def _again(entry: Entry, parse: Parse, web: Web) -> Document:
    """Fetch a page that did not change, but is wanted: its memories are gone."""
    page = fetch(web, entry.id)
    return parse(page.data or b"", entry.id, entry.uri, page.media_type)


def fetch(web: Web, url: str, stamp: str = "") -> Page:
    """Return a page, with the ``stamp`` of an earlier one only if it changed; `SourceError`."""
    limits = web.limits
    for left in reversed(range(limits.tries)):
        try:
            return _fetch(web, url, stamp)
        except _MayPass as error:
            if not left:
                raise SourceError(f"{error}, {limits.tries} times") from error
            wait = max(error.wait, limits.backoff * 2 ** (limits.tries - 1 - left))
            web.sleep(min(wait, limits.longest_wait))
    raise AssertionError("a last try returns or raises")


def _fetch(web: Web, url: str, stamp: str) -> Page:
    headers = json.loads(stamp) if stamp else {}
    deadline = time.monotonic() + web.limits.total
    was_private = None
    for _ in range(web.limits.redirects + 1):
        was_private = _check_url(url, web.limits, was_private)
        try:
            with web.client.stream("GET", url, headers=headers) as response:
                if response.has_redirect_location:
                    url = str(response.url.join(response.headers["location"]))
                    continue
                return _page(response, web.limits, deadline)
        except httpx.TimeoutException as error:
            raise _MayPass("the server does not answer in time") from error
        except httpx.TransportError as error:
            raise _MayPass(f"cannot be fetched: {error or type(error).__name__}") from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise SourceError(f"cannot be fetched: {error}") from error
    raise SourceError(f"more than {web.limits.redirects} redirects")


def _page(response: httpx.Response, limits: WebLimits, deadline: float) -> Page:
    names = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
    known = {ask: response.headers[name] for name, ask in names.items() if name in response.headers}
    stamp = json.dumps(known) if known else ""
    if response.status_code == NOT_MODIFIED:
        return Page(None, stamp=stamp)
    if response.status_code in PASSING:
        raise _MayPass(f"HTTP {response.status_code}", _retry_after(response))
    if response.status_code != httpx.codes.OK:
        raise SourceError(f"HTTP {response.status_code}")
    data = bytearray()
    for part in response.iter_bytes():
        data += part
        if len(data) > limits.bytes:
            raise SourceError(f"larger than {limits.bytes // 1024**2} MB")
        if time.monotonic() > deadline:
            raise _MayPass(f"takes longer than {limits.total:.0f} s")
    return Page(bytes(data), response.headers.get("content-type", ""), stamp)


def _retry_after(response: httpx.Response) -> float:
    said = response.headers.get("retry-after", "")
    return float(said) if said.isdecimal() else 0.0


def _check_url(url: str, limits: WebLimits, was_private: bool | None) -> bool:
    """Return whether a URL is of a private address. Raises `SourceError` for one not to be asked.

    ``was_private`` tells of the URL that redirected here, None for the first.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise SourceError(f"not a URL: {error}") from error
    if parts.scheme not in ("http", "https") or not host:
        raise SourceError("not an http or https URL")
    try:
        found = socket.getaddrinfo(host, port or 443, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise _MayPass(f"{host} is not found") from error
    private = any(not ipaddress.ip_address(str(a[4][0]).split("%")[0]).is_global for a in found)
    if private and not limits.private_hosts:
        raise SourceError(f"{host} is a private address, and ingest.private_hosts is off")
    if private and was_private is False:
        raise SourceError(f"redirected to {host}, a private address")
    return private
