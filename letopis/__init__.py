"""Long-term memory for AI agents: `retrieve`, `remember`, `open_memory`.

The names load at first use, so that the command line can answer Ctrl-C from its first moment.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from letopis.memory import LongTermMemory, open_memory
    from letopis.shared import close, remember, retrieve

__all__ = ["LongTermMemory", "close", "open_memory", "remember", "retrieve"]
__version__ = "0.1.0"

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        shared = name in ("close", "remember", "retrieve")
        return getattr(import_module("letopis.shared" if shared else "letopis.memory"), name)
