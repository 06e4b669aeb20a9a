"""Stories of single sentences, and what holds for every text."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.speech import read_lines, still_open
from sessions.types import Entry, Line, LoggedTurn, Role

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def talk(*said: tuple[Role, str] | Entry) -> list[LoggedTurn]:
    entries = [one if isinstance(one, Entry) else Entry(one[0], one[1], at=AT) for one in said]
    return [LoggedTurn(seq, entry, 1) for seq, entry in enumerate(entries, 1)]


def kinds(lines: Sequence[Line]) -> list[tuple[str, str]]:
    return [(line.kind, line.text) for line in lines if line.kind != "other"]


def only(*said: tuple[Role, str] | Entry) -> list[tuple[str, str]]:
    return kinds(read_lines(talk(*said)))


@pytest.mark.parametrize(
    ("idea", "no"),
    [
        ("What if we include archived projects?", "No, leave them out."),
        ("А может, включим архивные проекты?", "Нет, не надо."),
    ],
)
def test_a_refusal_says_what_it_refuses(idea: str, no: str) -> None:
    lines = read_lines(talk(("user", idea), ("assistant", "That makes 900 rows."), ("user", no)))
    refused = [line for line in lines if line.kind == "rejected"]
    assert [(line.text, line.of, line.seq) for line in refused] == [(no, idea, 3)]
    assert not [line for line in lines if line.kind in ("decision", "unresolved")]


@pytest.mark.parametrize(
    ("offer", "yes"),
    [
        ("I suggest moving the launch to Friday.", "Yes."),
        ("Предлагаю перенести запуск на пятницу.", "Давай."),
    ],
)
def test_a_yes_decides_what_was_offered(offer: str, yes: str) -> None:
    lines = read_lines(talk(("assistant", offer), ("user", yes)))
    assert [(line.text, line.of) for line in lines if line.kind == "decision"] == [(yes, offer)]


def test_a_yes_to_nothing_decides_nothing() -> None:
    assert only(("assistant", "The report is attached."), ("user", "Ok.")) == []
    assert only(("assistant", "Is there anything else?"), ("user", "No, thanks!")) == []


def test_a_yes_to_a_requirement_is_one() -> None:
    question = "Should the report be in PDF, with charts?"
    (line,) = read_lines(talk(("assistant", question), ("user", "Yes, exactly.")))
    assert (line.kind, line.of) == ("constraint", question)


def test_an_answer_of_a_word_keeps_its_question() -> None:
    question = "Which size do you wear?"
    (line,) = read_lines(talk(("assistant", question), ("user", "43.")))
    assert (line.kind, line.text, line.of) == ("fact", "43.", question)


def test_requirements_of_the_assistant_are_none_until_confirmed() -> None:
    assert only(("assistant", "The file must be CSV, no more than 50 rows.")) == []
    assert only(("user", "The file must be CSV, no more than 50 rows."))[0][0] == "constraint"


def test_a_correction_is_a_line_of_its_own() -> None:
    found = only(("user", "Keep it under 200 words."), ("user", "No, make it 150 words."))
    assert found == [
        ("constraint", "Keep it under 200 words."),
        ("constraint", "No, make it 150 words."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "If we chose Mongo, we would have to rewrite the reports.",
        "My friend prefers Mongo.",
        "He said that they decided to use Mongo.",
        "She wrote: “We decided to use Mongo from now on, all of us.”",
        "Мой друг предпочитает Mongo.",
        "Если бы мы взяли Mongo, пришлось бы переписать отчёты.",
        "Допустим, мы взяли Mongo.",
        "> We decided to use Mongo.",
        "```\nWe decided to use Mongo.\n```",
        "See https://example.org/we-decided-to-use/mongo for that.",
    ],
)
def test_what_others_say_or_what_is_supposed_is_not_the_user_s(text: str) -> None:
    found = {kind for kind, _ in only(("user", text))}
    assert not found & {"decision", "preference", "rejected", "promise"}


SMALL_TALK = [
    "Hi!", "Thanks a lot!", "Great question!", "Let me know if you need more.", "ok cool",
    "Привет!", "Спасибо большое!", "Отличный вопрос!", "Конечно, рад помочь!", "ахаха",
]  # fmt: skip


@pytest.mark.parametrize("text", SMALL_TALK)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_small_talk_is_no_line(role: Role, text: str) -> None:
    assert read_lines(talk((role, text))) == ()


def test_questions_are_no_facts_but_what_stands_before_them_is() -> None:
    assert only(("user", "Is my size L?"), ("assistant", "It is not on file.")) == []
    told = "I have type 2 diabetes, what can I eat?"
    assert only(("user", told), ("assistant", "Baked pears are fine.")) == [("fact", told)]


@pytest.mark.parametrize(
    "text", ["The team has 8 people.", "The project is delayed.", "В команде 8 человек."]
)
@pytest.mark.parametrize("role", ["user", "assistant"])
def test_live_data_is_no_fact_about_the_user(role: Role, text: str) -> None:
    assert only((role, text)) == [("outside", text)]


def test_of_tools_only_failures_and_live_data_are_read() -> None:
    failed = Entry("tool", "Timeout after 30 s\nWe decided to retry.", status="error")
    assert only(failed) == [("error", "Timeout after 30 s")]
    answer = Entry("tool", "stock: 14\nLet's go with Postgres.", tool="stock", status="ok")
    found = only(answer, ("assistant", "There are 14 of them."))
    assert found == [("outside", "stock: 14"), ("outside", "There are 14 of them.")]


def test_a_long_result_gives_few_and_short_lines() -> None:
    rows = ", ".join(f'{{"id": {n}, "name": "row"}}' for n in range(500))
    lines = read_lines(talk(Entry("tool", f"[{rows}]", status="ok")))
    assert 0 < len(lines) <= 8
    assert all(len(line.text) <= 240 for line in lines)


def test_of_system_turns_instructions_are_not_read() -> None:
    assert read_lines(talk(("system", "You must answer in French. I prefer short answers."))) == ()


def test_a_question_without_an_answer_stays_open() -> None:
    question = "Who owns the bot?"
    assert only(("user", question)) == [("unresolved", question)]
    put_off = "I couldn't find that."
    lines = read_lines(talk(("user", question), ("assistant", put_off)))
    assert [(line.kind, line.text, line.of) for line in lines] == [
        ("unresolved", put_off, question)
    ]
    assert only(("user", question), ("assistant", "The platform group owns it.")) == []


def test_an_open_matter_is_over_when_it_is_decided() -> None:
    open_ = "We still need to decide on the logo colour."
    before = talk(("user", open_))
    assert kinds(read_lines(before)) == [("unresolved", open_)]
    later = talk(("user", "Let's make the logo dark green."))
    assert still_open(read_lines(before), later) == ()
    elsewhere = talk(("user", "Let's ship the parser on Friday."))
    assert still_open(read_lines(before), elsewhere) == read_lines(before)
    assert "unresolved" not in {line.kind for line in read_lines([*before, *later])}


def test_a_question_of_an_earlier_conversation_is_answered_by_the_other_side() -> None:
    lines = read_lines(talk(("user", "Who owns the bot?")))
    assert still_open(lines, talk(("assistant", "The platform group does."))) == ()
    assert still_open(lines, talk(("assistant", "I don't know yet."))) == lines
    assert still_open(lines, talk(("user", "Never mind the tone."))) == lines


def test_people_who_type_in_small_letters_are_split_too() -> None:
    found = only(("user", "ok. let's go with postgres. i'll send the schema by friday"))
    assert [kind for kind, _ in found] == ["decision", "promise"]


def test_weights_are_between_zero_and_one_and_order_what_is_central() -> None:
    said = ["The pump feeds the boiler.", "The boiler heats the pump room."]
    stray = "Nobody has watered those ferns."
    lines = read_lines(talk(*(("assistant", text) for text in [*said, stray])))
    weights = {line.text: line.weight for line in lines}
    assert max(weights.values()) == 1.0
    assert weights[stray] < min(weights[text] for text in said)
    assert {line.weight for line in read_lines(talk(("user", stray)), weighed=False)} == {0.0}


PIECES = [
    "no", "yes", "let's", "не", "решили", "да", "?", ".", "\n", "```", "`", "«", "»", '"', "“", "…",
    "5", "-", "> ", "Postgres", "ошибка", "must be", "I'll send", "http://x.y",
]  # fmt: skip
TEXTS = st.text(max_size=300) | st.lists(
    st.sampled_from(PIECES),
    max_size=40,
).map(" ".join)


def test_no_line_is_longer_than_can_be_shown() -> None:
    said = "Then we walked on and on, past the mill. " + "over hill and dale, " * 200
    lines = read_lines(talk(("user", said)))
    assert len(lines) > 2
    assert all(len(line.text) <= 600 for line in lines)


@given(
    st.lists(st.tuples(st.sampled_from(["user", "assistant", "system", "tool"]), TEXTS), max_size=6)
)
def test_every_line_is_a_span_of_its_turn(said: list[tuple[Role, str]]) -> None:
    turns = talk(*said)
    lines = read_lines(turns)
    assert [line.seq for line in lines] == sorted(line.seq for line in lines)
    for line in lines:
        turn = turns[line.seq - 1]
        assert line.text
        assert line.text in turn.entry.text
        assert (line.role, line.at) == (turn.entry.role, turn.entry.at)
        assert not line.of or any(line.of in one.entry.text for one in turns)
        assert 0 <= line.weight <= 1
    places = [(line.seq, line.text, line.kind, line.of) for line in lines]
    assert places == [(one.seq, one.text, one.kind, one.of) for one in read_lines(turns)]
