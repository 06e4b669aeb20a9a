"""`letopis session` as a user runs it: from the first turn to the close, and to another agent."""

import json
from typing import Any

import pytest

from tests.letopis.conftest import Cli, Done

ANN = ("--user", "ann", "--session", "trip")


def ok(done: Done) -> Done:
    assert done.code == 0, done
    return done


def test_a_session_from_its_first_turn_to_its_close(cli: Cli) -> None:
    turns = cli.folder / "turns.jsonl"
    call = {"id": "c1", "type": "function", "function": {"name": "rates", "arguments": "{}"}}
    lines: list[dict[str, Any]] = [
        {"role": "user", "content": "What is the rate?", "at": "2026-11-29T10:00:00Z"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "1 euro is 98.4 roubles"},
    ]
    turns.write_text("\n".join(map(json.dumps, lines)))
    results = cli.many(
        ("session", "new", *ANN, "--role", "You plan trips.", "--json"),
        ("session", "append", *ANN, "My shoe size is 39.", "--json"),
        ("session", "append", *ANN, "--file", "turns.jsonl", "--json"),
        ("session", "append", *ANN, "--role", "assistant", "Shall we add Suzdal?"),
        ("session", "append", *ANN, "Нет, Суздаль не надо."),
        ("session", "show", *ANN, "--json"),
        ("session", "context", *ANN, "What is my shoe size?", "--messages"),
        ("session", "context", *ANN, "What is my shoe size?", "--budget", "900", "--json"),
        ("session", "digest", *ANN, "--now"),
        ("session", "handoff", *ANN, "book the hotel", "--json"),
        ("session", "close", *ANN, "--json"),
        ("session", "show", "--user", "ann", "--json"),
        ("session", "digest", "--user", "ann", "--json"),
        ("retrieve", "shoe size", "--user", "ann", "--json"),
    )
    made = [ok(done) for done in results]
    assert made[0].json == {"user_id": "ann", "session_id": "trip"}
    assert (made[1].json["new"], made[2].json["new"]) == (1, 3)
    shown = made[5].json
    assert (shown["turns"], shown["role"]) == (6, "You plan trips.")
    assert {"shoe_size": "39"}.items() <= {f["name"]: f["value"] for f in shown["facts"]}.items()
    messages = made[6].json
    assert messages[0] == {"role": "system", "content": "You plan trips."}
    assert messages[-1] == {"role": "user", "content": "What is my shoe size?"}
    assert [m["role"] for m in messages].count("tool") == 1
    assert made[7].json["budget"] == 675
    assert made[7].json["tokens"] <= 675
    assert made[8].out.strip()
    packet = made[9].json
    assert packet["task"] == "book the hotel"
    assert "Shall we add Suzdal" not in json.dumps(packet, ensure_ascii=False)
    assert made[10].json["sessions"] == 1
    assert made[10].json["episode"]
    (session,) = made[11].json
    assert (session["session_id"], session["turns"], session["undigested"]) == ("trip", 6, 0)
    assert session["closed_at"]
    assert "39" in made[12].json["text"]
    assert "39" in made[13].json["hits"][0]["text"]


def test_another_agent_begins_from_a_packet(cli: Cli) -> None:
    results = cli.many(
        ("session", "append", *ANN, "The report must be a CSV file. My size is L."),
        ("session", "handoff", *ANN, "make the report", "--to", "packet.json"),
        ("session", "new", "--user", "clerk", "--session", "job", "--from", "packet.json"),
        ("session", "show", "--user", "clerk", "--session", "job", "--json"),
    )
    made = [ok(done) for done in results]
    assert json.loads((cli.folder / "packet.json").read_text())["task"] == "make the report"
    assert made[3].json["task"] == "make the report"
    assert {f["name"]: f["value"] for f in made[3].json["facts"]} == {"size": "L"}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('[{"role": "user", "content": "a"}, {"role": "x", "content": "b"}]', "message 2"),
        ('{"role": "user", "content": "a"}\n{"role": "x", "content": "b"}', "line 2"),
        ('{"role": "user", "content": "a", "user_id": "bob"}', "line 1: user_id is another one"),
        ("[1, 2", "is no JSON"),
    ],
)
def test_a_file_with_anything_that_is_no_turn_is_refused_whole(
    cli: Cli, content: str, told: str
) -> None:
    (cli.folder / "bad.json").write_text(content)
    refused, shown = cli.many(
        ("session", "append", *ANN, "--file", "bad.json"), ("session", "show", *ANN, "--json")
    )
    assert told in refused.refused()
    assert ok(shown).json["turns"] == 0


def test_what_cannot_be_is_one_line_on_stderr(cli: Cli) -> None:
    results = cli.many(
        ("session", "append", "--user", "*", "--session", "s", "hello there"),
        ("session", "append", *ANN, "--file", "nowhere.jsonl"),
        ("session", "append", *ANN, "--role", "nobody", "hello there"),
        ("session", "context", *ANN, "what?", "--budget", "5"),
        ("session", "context", *ANN, "  "),
        ("session", "handoff", *ANN, "  "),
        ("session", "new", *ANN, "--from", "nowhere.json"),
    )
    names = [done.refused().split(":")[0] for done in results]
    assert names == [
        "InvalidId",
        "SourceError",
        "InvalidInput",
        "BudgetTooSmall",
        "InvalidInput",
        "InvalidInput",
        "SourceError",
    ]


def test_a_session_without_an_id_gets_one(cli: Cli) -> None:
    first, second = cli.many(("session", "new", "-u", "ann"), ("session", "new", "-u", "ann"))
    assert ok(first).out.strip() != ok(second).out.strip()
    text_and_file = cli("session", "append", *ANN, "hello", "--file", "x")
    assert text_and_file.code == 2
