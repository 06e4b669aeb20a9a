"""Critical facts of a session: `notes_of` finds them, `SessionFacts` is how code uses them.

A note is a name and its value, word for word from a turn or set by the caller; no digest rewords
it, and of one name the newest value counts. Live data of the world is a note that expires, a
rejected idea is one that is never among the facts. A sentence that gives no name a value is no
note: it is a line of the digest.
"""

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast

from indexing.errors import InvalidInput
from indexing.hashing import digest
from indexing.index import Index
from indexing.subjects import fold
from sessions.kept import drop_note, put_note, put_notes, read_notes
from sessions.log import TurnLog
from sessions.rejected import Rejection, barred, rejections, restates
from sessions.revised import Dialogue
from sessions.speech import AROUND, lines_since
from sessions.state import SessionState, read_state, update_state
from sessions.types import FACTS, Line, LineKind, Note, NoteKind

OUTSIDE_TTL = timedelta(days=1)
"""How long live data of the world is taken for true."""

_NAMED: tuple[LineKind, ...] = (*FACTS, "other")
MAX_NAME_CHARS = 200
NOTED = "noted"
"""Under this name the state of a session has the last turn that was looked at for notes."""

NO_DIALOGUE = Dialogue()


def notes_of(
    lines: Iterable[Line], outside_ttl: timedelta = OUTSIDE_TTL, dialogue: Dialogue = NO_DIALOGUE
) -> tuple[Note, ...]:
    """Return what the user's lines give values to, live data and rejected ideas, newest values.

    ``dialogue`` is what the lines stand in: by it a value without a name is known. What takes up a
    rejected idea gives no note. Notes are in the order in which their names first came up.
    """
    ordered = sorted(lines, key=lambda line: line.seq)
    turned_down = rejections(ordered)
    found: dict[str, Note] = {}
    for line in ordered:
        if line.kind == "rejected":
            note = _unnamed(line, "rejected")
            found[note.name] = note
        elif line.kind == "outside":
            until = line.at + outside_ttl if line.at else None
            note = _unnamed(line, "outside", until)
            found[note.name] = note
        elif line.kind in _NAMED and line.role == "user" and not barred(line, turned_down):
            _put(found, line, dialogue)
    return tuple(found.values())


def ended(lines: Iterable[Line], dialogue: Dialogue = NO_DIALOGUE) -> tuple[str, ...]:
    """Return the names whose value the user said to hold no longer, and nothing since."""
    last: dict[str, bool] = {}
    for line in sorted(lines, key=lambda line: line.seq):
        if line.kind in _NAMED and line.role == "user":
            last |= {slot.name: slot.closes for slot in dialogue.slots(line)}
    return tuple(name for name, closes in last.items() if closes)


def _put(found: dict[str, Note], line: Line, dialogue: Dialogue) -> None:
    kind = cast(NoteKind, "fact" if line.kind == "other" else line.kind)
    for slot in dialogue.slots(line):
        if slot.closes:
            found.pop(slot.name, None)
        else:
            found[slot.name] = Note(slot.name, slot.value, kind, line.seq, line.at)


def _unnamed(line: Line, kind: NoteKind, until: datetime | None = None) -> Note:
    """Return a note named by its words: said again it is the same."""
    value = line.of or line.text if kind == "rejected" else line.text
    return Note(f"{kind}/{digest(fold(value))[:12]}", value, kind, line.seq, line.at, until)


def note_turns(
    log: TurnLog, user_id: str, session_id: str, outside_ttl: timedelta = OUTSIDE_TTL
) -> int:
    """Keep the notes of the turns that were not looked at yet; return how many turns those are.

    Each turn is looked at once, so what the caller deletes does not come back. A note that the
    user ended, or that takes up an idea rejected since, is dropped.
    """
    index = log.index
    noted = int(read_state(index, user_id, session_id).details.get(NOTED, 0))
    turns = log.read(user_id, session_id, after=noted)
    if not turns:
        return 0
    around = log.read(user_id, session_id, through=noted, last=AROUND) if noted else []
    lines = lines_since(turns, around, weighed=False)
    held = read_notes(index, user_id, session_id) if lines else ()
    dialogue = Dialogue([*around, *turns], {n.name: n.value for n in held if n.kind in FACTS})
    if found := notes_of(lines, outside_ttl, dialogue):
        put_notes(index, user_id, session_id, found)
    gone = set(ended(lines, dialogue))
    if turned_down := rejections(lines):
        held = read_notes(index, user_id, session_id)
        gone |= {note.name for note in held if _overtaken(note, turned_down)}
    for name in sorted(gone):
        drop_note(index, user_id, session_id, name)
    last = turns[-1].seq
    update_state(index, user_id, session_id, lambda state: _noted(state, last))
    return len(turns)


def _overtaken(note: Note, turned_down: Sequence[Rejection]) -> bool:
    """Tell whether a note takes up an idea that was rejected after its turn."""
    later = [idea for idea in turned_down if idea.seq > note.seq > 0]
    if note.kind == "fact":
        later = [idea for idea in later if len(idea.words) > 1]
    return note.kind in FACTS and restates(note.value, later)


def _noted(state: SessionState, last: int) -> SessionState:
    seen = max(last, int(state.details.get(NOTED, 0)))
    return replace(state, details={**state.details, NOTED: seen})


@dataclass(frozen=True, slots=True, eq=False)
class SessionFacts(MutableMapping[str, str]):
    """The facts of a session by name: ``facts["size"] = "L"``. Durable when a call returns.

    Each read asks the store; what has expired, live data and rejected ideas are not among them.
    Names are compared by their case-folded, trimmed form.
    """

    index: Index
    user_id: str
    session_id: str

    def __getitem__(self, name: str) -> str:
        return self._note(name).value

    def __setitem__(self, name: str, value: str) -> None:
        """Set a value; it is the newest. Raises `InvalidInput` for an empty name or value."""
        wanted = _folded(name)
        if not wanted or len(wanted) > MAX_NAME_CHARS:
            raise InvalidInput(f"a fact has a name of 1 to {MAX_NAME_CHARS} characters")
        if not isinstance(value, str) or not value.strip():
            raise InvalidInput("the value of a fact is a text that is not empty")
        now = self.index.clock()
        known = self._by_name().get(wanted, Note(wanted, ""))
        at = max(now, known.at or now)
        put_note(self.index, self.user_id, self.session_id, Note(known.name, value, at=at))

    def __delitem__(self, name: str) -> None:
        drop_note(self.index, self.user_id, self.session_id, self._note(name).name)

    def __iter__(self) -> Iterator[str]:
        return iter([note.name for note in self.notes()])

    def __len__(self) -> int:
        return len(self.notes())

    def notes(self) -> tuple[Note, ...]:
        """Return the facts with their turns and times."""
        held = read_notes(self.index, self.user_id, self.session_id)
        return tuple(note for note in held if note.kind in FACTS)

    def _note(self, name: str) -> Note:
        found = self._by_name().get(_folded(name))
        if found is None:
            raise KeyError(name)
        return found

    def _by_name(self) -> dict[str, Note]:
        return {_folded(note.name): note for note in self.notes()}


def _folded(name: object) -> str:
    return " ".join(name.casefold().split()) if isinstance(name, str) else ""
