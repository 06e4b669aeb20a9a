"""Records of flow runs forget what is forgotten: `erase`.

Prefect stores the parameters, names, states, logs, events and pages of runs: they name users,
sessions and sources. They are looked for where runs of these settings leave them: in the Prefect
folder beside the memory, in the user's own, and on the server that is configured. Where there is
none of these, Prefect is neither imported nor started.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from configs.settings import Settings
from indexing.erasing import Erase
from indexing.traces import Traces
from pipelines.erase_file import erase_file
from pipelines.erased import Erased
from pipelines.errors import FlowUnavailable
from pipelines.named import Named, named_of
from pipelines.places import places_of
from pipelines.residue import mask

PATIENCE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class ErasureReport:
    """What was taken out of Prefect's records, by kind, and how many that name it are left.

    ``notes`` say why, in words that name nothing; ``kept`` are the names of the deployments and of
    the sources of the settings that still name it, to be shown, not stored.
    """

    counts: Mapping[str, int]
    left: int = 0
    notes: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def erase(
    settings: Settings, traces: Traces, *, patience: float = PATIENCE_SECONDS
) -> ErasureReport:
    """Take what names it out of the records of all flow runs that have ended.

    Runs that work are waited for, ``patience`` seconds at most; then they, and deployments that
    name it, count as ``left``. Sources of the settings are only told of. Raises `FlowUnavailable`
    where a database cannot be read or a server does not answer: nothing is known then.
    """
    named = named_of(settings, traces)
    erased = Erased()
    if not named:
        return ErasureReport({})
    erased.tell_sources(source.name for source in named.feeds)
    places = places_of(settings)
    for file in places.files:
        erased.add(erase_file(file, named, patience))
    for address in places.servers:
        erased.add(_erase_at(address, named, patience))
    try:
        erased.counts["log_names"] = sum(mask(log, named.texts) for log in places.logs)
    except OSError as error:
        raise FlowUnavailable(f"the log of a Prefect server: {error.strerror}") from error
    counts = {kind: count for kind, count in sorted(erased.counts.items()) if count}
    notes = tuple(dict.fromkeys(erased.notes))
    return ErasureReport(counts, erased.left, notes, tuple(dict.fromkeys(erased.kept)))


def eraser(
    settings: Settings,
    tell: Callable[[str], None] = lambda _: None,
    patience: float = PATIENCE_SECONDS,
) -> Erase:
    """Return what takes traces out of Prefect's records, for `indexing.forget`.

    ``tell`` is called with the name of each deployment and source that still names what is
    forgotten. A Prefect that cannot be reached counts as one left, with a note: the rest goes on.
    """

    def take(traces: Traces) -> tuple[Mapping[str, int], Mapping[str, int], Sequence[str]]:
        try:
            report = erase(settings, traces, patience=patience)
        except FlowUnavailable as error:
            return {}, {"prefect": 1}, (f"Prefect's records could not be looked at: {error}",)
        for name in report.kept:
            tell(name)
        removed = {f"prefect:{kind}": count for kind, count in report.counts.items()}
        return removed, {"prefect": report.left}, report.notes

    return take


def _erase_at(address: str, named: Named, patience: float) -> Erased:
    try:
        from pipelines.erase_api import erase_at
    except ImportError as error:
        raise FlowUnavailable(
            "records of flow runs are on a Prefect server, and Prefect is not installed "
            f"({error}): pip install prefect"
        ) from error
    return erase_at(address, named, patience)
