"""The scalars of a JSON value, each with its path and its worth.

Numbers stay as they are spelled: ``1.50`` is not ``1.5``. Worth: items that
the query asks for and fields that are named, each with the first scalar of its item, which mostly
names it; then short scalars by their place in their arrays, then long strings.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexing.sparse import terms
from sessions.truncate.plan import ELLIPSIS, Rank
from sessions.truncate.wanted import Wanted

SHORT = 120
"""Characters of a string that is kept whole; of a longer one first as many are kept."""

DEEPEST = 60
"""Levels that are shown."""

FEW = 5
"""Items at most that are taken for what the query asks for."""

Path = tuple[str | int, ...]

_HUMP = re.compile(r"(?<=[a-zа-яё0-9])(?=[A-ZА-ЯЁ])|[_.-]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ANY, _ASCII = json.JSONEncoder(ensure_ascii=False), json.JSONEncoder()


class Number(str):
    """A number as it is spelled."""

    __slots__ = ()


def read_json(text: str) -> object:
    """Return a value with its numbers as `Number`. Raises `ValueError` for what is no JSON."""
    try:
        return json.loads(text, parse_int=Number, parse_float=Number, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("too deep") from error


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar or an empty container: where it is, and its worth.

    ``cost`` is the characters that it takes with its key, about.
    """

    path: Path
    value: object
    rank: Rank
    cost: int

    @property
    def is_long(self) -> bool:
        """Tell whether it is a string that may be cut inside."""
        return is_text(self.value) and self.cost > SHORT


def leaves(value: object, wanted: Wanted) -> list[Leaf]:
    """Return the leaves of a value, in order."""
    found = list(_walk(value))
    asked = _asked(found, wanted)
    said: dict[str, bool] = {}
    held: dict[tuple[str, ...], bool] = {}
    named = {path for path, _, _ in found if _is_named(path, wanted, said, held)}
    items = {item for path, item, _ in found if path in named} | asked
    leading: set[Path] = set()
    made = []
    for path, item, leaf in found:
        name = path[-1] if path else ""
        cost = len(written(leaf)) + (len(name) + 4 if isinstance(name, str) else 1)
        is_long = cost > SHORT and is_text(leaf)
        leads = bool(item) and item in items and not is_long and item not in leading
        if leads:
            leading.add(item)
        worth = 3.0 if is_long else 2.0
        if path in named or leads:
            worth = 0 if item in asked else 1
        elif item in asked and not is_long:
            worth = 0.5
        place = sum(part for part in path if isinstance(part, int))
        made.append(Leaf(path, leaf, (worth, place, len(path)), cost))
    return made


def _asked(found: Sequence[tuple[Path, Path, object]], wanted: Wanted) -> set[Path]:
    """Return the items of arrays that say most of the query's words, where they are few."""
    shares: dict[Path, int] = {}
    for _, item, leaf in found if wanted.words else ():
        if not item or not isinstance(leaf, str):
            continue
        share = int(leaf in wanted.words) if isinstance(leaf, Number) else wanted.shared(leaf)
        shares[item] = max(shares.get(item, 0), share)
    most = max(shares.values(), default=0)
    best = {item for item, share in shares.items() if share == most and share}
    return best if len(best) <= FEW else set()


def is_text(value: object) -> bool:
    """Tell whether a value is a string, and no number."""
    return isinstance(value, str) and not isinstance(value, Number)


def _walk(value: object) -> Iterator[tuple[Path, Path, object]]:
    """Yield each leaf behind its path and that of the item of an array it is in, () for none."""
    todo: list[tuple[Path, Path, object]] = [((), (), value)]
    while todo:
        path, item, one = todo.pop()
        if isinstance(one, dict | list) and one and len(path) == DEEPEST:
            yield path, item, f"{ELLIPSIS} deeper"
        elif isinstance(one, dict) and one:
            todo += [((*path, key), item, held) for key, held in reversed(one.items())]
        elif isinstance(one, list) and one:
            for number in range(len(one) - 1, -1, -1):
                below = (*path, number)
                todo.append((below, below, one[number]))
        else:
            yield path, item, one


def _is_named(
    path: Path, wanted: Wanted, said: dict[str, bool], held: dict[tuple[str, ...], bool]
) -> bool:
    """Tell whether a field is one to keep, or the query has all words of its name or its parent's.

    ``said`` and ``held`` keep what was found of names: ``unitPrice`` is named by "unit price".
    """
    keys = tuple(part for part in path if isinstance(part, str))
    if keys in held:
        return held[keys]
    for key in keys[-2:]:
        if key not in said:
            words = set(terms(_HUMP.sub(" ", key[:SHORT]))) if wanted.words else set()
            said[key] = bool(words) and words <= wanted.words
    held[keys] = wanted.names(keys) or any(said[key] for key in keys[-2:])
    return held[keys]


def written(value: object) -> str:
    """Return a value as compact JSON."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return f"{{{','.join(f'{written(k)}:{written(v)}' for k, v in value.items())}}}"
    if isinstance(value, list):
        return f"[{','.join(map(written, value))}]"
    half = isinstance(value, str) and not value.isascii() and _SURROGATE.search(value)
    return (_ASCII if half else _ANY).encode(value)
