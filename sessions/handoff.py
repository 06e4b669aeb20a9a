"""What goes from one agent to another: `make_handoff`, `accept`. A packet, never the transcript.

The packet has the task, what is required, the format, what the user confirmed, facts and open
questions, each sentence word for word from the session. An idea that was rejected is in none of
them, in whatever words of its stems; a user's own "without archived projects" is a requirement and
is. A packet from outside is checked before it is used, and what it says is data to the agent that
takes over.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from indexing.errors import InvalidInput
from indexing.types import is_unicode
from sessions.digest import merged
from sessions.digest_text import said
from sessions.fence import DATA, fence
from sessions.rejected import Rejection, rejections, restates
from sessions.slots import slots_of
from sessions.types import FACTS, Line, Note

MAX_ITEMS = 200
MAX_CHARS = 4000
"""Of one text of a packet from outside, and how many of them a list has at most."""

_FORMAT = re.compile(
    r"\b(?:format\w*|json|csv|xlsx?|excel|markdown|pdf|html|xml|yaml|docx?|pptx?|table|bullet\w*"
    r"|list|chart|slides?|one page|no longer than|at most \d+ (?:words|pages|lines|characters)"
    r"|формат\w*|таблиц\w*|списк\w*|список|пункт\w*|график\w*|диаграмм\w*|слайд\w*|презентаци\w*"
    r"|страниц\w*|не (?:длиннее|больше|более) \d+)\b",
    re.IGNORECASE,
)

_MUST = re.compile(
    r"\b(?:must|should|has to|have to|needs? to|format|долж\w+|нуж\w+|надо|формат\w*)\b",
    re.IGNORECASE,
)

TURN = "turn "
"""Begins the name of a fact that has none of its own: the turn that says it."""


class InvalidPacket(InvalidInput):
    """A handoff packet that is not one: says which field, never what is in it."""


@dataclass(frozen=True, slots=True)
class Handoff:
    """A packet for the agent that takes over a task.

    ``requirements`` are constraints and decisions of the session, the user's own among them again
    in ``constraints_confirmed_by_user``; ``format`` is what is said about the form of the result.
    """

    task: str
    requirements: tuple[str, ...] = ()
    format: tuple[str, ...] = ()
    constraints_confirmed_by_user: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    open_questions: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the packet as JSON values, its fields in their order."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, packet: str | bytes | Mapping[str, Any]) -> "Handoff":
        """Read a packet. Raises `InvalidPacket` for what is none, naming the field."""
        given = _object(packet)
        known = [one.name for one in fields(cls)]
        if unknown := sorted(set(given) - set(known)):
            raise InvalidPacket(f"unknown fields: {len(unknown)}; a packet has {', '.join(known)}")
        lists = {
            name: _texts(name, given.get(name)) for name in known if name not in ("task", "facts")
        }
        facts = _facts(given.get("facts", {}))
        return cls(task=_text("task", given.get("task")), facts=facts, **lists)


@dataclass(frozen=True, slots=True)
class Accepted:
    """What a session begins with that takes over: the packet, its facts as notes, and the text of
    one system message."""

    packet: Handoff
    notes: tuple[Note, ...]
    system: str


def make_handoff(task: str, lines: Iterable[Line], notes: Iterable[Note] = ()) -> Handoff:
    """Return the packet of a session's lines (of its digest and of the turns since) and notes.

    Raises `InvalidInput` for an empty task, or one that takes up an idea that was rejected.
    """
    if not task.strip():
        raise InvalidInput("a handoff has a task: the text is empty")
    known = merged(lines)
    turned_down = rejections(known)
    if restates(task, turned_down):
        raise InvalidInput("the task takes up an idea that was rejected in this session")
    own = [line for line in known if line.role == "user"]
    confirmed = _said(own, turned_down, "constraint")
    required = _said(known, turned_down, "constraint", "decision")
    wished = [line for line in own if line.kind == "preference" or _MUST.search(line.text)]
    shapes = (*required, *_said(wished, turned_down, "preference", "fact", "other"))
    return Handoff(
        task=task,
        requirements=tuple(text for text in required if not _FORMAT.search(text)),
        format=tuple(dict.fromkeys(text for text in shapes if _FORMAT.search(text))),
        constraints_confirmed_by_user=confirmed,
        facts=_values(notes, turned_down) | _statements(own, turned_down),
        open_questions=_said(known, turned_down, "unresolved"),
    )


def _said(lines: Sequence[Line], turned_down: Sequence[Rejection], *kinds: str) -> tuple[str, ...]:
    """Return what lines of these kinds say, but what takes up a rejected idea."""
    found = (said(line) for line in lines if line.kind in kinds)
    return tuple(dict.fromkeys(text for text in found if not restates(text, turned_down)))


def _values(notes: Iterable[Note], turned_down: Sequence[Rejection]) -> dict[str, str]:
    """Return the facts by name; rejected ideas, live data and decisions against them are none."""
    return {
        note.name: note.value
        for note in notes
        if note.kind in FACTS
        and not restates(note.value, turned_down)
        and not restates(f"{note.name} {note.value}", turned_down)
    }


def _statements(own: Sequence[Line], turned_down: Sequence[Rejection]) -> dict[str, str]:
    """Return the facts that give no name a value, by their turns."""
    unnamed = (line for line in own if line.kind == "fact" and not slots_of(line.text))
    return {
        f"{TURN}{line.seq}": said(line)
        for line in unnamed
        if not (restates(said(line), turned_down) or _is_form(line))
    }


def _is_form(line: Line) -> bool:
    return bool(_FORMAT.search(line.text) and _MUST.search(line.text))


def accept(packet: Handoff | str | bytes | Mapping[str, Any]) -> Accepted:
    """Return what a session starts with that takes a packet over. Raises `InvalidPacket`."""
    held = packet if isinstance(packet, Handoff) else Handoff.from_json(packet)
    named = ((name, value) for name, value in held.facts.items() if not name.startswith(TURN))
    notes = tuple(Note(name, value) for name, value in named)
    body = json.dumps(held.as_json(), ensure_ascii=False, indent=1)
    head = f"You take over a task from another agent. {DATA}"
    return Accepted(held, notes, f"{head}\n{fence('facts', body, source='handoff')}")


def _object(packet: str | bytes | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(packet, str | bytes):
        try:
            packet = json.loads(packet)
        except (ValueError, RecursionError) as error:
            raise InvalidPacket("the packet is no JSON") from error
    if not isinstance(packet, Mapping):
        raise InvalidPacket("the packet is no JSON object")
    return packet


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidPacket(f"{name}: a text that is not empty is needed")
    if len(value) > MAX_CHARS:
        raise InvalidPacket(f"{name}: {len(value)} characters; {MAX_CHARS} is the most")
    if not is_unicode(value):
        raise InvalidPacket(f"{name}: not valid Unicode (a lone surrogate)")
    return value


def _texts(name: str, value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise InvalidPacket(f"{name}: a list of texts is needed")
    if len(value) > MAX_ITEMS:
        raise InvalidPacket(f"{name}: {len(value)} items; {MAX_ITEMS} is the most")
    return tuple(_text(name, one) for one in value)


def _facts(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise InvalidPacket("facts: an object of names and texts is needed")
    if len(value) > MAX_ITEMS:
        raise InvalidPacket(f"facts: {len(value)} items; {MAX_ITEMS} is the most")
    return {_text("facts", name): _text("facts", one) for name, one in value.items()}
