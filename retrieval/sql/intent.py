"""What an analytical question asks, in terms of a declared schema: plain data, no SQL, no text.

`understand` makes it, `build` turns it into a tree. Names are those of `schema`.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from retrieval.sql.schema import Aggregate

Unit = Literal["day", "week", "month", "quarter", "year"]


@dataclass(frozen=True, slots=True)
class Period:
    """A half-open time range ``[start, end)``, aware; None: open on that side. ``said`` is its
    words in the question."""

    start: datetime | None
    end: datetime | None
    said: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A declared column: table name and the name of its measure or dimension."""

    table: str
    name: str


@dataclass(frozen=True, slots=True)
class Condition:
    """A dimension is one of the stored values; ``negated``: none of them."""

    column: Column
    values: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Bound:
    """A measure against a number: "orders over 100"."""

    column: Column
    operator: Literal["<", "<=", ">", ">=", "="]
    number: float


@dataclass(frozen=True, slots=True)
class Intent:
    """One SELECT's worth of question over ``source`` and the rows of ``table``.

    ``aggregate`` of ``measure`` (None: of rows, and then it is count); ``distinct``: number of
    different values of that dimension. One period filters, two or more are compared, side by side.
    ``conditions`` and ``bounds`` all hold. ``group_by`` and ``per`` (a unit of the time column)
    make a table; ``top`` keeps that many groups, largest first unless ``ascending``. ``share``:
    the part of the whole, in percent, that satisfies these further conditions.
    """

    source: str
    table: str
    aggregate: Aggregate = "count"
    measure: Column | None = None
    distinct: Column | None = None
    periods: tuple[Period, ...] = ()
    conditions: tuple[Condition, ...] = ()
    bounds: tuple[Bound, ...] = ()
    share: tuple[Condition, ...] = ()
    group_by: tuple[Column, ...] = ()
    per: Unit | None = None
    top: int | None = None
    ascending: bool = False


@dataclass(frozen=True, slots=True)
class Understanding:
    """What was made of a question: an intent, or None and why; ``missing`` are words of the
    question that mean something and were not understood: then nothing is guessed."""

    intent: Intent | None
    reason: str
    missing: tuple[str, ...] = ()
    confidence: float = 0.0
