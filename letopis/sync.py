"""What `letopis sync` is asked for: names, paths and options -> feeds; one after the other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from configs.feeds import build_access, build_feed, build_feeds
from configs.settings import Settings
from configs.stores import build_catalog
from configs.write_settings import SourceSettings
from indexing.errors import InvalidInput, SourceError
from indexing.feeds.types import Feed, Progress
from indexing.index import Report
from indexing.plan import Plan, plan
from letopis.targets import given_path


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of the command: the keys of a ``[[sources]]`` table."""

    list: str = ""
    urls: str = ""
    sql: str = field(default="", repr=False)
    query: str = ""
    user: str | None = None
    session: str | None = None
    chunker: str = ""


def chosen_feeds(settings: Settings, places: Sequence[str], asked: Asked) -> list[Feed]:
    """Return the feeds of names in the settings, of paths and of options; of nothing: all.

    Raises `InvalidInput` where nothing is left to do, `ConfigError` for a wrong source.
    """
    names = {source.name for source in settings.sources if source.name}
    known = tuple(place for place in places if place in names)
    feeds = build_feeds(settings, known) if known else []
    rest = {"user": asked.user, "session": asked.session, "chunker": asked.chunker}
    made: list[dict[str, str | None]] = [
        {"path": str(given_path(place))} for place in places if place not in names
    ]
    made += [{"list": asked.list}] if asked.list else []
    made += [{"urls": asked.urls}] if asked.urls else []
    made += [{"sql": asked.sql, "query": asked.query}] if asked.sql or asked.query else []
    if any(rest.values()) and not made:
        raise InvalidInput("--user, --session and --chunker go with a path or a query, not a name")
    feeds += [_feed(source | rest) for source in made]
    if not feeds and not settings.sources:
        raise InvalidInput(
            "nothing to synchronise: name a path, or add [[sources]] to letopis.toml"
        )
    return feeds or build_feeds(settings)


def _feed(source: dict[str, str | None]) -> Feed:
    try:
        return build_feed(SourceSettings.model_validate(source))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise InvalidInput(first["msg"].removeprefix("Value error, ")) from error


def plans(
    settings: Settings, feeds: Sequence[Feed], progress: Progress | None = None
) -> list[tuple[str, Plan]]:
    """Return what a sync of each feed would do. Opens neither the model nor the vector store."""
    catalog, access = build_catalog(settings), build_access(settings)
    share = settings.ingest.max_removed
    try:
        return [(feed.label, plan(catalog, feed, access, progress, share)) for feed in feeds]
    finally:
        access.parser.close()
        catalog.close()


def sync_each(feeds: Sequence[Feed], one: Callable[[Feed], Report]) -> tuple[Report, list[str]]:
    """Synchronise feeds; return the report, and why some could not be listed.

    A feed that cannot be listed does not stop the others; a single one raises its error.
    """
    report, errors = Report(), []
    for feed in feeds:
        try:
            report.add(one(feed))
        except SourceError as error:
            if len(feeds) == 1:
                raise
            errors.append(f"{feed.label}: {error}")
    return report, errors
