import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from configs.build import Parts
from indexing.errors import BudgetTooSmall, InvalidId, InvalidInput
from indexing.remember import remember
from indexing.types import user_scope
from sessions.beside import TAIL
from sessions.gather import context_of, material_of
from sessions.kept import put_note, write_digest
from sessions.log import TurnLog
from sessions.policies import ContextPolicy, WindowPolicy
from sessions.state import update_state
from sessions.types import Context, Digest, Entry, Line, Note, ToolCall
from tests.conftest import FixedClock
from tests.sessions.turns import START, valid, words

ANN = ("ann", "trip")
CITIES = ["Riga", "Oslo", "Turin", "Kazan", "Lyon", "Porto", "Bergen", "Tartu"]


@pytest.fixture
def log(parts: Parts) -> TurnLog:
    """The log of an empty memory; tokens are words."""
    return TurnLog(parts.index, words)


def said(count: int, start: int = 1) -> list[Entry]:
    """Return turns of two people, an hour ago."""
    found = []
    for n in range(start, start + count):
        text = f"Stop {n} is {CITIES[n % 8]}, gate {n * 17}."
        at = START + timedelta(seconds=n)
        found.append(Entry("user" if n % 2 else "assistant", text, f"t{n}", at=at))
    return found


def asked(parts: Parts, log: TurnLog, question: str, **fields: Any) -> Context:
    policy = ContextPolicy(**{"budget": 2000, "reserve": 100, "hits": 3, **fields})
    return context_of(log, parts.retriever, *ANN, question, policy)


def contents(context: Context) -> Sequence[str]:
    return [message["content"] for message in context.messages]


def test_all_layers_of_a_session_are_gathered(parts: Parts, log: TurnLog) -> None:
    log.append(*ANN, said(80))
    update_state(parts.index, *ANN, lambda state: type(state)(role="You plan trips."))
    put_note(parts.index, *ANN, Note("budget", "40 000 €", seq=3))
    remember(parts.index, user_scope("ann"), "I am allergic to nuts")
    line = Line("decision", "Stop 9 is Oslo, gate 153.", 9, "user", START)
    write_digest(parts.index, Digest("trip", "ann", 1, 60, START, START, (), (line,)))
    context = asked(parts, log, "Which gate has stop 41?")
    texts = contents(context)
    assert texts[0] == "You plan trips."
    assert "allergic to nuts" in texts[1]
    assert "budget: 40 000 €" in texts[1]
    assert "Stop 9 is Oslo, gate 153." in texts[2]
    assert "gate 697" in texts[3]
    assert texts[4].startswith("Stop 1 ")
    assert "turns 1–60" in texts[7]
    assert texts[-2].startswith("Stop 80 ")
    assert context.left_out == 57
    assert {"read", "retrieve", "assemble", "total"} <= set(context.details["milliseconds"])
    assert context.details["search"]["route"] == "vector"


def test_the_question_that_was_logged_is_not_its_own_answer(parts: Parts, log: TurnLog) -> None:
    log.append(*ANN, [*said(6), Entry("user", "Which gate has stop 4?", "q")])
    context = asked(parts, log, "Which gate has stop 4?")
    assert sum("Which gate has stop 4?" in text for text in contents(context)) == 1
    assert context.details["memories"]["ids"] == []  # all turns are in the window
    assert context.left_out == 0


def test_only_both_ends_of_a_long_session_are_read(parts: Parts, log: TurnLog) -> None:
    log.append(*ANN, said(300))
    read = material_of(log, *ANN, "Where to?", ContextPolicy())
    assert [turn.seq for turn in read.first] == list(range(1, 12))
    assert [turn.seq for turn in read.last] == list(range(273, 301))
    assert read.total == 300


def test_a_new_session_of_a_known_user_begins_with_facts(parts: Parts, log: TurnLog) -> None:
    remember(parts.index, user_scope("ann"), "I am allergic to nuts")
    context = asked(parts, log, "What do I eat?")
    assert len(context.messages) == 2
    assert "allergic to nuts" in context.messages[0]["content"]
    assert context.details["memories"]["shown_already"] == 1


def test_of_many_facts_the_newest_are_listed(parts: Parts, log: TurnLog, clock: FixedClock) -> None:
    for n in range(6):
        clock.now += timedelta(days=1)
        remember(parts.index, user_scope("ann"), f"My locker {CITIES[n]} has code {n * 1111}")
    context = asked(parts, log, "Where to?", facts=2, hits=0)
    facts = contents(context)[0]
    assert [line.split(" (")[0] for line in facts.splitlines()[2:4]] == [
        "- My locker Lyon has code 4444",
        "- My locker Porto has code 5555",
    ]
    assert context.layers[1].cut[0].startswith("4 more facts")


