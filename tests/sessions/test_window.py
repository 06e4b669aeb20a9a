from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.errors import InvalidInput
from sessions.groups import NO_RESULT, Group, groups, messages_of, unanswered
from sessions.messages import as_message
from sessions.policies import WindowPolicy
from sessions.types import LoggedTurn
from sessions.window import Window, window
from tests.sessions.turns import call, result, sessions, talk, turn, valid

policies = st.builds(
    WindowPolicy,
    last=st.integers(0, 12),
    pinned=st.integers(0, 5),
    tokens=st.none() | st.integers(0, 300),
)


def seqs(found: Sequence[Group]) -> list[int]:
    return [each.seq for group in found for each in group]


def both_ends(turns: Sequence[LoggedTurn], policy: WindowPolicy, margin: int) -> Window:
    last = turns[max(0, len(turns) - policy.last - margin) :]
    return window(turns[: policy.pinned + margin], policy, last)


@pytest.mark.parametrize("count", range(6))
def test_a_session_no_longer_than_what_is_pinned_is_shown_once(count: int) -> None:
    found = window(talk(count), WindowPolicy(last=20, pinned=5))
    assert seqs(found.pinned) == list(range(1, count + 1))
    assert not found.recent
    assert not found.gap


def test_ends_that_overlap_are_shown_once() -> None:
    found = window(talk(10)[:8], WindowPolicy(last=7, pinned=3), talk(10)[2:])
    assert seqs(found.pinned) == [1, 2, 3]
    assert seqs(found.recent) == [4, 5, 6, 7, 8, 9, 10]
    assert not found.gap


def test_the_gap_is_what_lies_between() -> None:
    turns = talk(10_000)
    found = both_ends(turns, WindowPolicy(), margin=5)
    assert seqs(found.pinned) == [1, 2, 3]
    assert seqs(found.recent) == list(range(9_981, 10_001))
    assert (found.gap[0], found.gap[-1], len(found.gap)) == (4, 9_980, 9_977)


def test_tokens_leave_the_oldest_out_but_never_the_newest() -> None:
    turns = talk(30, length=6)  # ten tokens each
    assert seqs(window(turns, WindowPolicy(tokens=35)).recent) == [28, 29, 30]
    assert seqs(window(turns, WindowPolicy(tokens=0)).recent) == [30]


def test_a_call_and_its_results_are_one_group() -> None:
    turns = [
        *talk(1),
        call(2, "a", "b"),
        result(3, "a"),
        result(4, "b"),
        turn(5, "assistant", "ok"),
    ]
    assert [len(group) for group in groups(turns)] == [1, 3, 1]
    assert seqs(window(turns, WindowPolicy(last=2, pinned=0)).recent) == [2, 3, 4, 5]
    assert seqs(window(turns, WindowPolicy(last=0, pinned=2)).pinned) == [1, 2, 3, 4]


def test_what_is_said_while_a_tool_works_stays_in_the_group_and_behind_its_result() -> None:
    turns = [call(1, "a"), turn(2, "user", "hurry"), result(3, "a")]
    (group,) = groups(turns)
    messages = messages_of(group, as_message)
    assert [message["role"] for message in messages] == ["assistant", "tool", "user"]


def test_call_ids_that_begin_anew_in_each_turn_name_the_latest_call() -> None:
    turns = [call(1, "0"), result(2, "0"), turn(3, "user", "again"), call(4, "0"), result(5, "0")]
    assert [len(group) for group in groups(turns)] == [2, 1, 2]


def test_a_result_without_an_id_answers_the_call_of_its_tool() -> None:
    turns = [call(1, "a"), result(2, "")]
    (group,) = groups(turns)
    assert messages_of(group, as_message)[1]["tool_call_id"] == "a"


def test_a_call_without_a_result_is_answered_by_a_note() -> None:
    (group,) = groups([call(1, "a")])
    asked, answered = messages_of(group, as_message)
    assert (asked["tool_calls"][0]["id"], answered["tool_call_id"]) == ("a", "a")
    assert answered["content"] == NO_RESULT


