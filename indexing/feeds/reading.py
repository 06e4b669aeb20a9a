"""From a feed to its entries, and from an entry to what it offers: the one table of kinds.

Bytes are read here and parsed by `Access.parse`; a file that has its old stamp is not even opened.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from indexing.errors import SourceError
from indexing.feeds.access import Access
from indexing.feeds.files import file_offers, list_named, list_path
from indexing.feeds.sql import list_query, row_offers
from indexing.feeds.types import Entry, Failure, Feed, FeedKind, Listing, Offer
from indexing.members import Member
from indexing.types import GLOBAL


def entries_of(feed: Feed, access: Access) -> Listing:
    """List a feed. Raises `SourceError` or `ConfigError` where there is nothing to list."""
    return LISTERS[feed.kind](feed, access)


def offers_of(
    feed: Feed, entries: Sequence[Entry], olds: Mapping[str, Member], access: Access
) -> Iterator[tuple[Entry, Iterator[Offer]]]:
    """Yield each entry with what it offers; ``olds`` is how it was seen last, by id."""
    if feed.kind == "urls":
        yield from _pages(feed, entries, olds, access)
        return
    for entry in entries:
        if feed.kind == "sql":
            offers = row_offers(feed, entry, access.timezone)
        else:
            offers = file_offers(feed, entry, olds.get(entry.id), access)
        yield entry, _whole(feed, entry, offers)


def _whole(feed: Feed, entry: Entry, offers: Iterator[Offer]) -> Iterator[Offer]:
    """Turn the failure of an entry in the middle into one more offer."""
    try:
        yield from offers
    except SourceError as error:
        yield Failure(Member(feed.scope or GLOBAL, entry.id, "", entry.uri), str(error), BROKEN)


BROKEN = "the whole"
"""The place of a failure after which an entry may have had more to offer."""


def _pages(
    feed: Feed, entries: Sequence[Entry], olds: Mapping[str, Member], access: Access
) -> Iterator[tuple[Entry, Iterator[Offer]]]:
    from indexing.feeds.web import connect, page_offers  # its client takes a while to import

    web = connect(access.web)
    with web.client:
        asked = [(entry, olds.get(entry.id)) for entry in entries]
        offers = page_offers(feed, asked, access.parse, web)
        for entry, offer in zip(entries, offers, strict=True):
            yield entry, iter((offer,))


def _urls(feed: Feed, access: Access) -> Listing:
    from indexing.feeds.web import list_urls

    return list_urls(feed)


LISTERS: dict[FeedKind, Callable[[Feed, Access], Listing]] = {
    "path": lambda feed, access: list_path(feed, access.own),
    "list": lambda feed, access: list_named(feed),
    "sql": lambda feed, access: list_query(feed),
    "urls": _urls,
}