def test_two_users_and_two_sessions_stay_apart(parts: Parts, log: TurnLog) -> None:
    log.append("bob", "trip", [Entry("user", "My code word is Marmalade", "b")])
    log.append("ann", "work", [Entry("user", "My code word is Gherkin", "a")])
    log.append(*ANN, said(4))
    shown = "\n".join(contents(asked(parts, log, "What is my code word?")))
    assert "Marmalade" not in shown
    assert "Gherkin" not in shown


def test_calls_and_results_of_the_log_are_valid_messages(parts: Parts, log: TurnLog) -> None:
    asks = {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "gates", "arguments": "{}"}}
        ],
    }
    from sessions.messages import read_messages

    log.append(*ANN, said(30))
    answer = {"role": "tool", "tool_call_id": "c1", "content": "gate 697"}
    log.append(*ANN, read_messages([asks, answer, {"role": "user", "content": "So?"}]))
    context = asked(parts, log, "So?")
    assert valid(context.messages)
    assert [message["role"] for message in context.messages[-3:]] == ["assistant", "tool", "user"]


def weather(place: str) -> str:
    """Return a long result of a tool: one day of many places."""
    rows = [
        {"place": f"Village {n}", "sky": "grey", "note": "No stations report from there."}
        for n in range(45)
    ]
    rows[28] = {"place": place, "sky": "clear", "note": "Gusts of 19 knots."}
    return json.dumps(rows)


def test_what_a_result_was_fetched_for_is_found_once_it_left_the_window(parts: Parts) -> None:
    arguments = '{"region": "north", "place": "Hammerfest"}'
    turns = [
        Entry("user", "Which gusts does Hammerfest have?", "q"),
        Entry("assistant", "", "c", calls=(ToolCall("c1", "weather", arguments),)),
        Entry("tool", weather("Hammerfest"), "r", call_id="c1"),
    ]
    log = parts.desk.log
    log.append(*ANN, [*said(40), *turns, *said(60, 41)])
    context = asked(parts, log, "How strong are the gusts in Hammerfest?")
    assert 43 not in context.shown
    assert "Gusts of 19 knots." in "\n".join(contents(context))


def ferries(number: int, price: str, **arguments: Any) -> list[Entry]:
    """Return what a user asks, a call with its short result, and what is said of it."""
    given = json.dumps({"from": "Kirkwall", **arguments})
    name = f"c{number}"
    return [
        Entry("user", "Look for ferries from Kirkwall.", f"ask{number}"),
        Entry("assistant", "", f"call{number}", calls=(ToolCall(name, "sail", given),)),
        Entry("tool", json.dumps({"fare": price}), f"result{number}", call_id=name),
        Entry("assistant", "There is one crossing, early in the morning.", f"answer{number}"),
    ]


@pytest.mark.parametrize("since", [40, TAIL + 10])
def test_a_hit_brings_the_last_result_of_its_call(parts: Parts, log: TurnLog, since: int) -> None:
    first, again = ferries(1, "GBP 41.20"), ferries(2, "GBP 44.80", fresh=True)
    log.append(*ANN, [*said(30), *first, *said(40, 31), *again, *said(since, 71)])
    context = asked(parts, log, "What does the crossing cost in the morning?", hits=6)
    shown = "\n".join(contents(context))
    assert shown.count("44.80") == 1
    assert "41.20" not in shown
    assert context.details["memories"]["brought"] == [77]
    assert '<memory source="turn 77"' in shown


def test_live_data_that_its_call_returned_anew_is_not_told_any_more(
    parts: Parts, log: TurnLog
) -> None:
    earlier, later = ferries(1, "GBP 41.20"), ferries(2, "GBP 52.80", fresh=True)
    log.append(*ANN, [*said(30), *earlier, *said(20, 31), *later, *said(40, 51)])
    shown = {turn.entry.turn_id: turn.seq for turn in log.read(*ANN)}
    old, answer = shown[earlier[2].turn_id], shown[earlier[3].turn_id]
    new = shown[later[2].turn_id]
    lines = (
        Line("outside", "It is GBP 41.20 today", old, "tool", START),
        Line("outside", "They say GBP 41.20", answer, "assistant", START),
        Line("fact", "I paid GBP 41.20 once", old - 5, "user", START),
        Line("outside", "It is GBP 52.80 today", new, "tool", START),
    )
    write_digest(parts.index, Digest("trip", "ann", 1, 80, START, START, (), lines))
    told = [Note(f"outside/{seq}", f"noted at {seq}", "outside", seq) for seq in (old, new)]
    for note in told:
        put_note(parts.index, *ANN, note)
    context = "\n".join(contents(asked(parts, log, "And now?", hits=0)))
    assert "It is GBP 41.20" not in context
    assert "They say" not in context
    assert "I paid GBP 41.20 once" in context
    assert "It is GBP 52.80 today" in context
    assert f"noted at {new}" in context
    assert f"noted at {old}" not in context


