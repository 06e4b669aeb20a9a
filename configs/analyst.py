"""Settings -> `Analyst`: the databases that questions may be asked of."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from configs.router_settings import RouterSettings
from configs.settings import Settings
from configs.sql import build_limits, build_sources, build_writer, check_source
from configs.stores import catalog_url
from indexing.catalog_schema import owner_key
from indexing.dense import Embedder
from indexing.errors import ConfigError
from retrieval.analyst import Analyst
from retrieval.own_catalog import OwnCatalog
from retrieval.route import Classifier
from retrieval.routing.chat import ChatClassifier
from retrieval.routing.linear import LinearClassifier, load
from retrieval.sql.catalog_source import catalog_source
from retrieval.sql.run import Databases


def build_analyst(settings: Settings, embedder: Embedder) -> Analyst | None:
    """Return what answers analytical questions, None where no source is registered.

    The memory's own catalog is one, unless the settings say otherwise; nothing of it is opened.
    No database is opened: a source is compared with its own when a question needs it, so that a
    column renamed there does not keep anybody from writing or forgetting here. Raises `ConfigError`
    for a source that contradicts itself.
    """
    sources = build_sources(settings.sql)
    databases = Databases()
    own = _own_catalog(settings, databases)
    if not sources and own is None:
        return None
    if own and own.source.name in sources:
        raise ConfigError(
            f"sql.sources: {own.source.name!r} is the memory's own catalog; name yours otherwise, "
            "or set sql.catalog = false"
        )
    return Analyst(
        sources,
        databases,
        build_limits(settings.sql),
        CLASSIFIERS[settings.router.kind](settings.router, embedder),
        build_writer(settings.sql),
        own=own,
        check=partial(check_source, databases=databases),
    )


def _own_catalog(settings: Settings, databases: Databases) -> OwnCatalog | None:
    if not settings.sql.catalog:
        return None
    source = catalog_source(catalog_url(settings), settings.ingest.timezone or "UTC")
    return OwnCatalog(source, databases, owner_key, build_limits(settings.sql))


def _rules(chosen: RouterSettings, embedder: Embedder) -> None:
    """The rules are what is there without a classifier."""


def _linear(chosen: RouterSettings, embedder: Embedder) -> Classifier:
    if chosen.folder is None:
        raise ConfigError("router.kind = linear needs router.folder")
    return LinearClassifier(load(chosen.folder.expanduser()), embedder)


def _chat(chosen: RouterSettings, embedder: Embedder) -> Classifier:
    if not chosen.url:
        raise ConfigError("router.kind = chat needs router.url")
    return ChatClassifier(chosen.url, chosen.model, chosen.api_key, chosen.timeout)


CLASSIFIERS: Mapping[str, Callable[[RouterSettings, Embedder], Classifier | None]] = (
    MappingProxyType({"rules": _rules, "linear": _linear, "chat": _chat})
)
