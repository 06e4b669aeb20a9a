"""Stories of single sentences, and what holds for every text."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.speech import is_question, read_lines, still_open
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


ROWS = ", ".join(f'{{"id": {n}, "name": "row"}}' for n in range(500))
LOG = "\n".join(f"2026-02-11 00:00:0{n} ERROR [mill] could not open batch {n}" for n in range(6))


@pytest.mark.parametrize(
    "text",
    [
        f"[{ROWS}]",
        '{"city": "Oslo", "temp_c": -4, "sky": "snow"}',
        LOG,
        "| Tent | 505 |\n|---|---|\n| Rope | 3 |\n| Lamp | 41 |",
        "def step_0(rows):\n    return [r for r in rows if r > 5]\n\nx = step_0([1])\n",
        "<html><body><p>There are 5 left.</p></body></html>",
        "There are 5 left. " * 20,
    ],
    ids=["json", "object", "log", "table", "code", "html", "long"],
)
@pytest.mark.parametrize("status", ["ok", ""])
def test_structured_and_long_results_give_no_line(text: str, status: str) -> None:
    assert read_lines(talk(Entry("tool", text, status=status))) == ()


def test_a_short_result_gives_two_lines() -> None:
    said = ("The tent weighs 2 kg.", "It sleeps 3.", "There are 5 left.")
    found = only(Entry("tool", " ".join(said), status="ok"))
    assert found == [("outside", said[0]), ("outside", said[1])]


@pytest.mark.parametrize(("status", "kind"), [("ok", "outside"), ("error", "error")])
def test_an_object_with_a_value_in_prose_gives_that_value(status: str, kind: str) -> None:
    said = "The mill is closed. Ask again on 5 May."
    entry = Entry("tool", f'{{"note": "{said}", "code": 7}}', status=status)
    assert only(entry) == [(kind, said)]
    assert only(Entry("tool", f'{{"note": "{said}"}}', status=status)) == [(kind, said)]
    nested = Entry("tool", f'{{"notes": ["{said}"]}}', status=status)
    assert only(nested) == []


@pytest.mark.parametrize("status", ["ok", "error"])
def test_a_trace_gives_its_error(status: str) -> None:
    frames = 'Traceback (most recent call last):\n  File "mill.py", line 3, in grind\n    stone()\n'
    cause = f"{frames}KeyError: 'stone'\n\nDuring handling of the above exception, another:\n\n"
    trace = Entry("tool", f"{cause}{frames}ValueError: no stone 5\n", status=status)
    assert only(trace) == [("error", "ValueError: no stone 5")]
    java = "java.io.IOException: disk 3 is full\n\tat org.mill.Grind.run(Grind.java:7)\n"
    assert only(Entry("tool", java, status=status)) == [("error", java.split("\n")[0])]


@pytest.mark.parametrize(
    ("question", "answer", "wish"),
    [
        ("Can I wash the rug at home?", "Yes, by hand.", "No plastic for me please, it smells."),
        ("Можно стирать ковёр дома?", "Да, вручную.", "Мне без пластика, пожалуйста, он пахнет."),
        ("What if we dye it red?", "Red fades.", "No plastic for me please, it smells."),
        ("А может, покрасим в красный?", "Красный выцветает.", "Мне без пластика, пожалуйста."),
    ],
)
def test_a_refusal_that_names_its_object_is_about_no_other(
    question: str, answer: str, wish: str
) -> None:
    lines = read_lines(talk(("user", question), ("assistant", answer), ("user", wish)))
    assert [(line.kind, line.of) for line in lines if line.text == wish] == [("preference", "")]


@pytest.mark.parametrize(
    ("idea", "no"),
    [
        ("What if we print it on cloth?", "No cloth for us, please."),
        ("А если напечатать на ткани?", "Ткань нам не нужна."),
    ],
)
def test_a_refusal_that_names_the_idea_is_about_it(idea: str, no: str) -> None:
    (refused,) = read_lines(talk(("assistant", idea), ("user", no)))[-1:]
    assert (refused.kind, refused.of) == ("rejected", idea)


def test_a_refusal_looks_back_two_turns() -> None:
    idea: tuple[Role, str] = ("assistant", "We could dye the rug red.")
    between: list[tuple[Role, str]] = [("user", "It is for the hall."), ("assistant", "I see why.")]
    near = read_lines(talk(idea, *between[:1], ("user", "No, not that.")))
    assert [line.of for line in near if line.kind == "rejected"] == [idea[1]]
    far = read_lines(talk(idea, *between, *between, ("user", "No, not that.")))
    assert idea[1] not in [line.of for line in far]


@pytest.mark.parametrize(
    "text",
    ["Great, let's continue.", "Okay, let's move on then!", "Отлично, идём дальше.", "Продолжим."],
)
def test_going_on_decides_nothing(text: str) -> None:
    for offer in ("You could also get a map.", "Можно добавить карту.", "Noted."):
        lines = read_lines(talk(("assistant", offer), ("user", text)))
        assert text not in [line.text for line in lines]


def test_going_on_with_a_thing_decides_for_it() -> None:
    assert only(("user", "Let's continue with Postgres."))[0][0] == "decision"


@pytest.mark.parametrize(
    "text",
    [
        "A table with a row for the plan is enough.",
        "You should restart it if the build fails.",
        "The export can fail when the queue is full.",
        "Выгрузка может упасть, если очередь полна.",
    ],
)
def test_advice_is_no_failure_and_no_decision(text: str) -> None:
    assert only(("assistant", text)) == []


def test_a_failure_before_the_advice_is_one() -> None:
    text = "The upload failed, so you could split the file."
    assert only(("assistant", text)) == [("error", text)]


@pytest.mark.parametrize(
    "text",
    [
        "Let's cook something special!", "Давай устроим что-нибудь особенное!",
        "Here's a picture of Rex.", "Вот фото Рекса.",
    ],
)  # fmt: skip
def test_friendly_talk_is_no_decision_and_no_fact(text: str) -> None:
    assert only(("user", text)) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The list must name the owner of each flat.", "constraint"),
        ("I need a list of the flats, as a CSV file.", "constraint"),
        ("Please use imperial units.", "constraint"),
        ("Answer briefly.", "constraint"),
        ("Нужен список квартир, в CSV.", "constraint"),
        ("Пиши кратко.", "constraint"),
        ("The flat number of Vera is F-0.", "fact"),
        ("Квартира Веры — F-7.", "fact"),
        ("Here are the photos of the wall: the crack broke the build.", "error"),
    ],
)
def test_wishes_and_numbers_of_the_user(text: str, kind: str) -> None:
    assert only(("user", text)) == [(kind, text)]


@pytest.mark.parametrize("text", ["Explain supply chains.", "Пиши письмо маме.", "Write a poem."])
def test_a_task_is_no_requirement(text: str) -> None:
    assert only(("user", text)) == []


def test_questions_alone_are_told_apart() -> None:
    for asks in ("Is the tent dry?", "Hi! Where is it?", "Палатка сухая? А верёвка?"):
        assert is_question(asks)
    for tells in ("", "Thanks!", "It is. Really?", "My knee hurts since 5 May, can I run?"):
        assert not is_question(tells)


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
