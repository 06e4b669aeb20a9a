"""What the words of a question mean when the rows of one table are asked for.

A word that several columns declare means the one that is nearest along the references; where two
are equally near, or a table is named that nothing joins, the table does not fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from indexing.errors import SqlRefused
from retrieval.sql import units
from retrieval.sql.intent import Bound, Column, Condition, Intent
from retrieval.sql.joins import nearest, path_to
from retrieval.sql.parts import Limit, Named, NotUnderstood, Reading
from retrieval.sql.schema import Aggregate, Measure, Source, Table
from retrieval.sql.words import Meaning


@dataclass
class Fit:
    """The columns that a question's words mean when the rows of ``table`` are asked for.

    ``sure``: a measure of the table is asked for.
    """

    found: Reading
    source: Source
    table: Table
    sure: bool
    distance: int = 0
    own: bool = False
    needed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        found = self.found
        self.values = [(named, self._resolved(self._beside(named))) for named in found.values]
        self.groups = tuple(column_of(self._resolved(group)) for group in found.groups)
        self.distinct = column_of(self._resolved(found.distinct)) if found.distinct else None
        self.bounds = tuple(self._bound(limit) for limit in found.limits)
        if found.periods or found.per:
            self._timed()
        if not (found.tables or self.needed or self.sure):
            raise NotUnderstood("whose number is asked for is not said")
        inferred = not (found.tables or self.sure or found.groups or found.distinct)
        if inferred and not self.own:
            raise NotUnderstood("whose number is asked for is not said")
        if found.row_of and self.table.name not in {meaning.table for meaning in found.row_of}:
            raise NotUnderstood("an average of sums is not computed")
        for named in found.tables:
            if not any(m.table == self.table.name or m.table in self.needed for m in named):
                names = " or ".join(sorted({meaning.table for meaning in named}))
                raise NotUnderstood(f"how {self.table.name} depend on {names} is not said")

    def _timed(self) -> None:
        try:
            path = nearest(self.source, self.table, dated)
        except SqlRefused as error:
            raise NotUnderstood(str(error)) from None
        if path is None:
            raise NotUnderstood(f"{self.table.name} has no time")
        if path:
            self.needed.add(path[-1].table)

    def _resolved(self, meanings: Sequence[Meaning]) -> Meaning:
        """Return the nearest of alternatives. Raises `NotUnderstood`."""
        near: list[tuple[int, Meaning]] = []
        for meaning in meanings:
            try:
                near.append((len(path_to(self.source, self.table, meaning.table)), meaning))
            except SqlRefused:
                continue
        if not near:
            names = " or ".join(sorted({meaning.name for meaning in meanings}))
            raise NotUnderstood(f"{self.table.name} have no {names}")
        least = min(distance for distance, _ in near)
        nearest_ = [meaning for distance, meaning in near if distance == least]
        if len(nearest_) > 1:
            names = ", ".join(f"{m.table}.{m.name} {m.value}".strip() for m in nearest_)
            raise NotUnderstood(f"it is not sure which is meant: {names}")
        self.distance += least
        self.own |= least == 0 and _tells(self.table, nearest_[0])
        self.needed.add(nearest_[0].table)
        return nearest_[0]

    def _beside(self, named: Named) -> Sequence[Meaning]:
        """Return the meanings in the table whose name stands next to the value, if any."""
        for tables, at in zip(self.found.tables, self.found.tables_at, strict=True):
            if at in (named.at - 1, named.at + 1):
                names = {meaning.table for meaning in tables}
                if beside := [m for m in named.meanings if m.table in names]:
                    return beside
        return named.meanings

    def _bound(self, limit: Limit) -> Bound:
        if limit.measures:
            meaning = self._resolved(limit.measures)
            column = column_of(meaning)
            measure = _measure(self.source.table(meaning.table), meaning.name)
        else:
            measure = self._default(limit.unit)
            column = Column(self.table.name, measure.name)
        number = units.converted(limit.number, limit.unit, measure.unit)
        if number is None:
            raise NotUnderstood(f"{measure.name} is not kept in {limit.unit}")
        return Bound(column, limit.operator, number)

    def _default(self, unit: str) -> Measure:
        """Return what "orders over 100" bounds: the first measure, or the only one in a unit."""
        fitting = [m for m in self.table.measures if not unit or units.same_kind(unit, m.unit)]
        if not fitting or (fitting[0] is not self.table.measures[0] and len(fitting) > 1):
            raise NotUnderstood("what the number bounds is not said")
        return fitting[0]

    def intent(self, aggregate: Aggregate | None, measured: Sequence[Meaning]) -> Intent:
        """Return the intent. Raises `NotUnderstood`."""
        found = self.found
        meaning = next((m for m in measured if m.table == self.table.name), None)
        measure = _measure(self.table, meaning.name) if meaning else None
        if measure is None and aggregate == "sum" and not found.counted:
            sums = [m for m in self.table.measures if m.aggregate == "sum"]
            if len(sums) != 1:
                raise NotUnderstood("a sum of what is not said")
            measure = sums[0]
        if measure is None and aggregate not in (None, "sum"):
            raise NotUnderstood(f"{aggregate} of what is not said")
        if measure and aggregate is None and found.counted and measure.aggregate == "avg":
            raise NotUnderstood(f"{measure.name} is averaged, not counted")
        if measure and aggregate == "sum" and measure.aggregate == "avg" and not measure.unit:
            raise NotUnderstood(f"{measure.name} is averaged, not summed")
        if measure and found.shared and (aggregate or measure.aggregate) != "sum":
            raise NotUnderstood(f"a share of {measure.name} is not computed")
        base, share = self._split() if found.shared else (self.values, [])
        conditions, share_of = _conditions(base), _conditions(share)
        groups = self.groups
        if found.compared and len(found.periods) < 2 and not groups and found.per is None:
            groups = tuple(c.column for c in conditions if len(c.values) > 1 and not c.negated)
            if len(groups) != 1:
                raise NotUnderstood("what is compared is not said")
        return Intent(
            source=self.source.name,
            table=self.table.name,
            aggregate=(aggregate or measure.aggregate) if measure else "count",
            measure=Column(self.table.name, measure.name) if measure else None,
            distinct=self.distinct,
            periods=tuple(found.periods),
            conditions=conditions,
            bounds=self.bounds,
            share=share_of,
            group_by=groups,
            per=found.per,
            top=found.top,
            ascending=found.ascending,
        )

    def _split(self) -> "tuple[list[tuple[Named, Meaning]], list[tuple[Named, Meaning]]]":
        """Part the conditions of a share: those of the whole, those of the part."""
        values, among = self.values, self.found.among
        if len({column_of(meaning) for _, meaning in values}) == 1 and among is None:
            return [], values
        if among is not None:
            part = [value for value in values if value[0].at < among]
        elif values[-1][0].predicate:
            last = column_of(values[-1][1])
            part = [value for value in values if column_of(value[1]) == last]
        else:
            part = []
        loose = [value for value in values if value not in part and value[0].predicate]
        if not part or loose or (len(part) == len(values) and among is None):
            raise NotUnderstood("which part of which whole is not sure")
        return [value for value in values if value not in part], part


def dated(table: Table) -> bool:
    """Tell whether a table has a time of its own."""
    return bool(table.time_column)


def _tells(table: Table, meaning: Meaning) -> bool:
    """Tell whether a word of a table alone says that its rows are meant."""
    mute = {dimension.name for dimension in table.dimensions if not dimension.tells}
    return meaning.kind != "value" or meaning.name not in mute


def column_of(meaning: Meaning) -> Column:
    """Return the column that a word means."""
    return Column(meaning.table, meaning.name)


def _measure(table: Table, name: str) -> Measure:
    return next(measure for measure in table.measures if measure.name == name)


def _conditions(values: "Sequence[tuple[Named, Meaning]]") -> tuple[Condition, ...]:
    """Return one condition a dimension; values of one dimension must stand side by side."""
    found: dict[tuple[Column, bool], list[tuple[int, str]]] = {}
    for named, meaning in values:
        found.setdefault((column_of(meaning), named.negated), []).append((named.at, meaning.value))
    columns = [column for column, _ in found]
    if len(set(columns)) < len(columns):
        raise NotUnderstood(f"{columns[0].name} is both said and excluded")
    for (column, _), said in found.items():
        for (before, one), (after, other) in pairwise(said):
            if one != other and after - before > 3:
                raise NotUnderstood(f"two values of {column.name} apart")
    return tuple(
        Condition(column, tuple(dict.fromkeys(value for _, value in said)), negated)
        for (column, negated), said in found.items()
    )
