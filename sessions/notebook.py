"""What a session leaves in its user's memory when it is closed: `write_notebook`.

Facts, preferences and decisions of the user, each a sentence of a turn word for word, with its time
and turn; one on a subject supersedes what was said about it before. A value that was revised
without its name is there as "name: value" in place of the sentence with the old one. Live data goes
there as a dated tool result that expires. What the user deletes or corrects there stays so, however
often a session is closed: an entry is written once. The digest goes there too (`episodes`).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from indexing.errors import Forgotten, InvalidInput
from indexing.index import Index, Report, Source
from indexing.left_behind import note_name, session_tag, turn_tag
from indexing.remember import told_source
from indexing.types import Kind, Scope, user_scope
from indexing.write import write_batch
from sessions.digest import merged
from sessions.notes import OUTSIDE_TTL
from sessions.rejected import barred, rejections
from sessions.slots import OWN, slots_of
from sessions.state import SessionState, read_state, update_state
from sessions.types import Line, Note

WRITTEN = "notebook"
"""Under this name the state of a session has the ids of the entries that were written."""

_OWNER = re.compile(
    r"\b(?:i|my|mine|me|we|our|us|я|мне|меня|мной|мо(?:й|я|ё|е|и|ей|его|ему|их|им)|мы|нам|нас"
    r"|наш\w{0,3})\b",
    re.IGNORECASE,
)

_WISH = re.compile(
    r"\b(?:want|need|would like|i'd like|looking for|let's|хочу|хотел\w*|нуж\w+|надо|давай\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence for the notebook; ``subject`` is what it supersedes on, empty for none."""

    text: str
    kind: Kind
    at: datetime | None
    seq: int
    subject: str = ""
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class NotebookReport:
    """What closing wrote: new entries, those that were there, and those that had expired, were
    forgotten or are too long to be a fact."""

    new: int = 0
    known: int = 0
    left_out: int = 0


def write_notebook(
    index: Index,
    user_id: str,
    session_id: str,
    lines: Iterable[Line],
    notes: Iterable[Note] = (),
    outside_ttl: timedelta = OUTSIDE_TTL,
) -> NotebookReport:
    """Put what lasts of a session into its user's scope; durable when it returns.

    ``lines`` are those of the whole session. Of ``notes`` those count that the caller has set
    (``seq`` 0), and those that give a subject of a line its value later. Closing again adds only
    what is new. Raises `StoreError`, `ModelError`.
    """
    scope, now = user_scope(user_id), index.clock()
    held = tuple(notes)
    wanted = [*(_current(entry, held) for entry in entries_of(lines, outside_ttl)), *_set(held)]
    sources: dict[str, Source] = {}
    left_out = 0
    for entry in wanted:
        if entry.expires_at and entry.expires_at <= now:
            left_out += 1
            continue
        try:
            made = _source(index, session_id, entry)
        except InvalidInput:  # longer than a fact may be: it is in the digest
            left_out += 1
            continue
        sources[made.source_id] = made
    known = set(read_state(index, user_id, session_id).details.get(WRITTEN, ()))
    new = [source for name, source in sources.items() if name not in known]
    report = Report()
    for source in new:
        _write(index, scope, source, report)
    if new:
        names = [source.source_id for source in new]
        update_state(index, user_id, session_id, lambda state: _written(state, names))
    count = len(new) - report.forgotten
    return NotebookReport(count, len(sources) - len(new), left_out + report.forgotten)


def _written(state: SessionState, names: Sequence[str]) -> SessionState:
    held = dict.fromkeys([*state.details.get(WRITTEN, ()), *names])
    return replace(state, details={**state.details, WRITTEN: list(held)})


def _write(index: Index, scope: Scope, source: Source, report: Report) -> None:
    """Write one entry; one that was forgotten is counted."""
    try:
        write_batch(index, scope, [source], report)
    except Forgotten:
        report.forgotten += 1


def entries_of(lines: Iterable[Line], outside_ttl: timedelta = OUTSIDE_TTL) -> list[Entry]:
    """Return what of a session's lines lasts beyond it, in their order.

    Of the user's: preferences, decisions, and facts on a subject or about the user; none that takes
    up a rejected idea. Live data of anybody.
    """
    known = merged(lines)
    turned_down = rejections(known)
    found = []
    for line in known:
        if line.kind == "outside":
            until = line.at + outside_ttl if line.at else None
            found.append(Entry(line.text, "tool_result", line.at, line.seq, expires_at=until))
        elif line.role == "user" and not barred(line, turned_down):
            found += _entry(line)
    return list(_newest(found))


def _entry(line: Line) -> Iterator[Entry]:
    slots = slots_of(line.text)
    keyed = [slot.key for slot in slots if "." in slot.key]
    about = keyed[0] if len(keyed) == 1 else ""
    lasts = line.kind in ("preference", "decision")
    if line.kind in ("fact", "constraint"):
        lasts = bool(keyed) or (line.kind == "fact" and _is_own(line.text))
    if lasts:
        yield Entry(line.of or line.text, "fact", line.at, line.seq, about)


def _is_own(text: str) -> bool:
    """Tell whether a sentence is about the one who says it, and no wish for now."""
    return bool(_OWNER.search(text)) and not _WISH.search(text)


def _newest(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Yield the entries but those whose subject a later one has."""
    last = {entry.subject: place for place, entry in enumerate(entries) if entry.subject}
    for place, entry in enumerate(entries):
        if not entry.subject or last[entry.subject] == place:
            yield entry


def _current(entry: Entry, notes: Iterable[Note]) -> Entry:
    """Return an entry, or the note that revised its value later in words without a name."""
    for note in notes:
        if entry.subject == _key(note) and note.seq > entry.seq and note.value not in entry.text:
            return _named(note)
    return entry


def _set(notes: Iterable[Note]) -> Iterator[Entry]:
    """Yield the facts that the caller has set in code."""
    for note in notes:
        if note.seq == 0 and note.kind in ("fact", "preference", "decision"):
            yield _named(note)


def _named(note: Note) -> Entry:
    text = f"{note.name}: {note.value}"
    return Entry(text, "fact", note.at, note.seq, _key(note), note.expires_at)


def _key(note: Note) -> str:
    return note.name if "." in note.name else f"{OWN}{note.name}"


def _source(index: Index, session_id: str, entry: Entry) -> Source:
    """Return an entry as a source that is named by its words, its turn and its session."""
    tags = [session_tag(session_id), *([turn_tag(entry.seq)] if entry.seq else [])]
    about = entry.subject if entry.kind == "fact" else None
    made = told_source(index, entry.text, entry.kind, entry.at, entry.expires_at, about, tags)
    when = entry.at.isoformat() if entry.at else ""
    name = note_name(session_id, str(entry.seq), when, entry.kind, entry.text)
    chunks = [replace(chunk, source_id=name) for chunk in made.chunks]
    return replace(made, source_id=name, chunks=chunks)
