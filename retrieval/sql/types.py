"""What a database answered, and what an answer may cost: plain data, without a parser of SQL."""

from dataclasses import dataclass

Cell = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Limits:
    """What one answer may cost: rows, and seconds of the database."""

    rows: int = 1000
    timeout: float = 2.0


USUAL = Limits()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a database answered. ``value`` is set where it is one number.

    ``understood`` says in words what was asked, ``missing`` are words that were not understood,
    ``sql`` is what ran. ``truncated``: there are more rows than the limit.
    """

    source: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    value: int | float | None
    sql: str
    understood: str
    missing: tuple[str, ...] = ()
    truncated: bool = False
    milliseconds: float = 0.0
