"""The layers of a context: their order, what is in each, and the bytes that stay."""

import json
from datetime import timedelta
from typing import Any

import pytest

from indexing.errors import BudgetTooSmall
from sessions.context import assemble
from sessions.types import Context, Message, Note
from tests.sessions.contexts import (
    NOTES,
    ROLE,
    ROOMY,
    contents,
    digest,
    hit,
    layer,
    material,
    memory,
    policy,
)
from tests.sessions.turns import START, call, result, talk, turn, valid, words


def same_prefix(one: Context, two: Context) -> list[Message]:
    shared = []
    for left, right in zip(one.messages, two.messages, strict=False):
        if json.dumps(left) != json.dumps(right):
            break
        shared.append(left)
    return shared


def test_layers_stand_in_their_order_and_the_question_is_last() -> None:
    given_all = material(
        talk(60),
        notes=NOTES,
        facts=(memory("I live in Riga"),),
        digest=digest("We fly on Friday."),
        hits=(hit("The hotel is full", 1), hit("The train is late", 2)),
    )
    context = assemble(given_all, ROOMY, words)
    texts = contents(context)
    roles = [message["role"] for message in context.messages]
    assert texts[0] == ROLE
    assert "I live in Riga" in texts[1]
    assert "budget: 40 000 €" in texts[1]
    assert "We fly on Friday." in texts[2]
    assert texts[3].index("The hotel is full") < texts[3].index("The train is late")
    assert texts[4:7] == [each.entry.text for each in talk(3)]
    assert (
        texts[7]
        == "[37 turns (4–40) are left out here: the digest is of turns 1–20, all can be searched.]"
    )
    assert texts[8:-1] == [each.entry.text for each in talk(60)[40:]]
    assert context.messages[-1] == {"role": "user", "content": "What now?"}
    assert roles[:4] == ["system"] * 4
    assert context.left_out == 37
    assert context.shown == (1, 2, 3, *range(41, 61))
    assert [each.name for each in context.layers] == [
        "role", "facts", "digest", "retrieved", "pinned", "recent", "question",
    ]  # fmt: skip
    assert not any(each.cut for each in context.layers)


def test_what_is_empty_has_no_message() -> None:
    context = assemble(material(role=""), ROOMY, words)
    assert contents(context) == ["What now?"]


def test_a_question_that_is_logged_is_not_asked_twice() -> None:
    turns = [*talk(4), turn(5, "user", "What now?", speaker="Ann")]
    context = assemble(material(turns), ROOMY, words)
    assert contents(context).count("What now?") == 1
    assert context.messages[-1]["content"] == "What now?"
    assert context.left_out == 0
    assert context.shown == (1, 2, 3, 4, 5)


def test_a_question_that_was_answered_is_asked_again() -> None:
    turns = [turn(1, "user", "What now?"), turn(2, "assistant", "Wait.")]
    assert contents(assemble(material(turns), ROOMY, words))[1:] == [
        "What now?",
        "Wait.",
        "What now?",
    ]


def test_what_is_done_for_the_question_stands_behind_it() -> None:
    turns = [*talk(4), turn(5, "user", "What now?"), call(6, "a"), result(7, "a", "12 flights")]
    context = assemble(material(turns), ROOMY, words)
    assert [message["role"] for message in context.messages[-3:]] == ["user", "assistant", "tool"]
    assert contents(context).count("What now?") == 1
    assert valid(context.messages)


def test_instructions_that_are_logged_are_not_given_twice() -> None:
    context = assemble(material([turn(1, "system", ROLE), *talk(3)[1:]]), ROOMY, words)
    assert contents(context).count(ROLE) == 1
    assert context.left_out == 0


def test_facts_show_what_they_are_and_expired_ones_are_gone() -> None:
    notes = (
        *NOTES,
        Note("outside/2c", "the team has 8 people", "outside", seq=12, at=START),
        Note("price", "99", "outside", at=START, expires_at=START - timedelta(hours=1)),
        Note("size", "L"),
    )
    shown = contents(assemble(material(notes=notes), ROOMY, words))[1]
    assert shown.splitlines()[1:] == [
        '<facts of="session">',
        "- size: L",
        "- budget: 40 000 € (turn 3)",
        "- [rejected] include archived projects (2026-11-01)",
        "</facts>",
        '<facts of="live data">',
        "- the team has 8 people (2026-11-01)",
        "</facts>",
    ]


def live(count: int) -> tuple[Note, ...]:
    """Return notes of live data, the oldest first."""
    return tuple(
        Note(f"outside/{n}", f"reading {n} of the gauge", "outside", n, START + timedelta(hours=n))
        for n in range(count)
    )


def test_of_live_data_the_newest_are_listed_behind_the_facts() -> None:
    context = assemble(material(notes=(*live(30), *NOTES)), ROOMY, words)
    lines = contents(context)[1].splitlines()
    shown = [line for line in lines if "reading" in line]
    assert [line.split()[2] for line in shown] == [str(n) for n in range(22, 30)]
    assert lines.index(shown[0]) > lines.index("- budget: 40 000 € (turn 3)")
    assert layer(context, "facts").cut == ("22 notes of live data are not listed",)


def test_live_data_take_a_tenth_at_most_and_leave_before_anything_is_refused() -> None:
    notes = (*live(30), *NOTES)
    bare = assemble(material(notes=NOTES), ROOMY, words)
    some = assemble(material(notes=notes), policy(260), words)
    assert 0 < some.layers[1].tokens - bare.layers[1].tokens <= 26 + 4
    none = assemble(material(notes=notes), policy(bare.tokens), words)
    assert contents(none) == contents(bare)
    with pytest.raises(BudgetTooSmall) as error:
        assemble(material(notes=notes), policy(bare.tokens - 1), words)
    assert error.value.needed == bare.tokens


def test_two_turns_share_the_longest_prefix_that_their_content_allows() -> None:
    kept: dict[str, Any] = {"notes": NOTES, "digest": digest("We fly on Friday.")}
    one = assemble(material(talk(60), hits=(hit("The hotel is full"),), **kept), ROOMY, words)
    two = assemble(
        material(talk(62), hits=(hit("The train is late"),), question="And then?", **kept),
        ROOMY,
        words,
    )
    assert len(same_prefix(one, two)) == 3  # role, facts, digest
    assert one.messages[4:7] == two.messages[4:7]  # pinned
    quiet = assemble(material(talk(62), question="And then?", **kept), ROOMY, words)
    silent = assemble(material(talk(60), **kept), ROOMY, words)
    assert len(same_prefix(silent, quiet)) == 6  # and the pinned turns


def test_a_new_fact_changes_no_byte_before_it() -> None:
    one = contents(assemble(material(notes=NOTES), ROOMY, words))[1]
    two = contents(assemble(material(notes=(Note("size", "L", seq=20), *NOTES)), ROOMY, words))[1]
    assert two.startswith(one.removesuffix("\n</facts>"))


def test_a_digest_that_is_cut_is_cut_alike_for_questions_of_any_length() -> None:
    long = digest(*(f"We chose number {n} of all." for n in range(300)))
    cuts = {
        contents(
            assemble(material(talk(60), digest=long, question="why " * n), policy(2000), words)
        )[1]
        for n in range(1, 60)
    }
    assert len(cuts) <= 2


def test_facts_that_are_not_listed_are_told() -> None:
    context = assemble(material(facts=(memory("I live in Riga"),), more_facts=70), ROOMY, words)
    (told,) = layer(context, "facts").cut
    assert told.startswith("70 more facts")
