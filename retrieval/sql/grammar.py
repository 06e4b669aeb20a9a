"""What a statement may consist of: an allow-list of nodes, of what each may carry, of functions.

A tree that passes is made of nothing else, whatever its text looked like. Not here: which tables
and columns it names (`guard`), whose rows it reads (`tenants`).
"""

import re

from sqlglot import exp

from indexing.errors import SqlRefused
from retrieval.sql.dialects import DialectName

MAX_NODES = 4000
MAX_DEPTH = 120

NUMBER = re.compile(r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
UNARY = {"this"}
BINARY = {"this", "expression"}
SHAPES: dict[type[exp.Expr], set[str]] = {
    # statements and their clauses
    exp.Select: {
        *("with_", "expressions", "distinct", "from_", "joins", "where"),
        *("group", "having", "order", "limit", "offset"),
    },
    exp.With: {"expressions"},
    exp.CTE: {"this", "alias"},
    exp.From: {"this"},
    exp.Join: {"this", "on", "side", "kind", "using"},
    exp.Where: {"this"},
    exp.Group: {"expressions"},
    exp.Having: {"this"},
    exp.Order: {"expressions"},
    exp.Ordered: {"this", "desc", "nulls_first"},
    exp.Limit: {"expression"},
    exp.Offset: {"expression"},
    exp.Distinct: {"expressions"},
    # names
    exp.Table: {"this", "alias", "db"},
    exp.TableAlias: {"this"},
    exp.Subquery: {"this", "alias"},
    exp.Alias: {"this", "alias"},
    exp.Column: {"this", "table"},
    exp.Identifier: {"this", "quoted"},
    exp.Star: set(),
    # values
    exp.Literal: {"this", "is_string"},
    exp.Null: set(),
    exp.Boolean: {"this"},
    exp.Cast: {"this", "to"},
    exp.TryCast: {"this", "to", "requires_string", "safe"},
    exp.DataType: {"this", "expressions", "nested"},
    exp.Var: {"this"},
    exp.Collate: BINARY,
    # logic, comparison, arithmetic
    **dict.fromkeys((exp.And, exp.Or, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE), BINARY),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Is), BINARY),
    exp.Div: {"this", "expression", "typed", "safe"},
    exp.Like: BINARY,
    **dict.fromkeys((exp.Not, exp.Neg, exp.Paren, exp.Exists), UNARY),
    exp.In: {"this", "expressions", "query"},
    exp.Between: {"this", "low", "high"},
    exp.Case: {"this", "ifs", "default"},
    exp.If: {"this", "true", "false"},
    # functions
    exp.Count: {"this", "big_int"},
    **dict.fromkeys((exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Lower, exp.Upper), UNARY),
    exp.Coalesce: {"this", "expressions"},
    exp.Nullif: BINARY,
    exp.Round: {"this", "decimals"},
    exp.Extract: BINARY,
    exp.TimestampTrunc: {"this", "unit"},
    exp.UnixToTime: {"this"},
}
"""Node -> the arguments that it may have. A node or an argument that is not here is refused."""

OF_DIALECT: dict[DialectName, dict[type[exp.Expr], set[str]]] = {
    "sqlite": {
        exp.Anonymous: {"this", "expressions"},
        exp.Date: {"this"},
        exp.TimeToStr: {"this", "format"},
        exp.TsOrDsToTimestamp: {"this"},
    },
    "postgres": {},
    "duckdb": {},
}

