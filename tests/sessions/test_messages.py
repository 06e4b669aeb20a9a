"""Messages of other libraries come in and go out: OpenAI, LangChain and its dumps, our JSONL."""

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.errors import ConfigError, InvalidInput, LetopisError
from indexing.tags import tags_of
from sessions.lines import dump_jsonl, parse_jsonl
from sessions.log_rows import check_entry
from sessions.messages import as_message, read_message, read_messages
from sessions.types import Entry, ToolCall

CALL = ToolCall("c1", "find", '{"id": "BX-4471-A"}')


def test_messages_of_openai() -> None:
    function = {"name": "find", "arguments": '{"id": "BX-4471-A"}'}
    found = read_messages(
        [
            {"role": "developer", "content": "You are a clerk."},
            {"role": "user", "name": "Ann", "content": [
                {"type": "text", "text": "What is it?"},
                {"type": "image_url", "image_url": {"url": "data:…"}},
                {"type": "text", "text": "A bolt?"},
            ]},
            {"role": "assistant", "content": None, "refusal": None,
             "tool_calls": [{"id": "c1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "c1", "content": "lost"},
            {"role": "assistant", "content": None, "refusal": "I will not."},
            {"role": "assistant", "content": None, "function_call": function},
            {"role": "function", "name": "find", "content": "lost"},
        ]
    )  # fmt: skip
    assert found == [
        Entry("system", "You are a clerk."),
        Entry("user", "What is it?\n[image_url]\nA bolt?", speaker="Ann"),
        Entry("assistant", "", calls=(CALL,)),
        Entry("tool", "lost", call_id="c1"),
        Entry("assistant", "I will not."),
        Entry("assistant", "", calls=(replace(CALL, call_id=""),)),
        Entry("tool", "lost", tool="find"),
    ]


@dataclass
class Human:
    content: Any
    type: str = "human"
    id: str | None = None
    name: str | None = None
    additional_kwargs: dict[str, Any] = field(default_factory=dict)


@dataclass
class Ai(Human):
    type: str = "ai"
    tool_calls: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Tool(Human):
    type: str = "tool"
    tool_call_id: str = ""
    status: str = "success"


LANGCHAIN = [
    Entry("user", "Where is it?", "m-1"),
    Entry("assistant", "", "m-2", calls=(CALL,)),
    Entry("tool", "lost", call_id="c1", tool="find", status="error"),
]


def test_messages_of_langchain_and_their_dumps() -> None:
    asked = [{"name": "find", "args": {"id": "BX-4471-A"}, "id": "c1", "type": "tool_call"}]
    human = Human("Where is it?", id="m-1")
    ai = Ai([{"type": "tool_use", "id": "c1", "name": "find", "input": {}}], id="m-2")
    ai.tool_calls = asked
    tool = Tool("lost", name="find", tool_call_id="c1", status="error")
    assert read_messages([human, ai, tool]) == LANGCHAIN
    dumps = [{"type": m.type, "data": vars(m)} for m in (human, ai, tool)]
    assert read_messages(dumps) == LANGCHAIN
    assert read_messages(json.loads(json.dumps(dumps))) == LANGCHAIN
    classes = zip(("HumanMessage", "AIMessageChunk", "ToolMessage"), dumps, strict=True)
    path = ["langchain", "schema", "messages"]
    jsons = [
        {"lc": 1, "type": "constructor", "id": [*path, name], "kwargs": {**d["data"]}}
        for name, d in classes
    ]
    assert read_messages(jsons) == LANGCHAIN
    assert read_messages([vars(m) for m in (human, ai, tool)]) == LANGCHAIN
    said = {"role": "user", "content": "hi there"}
    chat = {"lc": 1, "type": "constructor", "id": [*path, "ChatMessage"], "kwargs": said}
    assert read_message(chat) == Entry("user", "hi there")
    assert read_message({"type": "chat", "data": said}) == Entry("user", "hi there")


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (5, "neither an object with a role"),
        ({"content": "x"}, "role: missing"),
        ({"role": "robot", "content": "x"}, "role: must be one of user, assistant"),
        ({"role": ["user"], "content": "x"}, "role: must be one of"),
        ({"role": "user", "content": 5}, "content: neither a text nor a list"),
        ({"role": "user", "content": [5]}, "content: a part is neither"),
        ({"role": "user", "content": [{}]}, "content: a part has neither"),
        ({"role": "assistant", "tool_calls": 5}, "tool_calls: not a list"),
        ({"role": "assistant", "tool_calls": [{"id": "1"}]}, "call 1 names no function"),
        ({"role": "assistant", "tool_calls": [{"name": "f", "args": {1, 2}}]}, "are no JSON"),
        ({"role": "user", "content": "x", "name": 1.5}, "name: not a text"),
        ({"type": "robot", "data": {"content": "x"}}, "type: must be one of human, ai"),
    ],
)
def test_a_bad_message_is_refused_with_its_place_and_why(item: Any, reason: str) -> None:
    with pytest.raises(InvalidInput, match=f"message 2: .*{reason}"):
        read_messages([{"role": "user", "content": "good"}, item])


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
SAID = TEXT.filter(lambda text: bool(text.strip()))
IDS = st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True)
NAMES = IDS.filter(lambda name: name.strip("_-") != "")
CALLS = st.lists(st.builds(ToolCall, IDS, IDS, TEXT), min_size=1, max_size=3).map(tuple)
MESSAGES = st.one_of(
    st.builds(Entry, st.sampled_from(["user", "system"]), SAID, speaker=st.just("") | NAMES),
    st.builds(Entry, st.just("assistant"), SAID, calls=st.just(()) | CALLS),
    st.builds(Entry, st.just("assistant"), st.just(""), calls=CALLS),
    st.builds(Entry, st.just("tool"), TEXT, call_id=IDS),
)


