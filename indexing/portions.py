"""A sync in portions that can fail, and be tried again, one by one: `portions`."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from indexing.feeds.files import stamp_of
from indexing.feeds.types import Entry
from indexing.sync import PAGE, Sync
from indexing.types import GLOBAL

PAGES_TOGETHER = 16
"""URLs of a portion: a few are fetched at once, and most have not changed."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Some entries of a feed, for `Sync.apply`. ``place`` names them for people.

    A ``still`` one holds files with their old stamp: reading it embeds nothing.
    """

    place: str
    ids: tuple[str, ...]
    still: bool = False


def portions(run: Sync) -> Iterator[Portion]:
    """Yield the entries in the order of the feed: what may have changed alone, the rest together.

    The order matters: of equal documents the first is indexed.
    """
    if run.feed.kind == "urls":
        for ids in run.pages(PAGES_TOGETHER):
            yield Portion(_named(ids[0], len(ids)), ids)
        return
    for is_still, group in groupby(run.listing.entries, key=partial(_is_still, run)):
        entries = list(group)
        size = PAGE if is_still else 1
        for start in range(0, len(entries), size):
            page = entries[start : start + size]
            place = f"{len(page)} as before" if is_still else page[0].uri
            yield Portion(place, tuple(entry.id for entry in page), is_still)


def _named(first: str, count: int) -> str:
    return first if count == 1 else f"{first} and {count - 1} more"


def _is_still(run: Sync, entry: Entry) -> bool:
    scope = run.feed.scope or GLOBAL
    old = run.judge.members.get((scope.tenant, entry.id))
    return bool(
        entry.path and old and old.stamp and old.stamp == stamp_of(entry.path, run.access.now())
    )
