"""What the commands of sessions read and write: texts, files of turns, packets, new ids."""

import json
import secrets
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from indexing.errors import InvalidInput, SourceError
from sessions.handoff import Handoff
from sessions.lines import parse_jsonl
from sessions.messages import read_messages
from sessions.session import Session
from sessions.types import Entry

SHOWN = 3
"""Bad lines of a file that an error tells of."""


def new_id() -> str:
    """Return an id for a session that has none: the day, and enough chance to be the only one."""
    return f"{datetime.now(UTC):%Y-%m-%d}-{secrets.token_hex(4)}"


def given_text(given: str) -> str:
    """Return a text as it is given, or that of the file which ``@FILE`` names, ``@-`` for stdin."""
    return read_text(given[1:]) if given.startswith("@") else given


def read_text(path: str) -> str:
    """Return a file's text, stdin's for ``-``. Raises `SourceError`."""
    try:
        if path == "-":
            return sys.stdin.read()
        return Path(path).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise SourceError(f"cannot read {path}: {why}") from error


def turns_of(path: str, user_id: str, session_id: str) -> list[Entry]:
    """Return the turns of a file: a JSON list of messages, or a turn a line.

    Raises `InvalidInput` where any is none, or is of another user or session.
    """
    text = read_text(path)
    if text.lstrip().startswith("["):
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"{path} is no JSON: {error}") from error
        return read_messages(listed)
    lines = list(parse_jsonl(text))
    bad = [f"line {line.number}: {line.error}" for line in lines if line.error]
    mine = {"user_id": user_id, "session_id": session_id}
    for line in lines:
        for name, wanted in mine.items():
            if getattr(line, name) not in ("", wanted):
                bad.append(f"line {line.number}: {name} is another one")
    if bad:
        more = f" and {len(bad) - SHOWN} more" if len(bad) > SHOWN else ""
        raise InvalidInput(f"{path}: {'; '.join(islice(bad, SHOWN))}{more}; nothing was added")
    return [line.entry for line in lines if line.entry]


def begin(session: Session, changes: Mapping[str, Any], packet: str | None = None) -> None:
    """Begin a session: with a packet of another one, and what is given of its state."""
    if packet is not None:
        session.accept(packet)
    session.configure(**{name: value for name, value in changes.items() if value is not None})


def write_packet(path: Path, packet: Handoff) -> None:
    """Write a packet as JSON. Raises `SourceError`."""
    try:
        path.write_text(
            json.dumps(packet.as_json(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8"
        )
    except OSError as error:
        raise SourceError(f"cannot write {path}: {error.strerror}") from error
