"""The items of a question -> what each does in it: the parts of an intent, columns not yet chosen.

What no step took is missing, and then there is no intent. `choose` finds the table and columns.
"""

from collections.abc import Sequence
from itertools import pairwise

from retrieval.sql.bounds import limits
from retrieval.sql.filters import values
from retrieval.sql.grouping import extremes, groups
from retrieval.sql.items import Item
from retrieval.sql.parts import NotUnderstood, Reading, after
from retrieval.sql.schema import Aggregate


def read(items: Sequence[Item], own: bool) -> Reading:
    """Return the parts of a question. Raises `NotUnderstood`."""
    found = Reading(list(items), own)
    for step in (_refuse, _periods, limits, extremes, groups, values, _targets, _rest):
        step(found)
    return found


def _refuse(found: Reading) -> None:
    if not any(item.meanings for item in found.items):
        raise NotUnderstood("no declared word is in the question")
    for at, item in enumerate(found.items):
        if item.cue == "everybody":
            _refuse_others(found, at)
        if item.cue == "refuse":
            raise NotUnderstood("reasons, forecasts and advice are no sums", [item.text])
        if item.cue == "difference":
            raise NotUnderstood("a difference is not computed", [item.text])
        if item.cue == "rate":
            raise NotUnderstood("a rate may be read in several ways", [item.text])


def _refuse_others(found: Reading, at: int) -> None:
    """Refuse "у всех" unless it is said of things: "у всех агентов", "для всех заказов"."""
    item = found.items[at]
    following = next((other for other in found.items[at + 1 :] if not other.period), None)
    owners = following is None or (item.text.startswith("у ") and following.of("table"))
    if following is None or owners or not following.meanings:
        raise NotUnderstood("other people are not counted", [item.text])
    item.used = True


def _periods(found: Reading) -> None:
    """Take the periods; several are compared, with nothing but "and" or "against" between them."""
    items = found.items
    at = [i for i, item in enumerate(items) if item.period]
    for first, last in pairwise(at):
        for item in items[first + 1 : last]:
            if item.cue not in ("and", "compare", "more", "less", "than") and not item.meanings:
                raise NotUnderstood("two times in one question", [items[last].text])
        linked = any(_links(item) for item in items[first + 1 : last])
        if not (linked or any(item.cue == "compare" for item in items)):
            raise NotUnderstood("two times in one question", [items[last].text])
    for item in items:
        if item.period:
            item.used = True
            found.periods.append(item.period)
    if len(at) > 1:
        found.compared = True
        if any(period.start is None or period.end is None for period in found.periods):
            raise NotUnderstood("two times in one question, one without an end")
        for i, item in enumerate(items):
            if item.cue in ("compare", "than") or (item.cue == "and" and at[0] < i < at[-1]):
                item.used = True
            if item.cue in ("more", "less") and not _number_after(items, i):
                item.used = True


def _links(item: Item) -> bool:
    return item.cue in ("and", "compare", "than") or item.text.endswith((" чем", " than"))


def _number_after(items: Sequence[Item], at: int) -> bool:
    rest = [item for item in items[at + 1 : at + 3] if item.cue != "than"]
    return bool(rest) and rest[0].number is not None


_AGGREGATES: dict[str, Aggregate] = {"sum": "sum", "avg": "avg", "max": "max", "min": "min"}


def _targets(found: Reading) -> None:
    """Take what is asked for: "сколько", "average", a measure, the rows of a table."""
    items = found.items
    counts = 0
    for at, item in enumerate(items):
        following = after(items, at)
        if item.used:
            continue
        if item.cue == "count":
            item.used = True
            found.counted, found.counted_at = item.text, at
            counts += 1
        elif item.cue == "times" and found.counted:
            item.used = True
        elif item.cue == "share":
            item.used = found.shared = True
        elif item.cue == "distinct":
            if following is None or not following.of("dimension") or following.used:
                raise NotUnderstood("different what is not said", [item.text])
            item.used = following.used = True
            found.distinct = following.of("dimension")
        elif item.cue in _AGGREGATES and not _repeated(items, at):
            item.used = True
            if item.cue != "sum" or not item.measures or not _averaged(items):
                found.aggregates.append(_AGGREGATES[item.cue])
            found.loosely |= item.text in ("в среднем", "on average")
            if item.measures and not _other_measure(items, at):
                found.measures.append(item.measures)
                found.measures_at.append(at)
        elif item.cue in _AGGREGATES:
            item.used = True  # "total number of orders"
        elif item.cue == "price" and not found.aggregates:
            raise NotUnderstood("what one costs is no number of many", [item.text])
        elif item.cue == "light" and item.measures and _other_measure(items, at):
            item.used = True  # "потратил токенов": the tokens are meant
        elif item.measures:
            item.used = True
            found.measures.append(item.measures)
            found.measures_at.append(at)
        elif item.of("table"):
            item.used = True
            found.tables.append(item.of("table"))
            found.tables_at.append(at)
        elif item.of("dimension") and at and items[at - 1].cue == "count" and not found.distinct:
            item.used = True
            found.distinct = item.of("dimension")
    if counts > 1:
        raise NotUnderstood("several numbers are asked for at once")


def _repeated(items: Sequence[Item], at: int) -> bool:
    """Tell whether "total", "общее" only stands before "number", "количество"."""
    following = after(items, at)
    before = items[at - 1] if at else None
    return bool(
        items[at].cue == "sum"
        and ((following and following.cue == "count") or (before and before.cue == "count"))
    )


def _averaged(items: Sequence[Item]) -> bool:
    return any(item.cue in ("avg", "max", "min") for item in items)


def _other_measure(items: Sequence[Item], at: int) -> bool:
    return any(item.measures and not item.cue for i, item in enumerate(items) if i != at)


def _rest(found: Reading) -> None:
    """Refuse what nobody took; "and" and a comparison of two things that were taken may stay."""
    items = found.items
    for at, item in enumerate(items):
        inside = 0 < at < len(items) - 1 and items[at - 1].used and items[at + 1].used
        if item.cue == "and" and inside and not items[at + 1].cue:
            item.used = True
        if item.cue == "trend" and (found.per or found.groups):
            item.used = True
        if item.cue == "compare" and (len(found.values) > 1 or found.groups or found.per):
            item.used = found.compared = True
    missing = [item.text for item in items if not item.used]
    if missing:
        raise NotUnderstood(f"not understood: {', '.join(missing)}", missing)