TYPES = {
    *(exp.DType.TEXT, exp.DType.INT, exp.DType.BIGINT, exp.DType.DOUBLE, exp.DType.DECIMAL),
    *(exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ, exp.DType.BOOLEAN),
    *(exp.DType.FLOAT, exp.DType.VARCHAR, exp.DType.TIMESTAMPNTZ),
}
WORDS = {*("DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "HOUR", "MINUTE", "SECOND", "DOW", "ISODOW")}
"""Units of time."""

COLLATIONS = {"C", "BINARY"}
"""Both compare bytes."""


def check(tree: exp.Expr, dialect: DialectName) -> None:
    """Refuse a tree with anything in it that is not on the lists. Raises `SqlRefused`."""
    shapes = SHAPES | OF_DIALECT[dialect]
    for number, node in enumerate(tree.walk()):
        if number >= MAX_NODES or node.depth > MAX_DEPTH:
            raise SqlRefused("the statement is too large")
        allowed = shapes.get(type(node))
        if allowed is None:
            raise SqlRefused(f"{type(node).__name__} is not allowed in a statement")
        extra = sorted(name for name, value in node.args.items() if value and name not in allowed)
        if extra:
            raise SqlRefused(f"{type(node).__name__} with {extra[0]} is not allowed in a statement")
        _check_details(node)


def _check_details(node: exp.Expr) -> None:
    """Refuse what the shape alone does not tell."""
    match node:
        case exp.Select():
            if not node.expressions:
                raise SqlRefused("a SELECT of nothing")
        case exp.Table():
            if not isinstance(node.this, exp.Identifier):
                raise SqlRefused("a table is a name")
        case exp.Join():
            words = {str(node.args.get(name) or "").upper() for name in ("side", "kind")}
            if not words <= {"", "LEFT", "INNER", "OUTER", "CROSS"}:
                raise SqlRefused("only inner, left and cross joins are allowed")
        case exp.Limit() | exp.Offset():
            number = node.expression
            if not isinstance(number, exp.Literal) or not number.is_int or number.is_string:
                raise SqlRefused("a limit is a plain number")
        case exp.Identifier():
            name = node.name
            if not name.isidentifier() or len(name.encode()) > 63:
                raise SqlRefused("a name is letters, digits and underscores, at most 63 bytes")
        case exp.DataType():
            if node.this not in TYPES or node.expressions:
                raise SqlRefused("a cast to this type is not allowed")
        case exp.Var():
            if node.name.upper() not in WORDS:
                raise SqlRefused("an unknown word in a statement")
        case exp.Literal():
            if "\0" in node.name:
                raise SqlRefused("a text with a zero character")
            if not node.is_string and not NUMBER.fullmatch(node.name):
                raise SqlRefused("a number that is none")
        case exp.Like():
            _check_pattern(node.expression)
        case exp.Star():
            if not isinstance(node.parent, exp.Select | exp.Count | exp.Column):
                raise SqlRefused("a star stands for columns or in a count")
        case exp.Collate():
            if node.expression.name.upper() not in COLLATIONS:
                raise SqlRefused("this collation is not allowed in a statement")
        case exp.Anonymous():
            if not _is_time(str(node.this).upper(), node.expressions):
                raise SqlRefused("this function is not allowed in a statement")
        case exp.TimeToStr():
            if not _plain([node.args["format"]]):
                raise SqlRefused("a format of time is a plain text")
        case exp.Extract():
            if not isinstance(node.this, exp.Var):
                raise SqlRefused("only a unit of time can be extracted")
        case _:
            pass


def _check_pattern(pattern: exp.Expr | None) -> None:
    """Refuse patterns that can take a database forever: wildcards in the middle of a long text."""
    if not isinstance(pattern, exp.Literal) or not pattern.is_string or len(pattern.name) > 200:
        raise SqlRefused("a pattern is a plain text")
    if "%" in pattern.name.removeprefix("%").removesuffix("%"):
        raise SqlRefused("a pattern has % at its ends only")


def _is_time(name: str, given: list[exp.Expr]) -> bool:
    """Tell whether a function is SQLite's DATE or STRFTIME of one value, the rest plain texts."""
    words = {"DATE": given[1:], "STRFTIME": given[:1] + given[2:]}
    return name in words and _plain(words[name])


def _plain(nodes: list[exp.Expr]) -> bool:
    return all(isinstance(node, exp.Literal) and node.is_string for node in nodes)
