"""What `letopis session context` prints, in a terminal of 80 columns."""

import json
from io import StringIO

from rich.console import Console, RenderableType

from letopis.show.context import bar, context_record, context_shown
from sessions.types import Context, Layer

MESSAGES = (
    {"role": "system", "content": "You [bold]help[/bold]."},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"q": 1}'}}
        ],
    },
    {"role": "user", "content": "long " * 100},
)
CONTEXT = Context(
    MESSAGES,
    (
        Layer("role", 300, 1),
        Layer("facts", 0, 0),
        Layer("recent", 600, 2, ("turn 7: 812 tokens of json are left out", "3 are left out")),
    ),
    tokens=900,
    budget=1200,
    left_out=5,
    shown=(1, 2),
    details={"reserve": 400, "gap": [3, 7]},
)


def printed(what: RenderableType) -> list[str]:
    out = StringIO()
    Console(file=out, width=80).print(what)
    return [line.rstrip() for line in out.getvalue().splitlines()]


def row(lines: list[str], name: str) -> list[str]:
    (line,) = (line for line in lines if line.startswith(f"│ {name} "))
    return [cell.strip() for cell in line.strip("│").split("│")]


def squeezed(line: str) -> str:
    return " ".join(line.split())


def test_every_layer_has_a_bar_of_its_share_of_the_budget() -> None:
    lines = printed(context_shown(CONTEXT))
    assert row(lines, "role") == ["role", "1", "300", "█" * 6, ""]
    assert row(lines, "facts") == ["facts", "0", "0", "", ""]
    assert row(lines, "recent")[3] == "█" * 12


def test_what_was_cut_and_left_out_is_told() -> None:
    text = " ".join(printed(context_shown(CONTEXT)))
    assert "900 of 1200 tokens (75%)" in text
    assert "400 more are kept for the answer" in text
    assert "5 turns are left out (3–7)" in text
    assert "turn 7: 812" in text


def test_messages_are_shown_in_a_line_each_whatever_they_hold() -> None:
    lines = printed(context_shown(CONTEXT, preview=40))
    assert any("You [bold]help[/bold]." in line for line in lines)
    assert any('search({"q": 1})' in line for line in lines)
    assert any("long long" in line and line.endswith("… │") for line in map(squeezed, lines))
    assert not any("search" in line for line in printed(context_shown(CONTEXT, preview=0)))


def test_a_bar_of_little_is_seen_and_one_of_too_much_ends() -> None:
    assert bar(1, 100_000) == "▏"
    assert bar(500, 100) == bar(100, 100) == "█" * 24


def test_the_record_is_json_with_the_messages_as_they_are() -> None:
    record = json.loads(json.dumps(context_record(CONTEXT)))
    assert record["messages"] == list(MESSAGES)
    assert record["layers"][2]["cut"][1] == "3 are left out"
    assert record["details"]["gap"] == [3, 7]
