"""What is ingested between the kills: the files of a folder, as they are at each phase.

Does: documents in two languages and chat exports that grow, change, are renamed, go and come back,
and files that cannot be indexed; the same for a seed.
Does not: write them (`put` does) or ingest them.
"""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from evals.synthetic import Speaker, speakers

State = dict[str, bytes]
"""Path below the folder -> content."""

START = datetime(2026, 2, 2, 9, tzinfo=UTC)
DOCUMENTS = 30
USERS = ("ann", "bob", "Жанна")
TURNS = 20
QUESTIONS = (("что решили про договор", "ann"), ("ba con de", "bob"), ("руста тоум", "Жанна"))

Turn = dict[str, str]


def moment(phase: int) -> datetime:
    """Return what the clock says during a phase: it stands still inside one."""
    return START + timedelta(days=30 + phase)


def phases(seed: int) -> list[State]:
    """Return the folder at the first ingest, after changes, and after some are taken back."""
    random = Random(seed)  # noqa: S311
    voices = speakers(seed)
    documents = {f"notes/{n % 3}/{n:02}.md": _document(next(voices), n) for n in range(DOCUMENTS)}
    chats = {user: [_turn(next(voices), user, n) for n in range(TURNS)] for user in USERS}
    bad = {"broken.md": b"\x00\x01\xff\xfe\x00" * 50, "notes/picture.xyz": b"no format"}
    twin = {"notes/twin.md": documents["notes/0/00.md"]}
    first = {**documents, **_exports(chats), **bad, **twin}

    names = random.sample(sorted(documents), 16)
    changed, removed, renamed, emptied = names[:7], names[7:10], names[10:15], names[15]
    second = {name: text for name, text in first.items() if name not in removed}
    for name in changed:
        second[name] = _edited(second[name], next(voices), random)
    for name in renamed:
        second[name.replace("notes/", "moved/")] = second.pop(name)
    second[emptied] = b"\n"
    second["notes/new.md"] = _document(next(voices), 3)
    second["broken.md"] = _document(next(voices), 2)
    for user, turns in chats.items():
        turns[3] = {**turns[3], "text": next(voices).sentence()}
        turns += [_turn(next(voices), user, n) for n in range(TURNS, TURNS + 8)]
    second |= _exports(chats)

    third = dict(second)
    for name in (*removed, *changed[:3], emptied):
        third[name] = first[name]
    for name in renamed[:2]:
        third[name] = third.pop(name.replace("notes/", "moved/"))
    del third["notes/new.md"], third["notes/twin.md"], third["notes/picture.xyz"]
    return [first, second, third]


def put(folder: Path, state: State, when: datetime) -> None:
    """Make the folder hold exactly this; what changes gets ``when`` as its time."""
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    for name in there - state.keys():
        (folder / name).unlink()
    for name, content in state.items():
        path = folder / name
        if name in there and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (when.timestamp(), when.timestamp()))


def _document(voice: Speaker, number: int) -> bytes:
    sections = (
        f"## {voice.sentence(2, 4)}\n\n{voice.paragraph(1, 3)}" for _ in range(1 + number % 4)
    )
    return (f"# {voice.sentence(2, 4)}\n\n" + "\n\n".join(sections) + "\n").encode()


def _edited(text: bytes, voice: Speaker, random: Random) -> bytes:
    """Replace one paragraph and append another: the chunks of the rest stay as they are."""
    parts = text.decode().split("\n\n")
    parts[random.randrange(1, len(parts))] = voice.paragraph(1, 2)
    return "\n\n".join([*parts, voice.paragraph(1, 2)]).encode()


def _turn(voice: Speaker, user: str, number: int) -> Turn:
    return {
        "session_id": f"{user}-{number // 7}",
        "turn_id": str(number),
        "user_id": user,
        "role": "user" if number % 2 else "assistant",
        "at": (START + timedelta(minutes=number)).isoformat(),
        "text": voice.sentence(),
    }


def _exports(chats: dict[str, list[Turn]]) -> State:
    """Return one export of all users, with a line that names nobody, and one of the last user."""
    nobody = {**chats[USERS[0]][0], "user_id": ""}
    lines = [turn for user in USERS[:-1] for turn in chats[user]]
    return {
        "chats/all.jsonl": _lines([*lines, nobody]),
        "chats/one.jsonl": _lines(chats[USERS[-1]]),
    }


def _lines(turns: list[Turn]) -> bytes:
    return "\n".join(json.dumps(turn, ensure_ascii=False) for turn in turns).encode()
