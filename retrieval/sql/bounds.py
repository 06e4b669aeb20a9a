"""Numbers that bound a measure: "дороже 1000", "with a rating of at least 4", "от 2 до 5 тысяч"."""

from retrieval.sql.parts import Limit, NotUnderstood, Operator, Reading
from retrieval.sql.poles import COMPARATIVES
from retrieval.sql.words import Meaning

_OPERATORS: dict[str, Operator] = {
    "more": ">",
    "less": "<",
    "at_least": ">=",
    "at_most": "<=",
    "exactly": "=",
    "from": ">=",
    "to": "<=",
}
_OPPOSITE: dict[Operator, Operator] = {">": "<=", "<": ">=", ">=": "<", "<=": ">"}


def limits(found: Reading) -> None:
    """Take the numbers that bound a measure: "дороже 1000", "with a rating of at least 4"."""
    items = found.items
    for at, item in enumerate(items):
        if item.number is None or item.used:
            continue
        before = at - 1
        if before >= 0 and items[before].cue == "than":
            items[before].used = True
            before -= 1
        if before < 0 or items[before].used:
            continue
        if items[before].cue in ("between", "from") and _bounded(found, before, at):
            continue
        word = items[before]
        operator = _OPERATORS.get(word.cue or "")
        measures: tuple[Meaning, ...] = ()
        if word.text in COMPARATIVES and word.poles:
            operator = "<" if word.poles[0].pole == "low" else ">"
            measures = _narrowed(found, before, word.poles)
        elif operator is None and word.measures and not word.cue:
            operator, measures = "=", word.measures
        if operator is None:
            continue
        word.used = item.used = True
        if before and items[before - 1].cue == "not":
            items[before - 1].used = True
            operator = _OPPOSITE[operator] if operator != "=" else operator
            if operator == "=":
                raise NotUnderstood("not equal to a number", [item.text])
        _limit(found, operator, before, at, measures)


def _narrowed(found: Reading, at: int, poles: tuple[Meaning, ...]) -> tuple[Meaning, ...]:
    """Take the measure before a comparative that compares it: "длились дольше"."""
    word = found.items[at - 1] if at else None
    columns = {(meaning.table, meaning.name) for meaning in word.measures} if word else set()
    both = tuple(meaning for meaning in poles if (meaning.table, meaning.name) in columns)
    if word and both and not word.used:
        word.used = True
        return both
    return poles


def _bounded(found: Reading, before: int, at: int) -> bool:
    """Take "от 100 до 500", "between 100 and 500"."""
    items = found.items
    if at + 2 >= len(items) or items[at + 2].number is None:
        return False
    if items[at + 1].cue not in ("and", "to"):
        return False
    first, last = items[at], items[at + 2]
    for item in items[before : at + 3]:
        item.used = True
    first.unit = first.unit or last.unit
    if first.scale == 1 and first.number is not None and first.number < last.scale:
        first.number *= last.scale  # "от 2 до 5 тысяч"
    _limit(found, ">=", before, at, (), after=at + 2)
    _limit(found, "<=", before, at + 2, found.limits[-1].measures)
    return True


def _limit(
    found: Reading,
    operator: Operator,
    before: int,
    at: int,
    measures: tuple[Meaning, ...],
    after: int | None = None,
) -> None:
    """Add a bound on the given measures, else on those named beside it."""
    items = found.items
    following = items[(after or at) + 1] if (after or at) + 1 < len(items) else None
    beside = (following, items[before - 1] if before else None)
    nouns = [item for item in beside if item and item.measures and not item.used]
    nouns.sort(key=lambda item: (item.cue == "light", item is following))
    if not measures and nouns:
        measures = nouns[0].measures
        nouns[0].used = True
    elif following and following.of("table") and not measures and not following.measures:
        raise NotUnderstood("how many rows a group has is not asked of groups", [following.text])
    if following and following.cue == "times" and not measures:
        raise NotUnderstood("how often a group has rows is not asked", [following.text])
    number = items[at].number
    assert number is not None
    found.limits.append(Limit(operator, number, items[at].unit, measures))
