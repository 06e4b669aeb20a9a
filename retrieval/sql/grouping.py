"""What an answer is parted by and which end of it is asked for: "по городам", "топ-5"."""

import re

from retrieval.sql.intent import Unit
from retrieval.sql.items import Item
from retrieval.sql.parts import NotUnderstood, Reading, after, same_dimension
from retrieval.sql.poles import SUPERLATIVES


def extremes(found: Reading) -> None:
    """Take "самый дорогой", "longest", "highest …", "больше всего"."""
    items = found.items
    for at, item in enumerate(items):
        following = after(items, at)
        polar = following if following and following.poles and not following.used else None
        if item.cue in ("super", "most", "least") and polar:
            low = (polar.poles[0].pole == "low") != (item.cue == "least")
            _extreme(found, polar, low, at + 1)
            item.used = True
        elif item.poles and not item.used and item.text in SUPERLATIVES:
            _extreme(found, item, item.poles[0].pole == "low", at)
            if at and items[at - 1].cue in ("most", "super"):
                items[at - 1].used = True
    for item in items:
        if item.used:
            continue
        if item.cue in ("most", "least"):
            item.used = True
            found.top = found.top or 1
            found.ascending = item.cue == "least"
        elif item.cue in ("max", "min") and not item.measures:
            item.used = True
            found.aggregates.append("max" if item.cue == "max" else "min")


def _extreme(found: Reading, word: Item, low: bool, at: int) -> None:
    word.used = found.extreme = True
    found.measures_at.append(at)
    found.aggregates.append("min" if low else "max")
    found.measures.append(word.poles)


def groups(found: Reading) -> None:
    """Take "по категориям", "for each month", "which tool", "топ-5 товаров"."""
    items = found.items
    for at, item in enumerate(items):
        if item.used:
            continue
        if item.cue == "top":
            number = after(items, at)
            if number is None or number.number is None or number.used:
                raise NotUnderstood("how many of the top are asked is not said", [item.text])
            _top(found, number)
            item.used, found.top_at = True, at
            _group(found, at + 2, listed=True)
        elif item.number is not None and _before_extreme(found, at):
            _top(found, item)
            _group(found, at + 1, listed=True)
        elif item.cue is None and at and _FREQUENT.search(items[at - 1].text) and _group(found, at):
            found.asked_which = True
        elif item.of("table") and at and _FREQUENT.search(items[at - 1].text):
            found.asked_which = _group(found, at + 1, asked=True) or found.asked_which
        elif item.cue == "each" and item.per:
            _per(found, item.per)
            item.used = found.per_each = True
        elif item.cue in ("by", "each"):
            following = after(items, at)
            found.per_each |= item.cue == "each" and bool(following and following.cue == "unit")
            item.used = _group(found, at + 1) or (item.cue == "by" and _loose(found, at))
            if not item.used and item.cue == "each" and following and following.of("table"):
                item.used = any(other.cue == "avg" for other in items)
                found.row_of = following.of("table")
        elif item.cue == "which":
            item.used = True
            found.asked_which = _group(found, at + 1, asked=True) or found.asked_which


_FREQUENT = re.compile(
    r"^(?:самы[йе]|самая|самое|самых|most|least) (?:част|редк|распростран|common|frequent)"
)


def _top(found: Reading, number: Item) -> None:
    if number.number is None or not 1 <= number.number <= 100 or number.number % 1 or number.unit:
        raise NotUnderstood("how many of the top are asked is not said", [number.text])
    number.used = True
    found.top = int(number.number)


def _before_extreme(found: Reading, at: int) -> bool:
    """Tell whether a number counts extremes: "3 самых дорогих", "five most expensive"."""
    following = after(found.items, at)
    return bool(following and following.used and following.cue in ("super", "most", "least", None)
                and (following.cue or following.poles))  # fmt: skip


def _loose(found: Reading, at: int) -> bool:
    """Tell whether "по" or "by" is only a preposition: "оплата по карте", "paid by card"."""
    following = after(found.items, at)
    if found.items[at].text not in ("по", "by") or following is None:
        return False
    beyond = found.items[at + 2] if at + 2 < len(found.items) else None
    if beyond and same_dimension(following.of("dimension"), beyond):
        return True  # "по бренду Аврора"
    ranked = following.cue in ("count", "sum", "avg") or bool(following.measures)
    if following.cue == "which" or following.of("value", "table"):
        return True
    return ranked and (found.top is not None or any(i.cue == "compare" for i in found.items))


def _group(found: Reading, at: int, asked: bool = False, listed: bool = False) -> bool:
    """Take the dimensions and units of time that stand at ``at``, joined by "and"."""
    items = found.items
    taken = False
    while at < len(items):
        while at < len(items) and listed and items[at].used:
            at += 1
        item = items[at] if at < len(items) else None
        if item is None or item.used:
            break
        following = after(items, at)
        if item.cue == "unit" and item.per:
            _per(found, item.per)
        elif dimensions := item.of("dimension"):
            if following and same_dimension(dimensions, following):
                break  # "по категории электроника" filters
            found.groups.append(dimensions)
            found.things |= {meaning.table for meaning in item.of("table")}
        else:
            break
        item.used = taken = True
        joiner = after(items, at)
        if asked or listed or joiner is None or joiner.cue != "and":
            break
        skip = 2 if at + 2 < len(items) and items[at + 2].cue in ("by", "each") else 1
        beyond = items[at + 1 + skip] if at + 1 + skip < len(items) else None
        if beyond is None or not (beyond.cue == "unit" or beyond.of("dimension")):
            break
        for passed in items[at + 1 : at + 1 + skip]:
            passed.used = True
        at += 1 + skip
    return taken


def _per(found: Reading, unit: Unit) -> None:
    if found.per is not None:
        raise NotUnderstood("two units of time", [unit])
    found.per = unit
