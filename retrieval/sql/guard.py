"""What may run: one SELECT over declared tables and columns, each table cut to the caller's rows.

`guard` takes a statement of any origin and trusts nothing in it. It is read into a tree; what the
tree consists of is checked (`grammar`); every table is given a name of our own, so no name of the
statement is ever looked up in the database; columns are resolved against the declared ones; then
each table becomes the subquery of `tenants.leaf`. What runs is written anew from that tree.

It does not judge whether a statement answers the question, and runs nothing (`run`).
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from indexing.errors import SqlRefused
from retrieval.sql.dialects import Dialect, dialect_of
from retrieval.sql.grammar import check
from retrieval.sql.schema import Source, Table
from retrieval.sql.tenants import columns_of, leaf

MAX_CHARACTERS = 40_000
MAX_PARENTHESES = 60
MAX_TABLES = 40
"""Mentions of tables in a statement, counted where they are read."""

UNREADABLE = (SqlglotError, RecursionError, LookupError, ValueError, TypeError, AttributeError)
"""What the parser raises for texts that are no SQL: not all of it on purpose."""

logging.getLogger("sqlglot").addFilter(lambda record: False)  # its warnings quote the statement


@dataclass(frozen=True, slots=True)
class Checked:
    """A statement that may run. Only `guard` makes it; ``sql`` is what ``tree`` says.

    It asks for one row more than ``row_limit``, which tells a cut answer from a whole one.
    """

    tree: exp.Select
    sql: str
    source: str
    row_limit: int


def guard(
    statement: str | exp.Expr, source: Source, user_id: str | None, row_limit: int
) -> Checked:
    """Return what may run in place of a statement. Raises `SqlRefused` or `UserRequired`."""
    if row_limit < 1:
        raise SqlRefused("a row limit is at least 1")
    dialect = dialect_of(source.url)
    tree = _parsed(statement, dialect) if isinstance(statement, str) else statement.copy()
    if type(tree) is not exp.Select:
        raise SqlRefused("a statement is exactly one SELECT")
    check(tree, dialect.name)
    _name_outputs(tree)
    tables = _rename(tree, source, dialect)
    tree = _resolved(tree, source, tables, dialect)
    check(tree, dialect.name)
    _cut(tree, source, tables, dialect, user_id)
    _limit(tree, row_limit)
    return Checked(tree, written(tree, dialect), source.name, row_limit)


def written(tree: exp.Expr, dialect: Dialect) -> str:
    """Write a tree as SQL, all names quoted. Raises `SqlRefused` where the dialect has no words."""
    try:
        return tree.sql(
            dialect=dialect.name, identify=True, comments=False, unsupported_level=ErrorLevel.RAISE
        )
    except (SqlglotError, RecursionError) as error:
        raise SqlRefused(f"the statement cannot be written ({type(error).__name__})") from None


def _parsed(text: str, dialect: Dialect) -> exp.Expr:
    if len(text) > MAX_CHARACTERS or text.count("(") > 50 * MAX_PARENTHESES:
        raise SqlRefused("the statement is too long")
    depth = deepest = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        deepest = max(deepest, depth)
    if deepest > MAX_PARENTHESES:
        raise SqlRefused("the statement is nested too deeply")
    try:
        trees = sqlglot.parse(text, dialect=dialect.name, error_level=ErrorLevel.RAISE)
    except UNREADABLE as error:
        raise SqlRefused(f"the statement cannot be read ({type(error).__name__})") from None
    if len(trees) != 1 or trees[0] is None:
        raise SqlRefused("a statement is exactly one SELECT")
    return trees[0]


def _name_outputs(tree: exp.Select) -> None:
    """Name what has no name, lest it is named by its own text."""
    for query in tree.find_all(exp.Select):
        for number, output in enumerate(query.expressions, 1):
            if not isinstance(output, exp.Alias | exp.Column | exp.Star):
                output.replace(exp.alias_(output.copy(), f"column_{number}", quoted=True))


def _rename(tree: exp.Select, source: Source, dialect: Dialect) -> dict[str, Table]:
    """Give tables and common table expressions names of our own; return what the former stand for.

    Names are resolved as SQL does it: the innermost expression of that name that was defined
    before, else a declared table. Raises `SqlRefused` for any other.
    """
    declared = {_split(table.name, dialect): table for table in source.tables}
    # By position, never by the node: equal nodes of different places are one key of a dict.
    meant = [(node, _meaning(node, declared, dialect)) for node in tree.find_all(exp.Table)]
    if _mentions(meant) > MAX_TABLES:
        raise SqlRefused("the statement reads too many tables")
    expressions = list(tree.find_all(exp.CTE))
    own_names = {id(cte): f"cte_{number}" for number, cte in enumerate(expressions)}
    tables: dict[str, Table] = {}
    for number, (node, meaning) in enumerate(meant):
        name = f"table_{number}" if isinstance(meaning, Table) else own_names[id(meaning)]
        if isinstance(meaning, Table):
            tables[name] = meaning
        said = node.args["alias"].this if node.alias else node.this
        alias = exp.to_identifier(said.name, quoted=bool(said.args.get("quoted")))
        node.set("db", None)
        node.set("this", exp.to_identifier(name, quoted=True))
        node.set("alias", exp.TableAlias(this=alias))
    for cte in expressions:
        cte.set("alias", exp.TableAlias(this=exp.to_identifier(own_names[id(cte)], quoted=True)))
    return tables


def _mentions(meant: Sequence[tuple[exp.Table, exp.CTE | Table]]) -> int:
    """Return how many tables a statement reads with its table expressions written out.

    One that reads another twice, over and over, doubles each time: databases write them out before
    they look at the clock.
    """
    inside: dict[int, list[exp.CTE | Table]] = {}
    for node, meaning in meant:
        inside.setdefault(id(node.find_ancestor(exp.CTE)), []).append(meaning)
    known: dict[int, int] = {}

    def count(place: int) -> int:
        if place not in known:
            known[place] = sum(
                1 if isinstance(meaning, Table) else count(id(meaning))
                for meaning in inside.get(place, ())
            )
        return known[place]

    places = [id(None), *(id(meaning) for _, meaning in meant if isinstance(meaning, exp.CTE))]
    return max(map(count, places))


def _split(name: str, dialect: Dialect) -> tuple[str, str]:
    schema, _, table = name.rpartition(".")
    return dialect.fold(schema), dialect.fold(table)


def _meaning(
    node: exp.Table, declared: dict[tuple[str, str], Table], dialect: Dialect
) -> exp.CTE | Table:
    name = _folded(node.this, dialect)
    schema = _folded(node.args["db"], dialect) if node.args.get("db") else ""
    if not schema:
        for cte in _visible(node):
            if _folded(cte.args["alias"].this, dialect) == name:
                return cte
    if (schema, name) not in declared:
        raise SqlRefused("the statement names a table that is not declared")
    return declared[schema, name]


def _visible(node: exp.Expr) -> Iterator[exp.CTE]:
    """Yield the expressions that a table's name may mean, the nearest first."""
    below: exp.Expr = node
    inside: exp.CTE | None = None
    while (above := below.parent) is not None:
        if isinstance(below, exp.CTE):
            inside = below
        if isinstance(above, exp.Select) and (clause := above.args.get("with_")):
            defined = list(clause.expressions)
            if below is clause:
                defined = defined[: next(n for n, cte in enumerate(defined) if cte is inside)]
            yield from reversed(defined)
        below = above