@given(MESSAGES)
def test_a_message_that_goes_out_comes_back_as_it_was(entry: Entry) -> None:
    message = as_message(entry)
    assert read_message(message) == entry
    assert read_message(json.loads(json.dumps(message))) == entry


def test_messages_that_go_out_are_valid() -> None:
    assert as_message(Entry("user", "hello", speaker="Ann")) == {
        "role": "user",
        "content": "hello",
        "name": "Ann",
    }
    assert "name" not in as_message(Entry("user", "hello", speaker="Анна К."))
    assert as_message(Entry("assistant", "", calls=(CALL,))) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "find", "arguments": '{"id": "BX-4471-A"}'},
            }
        ],
    }
    orphan = as_message(Entry("tool", "lost", tool="find"))
    assert orphan == {"role": "assistant", "content": "[tool result] find: lost"}


ZONES = st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
TIMES = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1), timezones=ZONES)
TAGS = st.lists(st.from_regex(r"[a-zа-я]{1,8}", fullmatch=True), max_size=3).map(
    lambda tags: tags_of(tags)
)
REST = {
    "turn_id": st.just("") | IDS,
    "at": st.none() | TIMES,
    "cost": st.none() | st.floats(0, 1e6),
    "tags": TAGS,
}
LOGGED = st.one_of(
    st.builds(Entry, st.sampled_from(["user", "system"]), SAID, speaker=TEXT, **REST),
    st.builds(Entry, st.just("assistant"), SAID, calls=st.just(()) | CALLS, **REST),
    st.builds(
        Entry,
        st.just("tool"),
        TEXT,
        call_id=st.just("") | IDS,
        tool=st.just("") | IDS,
        arguments=TEXT,
        status=st.sampled_from(["", "ok", "error"]),
        **REST,
    ),
)


@given(st.lists(LOGGED, max_size=4))
def test_lines_that_are_written_read_as_they_were(entries: list[Entry]) -> None:
    lines = list(parse_jsonl("".join(dump_jsonl(entries))))
    assert [line.error for line in lines] == [""] * len(entries)
    assert [line.entry for line in lines] == entries


def test_lines_as_people_and_exports_write_them() -> None:
    text = "\n".join(
        [
            '{"role": "user", "text": "hello there", "time": "2026-05-08 10:00", "id": 7}',
            "",
            '{"role": "tool", "content": "no", "name": "find", "arguments": {"q": 1}, '
            '"status": "timeout", "call_id": "c1", "session": "s", "user_id": "ann"}',
            '{"role": "ai", "content": "x"}',
            "{broken",
            '{"role": "user", "content": " "}',
            '{"role": "user", "content": "x", "cost": -1}',
            "[1]",
            '{"role": "user", "content": "x", "session_id": "*"}',
        ]
    )
    lines = list(parse_jsonl(text, "Europe/Moscow"))
    assert lines[0].entry is not None
    assert lines[0].entry.at == datetime(2026, 5, 8, 7, tzinfo=UTC)
    assert lines[0].entry.turn_id == "7"
    assert lines[1].entry == Entry(
        "tool", "no", call_id="c1", tool="find", arguments='{"q": 1}', status="error"
    )
    assert (lines[1].user_id, lines[1].session_id) == ("ann", "s")
    bad = {line.number: line.error for line in lines if line.entry is None}
    assert set(bad) == {4, 5, 6, 7, 8, 9}
    assert bad[4].startswith("role: must be one of")
    assert bad[5].startswith("not JSON")
    assert bad[6] == "text: a turn of the user is empty"
    assert bad[7].startswith("cost: ")
    assert bad[8] == "not a JSON object"
    assert bad[9].startswith("session id '*' is a wildcard")
    assert "without a zone" in next(parse_jsonl(text)).error
    with pytest.raises(ConfigError):
        list(parse_jsonl(text, "Europe/Nowhere"))


@given(st.recursive(st.none() | st.booleans() | st.integers() | TEXT, lambda inner: st.lists(
    inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["role", "content", "type", "data", "tool_calls", "name", "id", "text", "function", "lc",
         "kwargs", "status", "at", "cost", "tags", "tool_call_id", "arguments", "user"]) | TEXT,
        inner, max_size=5), max_leaves=12))  # fmt: skip
def test_anything_is_read_or_refused_by_name(value: Any) -> None:
    with suppress(LetopisError):
        check_entry(read_message(value))
    lines = list(parse_jsonl(json.dumps(value)))
    assert all(line.entry is not None or line.error for line in lines)
