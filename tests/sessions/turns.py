"""Turns and sessions for the tests of windows and contexts."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from sessions.costs import MESSAGE
from sessions.types import Entry, LoggedTurn, Message, Role, ToolCall

START = datetime(2026, 11, 1, 9, tzinfo=UTC)


def words(text: str) -> int:
    """Count words: the tokens of these tests."""
    return len(text.split())


def turn(seq: int, role: Role, text: str, **fields: Any) -> LoggedTurn:
    at = START + timedelta(minutes=seq)
    entry = Entry(role, text, f"t{seq}", at=at, **fields)
    asked = sum(words(call.tool) + words(call.arguments) for call in entry.calls)
    return LoggedTurn(seq, entry, words(text) + asked + MESSAGE)


def call(seq: int, *names: str, text: str = "") -> LoggedTurn:
    calls = tuple(ToolCall(name, "search", f'{{"for": "{name}"}}') for name in names)
    return turn(seq, "assistant", text, calls=calls)


def result(seq: int, name: str, text: str = "found") -> LoggedTurn:
    return turn(seq, "tool", text, call_id=name, tool="search")


def talk(count: int, length: int = 6) -> list[LoggedTurn]:
    """Return a session of turns by user and assistant, each different from all others."""
    roles: tuple[Role, Role] = ("user", "assistant")
    return [
        turn(n, roles[1 - n % 2], f"turn {n}{' word' * (length - 2)}") for n in range(1, count + 1)
    ]


def valid(messages: Sequence[Message]) -> bool:
    """Tell whether OpenAI's rule of calls holds: all are answered right behind, nothing else is."""
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return False
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            return False
        waiting = [each["id"] for each in message.get("tool_calls") or ()]
    return not waiting


@st.composite
def sessions(draw: st.DrawFn, longest: int = 40) -> list[LoggedTurn]:
    """Draw a session: talk, instructions, calls with some of their results, in any order."""
    found: list[LoggedTurn] = []
    waiting: list[str] = []
    for seq in range(1, draw(st.integers(0, longest)) + 1):
        what = draw(st.sampled_from(["user", "assistant", "system", "call", "tool", "tool"]))
        text = f"turn {seq}" + " word" * draw(st.integers(0, 60))
        if what == "call":
            names = [f"c{number}" for number in range(draw(st.integers(1, 3)))]
            found.append(call(seq, *names))
            waiting = names
        elif what == "tool":
            name = waiting.pop(draw(st.integers(0, len(waiting) - 1))) if waiting else "lost"
            found.append(result(seq, name, text))
        else:
            found.append(
                turn(
                    seq,
                    "system" if what == "system" else "user" if what == "user" else "assistant",
                    text,
                )
            )
    return found
