"""The layer of facts: what is known of the user and the session, then live data of its days. Pure.

Facts are all there. Live data (`outside`) is what a tool or somebody said of the world: of it the
newest are shown, as many as there is room for, and none that the same call returned anew since.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from indexing.types import Memory
from sessions.fence import DATA, fence
from sessions.layers import day, told_at
from sessions.material import Material
from sessions.types import FACTS, CountTokens, Note

HEAD = f"What is known, word for word. {DATA}"

LIVE = 0.1
"""The share of a context that live data takes at most."""


@dataclass(frozen=True, slots=True)
class Known:
    """The text of the layer, and how many notes of live data are not in it."""

    text: str
    dropped: int = 0


def known(material: Material, most: int, limit: int, room: int, count: CountTokens) -> Known:
    """Return the layer with at most so many notes of live data.

    They take no more than their share of ``limit`` tokens, and the layer no more than ``room``, if
    it can be: facts are all shown.
    """
    notes = current(material.notes, material.now)
    lasting = [note for note in notes if note.kind != "outside"]
    live = [note for note in notes if note.kind == "outside"]
    live = sorted((n for n in live if not material.tail.is_outdated(n.seq)), key=_newness)
    bare = facts_text(lasting, material.facts)
    room = min(room, count(bare) + int(limit * LIVE))
    for shown in range(min(most, len(live)), 0, -1):
        text = facts_text(lasting, material.facts, live[-shown:])
        if count(text) <= room:
            return Known(text, len(live) - shown)
    return Known(bare, len(live))


def facts_text(notes: Iterable[Note], facts: Sequence[Memory], live: Sequence[Note] = ()) -> str:
    """Return what is known of the user, of the session, and live data; empty where nothing is.

    Each in the order of their times, so that what is new stands at the end and the bytes before it
    stay.
    """
    told = [_item(fact.text, day(told_at(fact))) for fact in sorted(facts, key=since)]
    parts = (("user", told), ("session", map(_note, notes)), ("live data", map(_note, live)))
    fenced = [
        fence("facts", "\n".join(lines), of=of)
        for of, items in parts
        if (lines := dict.fromkeys(items))
    ]
    return "\n".join([HEAD, *fenced]) if fenced else ""


def current(notes: Iterable[Note], now: datetime | None) -> list[Note]:
    """Return the notes that hold, in the order of the turns that say them."""
    held = (n for n in notes if not (now and n.expires_at and n.expires_at <= now))
    return sorted(held, key=lambda note: (note.seq, note.name))


def since(fact: Memory) -> tuple[float, str]:
    """Return what facts are ordered by: since when they hold."""
    when = told_at(fact)
    return (when.timestamp() if when else 0.0), fact.id


def _newness(note: Note) -> tuple[float, int, str]:
    return (note.at.timestamp() if note.at else 0.0), note.seq, note.name


def _note(note: Note) -> str:
    named = not note.name.startswith(f"{note.kind}/")  # a name that nobody gave
    value = f"{note.name}: {note.value}" if named else note.value
    if note.kind in FACTS:
        return _item(value, f"turn {note.seq}" if note.seq else "")
    kind = "" if note.kind == "outside" else f"[{note.kind}] "
    return _item(f"{kind}{value}", day(note.at))


def _item(text: str, where: str) -> str:
    line = " ".join(text.split())
    return f"- {line} ({where})" if where else f"- {line}"