def test_another_call_has_its_own_result(parts: Parts, log: TurnLog) -> None:
    first, other = ferries(1, "GBP 41.20"), ferries(2, "GBP 44.80", car=True)
    log.append(*ANN, [*said(30), *first, *said(40, 31), *other, *said(40, 71)])
    shown = "\n".join(contents(asked(parts, log, "What does the crossing cost?", hits=6)))
    assert "41.20" in shown
    assert "44.80" in shown


def test_a_failed_call_is_not_brought(parts: Parts, log: TurnLog) -> None:
    turns = ferries(1, "GBP 41.20")
    turns[2] = replace(turns[2], text="timeout", status="error")
    log.append(*ANN, [*said(30), *turns, *said(40, 31)])
    context = asked(parts, log, "What does the crossing cost?", hits=6)
    assert context.details["memories"]["brought"] == []


def test_a_value_that_was_replaced_is_not_shown_as_one_that_holds(
    parts: Parts, log: TurnLog
) -> None:
    old = Entry("user", "My budget is 2750 euros", "old", at=START)
    more = Entry("user", "My budget is 2750 euros, and I travel with a dog", "more", at=START)
    new = Entry("user", "My budget is 3100 euros", "new", at=START)
    log.append(*ANN, [*said(30), old, more, *said(30, 31), new, *said(40, 61)])
    at = START + timedelta(days=1)
    for value, seq in (("2750 euros", 31), ("2750 euros", 32), ("3100 euros", 63)):
        put_note(parts.index, *ANN, Note("budget", value, seq=seq, at=at + timedelta(seconds=seq)))
    lines = [Line("fact", entry.text, seq, "user", START) for entry, seq in ((old, 31), (new, 63))]
    write_digest(parts.index, Digest("trip", "ann", 1, 70, START, START, (), tuple(lines)))
    shown = "\n".join(contents(asked(parts, log, "How large is my budget?", hits=6)))
    assert "3100 euros" in shown
    assert shown.count("2750") == 1
    assert 'replaced_by="turn 63: budget: 3100 euros"' in shown


def test_the_question_of_a_result_is_read_beyond_the_window(parts: Parts, log: TurnLog) -> None:
    log.append(*ANN, [*said(10), Entry("user", "Which gusts does Hammerfest have?", "q")])
    calls = [Entry("tool", f"gust {n}", f"r{n}", tool="weather") for n in range(40)]
    log.append(*ANN, calls)
    read = material_of(log, *ANN, "And?", ContextPolicy())
    assert read.said == "Which gusts does Hammerfest have?"
    assert material_of(log, *ANN, "And?", ContextPolicy(window=WindowPolicy(90))).said == ""


def test_a_session_whose_life_is_over_is_empty(parts: Parts, clock: FixedClock) -> None:
    recipe = replace(parts.index.recipe, ttl={"session": timedelta(days=7)})
    index = replace(parts.index, recipe=recipe)
    log = TurnLog(index, words)
    log.append(*ANN, said(80))
    update_state(index, *ANN, lambda state: type(state)(role="You plan trips."))
    put_note(index, *ANN, Note("budget", "40 000 €", seq=3))
    write_digest(index, Digest("trip", "ann", 1, 60, START, START, (), ()))
    held = material_of(log, *ANN, "Where to?", ContextPolicy())
    assert all((held.first, held.last, held.notes, held.digest, held.role, held.total))
    clock.now += timedelta(days=8)
    read = material_of(log, *ANN, "Where to?", ContextPolicy())
    assert not any((read.first, read.last, read.notes, read.digest, read.role, read.total))


def test_bad_calls_have_named_errors(parts: Parts, log: TurnLog) -> None:
    with pytest.raises(InvalidInput):
        asked(parts, log, "  ")
    with pytest.raises(BudgetTooSmall):
        asked(parts, log, "why " * 500, budget=300, reserve=10)
    with pytest.raises(InvalidId):
        context_of(log, parts.retriever, "", "trip", "Where to?")
