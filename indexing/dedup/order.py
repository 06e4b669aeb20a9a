"""May two texts with the same pieces in another order say the same?

English says who did it by order, so little may move: a phrase of time between front and end; one
phrase with a preposition from the front to the end; the two sides of "is" when one of them names a
single thing; the parts of "X and Y" after a verb. In Russian the verb and its pronoun may move too,
where one of them shows who acts. Nothing moves where there is more than one clause.
"""

import re
from collections.abc import Sequence

from indexing.dedup.reading import Group, Reading
from indexing.dedup.wording import (
    COMPARISON,
    CONDITION,
    LISTING,
    NEGATION,
    OWNING,
    PERSONS,
    SUBJECTS,
)

_FIRST_PERSON = re.compile(r"\w+(?:[аяе]ю|[бвпмф]лю|юсь|усь)|пью|ем|даю|учу|хожу|вожу|езжу")
_PAST = re.compile(r"\w+(?:л|ла|ли|лся|лась|лись)")


def same_order(a: Reading, b: Reading) -> bool:
    """Return whether the pieces of ``a`` and ``b``, the same ones, stand in like order."""
    own, other = _listed(a.groups), _listed(b.groups)
    if own == other:
        return True
    if not (a.simple and b.simple):
        return False
    if [g for g in own if g.temporal] == [g for g in other if g.temporal] and (
        _times_apart(own) and _times_apart(other)
    ):
        own, other = [g for g in own if not g.temporal], [g for g in other if not g.temporal]
    return (
        own == other
        or _rotated(own, other)
        or _rotated(other, own)
        or _turned(a, b)
        or (a.russian and b.russian and _acted(own, other))
    )


def _times_apart(groups: Sequence[Group]) -> bool:
    """Return whether every phrase of time stands at an end or after a pronoun, not after a noun:
    "the meeting on Monday was moved" is not "the meeting was moved on Monday".
    """
    times = [group.temporal for group in groups]
    first = times.index(False) if False in times else len(times)
    last = len(times) - times[::-1].index(False) if False in times else 0
    return all(not times[i] or groups[i - 1].keys[-1] in PERSONS for i in range(first, last) if i)


def _listed(groups: Sequence[Group]) -> list[Group]:
    """Return the groups with every "X, Y and Z" in alphabetical order."""
    out: list[Group] = []
    at = 0
    while at < len(groups):
        end = at + 1
        while end < len(groups) and groups[end].joined:
            end += 1
        run = groups[at:end]
        if len(run) > 1 and _a_list(groups, at, end):
            run = sorted(run, key=lambda group: (group.preposition, group.keys))
        out += [Group(g.preposition, g.keys, g.temporal) for g in run]
        at = end
    return out


def _a_list(groups: Sequence[Group], at: int, end: int) -> bool:
    """Return whether the groups are things of their own: nothing before or after belongs to one."""
    before = groups[at - 1] if at else None
    loose = before is None or (not before.preposition and before.keys[0] in LISTING)
    return loose and end == len(groups) and all(not g.preposition for g in groups[at:end])


def _rotated(own: Sequence[Group], other: Sequence[Group]) -> bool:
    """Return whether ``own`` begins with a prepositional phrase that ends ``other``."""
    return bool(own) and bool(own[0].preposition) and [*own[1:], own[0]] == list(other)


def _turned(a: Reading, b: Reading) -> bool:
    """Return whether "A is my B" was turned to "My B is A"."""
    if a.copula is None or b.copula is None:
        return False
    keys = {key for group in a.groups for key in (*group.keys, *group.preposition.split())}
    if not keys & OWNING or keys & (COMPARISON | CONDITION):
        return False
    left, right = a.groups[: a.copula], a.groups[a.copula :]
    return bool(left and right) and b.copula == len(right) and (*right, *left) == b.groups


def _acted(own: Sequence[Group], other: Sequence[Group]) -> bool:
    """Return whether only the verb and its pronoun moved, and one of them shows who acts."""
    keys = {key for group in own for key in group.keys}
    if not (keys & SUBJECTS or any(_FIRST_PERSON.fullmatch(key) for key in keys)):
        return False
    return [g for g in own if not _act(g)] == [g for g in other if not _act(g)]


def _act(group: Group) -> bool:
    """Return whether a group is a subject pronoun, a negation or a verb."""
    (key, *_) = group.keys
    verb = _FIRST_PERSON.fullmatch(key) or _PAST.fullmatch(key)
    return not group.preposition and (key in SUBJECTS or key in NEGATION or verb is not None)
