"""Sessions: the list of a user's, one from the inside, how it ended, a packet for another agent."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from letopis.show.tables import shorten
from sessions.calls import Spent
from sessions.digest_text import as_json, as_text
from sessions.handoff import Handoff
from sessions.listing import LoggedSession
from sessions.session import Ended, Session
from sessions.types import Digest, LoggedTurn, Note

NUMBERS = ("turns", "not in the digest")


@dataclass(frozen=True, slots=True)
class View:
    """A session from the inside: its last turns and how many there are, and what is kept."""

    total: int
    turns: Sequence[LoggedTurn]
    notes: Sequence[Note]
    digest: Digest | None
    spent: Spent
    role: str
    task: str


def view_of(session: Session, last: int) -> View:
    """Read what is shown of a session."""
    state = session.state
    return View(
        session.count(),
        session.turns(last),
        session.notes(),
        session.kept_digest(),
        session.spent(),
        state.role,
        state.task,
    )


def view_record(view: View) -> dict[str, Any]:
    """Return a session as a record."""
    return {
        "turns": view.total,
        "last": [turn_record(turn) for turn in view.turns],
        "facts": [note_record(note) for note in view.notes],
        "digest": as_json(view.digest) if view.digest else None,
        "spent": asdict(view.spent),
        "role": view.role,
        "task": view.task,
    }


def turn_record(turn: LoggedTurn) -> dict[str, Any]:
    """Return a turn as a record; its time is ISO 8601."""
    entry = turn.entry
    return {
        "seq": turn.seq,
        "turn_id": entry.turn_id,
        "role": entry.role,
        "speaker": entry.speaker,
        "text": entry.text,
        "at": entry.at.isoformat() if entry.at else None,
        "tool": entry.tool,
        "status": entry.status,
        "calls": [asdict(call) for call in entry.calls],
        "tokens": turn.tokens,
        "digest": turn.digest,
    }


def note_record(note: Note) -> dict[str, Any]:
    """Return a critical fact as a record; its times are ISO 8601."""
    times = {"at": note.at, "expires_at": note.expires_at}
    told = {name: moment.isoformat() if moment else None for name, moment in times.items()}
    return {**asdict(note), **told}


def view_shown(view: View) -> Group:
    """Return a session for a reader."""
    parts: list[Table | Text] = []
    if view.task:
        parts.append(Text(f"task: {view.task}"))
    parts.append(turns_table(view))
    if view.notes:
        parts.append(_notes_table(view.notes))
    if view.digest:
        parts.append(Text(as_text(view.digest).text))
    if view.spent.calls:
        spent = view.spent
        parts.append(
            Text(
                f"{spent.calls} model calls: {spent.tokens_in} tokens in, {spent.tokens_out} out, "
                f"cost {spent.cost:g}; {spent.tool_calls} tool calls, {spent.cache_hits} cache hits"
            )
        )
    return Group(*parts)


def turns_table(view: View) -> Table:
    """Return the last turns as a table."""
    table = Table(caption=Text(f"the last {len(view.turns)} of {view.total} turns"))
    table.add_column("#", justify="right")
    for name in ("when", "role"):
        table.add_column(name)
    table.add_column("turn", overflow="fold", ratio=1)
    table.add_column("tokens", justify="right")
    table.add_column("digest", justify="right")
    for turn in view.turns:
        entry = turn.entry
        calls = [f"{call.tool}({call.arguments})" for call in entry.calls]
        told = shorten(" ".join(filter(None, (entry.text, *calls))))
        who = f"{entry.role} {entry.tool or entry.speaker}".strip()
        when = f"{entry.at:%Y-%m-%d %H:%M}" if entry.at else ""
        place = str(turn.digest) if turn.digest else ""
        table.add_row(*map(Text, (str(turn.seq), when, who, told, str(turn.tokens), place)))
    return table


def _notes_table(notes: Sequence[Note]) -> Table:
    table = Table()
    for name in ("fact", "value", "kind", "turn", "until"):
        table.add_column(name, overflow="fold")
    for note in notes:
        until = f"{note.expires_at:%Y-%m-%d %H:%M}" if note.expires_at else ""
        cells = (note.name, note.value, note.kind, str(note.seq) if note.seq else "set", until)
        table.add_row(*map(Text, cells))
    return table


def session_record(one: LoggedSession) -> dict[str, Any]:
    """Return a session of the list as a record; its times are ISO 8601."""
    closed = one.closed_at.isoformat() if one.closed_at else None
    times = {name: getattr(one, name).isoformat() for name in ("started_at", "last_at")}
    return {
        "session_id": one.session_id,
        **times,
        "turns": one.turns,
        "undigested": one.undigested,
        "closed_at": closed,
    }


def sessions_table(known: Sequence[LoggedSession]) -> Table:
    """Return a user's sessions as a table."""
    table = Table()
    table.add_column("session", overflow="fold")
    for name in ("from", "until", "turns", "not in the digest", "closed"):
        table.add_column(name, justify="right" if name in NUMBERS else "left")
    for one in known:
        closed = f"{one.closed_at:%Y-%m-%d %H:%M}" if one.closed_at else ""
        when = (f"{moment:%Y-%m-%d %H:%M}" for moment in (one.started_at, one.last_at))
        cells = (one.session_id, *when, str(one.turns), str(one.undigested), closed)
        table.add_row(*map(Text, cells))
    if not known:
        table.add_row("none", "", "", "", "", "")
    return table


def ended_record(done: Ended) -> dict[str, Any]:
    """Return how a session ended as a record."""
    return {
        **asdict(done.closed),
        "digest": as_json(done.digest) if done.digest else None,
        "episode": done.episode,
        "notebook": asdict(done.notebook),
    }


def ended_text(session_id: str, done: Ended) -> str:
    """Say how a session ended."""
    closed = done.closed
    told = f"{closed.cleared} memories cleared" if closed.cleared else ""
    told = told or f"{closed.archived} memories archived"
    learned = f"{done.notebook.new} facts for the user" if done.notebook.new else ""
    episode = "its digest is in the user's memory" if done.episode else ""
    return f"closed {session_id}: {'; '.join(filter(None, (told, episode, learned)))}"


def handoff_shown(packet: Handoff) -> Table:
    """Return a packet as a table."""
    table = Table(show_header=False)
    table.add_column()
    table.add_column(overflow="fold", ratio=1)
    for name, value in packet.as_json().items():
        table.add_row(name.replace("_", " "), Text(_told(value)))
    return table


def _told(value: object) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{name}: {one}" for name, one in value.items())
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def plain(text: str) -> Text:
    """Return a text as it is, whatever marks it holds."""
    return Text(text)
