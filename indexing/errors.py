"""The error tree. Vendor errors are mapped to it at the adapters; nothing else leaves this project.

LetopisError                     (chunking.errors)
├── BudgetExceeded               a call that a session's ceiling of tokens or of cost forbids
├── ChunkingError                (chunking.errors)
├── ConfigError                  a setting is missing, unknown or contradicts another
├── InvalidId                    an empty, wildcard or unencodable user / session / source id
├── InvalidInput                 bad input of a caller: an empty text, a naive time, k < 1
│   ├── TurnConflict             the session has another turn of that id
│   ├── BudgetTooSmall           a context's role, facts and question alone are over its budget
│   └── UnknownMemory            the scope has no memory of that id, or has it no longer
├── ModelError                   weights missing or corrupt, an endpoint that does not answer
│   └── MissingExtra             an optional package is not installed; says the install command
├── SourceError                  one source cannot be read: goes to the dead-letter table
├── SqlError                     a question to a database of the SQL route
│   ├── SqlFailed                the database could not compute a statement
│   ├── SqlRefused               a statement or an intent that may not run; says why
│   │   └── UserRequired         a table of users' rows is asked for, and no user is named
│   ├── SqlTimeout               a statement took longer than it may
│   └── SourceUnavailable        the database does not answer, or its file is not there
└── StoreError                   the vector store or the catalog
    ├── Forgotten                a write of what was forgotten and not lifted since
    ├── ReindexRefused           the new model cannot read a memory: the old vectors stay
    ├── StoreDamaged             files of the embedded store are gone or unreadable; says what to do
    ├── StoreLocked              another process holds the embedded store; names it
    ├── StoreUnavailable         the server does not answer, or the disk is full
    └── SchemaMismatch           the collection was built with another model, template or chunker
"""

from typing import Literal

from chunking.errors import ChunkingError, LetopisError

__all__ = [
    "BudgetExceeded",
    "BudgetTooSmall",
    "ChunkingError",
    "ConfigError",
    "Forgotten",
    "InvalidId",
    "InvalidInput",
    "LetopisError",
    "MissingExtra",
    "ModelError",
    "ReindexRefused",
    "SchemaMismatch",
    "SourceError",
    "SourceUnavailable",
    "SqlError",
    "SqlFailed",
    "SqlRefused",
    "SqlTimeout",
    "StoreDamaged",
    "StoreError",
    "StoreLocked",
    "StoreUnavailable",
    "TurnConflict",
    "UnknownMemory",
    "UserRequired",
]


class BudgetExceeded(LetopisError):
    """A model call that would exceed its session's ceiling of tokens or of cost; none was made."""


class ConfigError(LetopisError):
    """A setting is missing, unknown or contradicts another."""


class InvalidId(LetopisError):
    """A user, session or source id that cannot name exactly one thing."""


class InvalidInput(LetopisError):
    """A caller's argument that cannot be used: an empty text, a naive time, k below 1."""


class TurnConflict(InvalidInput):
    """A turn with the id of another one of its session, which says something else."""


class BudgetTooSmall(InvalidInput):
    """What a context never cuts does not fit; ``needed`` tokens is the least budget that has it."""

    def __init__(self, needed: int, budget: int) -> None:
        super().__init__(needed, budget)
        self.needed, self.budget = needed, budget

    def __str__(self) -> str:
        return (
            f"role, facts and question with the reserve for the answer take {self.needed} tokens; "
            f"the budget is {self.budget}"
        )


class UnknownMemory(InvalidInput):
    """The scope that is named has no memory of that id: another one has it, or it has expired."""


class ModelError(LetopisError):
    """Model weights are missing or corrupt, or an embedding endpoint does not answer."""


class MissingExtra(ModelError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"{package} is not installed; install it with: pip install 'letopis[{extra}]'"
        )


class SourceError(LetopisError):
    """One source cannot be read or parsed; the run goes on and the dead-letter table keeps it."""


class SqlError(LetopisError):
    """A question to a database could not be answered. Names no values of its rows."""


class SqlFailed(SqlError):
    """The database could not compute a statement: a value of the wrong type, an overflow."""


class SqlRefused(SqlError):
    """A statement that may not run, or an intent that the declared schema cannot answer."""


class UserRequired(SqlRefused):
    """A table whose rows belong to users is asked for, and no user is named."""


class SqlTimeout(SqlError):
    """A statement took longer than it may, and was stopped."""


class SourceUnavailable(SqlError):
    """The database of a SQL source does not answer, or its file is not there."""


class StoreError(LetopisError):
    """The vector store or the catalog failed."""


LIFT = {
    "user": "letopis forget --lift --user U",
    "session": "letopis forget --lift --user U --session S",
    "source": "letopis forget --lift --source ID (with --user and --session, or --global)",
    "memory": "letopis forget --lift --memory ID (with --user and --session, or --global)",
}
"""The command that lets a forgotten thing be written again, without naming the thing."""


class Forgotten(StoreError):
    """A write of what was forgotten: a tombstone blocks it until it is lifted. Names no id."""

    def __init__(self, what: Literal["user", "session", "source", "memory"]) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return f"this {self.what} was forgotten; to let it be written again: {LIFT[self.what]}"


class ReindexRefused(StoreError):
    """A re-index cannot make every vector anew; the old generation stays in force."""


class StoreDamaged(StoreError):
    """Files of the embedded store are gone, cut short or unreadable; says what to do."""


class StoreLocked(StoreError):
    """Another process holds the embedded store past the busy timeout."""


class StoreUnavailable(StoreError):
    """The store does not answer: the server is down, the disk is full, the folder is read-only."""


class SchemaMismatch(StoreError):
    """A collection was built with another model, text template, chunker or sparse version."""
