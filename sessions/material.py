"""What a context is made of: `Material`. Plain data."""

from dataclasses import dataclass, field
from datetime import datetime

from indexing.types import Memory
from retrieval.sql.types import Answer
from retrieval.types import Hit
from sessions.beside import Beside, Tail
from sessions.replaced import Replacements
from sessions.types import Digest, LoggedTurn, Note


@dataclass(frozen=True, slots=True)
class Material:
    """All that a context may show of one session, read already.

    ``first`` are the session's turns from its start and ``last`` those at its end; they may
    overlap, and where one is all of it the other is not needed. ``total`` is the number of turns
    there are, 0 for those given; ``said`` is the user's last word before ``last``, ``tail`` what is
    known of more of the last turns. ``role`` are the agent's instructions, ``facts`` the user's
    notebook and ``more_facts`` how many more it has. ``hits`` and ``answers`` are what was found on
    the question, ``beside`` what the log has beside them; ``replaced`` are values that hold no
    longer. What has expired by ``now`` is not shown.
    """

    question: str
    session_id: str = ""
    role: str = ""
    notes: tuple[Note, ...] = ()
    facts: tuple[Memory, ...] = ()
    more_facts: int = 0
    digest: Digest | None = None
    hits: tuple[Hit, ...] = ()
    answers: tuple[Answer, ...] = ()
    beside: Beside = field(default_factory=Beside)
    replaced: Replacements = field(default_factory=dict)
    first: tuple[LoggedTurn, ...] = ()
    last: tuple[LoggedTurn, ...] = ()
    tail: Tail = field(default_factory=Tail)
    total: int = 0
    said: str = ""
    now: datetime | None = None