def _folded(identifier: exp.Expr, dialect: Dialect) -> str:
    return dialect.fold(identifier.name, bool(identifier.args.get("quoted")))


def _resolved(
    tree: exp.Select, source: Source, tables: dict[str, Table], dialect: Dialect
) -> exp.Select:
    """Say of each column which table it is of, and write stars out. Raises `SqlRefused`.

    Aliases are not written out: one that names another twice, over and over, doubles each time.
    """
    schema: dict[str, object] = {
        name: {dialect.fold(column): "unknown" for column in columns_of(source, table)}
        for name, table in tables.items()
    }
    try:
        known = MappingSchema(schema or None, dialect=dialect.name, normalize=False)
        found = qualify(tree, dialect=dialect.name, schema=known, expand_alias_refs=False)
    except UNREADABLE:
        raise SqlRefused("the statement names a column that is not declared") from None
    if not isinstance(found, exp.Select):
        raise SqlRefused("a statement is exactly one SELECT")
    return found


def _cut(
    tree: exp.Select,
    source: Source,
    tables: dict[str, Table],
    dialect: Dialect,
    user_id: str | None,
) -> None:
    """Put in place of each table the rows of it that the user may see, with the columns asked.

    Raises `SqlRefused` where a table has kept a name of the statement.
    """
    expressions = {cte.alias for cte in tree.find_all(exp.CTE)}
    asked: dict[str, set[str]] = {}
    for column in tree.find_all(exp.Column):
        asked.setdefault(column.table, set()).add(column.name)
    for node in list(tree.find_all(exp.Table)):
        if node.name in expressions:
            continue
        table = tables.get(node.name)
        if table is None:
            raise SqlRefused("the statement names a table that is not declared")
        wanted = asked.get(node.alias, set())
        columns = [c for c in columns_of(source, table) if dialect.fold(c) in wanted]
        rows = leaf(source, table, columns, dialect, user_id)
        alias = exp.TableAlias(this=exp.to_identifier(node.alias, quoted=True))
        node.replace(exp.Subquery(this=rows, alias=alias))


def _limit(tree: exp.Select, row_limit: int) -> None:
    own = tree.args.get("limit")
    most = row_limit + 1
    if own is not None:
        most = min(most, int(own.expression.name))
    tree.limit(most, copy=False)
