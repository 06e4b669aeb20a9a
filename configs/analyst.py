"""Settings -> `Analyst`: the databases that questions may be asked of."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from configs.router_settings import RouterSettings
from configs.settings import Settings
from configs.sql import build_limits, build_sources, build_writer, check_source
from indexing.dense import Embedder
from indexing.errors import ConfigError
from retrieval.analyst import Analyst
from retrieval.route import Classifier
from retrieval.routing.chat import ChatClassifier
from retrieval.routing.linear import LinearClassifier, load
from retrieval.sql.run import Databases


def build_analyst(settings: Settings, embedder: Embedder) -> Analyst | None:
    """Return what answers analytical questions, None where no source is registered.

    Raises `ConfigError` for a source that contradicts itself or its database; one that cannot be
    reached now is asked when a question needs it.
    """
    sources = build_sources(settings.sql)
    if not sources:
        return None
    databases = Databases()
    try:
        for source in sources.values():
            check_source(source, databases)
    except BaseException:
        databases.close()
        raise
    return Analyst(
        sources,
        databases,
        build_limits(settings.sql),
        CLASSIFIERS[settings.router.kind](settings.router, embedder),
        build_writer(settings.sql),
    )


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
