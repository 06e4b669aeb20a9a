"""Datasets of conversations (LoCoMo): documents with ``conv`` and ``speaker`` are chat turns.

One conversation is one user, the turns of one ``session_date_time`` are one session. A shared
picture's caption (``blip_caption``) is part of what was said, in brackets.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from chunking.types import Session, Turn
from evals.datasets import Entry
from evals.errors import DataMalformed

TIME = "%I:%M %p on %d %B, %Y"


def is_turn(entry: Entry) -> bool:
    """Whether a document is a turn of someone's conversation."""
    return bool(entry.conv and entry.extra.get("speaker"))


def said(entry: Entry) -> str:
    """Return the text of a document, with the caption of the picture that went with it.

    >>> said(Entry("1", "Look!", extra={"blip_caption": "a dog"}))
    'Look! [photo: a dog]'
    """
    caption = entry.extra.get("blip_caption")
    return f"{entry.text} [photo: {caption}]" if caption else entry.text


def sessions(entries: Iterable[Entry]) -> dict[str, list[Session]]:
    """Return conversation -> its sessions, turns in the order of the corpus.

    Raises `DataMalformed` for a time that is neither LoCoMo's nor ISO 8601.
    """
    turns: dict[tuple[str, str], list[Turn]] = {}
    for entry in entries:
        when = str(entry.extra.get("session_date_time") or "")
        speaker = str(entry.extra["speaker"])
        turn = Turn(entry.id, "user", said(entry), speaker, _time(entry.id, when))
        turns.setdefault((entry.conv, when), []).append(turn)
    found: dict[str, list[Session]] = {}
    for (conv, when), said_then in turns.items():
        found.setdefault(conv, []).append(Session(when or conv, tuple(said_then)))
    return found


def _time(id: str, text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.strptime(text, TIME)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise DataMalformed(f"document {id!r}: session_date_time {text!r}") from error
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
