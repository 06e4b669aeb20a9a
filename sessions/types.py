"""The nouns of a conversation: entries and turns of its log, lines, digest, notes, context.

Times are aware. ``seq`` is a turn's place in its session, from 1, without gaps: it is given by the
log, in the order of appending.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

Role = Literal["user", "assistant", "system", "tool"]

CountTokens = Callable[[str], int]
"""Text -> tokens of a language model, as its context window counts them."""

Message = dict[str, Any]
"""A message as OpenAI-style clients take it: ``role``, ``content``, ``tool_calls`` …"""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that an assistant's turn asks for; ``arguments`` is the JSON text it gave."""

    call_id: str
    tool: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A turn as a caller hands it over; the log gives it an id and a time where it has none.

    An assistant's turn may have ``calls``; a tool's turn answers one: ``call_id``, ``tool`` and
    ``arguments`` are those of the call, ``status`` says ``ok`` or ``error``. ``cost`` is in the
    caller's currency.
    """

    role: Role
    text: str
    turn_id: str = ""
    speaker: str = ""
    at: datetime | None = None
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    tool: str = ""
    arguments: str = ""
    status: Literal["", "ok", "error"] = ""
    cost: float | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """An entry in its place. ``entry`` has its id and time then.

    ``tokens`` is what the whole of its message costs; ``digest`` the number of the digest that took
    it up, 0 while none has.
    """

    seq: int
    entry: Entry
    tokens: int
    digest: int = 0


LineKind = Literal[
    "decision",
    "rejected",
    "promise",
    "preference",
    "constraint",
    "fact",
    "outside",
    "unresolved",
    "error",
    "other",
]
"""What a sentence of a conversation is.

``rejected``: an idea that was turned down. ``constraint``: a requirement on the task or its result,
said or confirmed by the user. ``fact``: about the user or the task, with a number, name or code.
``outside``: live data of the world (status, head count, price), true on its day only. ``error``: a
failure with its cause. ``other``: worth a place in a summary. Greetings and small talk are no line.
"""

LASTING: tuple[LineKind, ...] = (
    "decision",
    "rejected",
    "promise",
    "preference",
    "constraint",
    "fact",
    "unresolved",
    "error",
)
"""Lines that a digest never drops or rewords, however often it is made anew."""


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a turn, word for word.

    ``text`` is a span of the turn's text. ``of`` is what it is about where another turn says it:
    the idea that a bare "no" rejects, the question that a bare "yes" confirms; it too is word for
    word. ``weight`` is its centrality in the conversation, 0 to 1, for choosing among ``other``.
    """

    kind: LineKind
    text: str
    seq: int
    role: Role
    at: datetime | None = None
    of: str = ""
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Digest:
    """What is kept of a session's earlier turns, up to ``through`` (a ``seq``).

    ``number`` counts the times it was made, from 1. ``lines`` are in the order of their turns.
    """

    session_id: str
    user_id: str
    number: int
    through: int
    started_at: datetime | None
    ended_at: datetime | None
    topics: tuple[str, ...]
    lines: tuple[Line, ...]
    summary: str = ""

    def of(self, *kinds: LineKind) -> tuple[Line, ...]:
        """Return the lines of these kinds."""
        return tuple(line for line in self.lines if line.kind in kinds)


NoteKind = Literal["fact", "preference", "decision", "constraint", "rejected", "outside"]

FACTS: tuple[NoteKind, ...] = ("fact", "preference", "decision", "constraint")
"""Notes that hold as they are said: facts of the session, for code and for a reader."""


@dataclass(frozen=True, slots=True)
class Note:
    """A critical fact of a session: a name, its value and the turn that says it.

    It is never summarised: ``value`` is word for word in that turn, or was set by the caller
    (``seq`` 0). ``expires_at`` is for what is true for a while only.
    """

    name: str
    value: str
    kind: NoteKind = "fact"
    seq: int = 0
    at: datetime | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of a long text: a piece that can be read alone, and what it leaves out.

    ``kind`` is what the text was taken for; ``dropped`` is in tokens, 0 where nothing is.
    """

    text: str
    kind: str
    dropped: int = 0


LayerName = Literal["role", "facts", "digest", "retrieved", "pinned", "recent", "question"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of a context: its tokens, its items, and what was cut from it, in words."""

    name: LayerName
    tokens: int
    items: int
    cut: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """Messages for a model, in order, and how they came about.

    ``left_out`` is the number of turns between the pinned and the recent ones that are not in it
    word for word; ``shown`` are the ``seq`` of those that are. ``tokens`` counts all messages;
    ``budget`` is what they had to fit in, after the reserve for the answer.
    """

    messages: tuple[Message, ...]
    layers: tuple[Layer, ...]
    tokens: int
    budget: int
    left_out: int = 0
    shown: tuple[int, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)
