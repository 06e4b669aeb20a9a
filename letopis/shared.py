"""The one memory of a process: `retrieve` and `remember` with the default settings.

They open it at first use and keep it for the life of the process.
"""

import atexit
import threading

from indexing.types import Kind, Memory
from letopis.memory import LongTermMemory, open_memory
from retrieval.types import Result

_lock = threading.Lock()
_default: LongTermMemory | None = None


def _memory() -> LongTermMemory:
    global _default
    with _lock:
        if _default is None:
            _default = open_memory()
            atexit.register(close)
        return _default


def close() -> None:
    """Close the memory that `retrieve` and `remember` opened; the next call opens it again."""
    global _default
    with _lock:
        if _default is not None:
            _default.close()
            _default = None


def retrieve(query: str, user_id: str | None, session_id: str | None = None, k: int = 8) -> Result:
    """Return the k best memories for a question; see `LongTermMemory.retrieve`."""
    return _memory().retrieve(query, user_id, session_id, k)


def remember(user_id: str, text: str, kind: Kind = "fact") -> Memory:
    """Store one fact about a user; see `LongTermMemory.remember`."""
    return _memory().remember(user_id, text, kind)
