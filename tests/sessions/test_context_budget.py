"""What gives way where a context does not fit, and in which order."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from chunking.tokens import tiktoken_count
from indexing.errors import BudgetTooSmall, InvalidInput
from sessions.cache import ContextCache
from sessions.context import assemble, drafted, finished
from sessions.costs import REPLY, message_tokens
from sessions.groups import groups
from sessions.material import Material
from sessions.policies import ContextPolicy
from sessions.types import Context, Line, LoggedTurn, Note, ToolCall
from tests.sessions.contexts import (
    NOTES,
    ROOMY,
    contents,
    digest,
    hit,
    layer,
    material,
    policy,
)
from tests.sessions.turns import START, call, result, sessions, talk, turn, valid, words

CITIES = [f"Town{n}" for n in range(30)] + ["Accra", "Minsk", "Quito", "Zagreb"]


def test_results_of_tools_are_cut_first_and_say_where_all_is() -> None:
    rows = json.dumps([{"flight": n, "price": n * 10} for n in range(400)])
    turns = [*talk(3), turn(4, "user", "Search flights"), call(5, "a"), result(6, "a", rows)]
    count = tiktoken_count()
    given_all = material(
        turns, hits=(hit("The hotel is full"),), digest=digest("We fly on Friday.")
    )
    context = assemble(given_all, policy(1200), count)
    (shown,) = (m["content"] for m in context.messages if m["role"] == "tool")
    assert count(shown) <= 400
    assert "turn 6" in shown
    assert len(layer(context, "recent").cut) == 1
    assert context.details["cut"].keys() == {6}
    untouched = [each.name for each in context.layers if not each.cut]
    assert untouched == ["role", "facts", "digest", "retrieved", "pinned", "question"]


def fetched(seq: int, asks: str, city: str) -> list[LoggedTurn]:
    """Return what a user asks, the call for it and a long result."""
    rows = [{"city": name, "note": f"{name} " + "so so " * 9} for name in CITIES]
    arguments = json.dumps({"city": city})
    calls = (ToolCall(f"c{seq}", "weather", arguments),)
    fields = {"call_id": f"c{seq}", "tool": "weather", "arguments": arguments}
    return [
        turn(seq, "user", asks),
        turn(seq + 1, "assistant", "", calls=calls),
        turn(seq + 2, "tool", json.dumps(rows), **fields),
    ]


def results_of(context: Context) -> list[str]:
    return [m["content"] for m in context.messages if m["role"] == "tool"]


def test_results_are_cut_by_what_they_were_fetched_for_whatever_is_asked_now() -> None:
    turns = [
        *fetched(1, "How is it there?", "Quito"),
        *talk(24)[3:],
        *fetched(25, "And?", "Zagreb"),
    ]
    count = tiktoken_count()
    turns = [replace(each, tokens=0) for each in turns]
    cache = ContextCache()
    shown = []
    for question, found in (
        ("How is the weather in Accra?", ()),
        ("Is it cold in Minsk, and what do I put on when I go there?", (hit("I hate the cold"),)),
    ):
        asked = material(turns, hits=found, question=question)
        draft = drafted(asked, policy(1400), count, cache.begin())
        shown.append(results_of(finished(draft)))
    assert shown[0] == shown[1]
    assert "Quito" in shown[0][0]
    assert "Zagreb" in shown[0][1]
    assert "Zagreb" not in shown[0][0]
    assert all(count(text) <= 400 for text in shown[0])
    assert cache.texts == 2  # cut once each


def test_the_words_before_the_window_say_what_its_results_are_for() -> None:
    turns = fetched(50, "How is it in Zagreb?", "")[1:]
    given_all = material(talk(9), last=tuple(turns), total=51, said="How is it in Zagreb?")
    (shown,) = results_of(assemble(given_all, policy(700), tiktoken_count()))
    assert "Zagreb" in shown


def test_then_the_digest_gives_way_to_memories_down_to_its_share() -> None:
    hits = tuple(hit(f"memory {n}" + " word" * 30, n) for n in range(1, 25))
    long = digest(*(f"We chose number {n} of all." for n in range(300)))
    rule = policy(1600)
    context = assemble(material(talk(30), hits=hits, digest=long), rule, words)
    sizes = {each.name: each.tokens for each in context.layers}
    assert len(context.details["memories"]["ids"]) > 12
    share = rule.shares["digest"] * (context.budget - sizes["role"])
    assert share - 128 < sizes["digest"] <= share
    alone = assemble(material(talk(30), digest=long), rule, words)
    assert layer(alone, "digest").tokens > 2 * sizes["digest"]


def test_then_the_worst_memories_give_way() -> None:
    hits = tuple(hit(f"memory {n}" + " word" * 30, n) for n in range(1, 9))
    given_all = material(talk(10), hits=hits, digest=digest("We fly on Friday."))
    whole = assemble(given_all, ROOMY, words)
    context = assemble(given_all, policy(whole.tokens - 50), words)
    assert context.details["memories"]["ids"] == [each.memory.id for each in hits[:6]]
    assert layer(context, "retrieved").cut == ("2 of 8 do not fit",)
    assert not layer(context, "digest").cut


def test_then_the_digest_and_of_it_what_is_not_lasting_first() -> None:
    lines = digest(*(f"We talked about item {n}." for n in range(100)), kind="other").lines
    chosen = Line("decision", "We fly on Friday.", 101, "user", START)
    long = replace(digest("x"), lines=(*lines, chosen))
    context = assemble(material(talk(30), digest=long), policy(500), words)
    shown = contents(context)[1]
    assert "We fly on Friday." in shown
    assert "item 1." not in shown
    assert layer(context, "digest").cut


def test_then_older_turns_and_the_pinned_last() -> None:
    context = assemble(material(talk(40, length=20)), policy(160), words)
    assert context.shown == (1, 2, 3, 39, 40)
    assert layer(context, "recent").cut == ("18 older turns of the window are left out",)
    tiny = assemble(material(talk(40, length=20)), policy(70), words)
    assert 1 in tiny.shown
    assert layer(tiny, "pinned").cut


def test_a_long_text_of_a_person_is_shortened_rather_than_lost() -> None:
    turns = [*talk(3), turn(4, "user", "Read this. " + "All of it matters here. " * 300)]
    context = assemble(material(turns), policy(300), words)
    assert context.shown == (1, 2, 3, 4)
    assert context.details["cut"][4] > 1000


def test_what_is_never_cut_is_refused_with_the_number_it_needs() -> None:
    given_all = material(talk(9), role="word " * 50, notes=NOTES)
    with pytest.raises(BudgetTooSmall) as error:
        assemble(given_all, policy(80, reserve=20), words)
    needed = error.value.needed
    assert str(needed) in str(error.value)
    context = assemble(given_all, policy(needed, reserve=20), words)
    assert context.tokens <= needed - 20
    with pytest.raises(BudgetTooSmall):
        assemble(given_all, policy(needed - 1, reserve=20), words)


@pytest.mark.parametrize(
    "fields",
    [
        {"budget": 10, "reserve": 10},
        {"shares": {"recent": 0.9, "pinned": 0.2}},
        {"shares": {"role": 0.5}},
        {"hits": -1},
        {"outside": -1},
        {"tool_tokens": (0,)},
    ],
)
def test_numbers_that_cannot_be_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ContextPolicy(**fields)


def test_an_empty_question_is_refused() -> None:
    with pytest.raises(InvalidInput):
        assemble(material(question=" \n"), ROOMY, words)


materials = st.builds(
    lambda turns, cut, notes, lines, hits, question: material(
        turns[: len(turns) - cut] if cut < len(turns) else turns,
        last=tuple(turns[max(0, len(turns) - cut - 25) :]),
        total=len(turns),
        notes=tuple(Note(f"n{n}", f"value {n}", seq=n) for n in range(notes)),
        digest=digest(*(f"We chose number {n}." for n in range(lines))) if lines else None,
        hits=tuple(hit(f"memory {n}" + " word" * (n * 7 % 40), n + 1) for n in range(hits)),
        question=question,
    ),
    sessions(),
    st.integers(0, 15),
    st.integers(0, 3),
    st.integers(0, 60),
    st.integers(0, 12),
    st.sampled_from(["What now?", "turn 3", "why " * 40]),
)


@given(materials, st.integers(60, 1500), st.sampled_from([words, len]))
def test_the_budget_holds_nothing_is_twice_and_groups_are_whole(
    given_all: Material, budget: int, count: Any
) -> None:
    rule = policy(budget, reserve=budget // 5)
    if count is len:  # the log's numbers are words
        bare = [replace(each, tokens=0) for each in (*given_all.first, *given_all.last)]
        size = len(given_all.first)
        given_all = replace(given_all, first=tuple(bare[:size]), last=tuple(bare[size:]))
    try:
        context = assemble(given_all, rule, count)
    except BudgetTooSmall as error:
        event(f"too small: {error.needed > budget}")
        return
    spent = REPLY + sum(message_tokens(message, count) for message in context.messages)
    assert spent == context.tokens == sum(each.tokens for each in context.layers)
    assert spent <= budget - budget // 5 == context.budget
    assert valid(context.messages)
    assert list(context.shown) == sorted(set(context.shown))
    assert context.left_out == given_all.total - len(context.shown)
    ids = context.details["memories"]["ids"]
    assert len(ids) == len(set(ids))
    read = [*given_all.first, *given_all.last]
    for group in groups(read):
        asked = [each for each in group if each.entry.text == given_all.question]
        shown = [each.seq in context.shown for each in group if each not in asked]
        assert all(shown) or not any(shown)
    assert assemble(given_all, rule, count) == context


@given(materials, st.integers(60, 1500))
def test_a_rehearsal_changes_nothing(given_all: Material, budget: int) -> None:
    try:
        draft = drafted(given_all, policy(budget), words)
    except BudgetTooSmall:
        return
    draft.rehearse()
    assert finished(draft) == assemble(given_all, policy(budget), words)
