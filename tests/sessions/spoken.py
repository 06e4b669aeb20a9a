"""Turns and lines for tests, in one line each."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sessions.types import Entry, Line, LineKind, LoggedTurn, Role, ToolCall

START = datetime(2026, 5, 3, 9, tzinfo=UTC)


def words(text: str) -> int:
    """Count words: a model's tokens, near enough for a test."""
    return len(text.split())


def entry(role: Role, text: str, number: int = 0, **more: object) -> Entry:
    """An entry a minute after the one before."""
    return Entry(role, text, at=START + timedelta(minutes=number), **more)  # type: ignore[arg-type]


def talk(*said: str, start: int = 1) -> list[LoggedTurn]:
    """Turns of user and assistant in turn; "user: …" or "assistant: …" says whose it is."""
    found = []
    for number, text in enumerate(said, start):
        role: Role = "user" if number % 2 else "assistant"
        for name in ("user", "assistant"):
            if text.startswith(f"{name}: "):
                role, text = name, text.removeprefix(f"{name}: ")
        found.append(LoggedTurn(number, entry(role, text, number), words(text) + 4))
    return found


def calling(number: int, *calls: str) -> LoggedTurn:
    """A turn of the assistant that calls tools."""
    asked = tuple(ToolCall(name, "search") for name in calls)
    return LoggedTurn(number, entry("assistant", "", number, calls=asked), 5)


def result(number: int, call: str) -> LoggedTurn:
    """A turn of the tool that answers a call."""
    return LoggedTurn(number, entry("tool", "three found", number, call_id=call), 5)


def line(
    kind: LineKind, text: str, seq: int = 1, role: Role = "user", of: str = "", weight: float = 0.5
) -> Line:
    """A line of a turn, said at the minute of its number."""
    return Line(kind, text, seq, role, START + timedelta(minutes=seq), of, weight)


def texts(lines: Sequence[Line]) -> list[str]:
    """What lines say."""
    return [one.text for one in lines]
