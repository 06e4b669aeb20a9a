"""JSON and JSONL: the result is JSON too, with the fields that are named and then short scalars.

An array keeps its first items and an entry that counts the others; a string is cut inside. What is
left out is told in a field ``_cut``, with the names of fields that are nowhere in the result.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sessions.truncate.json_leaves import SHORT, Leaf, leaves, read_json, written
from sessions.truncate.plan import ELLIPSIS, Plan, counted, head
from sessions.truncate.text import plan_text
from sessions.truncate.wanted import Wanted

CUT = "_cut"
"""The field of the note."""

NAMED = 8
"""Names of fields that are told to be left out."""


def plan_json(wanted: Wanted) -> Plan:
    """Return the plan of a JSON value, or of one a line; of text that is neither, as plain text."""
    try:
        return Tree(read_json(wanted.text), wanted, _whole)
    except ValueError:
        pass
    try:
        return Tree([read_json(line) for line in json_lines(wanted.text)], wanted, _by_line)
    except ValueError:
        return plan_text(wanted)


def json_lines(text: str) -> list[str]:
    """Return the lines of a JSONL text that are not blank."""
    return [line for line in text.split("\n") if line.strip()]


def is_json(text: str) -> bool:
    """Tell whether a text is a JSON object or array, or several of them, one a line."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        read_json(text)
        return True
    except ValueError:
        lines = json_lines(text)
    try:
        return len(lines) > 1 and all(isinstance(read_json(line), dict | list) for line in lines)
    except ValueError:
        return False


@dataclass(slots=True)
class Tree:
    """A plan of leaves. A long string is two of its steps: its start, later the whole of it."""

    value: object
    wanted: Wanted
    write: Callable[[object, str], str]
    found: Sequence[Leaf] = field(init=False)
    steps: Sequence[tuple[int, int]] = field(init=False)
    names: Sequence[str] = field(init=False)

    def __post_init__(self) -> None:
        self.found = list(leaves(self.value, self.wanted))
        ranked = []
        for number, leaf in enumerate(self.found):
            long = leaf.cost - SHORT if leaf.is_long else 0
            ranked.append((leaf.rank, number, leaf.cost - long))
            if long:
                ranked.append(((leaf.rank[0] + 4, *leaf.rank[1:]), number, long))
        parts = (part for leaf in self.found for part in leaf.path if isinstance(part, str))
        self.names = [name for name in dict.fromkeys(parts) if len(name) <= SHORT]
        self.steps = [(number, cost) for _, number, cost in sorted(ranked)]

    @property
    def size(self) -> int:
        """The characters of all leaves."""
        return sum(cost for _, cost in self.steps)

    def render(self, size: int, note: str) -> str:
        """Return the leaves that are worth most as JSON, the note in its field."""
        granted: dict[int, int] = {}
        for number, cost in self.steps:
            if cost > size and not self.found[number].is_long:
                break
            granted[number] = granted.get(number, 0) + min(cost, size)
            size -= cost
            if size <= 0:
                break
        kept: dict[object, object] = {}
        for number in sorted(granted):
            leaf = self.found[number]
            _put(kept, leaf.path, self._shown(leaf, granted[number]))
        missing = self._missing(granted) if note else ""
        return self.write(_built(kept, self.value), f"{note}{missing}")

    def _shown(self, leaf: Leaf, granted: int) -> object:
        text = leaf.value
        if not isinstance(text, str) or granted >= leaf.cost:
            return text
        start = head(text, max(granted - (leaf.cost - len(text)), 1))
        return f"{start}{ELLIPSIS} {counted(len(text) - len(start), 'character')} more"

    def _missing(self, granted: Iterable[int]) -> str:
        """Return the names of fields that are kept nowhere."""
        kept = {part for number in granted for part in self.found[number].path}
        lost = [name for name in self.names if name not in kept]
        if not lost:
            return ""
        more = f" and {len(lost) - NAMED} more" if len(lost) > NAMED else ""
        return f"; without {', '.join(lost[:NAMED])}{more}"


def _put(tree: dict[object, object], path: Sequence[str | int], value: object) -> None:
    """Put a leaf into a tree of dicts, which are made on its way."""
    for part in path[:-1]:
        below = tree.setdefault(part, {})
        assert isinstance(below, dict)
        tree = below
    tree[path[-1] if path else ""] = _Kept(value)


@dataclass(frozen=True, slots=True)
class _Kept:
    value: object


def _built(kept: object, original: object) -> object:
    """Return what is kept of a value; arrays end with a count of what they had more."""
    if isinstance(kept, _Kept):
        return kept.value
    assert isinstance(kept, dict)
    if isinstance(original, dict):
        return {key: _built(below, original[key]) for key, below in kept.items()}
    if isinstance(original, list):
        items: list[object] = [_built(below, original[key]) for key, below in kept.items()]
        left = len(original) - len(items)
        return [*items, f"{ELLIPSIS} {left:,} more"] if left else items
    return _built(kept[""], original) if kept else None


def _whole(value: object, note: str) -> str:
    """Write one value with the note in it: an array's last entry, a string's end.

    Without one there is no room for anything.
    """
    if not note:
        return "[]" if isinstance(value, list) else "{}" if isinstance(value, dict) else "null"
    if isinstance(value, dict):
        return written({**value, CUT: note})
    if isinstance(value, list):
        return written([*value, {CUT: note}])
    return written(f"{value} {note}" if isinstance(value, str) else {CUT: note})


def _by_line(value: object, note: str) -> str:
    """Write the entries of an array, one a line, and then the note; a count belongs to the note."""
    entries = value if isinstance(value, list) else []
    counts = [entry for entry in entries if isinstance(entry, str) and entry.endswith(" more")]
    lines = [written(entry) for entry in entries if isinstance(entry, dict | list)]
    if note:
        lines.append(written({CUT: note, **({"_lines": counts[0]} if counts else {})}))
    return "\n".join(lines)