def test_a_result_that_was_logged_without_its_call_gets_it_back() -> None:
    lost = turn(1, "tool", "3 found", tool="search", arguments='{"q": "x"}')
    asked, answered = messages_of(groups([lost])[0], as_message)
    assert asked["tool_calls"][0]["function"] == {"name": "search", "arguments": '{"q": "x"}'}
    assert answered["tool_call_id"] == asked["tool_calls"][0]["id"]


def test_a_group_that_was_read_in_part_is_left_in_the_gap() -> None:
    turns = [
        *talk(2),
        call(3, "a"),
        result(4, "a"),
        *talk(40)[4:38],
        call(39, "b"),
        result(40, "b"),
    ]
    found = window(turns[:3], WindowPolicy(last=9, pinned=3), turns[39:])
    assert seqs(found.pinned) == [1, 2]
    assert not found.recent
    assert found.gap == range(3, 41)


def test_the_rest_of_a_group_that_was_not_read_is_left_out_with_what_was_said_in_it() -> None:
    end = [turn(38, "user", "hurry"), result(39, "a"), turn(40, "assistant", "12 found")]
    found = window(talk(3), WindowPolicy(last=9, pinned=3), end)
    assert seqs(found.recent) == [40]


def test_instructions_at_the_start_are_pinned_besides() -> None:
    turns = [turn(1, "system", "be kind"), *talk(9)[1:]]
    found = window(turns, WindowPolicy(last=2, pinned=2))
    assert seqs(found.pinned) == [1, 2, 3]
    assert seqs(found.recent) == [8, 9]


def test_negative_numbers_are_refused() -> None:
    with pytest.raises(InvalidInput):
        WindowPolicy(last=-1)


@given(sessions(), policies)
def test_no_turn_twice_in_order_and_groups_whole(
    turns: list[LoggedTurn], policy: WindowPolicy
) -> None:
    found = window(turns, policy)
    shown = seqs((*found.pinned, *found.recent))
    assert shown == sorted(set(shown))
    assert set(shown) | set(found.gap) == {each.seq for each in turns}
    assert not set(shown) & set(found.gap)
    whole = groups(turns)
    assert all(group in whole for group in (*found.pinned, *found.recent))


@given(sessions(), policies)
def test_the_first_and_the_last_are_there(turns: list[LoggedTurn], policy: WindowPolicy) -> None:
    found = window(turns, policy)
    talked = [each for each in turns if each.entry.role != "system"]
    pinned = set(seqs(found.pinned))
    assert {each.seq for each in talked[:1] if policy.pinned} <= pinned
    assert len(pinned) >= min(policy.pinned, len(turns))
    held = len(seqs(found.recent))
    spent = sum(each.tokens for group in found.recent for each in group)
    if policy.tokens is None:
        assert held >= min(policy.last, len(turns) - len(pinned))
    else:
        assert spent <= policy.tokens or len(found.recent) <= 1
    more = found.recent[1:]  # without the oldest group there are too few
    assert not found.recent or len(seqs(more)) < policy.last


@given(sessions(), policies)
def test_both_ends_of_a_session_are_enough(turns: list[LoggedTurn], policy: WindowPolicy) -> None:
    whole, ends = window(turns, policy), both_ends(turns, policy, margin=40)
    assert whole == ends
    part = both_ends(turns, policy, margin=1)
    shown = seqs((*part.pinned, *part.recent))
    assert shown == sorted(set(shown))
    assert not set(shown) & set(part.gap)
    assert all(valid(messages_of(group, as_message)) for group in (*part.pinned, *part.recent))


@given(sessions())
def test_messages_are_valid_and_lose_nothing(turns: list[LoggedTurn]) -> None:
    for group in groups(turns):
        messages = messages_of(group, as_message)
        assert valid(messages)
        contents = [message["content"] for message in messages]
        assert all(each.entry.text in contents for each in group if each.entry.text)
        assert unanswered(group) == (NO_RESULT in contents)
