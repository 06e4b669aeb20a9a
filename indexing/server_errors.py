"""The client's errors under the project's names: `mapped`.

A message names the collection and the host, never the key, and no text of a memory.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from pydantic import ValidationError
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from indexing.errors import SchemaMismatch, StoreError, StoreUnavailable

UNAVAILABLE = {401, 403, 408, 425, 429}
MISMATCH = (
    r"[Vv]ector dimension|[Dd]imension of|vector name|not found in the collection|not aligned"
)


@contextmanager
def mapped(where: str) -> Iterator[None]:
    """Name the errors of one call; the in-memory mode raises `ValueError` and `RuntimeError`."""
    try:
        yield
    except ResponseHandlingException as error:
        cause = error.source
        if isinstance(cause, ValidationError):  # its text shows what was received
            raise StoreError(f"{where}: the answer is not one of a Qdrant server") from error
        raise StoreUnavailable(f"{where}: {str(cause) or type(cause).__name__}") from error
    except QdrantException as error:
        raise StoreUnavailable(f"{where}: {error}") from error
    except UnexpectedResponse as error:
        raise _refused(where, error) from error
    except json.JSONDecodeError as error:
        raise StoreError(f"{where}: the answer is not one of a Qdrant server") from error
    except (ValueError, RuntimeError) as error:
        raise _named(where, str(error)) from error


def _refused(where: str, error: UnexpectedResponse) -> StoreError:
    status = error.status_code or 500
    text = f"{status} {error.reason_phrase} {_reason(error.content)}".strip()
    if status in UNAVAILABLE or status >= 500:
        return StoreUnavailable(f"{where}: {text}")
    return _named(where, text)


def _reason(content: bytes) -> str:
    """Return what a server says of its refusal, one short line."""
    try:
        status = json.loads(content)["status"]
        reason = str(status["error"])
    except (ValueError, KeyError, TypeError):
        return ""
    return " ".join(reason.split())[:300]


def _named(where: str, text: str) -> StoreError:
    kind = SchemaMismatch if re.search(MISMATCH, text) else StoreError
    return kind(f"{where}: {text}")
