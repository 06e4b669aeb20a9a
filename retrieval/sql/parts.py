"""The parts of a question as they are found, before tables and columns are chosen.

Each step of `reading` takes the items that it understands and marks them used.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from retrieval.sql.intent import Period, Unit
from retrieval.sql.items import Item
from retrieval.sql.schema import Aggregate
from retrieval.sql.words import Meaning

Operator = Literal["<", "<=", ">", ">=", "="]


class NotUnderstood(Exception):
    """Why a question has no intent; ``missing`` are its words that were not understood."""

    def __init__(self, reason: str, missing: Sequence[str] = ()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.missing = tuple(missing)


@dataclass(slots=True)
class Limit:
    """A bound; no ``measures``: the one of the table that fits the unit."""

    operator: Operator
    number: float
    unit: str
    measures: tuple[Meaning, ...]


@dataclass(slots=True)
class Named:
    """A value named in the question: what it can mean, and where it stands.

    ``predicate``: it is said of the rows ("were cancelled", "отменена"), not a part of their name.
    """

    meanings: tuple[Meaning, ...]
    negated: bool
    at: int
    predicate: bool


@dataclass(slots=True)
class Reading:
    """The parts of a question. Tuples of meanings are alternatives; lists hold parts.

    ``extreme``: an end of a scale was asked for ("самый дорогой"). ``loosely``: "в среднем", which
    does not say of what. ``counted``: the words that ask for a number of something. ``per_each``:
    the unit of time was said as "per month", not as "by month". ``things``: tables whose rows the
    groups are ("товар" is a product and its name). ``row_of``: the table whose rows an average is
    of ("per order"). ``…_at`` are positions.
    """

    items: list[Item]
    own: bool
    aggregates: list[Aggregate] = field(default_factory=list)
    extreme: bool = False
    loosely: bool = False
    counted: str = ""
    counted_at: int = 0
    shared: bool = False
    distinct: tuple[Meaning, ...] = ()
    measures: list[tuple[Meaning, ...]] = field(default_factory=list)
    measures_at: list[int] = field(default_factory=list)
    tables: list[tuple[Meaning, ...]] = field(default_factory=list)
    tables_at: list[int] = field(default_factory=list)
    values: list[Named] = field(default_factory=list)
    among: int | None = None
    limits: list[Limit] = field(default_factory=list)
    groups: list[tuple[Meaning, ...]] = field(default_factory=list)
    things: set[str] = field(default_factory=set)
    per: Unit | None = None
    per_each: bool = False
    asked_which: bool = False
    top: int | None = None
    top_at: int | None = None
    row_of: tuple[Meaning, ...] = ()
    ascending: bool = False
    periods: list[Period] = field(default_factory=list)
    compared: bool = False

    def only_measures(self) -> bool:
        """Tell whether nothing is named but a measure, and how to aggregate it."""
        others = (self.distinct, self.tables, self.values, self.limits, self.groups, self.periods)
        return bool(self.measures) and not (
            any(others) or self.shared or self.extreme or self.per or self.top or self.compared
        )


def same_dimension(dimensions: Sequence[Meaning], item: Item) -> bool:
    """Tell whether a word is a value of one of the dimensions."""
    columns = {(meaning.table, meaning.name) for meaning in dimensions}
    return any((value.table, value.name) in columns for value in item.of("value"))


def after(items: Sequence[Item], at: int) -> Item | None:
    """Return the item after a position, if there is one."""
    return items[at + 1] if at + 1 < len(items) else None
