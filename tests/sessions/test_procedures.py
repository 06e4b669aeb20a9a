"""Procedures: text and back, one of a name, any length, found whole, gone when forgotten."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from configs.build import Parts
from indexing.corrections import edit
from indexing.errors import InvalidInput
from indexing.forget import forget
from indexing.index import Index
from indexing.listing import listing
from indexing.remember import remember
from indexing.tags import tags_of
from indexing.traces import memory_target, source_target, user_target
from indexing.types import GLOBAL, session_scope, user_scope
from sessions.procedure_text import read_procedure, write_procedure
from sessions.procedures import (
    Example,
    Procedure,
    from_session,
    procedure_source,
    remember_procedure,
    retrieve_procedures,
)
from sessions.types import Entry, LoggedTurn, ToolCall
from tests.conftest import FixedClock

ANN = user_scope("ann")

REFUND = Procedure(
    "Refund an order",
    "Return the money for an order that was not delivered",
    ("refunds", "shop"),
    ('{"name": "find_order", "parameters": {"order_id": "string"}}',),
    (Example("Where is my money?", "It comes back within 3 days."),),
    ('find_order {"order_id": "BX-1"}', 'refund {"order_id": "BX-1", "full": true}'),
    "The money came back in 2 days.",
)
RUSSIAN = Procedure(
    "Перенос доставки",
    "Перенести доставку заказа на другой день",
    ("доставка",),
    steps=('find_order {"order_id": "BX-2"}', 'move_delivery {"day": "2026-03-05"}'),
)

LINES = st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=60)


@given(
    procedure=st.builds(
        Procedure,
        name=LINES,
        task=LINES,
        tags=st.lists(LINES, max_size=3).map(tuple),
        tools=st.lists(LINES, max_size=3).map(tuple),
        examples=st.lists(st.builds(Example, LINES, LINES), max_size=3).map(tuple),
        steps=st.lists(st.sampled_from(["Task: x", "- a\n- b", "  \n", "Шаги:", "x"])).map(tuple),
        outcome=st.just("") | LINES,
    )
)
def test_a_text_is_read_as_the_procedure_it_was_written_from(procedure: Procedure) -> None:
    assert read_procedure(write_procedure(procedure)) == procedure


def test_labels_are_in_the_language_of_the_task() -> None:
    assert write_procedure(RUSSIAN).splitlines()[:3] == [
        "Порядок действий: Перенос доставки",
        "Задача: Перенести доставку заказа на другой день",
        "Метки:",
    ]


def test_what_fits_a_task_comes_first_and_whole(index: Index, parts: Parts) -> None:
    remember_procedure(index, ANN, REFUND)
    remember_procedure(index, GLOBAL, RUSSIAN)
    remember(index, ANN, "The money for the order was not returned")
    found = retrieve_procedures(parts.retriever, "return the money for an order", "ann")
    assert [one.procedure for one in found] == [REFUND, RUSSIAN]
    assert (found[0].scope, found[1].scope) == (ANN, GLOBAL)
    assert found[0].at == index.clock()
    asked = retrieve_procedures(parts.retriever, "перенести доставку", "ann", k=1)
    assert [one.procedure for one in asked] == [RUSSIAN]


def test_tags_narrow_and_users_are_apart(index: Index, parts: Parts) -> None:
    remember_procedure(index, ANN, REFUND)
    remember_procedure(index, user_scope("bob"), RUSSIAN)
    ask = parts.retriever
    assert [f.procedure for f in retrieve_procedures(ask, "order", "ann")] == [REFUND]
    assert retrieve_procedures(ask, "order", "ann", tags=["доставка"]) == ()
    assert [f.procedure for f in retrieve_procedures(ask, "order", "bob", ["Доставка"])] == [
        RUSSIAN
    ]
    assert retrieve_procedures(ask, "order", None) == ()


def test_the_same_name_replaces_whatever_it_said(index: Index, parts: Parts) -> None:
    long = Procedure(
        "Refund an order", "Return money", steps=tuple(f"step {n}" for n in range(600))
    )
    remember_procedure(index, ANN, REFUND)
    for newer in (long, Procedure("refund  an ORDER", "Return money", steps=("ask", "pay 2"))):
        remember_procedure(index, ANN, newer)
        found = retrieve_procedures(parts.retriever, "return money for an order", "ann")
        assert [one.procedure for one in found] == [newer]
    assert listing(index, [ANN], kinds=["procedure"]).total == 1


def test_two_that_say_nearly_the_same_are_both_found_whole(index: Index, parts: Parts) -> None:
    twin = replace(REFUND, name="Refund the order")
    other = replace(REFUND, name="Give money back", outcome="The money came back in two days!")
    for procedure in (REFUND, twin, other):
        remember_procedure(index, ANN, procedure)
    found = retrieve_procedures(parts.retriever, "return the money for an order", "ann")
    assert {one.procedure for one in found} == {REFUND, twin, other}


def test_told_again_it_is_the_same(index: Index) -> None:
    first = remember_procedure(index, ANN, REFUND)
    assert remember_procedure(index, ANN, REFUND).id == first.id
    assert listing(index, [ANN]).total == 1
    (row,) = index.catalog.sources(ANN, [procedure_source(REFUND.name)]).values()
    assert row.content_hash


def test_a_long_one_is_found_by_any_of_its_parts_and_comes_whole(
    index: Index, parts: Parts
) -> None:
    tools = tuple(f'{{"name": "tool_{n}", "about": "{"words " * 30}"}}' for n in range(40))
    example = Example("a zebra crossed the road", f"brake\n\n  - now{' ' * 900}\n")
    long = Procedure("Drive", "Drive a car", tools=tools, examples=(example,), outcome="ok")
    remember_procedure(index, ANN, long)
    assert listing(index, [ANN]).total > 5
    found = retrieve_procedures(parts.retriever, "zebra", "ann")
    assert [one.procedure for one in found] == [long]


def test_no_chunk_is_over_the_limit(index: Index) -> None:
    remember_procedure(index, ANN, Procedure("Long", "x" * 9_000, outcome="слово " * 3_000))
    for memory in listing(index, [ANN], limit=1000).memories:
        assert len(index.recipe.spans(memory.text)) <= index.recipe.fact_tokens + 2


def test_it_expires_and_can_be_forgotten(index: Index, parts: Parts, clock: FixedClock) -> None:
    until = index.clock() + timedelta(hours=1)
    remember_procedure(index, ANN, RUSSIAN, expires_at=until)
    memory = remember_procedure(index, ANN, REFUND)
    clock.now += timedelta(hours=2)
    found = retrieve_procedures(parts.retriever, "order", "ann")
    assert [one.procedure for one in found] == [REFUND]
    assert forget(index, memory_target(ANN, [memory.id]), "ann").clean
    assert retrieve_procedures(parts.retriever, "order", "ann") == ()
    remember_procedure(index, ANN, REFUND)  # told again, it may be written again
    (back,) = retrieve_procedures(parts.retriever, "order", "ann")
    assert forget(index, source_target(ANN, [back.source_id]), "ann").clean
    assert forget(index, user_target("ann"), "ann").clean
    assert retrieve_procedures(parts.retriever, "order", "ann") == ()


def test_one_that_was_edited_or_remembered_as_a_text_is_a_task(index: Index, parts: Parts) -> None:
    memory = remember_procedure(index, ANN, REFUND)
    edit(index, ANN, memory.id, "Task: Never refund\nwithout asking", "ann")
    remember(index, ANN, "To ship abroad, print form CN23", kind="procedure")
    tasks = {f.procedure.task for f in retrieve_procedures(parts.retriever, "refund form", "ann")}
    assert tasks == {"Never refund\nwithout asking", "To ship abroad, print form CN23"}
    remember_procedure(index, ANN, REFUND)
    assert listing(index, [ANN]).total == 2


@pytest.mark.parametrize(
    ("procedure", "why"),
    [
        (Procedure("", "task"), "name and a task"),
        (Procedure("name", " "), "name and a task"),
        (Procedure("two\nlines", "task"), "one line"),
        (Procedure("name", "task", tools=("{not json",)), "tool 1 is not JSON"),
        (Procedure("name", "task", tags=("",)), "tag"),
        (Procedure("name", "task", outcome="x" * 60_000), "over 50,000"),
        (Procedure("name", "task \ud800"), "Unicode"),
    ],
)
def test_what_cannot_be_kept_is_refused(index: Index, procedure: Procedure, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        remember_procedure(index, ANN, procedure)


def test_a_session_has_no_procedures(index: Index) -> None:
    with pytest.raises(InvalidInput, match="user or global"):
        remember_procedure(index, session_scope("ann", "s"), REFUND)


def logged(*entries: Entry) -> list[LoggedTurn]:
    return [LoggedTurn(seq, entry, tokens=1) for seq, entry in enumerate(entries, 1)]


def called(call_id: str, tool: str, arguments: str) -> Entry:
    return Entry("assistant", "", calls=(ToolCall(call_id, tool, arguments),))


def test_a_session_becomes_a_procedure_of_the_calls_that_went_well() -> None:
    turns = logged(
        Entry("user", "Return the money for BX-1. It never came."),
        called("1", "find_order", '{"id": "1"}'),
        Entry("tool", "no such order", call_id="1", status="error"),
        called("2", "find_order", '{"id": "BX-1"}'),
        Entry("tool", "found", call_id="2", status="ok"),
        called("3", "find_order", '{"id": "BX-1"}'),
        Entry("tool", "found", call_id="3", status="ok"),
        Entry("tool", "done", tool="refund", arguments='{"id": "BX-1"}', status="ok"),
        Entry("assistant", "The money is on its way."),
    )
    made = from_session(turns, tags=["Refunds"])
    assert made == Procedure(
        "Return the money for BX-1.",
        "Return the money for BX-1. It never came.",
        tags_of(["Refunds"]),
        steps=('find_order {"id": "BX-1"}', 'refund {"id": "BX-1"}'),
        outcome="The money is on its way.",
    )


@pytest.mark.parametrize(
    "entries",
    [
        [Entry("user", "Hello"), Entry("assistant", "Hi")],
        [Entry("user", "Pay"), Entry("tool", "no", tool="pay", status="error")],
        [Entry("tool", "ok", tool="pay", status="ok")],
        [Entry("user", "Pay"), Entry("tool", "ok", status="ok")],
    ],
)
def test_a_session_without_a_chain_that_ended_well_is_refused(entries: list[Entry]) -> None:
    with pytest.raises(InvalidInput):
        from_session(logged(*entries))
