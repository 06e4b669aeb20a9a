"""What exports hold: the header of our own, the items of others, and what was refused of them."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from indexing.hashing import digest
from indexing.types import Kind

Format = Literal["letopis", "mem0", "langgraph"]

System = Literal["mem0", "langgraph"]


@dataclass(frozen=True, slots=True)
class ScopeCount:
    """How many memories an export has of one scope; ``session_id`` is empty for the user's own."""

    collection: Literal["user", "session"]
    session_id: str
    memories: int


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of an export: whose memories, when they were written, how many a scope.

    ``records`` is how many lines of sessions' logs follow them.
    """

    user_id: str
    exported_at: datetime
    scopes: tuple[ScopeCount, ...]
    records: int = 0

    @property
    def memories(self) -> int:
        """The number of memories in the export."""
        return sum(scope.memories for scope in self.scopes)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A memory of another system, as far as it maps: always a fact, and about no named subject.

    ``id`` is the one that it had there; ``place`` is where in the file it stands. ``at`` is when
    its text was last written there, None where that is not told. ``left_out`` names its fields
    that have no counterpart here.
    """

    system: System
    id: str
    place: str
    text: str
    user_id: str
    session_id: str = ""
    agent_id: str = ""
    speaker: str = ""
    role: str = ""
    at: datetime | None = None
    expires_at: datetime | None = None
    left_out: tuple[str, ...] = ()
    kind: Kind = "fact"
    subject: str = ""

    @property
    def source_id(self) -> str:
        """The source that it becomes here: the same for the same item, whenever it is read.

        >>> Foreign("mem0", "7f1c", "item 1", "Anna lives in Tver", "u1").source_id
        'mem0:7f1c'
        """
        return f"{self.system}:{self.id or digest(self.text)[:32]}"


@dataclass(frozen=True, slots=True)
class Refused:
    """An item that was not read: where it stands and why, never its text. Makes a dead letter."""

    place: str
    reason: str


@dataclass(slots=True)
class ForeignExport:
    """What was read of another system's export.

    ``left_out`` counts what has no counterpart here, by its name (``metadata``, ``relations``);
    ``notes`` say what a person should know about the file as a whole; ``namespaces`` are those of
    LangGraph items, dotted.
    """

    system: System
    items: list[Foreign] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    namespaces: tuple[str, ...] = ()
