"""Errors of the evals.

LetopisError                (chunking.errors)
└── EvalError
    ├── DataMissing         a data folder, a set or a file is not there; says where to get it
    ├── DataMalformed       a line of a file cannot be read; names file and line
    ├── UnknownArm          lists the arms there are
    └── CacheDamaged        the cache of embeddings cannot be read; says what to delete
"""

from chunking.errors import LetopisError


class EvalError(LetopisError):
    """An eval cannot be run or reported."""


class DataMissing(EvalError):
    """A data folder, a set or a file is not there."""


class DataMalformed(EvalError):
    """A file of a set is not in BEIR layout."""


class UnknownArm(EvalError):
    """There is no arm of that name."""


class CacheDamaged(EvalError):
    """The cache of embeddings cannot be read."""
