"""Settings -> feeds: what a `[[sources]]` table or its command-line form names."""

import os
from pathlib import Path

from configs.settings import Settings
from configs.write_settings import LimitSettings, SourceSettings
from indexing.errors import ConfigError
from indexing.feeds.access import Access, WebLimits
from indexing.feeds.types import Feed, FeedKind
from indexing.limits import MB, Limits
from indexing.parse import Parser
from indexing.types import session_scope, user_scope

PLACES: dict[str, FeedKind] = {"path": "path", "list": "list", "sql": "sql", "urls": "urls"}
"""The key of a source that says where it is -> the kind of feed."""


VARIABLE = "env:"


def build_feed(source: SourceSettings) -> Feed:
    """Return the feed of a source. Raises `InvalidId` or `ConfigError` (an unset variable)."""
    scope = None
    if source.user is not None:
        scope = user_scope(source.user)
        if source.session is not None:
            scope = session_scope(source.user, source.session)
    kind, place = next((k, p) for name, k in PLACES.items() if (p := getattr(source, name)))
    if kind == "sql" and place.startswith(VARIABLE):
        place = os.environ.get(place.removeprefix(VARIABLE), "")
        if not place:
            raise ConfigError(f"source {source.name!r}: {source.sql} is not set")
    return Feed(kind, place, source.query, scope, source.name, source.chunker, source.tags)


def build_feeds(settings: Settings, names: tuple[str, ...] = ()) -> list[Feed]:
    """Return the feeds of these sources of the settings, or of all.

    Raises `ConfigError` for a name that no source has, or that two have.
    """
    named: dict[str, SourceSettings] = {}
    for source in settings.sources:
        if source.name and source.name in named:
            raise ConfigError(f"sources: two are named {source.name!r}")
        named[source.name] = source
    for name in names:
        if name not in named:
            known = ", ".join(sorted(filter(None, named))) or "none"
            raise ConfigError(f"no source is named {name!r}; there are: {known}")
    chosen = [named[name] for name in names] if names else settings.sources
    return [build_feed(source) for source in chosen]


def build_access(settings: Settings) -> Access:
    """Return what reading feeds needs. The memory's own files are never read."""
    own = [settings.data_dir, settings.cache_dir]
    scheme, _, place = settings.store.partition(":")
    if scheme == "edge":
        store = Path(place).expanduser()
        own += [store, *store.parent.glob(f"{store.name}@*")]  # and its later generations
    return Access(
        parser=Parser(build_limits(settings.ingest.limits)),
        timezone=settings.ingest.timezone,
        own=tuple(folder.expanduser().resolve() for folder in own),
        web=WebLimits(
            bytes=settings.ingest.limits.size_mb * MB, private_hosts=settings.ingest.private_hosts
        ),
    )


def build_limits(chosen: LimitSettings) -> Limits:
    """Return what one file may cost."""
    return Limits(
        bytes=chosen.size_mb * MB,
        pages=chosen.pages,
        seconds=chosen.seconds,
        memory=chosen.memory_mb * MB,
        unpacked=chosen.unpacked_mb * MB,
    )
