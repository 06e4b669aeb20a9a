"""Long-term memory for AI agents: `retrieve`, `remember`, `open_memory`."""

from letopis.memory import LongTermMemory, close, open_memory, remember, retrieve

__all__ = ["LongTermMemory", "close", "open_memory", "remember", "retrieve"]
__version__ = "0.1.0"
