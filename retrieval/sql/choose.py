"""The parts of a question -> an `Intent`: what is computed, and over which table's rows.

What can be read in several ways is refused here; `fit` says what the words mean for one table.
"""

from collections.abc import Iterable, Sequence

from retrieval.sql.fit import Fit, column_of, dated
from retrieval.sql.intent import Intent
from retrieval.sql.joins import nearest
from retrieval.sql.parts import NotUnderstood, Reading
from retrieval.sql.schema import Aggregate, Source, Table
from retrieval.sql.tenants import owned
from retrieval.sql.words import Meaning


def choose(found: Reading, source: Source, only: str = "") -> Intent:
    """Return the intent, with ``only`` that of a measure of that table. Raises `NotUnderstood`."""
    aggregate = _aggregate(found)
    measured = _measured(found, only)
    _sure(found, aggregate, measured)
    fits = []
    refused: NotUnderstood | None = None
    for table, named in _candidates(found, source, measured):
        try:
            fits.append((Fit(found, source, table, bool(measured)), named))
        except NotUnderstood as error:
            refused = refused or error
    fit = _best(fits, refused, found.own)
    if fit.table.tenant_column and fit.table.tenant_column == fit.table.key:
        raise NotUnderstood("other people are not counted")
    if found.extreme and found.groups and not (found.tables or fit.table.name in found.things):
        raise NotUnderstood("whether one is the most or all together is not sure")
    return fit.intent(aggregate, measured)


def _aggregate(found: Reading) -> Aggregate | None:
    """Return the aggregate that was said; an extreme of groups becomes their order."""
    said = list(dict.fromkeys(found.aggregates))
    extremes = [name for name in said if name in ("max", "min")]
    if len(extremes) == 1 and found.extreme and (found.asked_which or found.top):
        found.top = found.top or 1
        found.ascending = extremes == ["min"]
    elif extremes and not found.extreme and found.asked_which:
        found.top, found.ascending = found.top or 1, extremes[0] == "min"
        said.remove(extremes[0])
    if len(said) > 1:
        raise NotUnderstood("several numbers are asked for at once")
    return said[0] if said else None


def _measured(found: Reading, only: str) -> list[Meaning]:
    """Return what the measure that is asked for can be; empty: rows are counted."""
    if not found.measures:
        return []
    first, *others = ({column_of(m): m for m in measure} for measure in found.measures)
    agreed = {column for column in first if all(column in other for other in others)}
    if not agreed:
        raise NotUnderstood("several numbers are asked for at once")
    measured = [meaning for column, meaning in first.items() if column in agreed]
    if only and not any(meaning.table == only for meaning in measured):
        raise NotUnderstood(f"{only} have no {measured[0].name}")
    return [meaning for meaning in measured if only in ("", meaning.table)]


def _sure(found: Reading, aggregate: Aggregate | None, measured: Sequence[Meaning]) -> None:
    """Refuse what can be read in several ways, or asks for no number."""
    after_count = [at for at in found.tables_at if at > found.counted_at]
    if found.counted and measured and after_count and min(found.measures_at) > after_count[0]:
        raise NotUnderstood("several numbers are asked for at once")
    if found.counted == "how much" and not measured and not found.shared:
        raise NotUnderstood("how much of what is not said")
    if found.counted and found.extreme and len(found.measures) == 1 and found.counted != "how much":
        raise NotUnderstood("how many of the extreme is not sure")
    if found.counted and not measured and aggregate not in (None, "sum"):
        raise NotUnderstood(f"{aggregate} of a count is not computed")
    if aggregate == "avg":
        whole = any(period.said in _LOOSE for period in found.periods)
        if found.per_each or (found.loosely and (whole or not found.tables)):
            raise NotUnderstood("an average of what is not said")
    if found.top and not (found.groups or found.per):
        raise NotUnderstood("most of what is not said")
    ranked = found.counted or measured or aggregate or found.shared
    if found.top_at is not None and not ranked:
        raise NotUnderstood("most of what is not said")
    if found.limits and (found.distinct or (measured and (found.groups or found.per))):
        raise NotUnderstood("whether rows or their groups are bounded is not sure")
    if found.counted == "how much" and found.items[-1].text == "cost" and not aggregate:
        raise NotUnderstood("what one costs is no number of many", ["cost"])
    if found.top_at is not None and found.counted and found.counted_at < found.top_at:
        raise NotUnderstood("how many of the top is not computed")
    if (found.asked_which and found.top is None) or (found.top and found.distinct):
        raise NotUnderstood("a list is asked for, not a number")
    if found.shared and (aggregate not in (None, "sum") or not found.values or found.distinct):
        raise NotUnderstood("a share of what is not said")
    asked = found.counted or measured or aggregate or found.distinct or found.shared
    if not (asked or found.groups or found.per or found.compared):
        raise NotUnderstood("what to compute is not said")


_LOOSE = ("за неделю", "за месяц", "за год")


def _candidates(
    found: Reading, source: Source, measured: Sequence[Meaning]
) -> Iterable[tuple[Table, bool]]:
    """Return the tables whose rows may be asked for, and whether the question names them."""
    names = {meaning.table for table in found.tables for meaning in table}
    if measured:
        tables = {meaning.table for meaning in measured}
        return [(source.table(name), name in names) for name in sorted(tables)]
    if found.tables:
        after = [i for i, at in enumerate(found.tables_at) if at > found.counted_at]
        target = found.tables[after[0] if found.counted and after else 0]
        return [(source.table(meaning.table), True) for meaning in target]
    return [
        (table, False)
        for table in source.tables
        if (found.distinct or nearest(source, table, dated) is not None)
        and (not found.own or owned(source, table))
    ]


def _best(fits: Sequence[tuple[Fit, bool]], refused: NotUnderstood | None, own: bool) -> Fit:
    """Return the one table that fits, named before unnamed, with the nearest columns.

    Of two alike "my documents" are those of the table that nobody shares, "documents" the others.
    """
    if not fits:
        raise refused or NotUnderstood("no declared table has what is asked for")
    best = min((not named, fit.distance) for fit, named in fits)
    chosen = [fit for fit, named in fits if (not named, fit.distance) == best]
    if len(chosen) > 1:
        chosen = [fit for fit in chosen if (fit.table.shared is None) == own] or chosen
    if len(chosen) > 1:
        names = ", ".join(fit.table.name for fit in chosen)
        raise NotUnderstood(f"it is not sure which is asked for: {names}")
    return chosen[0]
