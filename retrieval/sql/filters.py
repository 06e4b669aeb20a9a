"""Values of dimensions that rows are cut to, what negates them and what joins them."""

import re

from retrieval.sql.parts import Named, NotUnderstood, Reading, same_dimension

_SHORT = re.compile(r"(?:[еая]н|[ыя]т)[аоы]?$")
"""Short Russian participles are predicates: "отменена", "закрыты"."""


def values(found: Reading) -> None:
    """Take the values, what negates them, and the dimension's own name beside one."""
    items = found.items
    spread = False
    for at, item in enumerate(items):
        previous = items[at - 1] if at else None
        if not item.of("value") or item.used or (item.measures and not item.negated):
            spread = spread and item.cue in ("and", "or", "not")
            continue
        negated = item.negated
        if previous and previous.cue in ("not", "except") and not previous.used:
            previous.used = negated = True
            spread = previous.cue == "except"
        elif spread and previous and previous.cue in ("and", "or"):
            negated = True
        else:
            spread = False
        predicate = item.after_be or (negated and bool(previous and previous.after_be))
        predicate = predicate or bool(_SHORT.search(item.text))
        item.used = True
        found.values.append(Named(item.of("value"), negated, at, predicate))
        for beside in items[max(at - 1, 0) : at + 2]:
            if not beside.used and same_dimension(beside.of("dimension"), item):
                beside.used = True
    _joined_values(found)


def _joined_values(found: Reading) -> None:
    """Take "and" and "or" between two values of one dimension; "or" joins nothing else."""
    items = found.items
    named = {value.at: value for value in found.values}
    for at, item in enumerate(items):
        if item.cue == "among":
            item.used, found.among = True, at
        if item.cue not in ("or", "and", "compare") or item.used:
            continue
        before, after = named.get(at - 1), named.get(at + 1)
        if after is None and at + 2 < len(items) and items[at + 1].cue in ("not", "by"):
            after = named.get(at + 2)
        if before and after and _columns(before) & _columns(after):
            if before.negated and not after.negated:
                raise NotUnderstood("how far the negation reaches is not sure", [item.text])
            item.used = True


def _columns(value: Named) -> set[tuple[str, str]]:
    return {(meaning.table, meaning.name) for meaning in value.meanings}
