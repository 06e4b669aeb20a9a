"""What to install for a format whose parser is not part of the core."""

from collections.abc import Iterator
from contextlib import contextmanager

from indexing.errors import SourceError


@contextmanager
def needs(kind: str) -> Iterator[None]:
    """Turn a failing import into a `SourceError` that says what to install."""
    try:
        yield
    except ImportError as error:
        raise SourceError(f"{kind} needs: pip install 'letopis[documents]'") from error
