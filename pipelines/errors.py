"""What can go wrong with the flow engine itself, and how errors become fit to be stored by it."""

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chunking.errors import LetopisError


class FlowUnavailable(LetopisError):
    """Prefect is not installed, its API does not answer, or its private server does not start."""


class StepFailed(LetopisError):
    """A step of a flow failed in a way that has no name of its own: a fault of this program."""


@contextmanager
def fit_to_store() -> Iterator[None]:
    """Let only errors leave that quote no memory: Prefect stores their texts and tracebacks.

    Named errors go on without the vendor's error that caused them; of any other only its type and
    place are told.
    """
    try:
        yield
    except LetopisError as error:
        raise error from None
    except Exception as error:  # noqa: BLE001 - becomes a named one
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        raise StepFailed(f"{type(error).__name__} in {where}") from None
