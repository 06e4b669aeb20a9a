"""The same call again: its earlier result, its age, and how often in a row."""

import json
from datetime import timedelta

import pytest

from indexing.index import Index
from sessions.log import TurnLog
from sessions.loops import find_tool_result, repeats, same_call
from sessions.types import Entry, ToolCall
from tests.conftest import FixedClock


@pytest.fixture
def log(index: Index) -> TurnLog:
    return TurnLog(index, len)


def call(call_id: str, arguments: str, text: str, status: str = "ok") -> list[Entry]:
    return [
        Entry("assistant", "", calls=(ToolCall(call_id, "search", arguments),)),
        Entry("tool", text, call_id=call_id, status=status),  # type: ignore[arg-type]
    ]


def test_equal_calls_differ_in_spelling_only() -> None:
    one = same_call("search", '{"q": "Tver",  "filter": {"b": 2, "a": [1, 2]}}')
    assert one == same_call("search", '{"filter":{"a":[1,2],"b":2},"q":"Tver"}')
    assert one == same_call("search", {"q": "Tver", "filter": {"a": [1, 2], "b": 2}})
    assert same_call("list", "") == same_call("list", "{}") == same_call("list", {})
    assert same_call("sh", "ls  -l\n") == same_call("sh", "ls -l")
    others = [
        same_call("search", {"q": "tver", "filter": {"a": [1, 2], "b": 2}}),
        same_call("search", {"q": "Tver", "filter": {"a": [2, 1], "b": 2}}),
        same_call("Search", {"q": "Tver", "filter": {"a": [1, 2], "b": 2}}),
    ]
    assert len({one, *others}) == 4


def test_the_earlier_result_comes_with_its_age(log: TurnLog, clock: FixedClock) -> None:
    assert find_tool_result(log, "ann", "s", "search", {"q": "Tver"}) is None
    log.append("ann", "s", call("1", '{"q": "Tver", "n": 3}', "three hotels"))
    first = clock.now
    clock.now += timedelta(hours=1)
    log.append("ann", "s", call("2", '{"n": 3, "q": "Tver"}', "timed out", "error"))
    log.append("ann", "s", call("3", '{"n": 4, "q": "Tver"}', "four hotels"))
    found = find_tool_result(log, "ann", "s", "search", {"q": "Tver", "n": 3})
    assert found is not None
    assert (found.turn.entry.text, found.turn.seq) == ("three hotels", 2)
    assert (found.at, found.age, found.times) == (first, timedelta(hours=1), 2)
    for age, is_there in ((timedelta(minutes=59), False), (timedelta(hours=1), True)):
        again = find_tool_result(log, "ann", "s", "search", {"q": "Tver", "n": 3}, age)
        assert (again is not None) == is_there
    assert find_tool_result(log, "bob", "s", "search", {"q": "Tver", "n": 3}) is None


def test_calls_in_a_row_are_counted(log: TurnLog) -> None:
    asked, other = json.dumps({"q": "Tver"}), json.dumps({"q": "Omsk"})
    assert repeats(log, "ann", "s", "search", asked) == 0
    log.append("ann", "s", [Entry("user", "find hotels"), *call("1", other, "none")])
    log.append("ann", "s", [*call("2", asked, "none"), *call("3", asked, "none")])
    assert repeats(log, "ann", "s", "search", asked) == 2
    assert repeats(log, "ann", "s", "search", other) == 0
    log.append("ann", "s", call("4", asked, "")[:1])  # not answered yet
    assert repeats(log, "ann", "s", "search", asked) == 3
    log.append("ann", "s", [Entry("user", "try again")])
    assert repeats(log, "ann", "s", "search", asked) == 0
