"""The databases that a source may be, and in what they differ for a statement: `Dialect`.

MySQL is not here on purpose: its comparison of texts ignores case and trailing spaces by default,
and an id must be compared exactly.
"""

from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import Literal

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from indexing.errors import ConfigError

_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)
DialectName = Literal["sqlite", "postgres", "duckdb"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one kind of database reads a statement.

    ``name`` is sqlglot's. ``folds``: quoted names are compared without case. ``collation``
    compares texts byte by byte. ``fence``: a filter of an outer query may be evaluated on rows
    that the inner one leaves out, and its errors would tell of them; ``OFFSET 0`` prevents it.
    """

    name: DialectName
    folds: bool
    collation: str
    fence: bool

    def fold(self, name: str, quoted: bool = True) -> str:
        """Return the form in which two spellings of one name are equal: only ASCII is folded."""
        return name.translate(_LOWER) if self.folds or not quoted else name


DIALECTS: dict[str, Dialect] = {
    "sqlite": Dialect("sqlite", folds=True, collation="BINARY", fence=False),
    "postgresql": Dialect("postgres", folds=False, collation="C", fence=True),
    "duckdb": Dialect("duckdb", folds=True, collation="C", fence=True),
}
"""The backend of a SQLAlchemy URL -> how it reads SQL."""


def dialect_of(url: str) -> Dialect:
    """Return the dialect of a database's URL. Raises `ConfigError` for one that is not offered.

    >>> dialect_of("postgresql+psycopg://reader@db/shop").name
    'postgres'
    """
    try:
        backend = make_url(url).get_backend_name()
    except ArgumentError:
        raise ConfigError("the URL of a SQL source is none that SQLAlchemy reads") from None
    if backend not in DIALECTS:
        raise ConfigError(f"SQL sources may be {', '.join(DIALECTS)}, not {backend}")
    return DIALECTS[backend]
