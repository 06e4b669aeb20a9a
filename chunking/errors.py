"""The root of the error tree, and the chunkers' own errors.

LetopisError                 every error that this project raises on purpose
└── ChunkingError            a text cannot be cut as asked: a bad size, overlap or encoder

The other branches are drawn in `indexing.errors`.
"""


class LetopisError(Exception):
    """Base of every error raised on purpose; its message is meant for a person."""


class ChunkingError(LetopisError):
    """A text cannot be cut as asked: a limit below one token, or an overlap not below the size."""
