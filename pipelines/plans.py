"""What is scheduled: settings -> plans, one a source and one for each upkeep. No Prefect here."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from configs.settings import Settings
from configs.when import when
from configs.write_settings import SourceSettings
from indexing.chat import SUFFIXES
from indexing.errors import ConfigError

UPKEEP = ("digest_sessions", "expire", "merge_duplicates", "reindex")


@dataclass(frozen=True, slots=True)
class Plan:
    """One deployment: a flow with its parameters, and when it runs.

    ``every`` is an interval, a cron line in ``timezone``, or None: only when somebody starts it.
    """

    flow: str
    name: str
    every: timedelta | str | None
    timezone: str = "UTC"
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The deployment's full name, as Prefect writes it."""
        return f"{self.flow.replace('_', '-')}/{self.name}"

    @property
    def times(self) -> str:
        """When it runs, for people."""
        if self.every is None:
            return "by hand"
        if isinstance(self.every, str):
            return f"{self.every} ({self.timezone})"
        return f"every {self.every}"


def plans(settings: Settings) -> list[Plan]:
    """Return what the settings schedule: the sources in their order, then the upkeep.

    Raises `ConfigError` for a source without a name, two of one name, or a schedule of no source.
    """
    return [*_source_plans(settings), *_upkeep_plans(settings)]


def _source_plans(settings: Settings) -> Iterator[Plan]:
    chosen = settings.schedule
    left = dict(chosen.by_source)
    seen = set()
    for number, source in enumerate(settings.sources, 1):
        if not source.name.strip():
            raise ConfigError(f"sources: number {number} has no name; a schedule needs one")
        if source.name in seen:
            raise ConfigError(f"sources: two are named {source.name!r}")
        seen.add(source.name)
        every = when(left.pop(source.name, chosen.sources))
        name = _plain(source.name)
        parameters = {"source": source.name}
        yield Plan(_flow_of(source), name, every, chosen.timezone, parameters)
    if left:
        unknown = ", ".join(map(repr, sorted(left)))
        raise ConfigError(f"schedule.by_source names {unknown}, which no source is called")


def _upkeep_plans(settings: Settings) -> Iterator[Plan]:
    chosen = settings.schedule
    times = {
        "digest_sessions": chosen.digest,
        "expire": chosen.expire,
        "merge_duplicates": chosen.dedup,
        "reindex": chosen.reindex,
    }
    for flow in UPKEEP:
        yield Plan(flow, "all", when(times[flow]), chosen.timezone)


def _flow_of(source: SourceSettings) -> str:
    return "ingest_sessions" if source.path.lower().endswith(SUFFIXES) else "ingest_documents"


def _plain(name: str) -> str:
    """Return a name without what Prefect refuses in one."""
    return "".join("_" if character in '/%&<>"' else character for character in name)
