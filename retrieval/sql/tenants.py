"""Whose the rows of a table are, and the one query through which a table is ever read: `leaf`.

Every mention of a table in a statement becomes this subquery. What surrounds it (an OR, a join, a
negation, an alias) sees only what it lets through, so nothing outside has to be trusted.
"""

from collections.abc import Iterable

from sqlglot import exp

from indexing.errors import SqlRefused, UserRequired
from retrieval.sql.dialects import Dialect
from retrieval.sql.schema import Source, Table


def columns_of(source: Source, table: Table) -> tuple[str, ...]:
    """Return the columns of a table that are declared in any role, each once."""
    named = [m.column for m in table.measures] + [d.column for d in table.dimensions]
    named += [r.column for r in table.references]
    named += [r.key for other in source.tables for r in other.references if r.table == table.name]
    named = [table.key, table.tenant_column, table.time_column, *named]
    return tuple(dict.fromkeys(filter(None, named)))


def owned(source: Source, table: Table) -> bool:
    """Tell whether rows belong to users: by a column, or through references, however long.

    >>> orders = Table("orders", tenant_column="user_id")
    >>> from retrieval.sql.schema import Reference
    >>> items = Table("items", references=(Reference("order_id", "orders"),))
    >>> shop = Source("shop", "sqlite:///shop.db", (orders, items, Table("products")))
    >>> [owned(shop, table) for table in shop.tables]
    [True, True, False]
    """
    return _owned(source, table, frozenset())


def _owned(source: Source, table: Table, seen: frozenset[str]) -> bool:
    if table.tenant_column:
        return True
    seen |= {table.name}
    return any(
        _owned(source, source.table(reference.table), seen)
        for reference in table.references
        if reference.table not in seen
    )


def leaf(
    source: Source, table: Table, columns: Iterable[str], dialect: Dialect, user_id: str | None
) -> exp.Select:
    """Return ``SELECT columns FROM table`` over the rows that this user may see.

    A row that reaches its owner through several references must be the user's by each of them; one
    whose reference is empty is nobody's. Raises `UserRequired`.
    """
    outputs = [
        exp.alias_(_column(column), dialect.fold(column), quoted=True) for column in columns
    ] or [exp.alias_(exp.Literal.number(1), "one", quoted=True)]
    query = exp.Select(expressions=outputs).from_(table_node(table), copy=False)
    if not owned(source, table):
        return query
    query = query.where(_own_rows(source, table, dialect, user_id, frozenset()), copy=False)
    return query.offset(0, copy=False) if dialect.fence else query


def _own_rows(
    source: Source, table: Table, dialect: Dialect, user_id: str | None, seen: frozenset[str]
) -> exp.Expr:
    if table.tenant_column:
        return _is_users(table, dialect, user_id)
    seen |= {table.name}
    conditions: list[exp.Expr] = []
    for reference in table.references:
        other = source.table(reference.table)
        if other.name in seen or not _owned(source, other, seen):
            continue
        theirs = exp.Select(expressions=[_column(reference.key)]).from_(table_node(other))
        theirs = theirs.where(_own_rows(source, other, dialect, user_id, seen))
        conditions.append(exp.In(this=_column(reference.column), query=theirs.subquery()))
    if not conditions:  # no path to an owner: nothing may be seen rather than everything
        raise SqlRefused(f"the rows of {table.name} lead to no owner")
    return exp.and_(*conditions)


def _is_users(table: Table, dialect: Dialect, user_id: str | None) -> exp.Expr:
    """Return the condition that a row is the user's, or shared."""
    if table.shared is None:
        return _is_user(table.tenant_column, dialect, user_id)
    column = _column(table.tenant_column)
    shared = exp.EQ(this=column, expression=exp.Literal.string(table.shared))
    return exp.or_(shared, _is_user(table.tenant_column, dialect, user_id)) if user_id else shared


def _is_user(column: str, dialect: Dialect, user_id: str | None) -> exp.Expr:
    """Compare as text and byte by byte: ``01`` is not the number 1, ``U1`` is not ``u1``.

    The plain comparison beside it is for the column's index.
    """
    if not user_id:
        raise UserRequired("this table keeps rows of users: say whose are asked for")
    if "\0" in user_id:
        raise SqlRefused("a user id with a zero character has no rows in a SQL database")
    text = exp.cast(_column(column), exp.DType.TEXT)
    exact = exp.EQ(
        this=exp.Collate(this=text, expression=exp.to_identifier(dialect.collation, quoted=True)),
        expression=exp.Literal.string(user_id),
    )
    if dialect.name == "duckdb":  # it has no use for an index here
        return exact
    plain = exp.EQ(this=_column(column), expression=exp.Literal.string(user_id))
    return exp.and_(plain, exact)


def table_node(table: Table) -> exp.Table:
    """Return the node of a declared name, which may be ``schema.table``."""
    schema, _, name = table.name.rpartition(".")
    return exp.table_(name, schema or None, quoted=True)


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
