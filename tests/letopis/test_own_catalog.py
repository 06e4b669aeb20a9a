"""Questions about the memory itself, asked of a small world that was ingested as files are."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from configs.sql_settings import SqlSettings, SqlSourceSettings, TableSettings
from indexing.closing import close_session
from indexing.errors import ConfigError
from indexing.forget import forget
from indexing.ingest import ingest
from indexing.traces import session_target, user_target
from indexing.types import session_scope, user_scope
from letopis.memory import LongTermMemory
from retrieval.sql.types import Answer
from sessions.calls import CallLog, ModelCall
from tests import postgres
from tests.conftest import FixedClock, PartsMaker

NOW = datetime(2026, 5, 15, 12, tzinfo=UTC)
"""A Friday."""


def line(user: str, session: str, at: str, role: str, text: str, **more: object) -> str:
    named = {"user_id": user, "session_id": session, "at": f"2026-{at}:00+00:00"}
    return json.dumps(named | {"role": role, "text": text} | more)


CHAT = [
    line("ann", "s1", "03-02T10:00", "user", "where do we fly in august?"),
    line("ann", "s1", "03-02T10:01", "tool", "three flights", name="web_search"),
    line("ann", "s1", "03-02T10:02", "assistant", "to the lake"),
    line("ann", "s2", "04-07T09:00", "user", "what was the fare?"),
    line("ann", "s2", "04-07T09:01", "tool", "no network", name="web_search", is_error=True),
    line("ann", "s2", "04-07T09:02", "tool", "", tool_name="calculator", status="failed"),
    line("ann", "s2", "04-07T09:03", "assistant", "i could not find out"),
    line("ann", "s3", "04-21T09:00", "user", "and the weather there?"),
    line("ann", "s3", "04-21T09:01", "assistant", "sunny"),
    line("ann", "s4", "05-05T18:00", "user", "how much is 7 by 8?"),
    line("ann", "s4", "05-05T18:01", "tool", "56", tool="calculator", ok=True),
    line("ann", "s4", "05-05T18:02", "assistant", "56"),
    line("ann", "s5", "05-06T08:00", "user", "look for a hotel"),
    line("ann", "s5", "05-06T08:01", "tool", "quota", name="web_search", ok=False),
    line("ann", "s5", "05-06T08:02", "tool", "broken", name="web_search", error="timeout"),
    line("ann", "s5", "05-06T08:03", "tool", "two hotels", name="web_search", error=None),
    line("ann", "s5", "05-06T08:04", "assistant", "there are two"),
    line("ann", "s6", "05-14T20:00", "user", "book the second"),
    line("ann", "s6", "05-14T20:01", "assistant", "it is booked"),
    line("ann", "s6", "05-14T20:02", "user", "thank you"),
    line("ann", "s6", "05-15T08:00", "system", "be short"),
    line("bob", "s9", "05-14T20:00", "user", "hello from bob"),
    line("bob", "s9", "05-14T20:01", "tool", "broken for bob", name="mail", failed=True),
]


@pytest.fixture
def memory(make_parts: PartsMaker, clock: FixedClock, tmp_path: Path) -> LongTermMemory:
    """Ann's six sessions, facts and documents; Bob's one session; documents of everybody."""
    parts = make_parts()
    made = LongTermMemory(parts)
    clock.now = datetime(2026, 4, 20, 9, tzinfo=UTC)
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "old.md").write_text("# Refunds\n\nWithin ten days.")
    ingest(parts.index, shared)
    made.remember("ann", "I live in Prague")
    clock.now = NOW
    (shared / "new.md").write_text("# Luggage\n\nTwenty kilos.")
    (shared / "food.md").write_text("# Food\n\nOn long flights.")
    ingest(parts.index, shared)
    own = tmp_path / "own.md"
    own.write_text("# My list\n\nPassport, charger.")
    ingest(parts.index, own, user_scope("ann"))
    made.remember("ann", "my sister is called Kate")
    made.remember("ann", "we fly to the lake in august", kind="digest")
    made.remember("bob", "my dog is called Rex")
    chat = tmp_path / "chat.jsonl"
    chat.write_text("\n".join(CHAT))
    assert not ingest(parts.index, chat).dead
    return made


def asked(memory: LongTermMemory, question: str, user: str | None = "ann") -> Answer | None:
    result = memory.retrieve(question, user)
    return result.answers[0] if result.answers else None


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("how many sessions did I have last week?", 2),
        ("how many conversations did I have in April?", 2),
        ("how many chats have I had so far?", 6),
        ("how many messages did I send yesterday?", 2),
        ("how many messages are there in total?", 13),
        ("how many messages did you send in May?", 3),
        ("how many messages did the assistant write in May?", 3),
        ("how many messages were written by me in May?", 4),
        ("сколько сообщений отправлено мной в мае?", 4),
        ("how many of my messages are from April?", 2),
        ("how many times did you answer me in April?", 2),
        ("how many replies did I get in May?", None),
        ("how many tool calls were there in May?", 4),
        ("how many tool calls failed in May?", 2),
        ("how many tool errors did I have since April?", 4),
        ("how many times did the search tool fail in May?", 2),
        ("how many times did web_search fail?", 3),
        ("how many times did the calculator fail?", 1),
        ("how many different tools did I use?", 2),
        ("how many tools failed in May?", 1),
        ("share of failed tool calls", 400 / 7),
        ("what percent of tool calls succeeded in May?", 50),
        ("how many facts do you remember about me?", 2),
        ("how many documents are loaded?", 4),
        ("how many documents do I have?", 1),
        ("how many summaries are stored?", 1),
        ("сколько раз инструмент поиска падал в мае?", 2),
        ("сколько раз падал калькулятор?", 1),
        ("сколько фактов обо мне запомнено?", 2),
        ("сколько фактов ты помнишь обо мне?", 2),
        ("сколько фактов запомнено в апреле?", 1),
        ("сколько документов загружено в этом месяце?", 3),
        ("сколько всего документов загружено?", 4),
        ("сколько сообщений я отправил вчера?", 2),
        ("сколько сообщений я вчера отправил?", 2),
        ("сколько сообщений ты написал в апреле?", 2),
        ("сколько моих сообщений за май?", 4),
        ("сколько всего сообщений у меня в марте?", 2),
        ("сколько раз ты мне ответил в мае?", None),
        ("сколько разговоров у меня было в апреле?", 2),
        ("сколько сессий у меня было на прошлой неделе?", 2),
        ("сколько было вызовов инструментов в марте?", 1),
        ("сколько ошибок инструментов было в мае?", 2),
        ("сколько вызовов инструмента поиска завершилось ошибкой?", 3),
        ("какая доля вызовов инструментов неудачна?", 400 / 7),
        ("сколько разных инструментов я использовал?", 2),
        ("сколько сводок сохранено?", 1),
    ],
)
def test_numbers(memory: LongTermMemory, question: str, value: float | None) -> None:
    answer = asked(memory, question)
    if value is None:
        assert answer is None
        return
    assert answer is not None
    assert answer.source == "memory"
    assert answer.value == pytest.approx(value)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("which tool did I use most?", [("web_search", 5)]),
        ("which tool failed most often in April?", [("calculator", 1)]),
        ("tool errors by month", [("2026-04", 2), ("2026-05", 2)]),
        ("errors by tool", [("web_search", 3), ("calculator", 1)]),
        ("messages per month", [("2026-03", 2), ("2026-04", 4), ("2026-05", 7)]),
        ("какой инструмент чаще всего падал?", [("web_search", 3)]),
        (
            "сколько разговоров у меня было в апреле по неделям",
            [("2026-04-06", 1), ("2026-04-20", 1)],
        ),
        ("вызовы по инструментам", [("web_search", 5), ("calculator", 2)]),
        (
            "сравни март и апрель по количеству сообщений",
            [("2026-03-01 to 2026-03-31", 2), ("2026-04-01 to 2026-04-30", 4)],
        ),
    ],
)
def test_tables(memory: LongTermMemory, question: str, rows: list[tuple[object, ...]]) -> None:
    answer = asked(memory, question)
    assert answer is not None
    assert list(answer.rows) == rows


# What is not about the memory itself


@pytest.mark.parametrize(
    "question",
    [
        "how many children does Melanie have?",
        "how many sessions of therapy did Anna go to?",
        "how many sessions with the coach did I have in April?",
        "how many messages did Peter send?",
        "how many messages did he write?",
        "how many messages did I send to Peter?",
        "how many messages do I have to send?",
        "how many messages about the trip are there?",
        "how many conversations did I have with my sister?",
        "how many documents did I sign in May?",
        "how many documents did I make?",
        "how many documents did I buy?",
        "how many documents did I send?",
        "how many documents do I need for the visa?",
        "how many users sent messages?",
        "how many bots sent messages?",
        "how many did I upload?",
        "how many do you remember?",
        "how many times did I fail?",
        "how many times did I fail in May?",
        "how many errors did I make in the test?",
        "how many errors are there?",
        "how many calls did I have yesterday?",
        "how many times did I answer?",
        "how many answers did I get?",
        "how many roles did I play?",
        "how many states are there?",
        "how many tools did I buy?",
        "how many tools do I have?",
        "how many different tools are there?",
        "сколько инструментов у меня есть?",
        "how many tools does Dave have?",
        "how many summaries did I write?",
        "how many facts are wrong?",
        "what did we say in the last session?",
        "what did the search tool find?",
        "which documents are loaded?",
        "what was my last message?",
        "what percent of messages are nice?",
        "why did the search tool fail?",
        "how many times did the drill fail in May?",
        "сколько детей у Мелани?",
        "сколько сообщений прислал Пётр?",
        "сколько сообщений он прислал?",
        "сколько сообщений про отпуск я написал?",
        "сколько раз я падал?",
        "сколько раз я упал в мае?",
        "сколько раз я ошибался?",
        "сколько ошибок я сделал?",
        "сколько раз мне звонили?",
        "сколько вызовов было вчера?",
        "сколько документов я подал в мае?",
        "сколько документов пришло?",
        "сколько документов нужно для визы?",
        "сколько инструментов я купил?",
        "сколько сессий у психолога было в апреле?",
        "сколько бесед я провёл?",
        "сколько разговоров было с мамой?",
        "сколько загружено?",
        "сколько раз я вчера ответил?",
        "о чём мы говорили в прошлой сессии?",
        "почему инструмент поиска падал?",
        "какие факты обо мне запомнены?",
        "сколько раз дрель падала в мае?",
    ],
)
def test_what_was_said_is_not_counted(memory: LongTermMemory, question: str) -> None:
    result = memory.retrieve(question, "ann")
    assert result.answers == ()
    assert result.trace.route == "vector"


# Whose


def test_nobody_counts_what_is_anothers(memory: LongTermMemory) -> None:
    for question, mine, theirs in (
        ("how many messages are there?", 13, 1),
        ("how many sessions did I have?", 6, 1),
        ("how many tool calls were there?", 7, 1),
        ("how many facts do you remember?", 2, 1),
        ("how many documents are loaded?", 4, 3),
        ("how many documents do I have?", 1, 0),
    ):
        for user, value in (("ann", mine), ("bob", theirs), ("eve", 3 if theirs == 3 else 0)):
            answer = asked(memory, question, user)
            assert answer is not None
            assert answer.value == value, (question, user)


def test_the_tools_of_others_are_no_words(memory: LongTermMemory) -> None:
    assert asked(memory, "how many times did the mail tool fail?") is None
    answer = asked(memory, "how many times did the mail tool fail?", "bob")
    assert answer is not None
    assert answer.value == 1


def test_without_a_user_only_what_is_everybodys_is_counted(memory: LongTermMemory) -> None:
    answer = asked(memory, "how many documents are loaded?", None)
    assert answer is not None
    assert answer.value == 3
    assert asked(memory, "how many messages are there?", None) is None


def test_an_answer_says_in_words_what_was_counted_and_whose(memory: LongTermMemory) -> None:
    answer = asked(memory, "сколько раз инструмент поиска падал в мае?")
    assert answer is not None
    said = "count of tool calls, tool is web_search, outcome is failed, 2026-05-01 to 2026-05-31"
    assert answer.understood == f"{said}, user ann"
    answer = asked(memory, "сколько фактов обо мне запомнено?")
    assert answer is not None
    assert answer.understood == "count of facts, user ann"


# What goes is not counted


def test_what_is_forgotten_is_not_counted(memory: LongTermMemory) -> None:
    index = memory.parts.index
    question = "how many messages are there?"
    assert forget(index, session_target("ann", "s6"), "ann").clean
    answer = asked(memory, question)
    assert answer is not None
    assert answer.value == 10
    assert forget(index, user_target("ann"), "ann").clean
    for one, value in ((question, 0), ("how many sessions did I have?", 0), ("tool calls", None)):
        answer = asked(memory, one)
        assert (answer.value if answer else None) == value
    answer = asked(memory, question, "bob")
    assert answer is not None
    assert answer.value == 1


def test_a_session_that_is_cleared_is_not_counted(memory: LongTermMemory, tmp_path: Path) -> None:
    file = tmp_path / "now.jsonl"
    file.write_text(line("bob", "live", "05-15T10:00", "user", "just now"))
    index = memory.parts.index
    ingest(index, file, session_scope("bob", "live"))
    question = "how many messages did I send today?"
    before = asked(memory, question, "bob")
    close_session(index, "bob", "live", "clear")
    after = asked(memory, question, "bob")
    assert before
    assert after
    assert (before.value, after.value) == (1, 0)


# The source


def test_a_writer_and_a_reader_do_not_wait_for_each_other(memory: LongTermMemory) -> None:
    index = memory.parts.index
    with index.catalog.writing(user_scope("ann")) as turn:
        turn.remove([])
        answer = asked(memory, "how many messages are there?")
        assert answer is not None
        assert answer.value == 13
    memory.remember("ann", "I like trains")
    index.catalog.database.purge()
    found = asked(memory, "how many facts do you remember?")
    assert found is not None
    assert found.value == 3


def test_it_can_be_switched_off(make_parts: PartsMaker) -> None:
    parts = make_parts(sql=SqlSettings(catalog=False))
    assert parts.retriever.analyst is None


def test_a_source_of_that_name_has_to_give_way(make_parts: PartsMaker, tmp_path: Path) -> None:
    mine = SqlSourceSettings(
        name="memory", url=f"sqlite:///{tmp_path / 'x'}", tables=(TableSettings(name="t"),)
    )
    with pytest.raises(ConfigError, match=r"sql\.catalog = false"):
        make_parts(sql=SqlSettings(sources=(mine,)))


@pytest.mark.skipif(not postgres.available(), reason="needs a PostgreSQL")
def test_a_catalog_on_postgresql_answers_alike(
    make_parts: PartsMaker, clock: FixedClock, tmp_path: Path, postgres_url: str
) -> None:
    clock.now = NOW
    made = LongTermMemory(make_parts(catalog=postgres_url))
    chat = tmp_path / "chat.jsonl"
    chat.write_text("\n".join(CHAT))
    ingest(made.parts.index, chat)
    for question, value in (
        ("how many sessions did I have last week?", 2),
        ("сколько раз инструмент поиска падал в мае?", 2),
        ("share of failed tool calls", 400 / 7),
    ):
        answer = asked(made, question)
        assert answer is not None
        assert answer.value == pytest.approx(value)
    weekly = asked(made, "сколько разговоров у меня было в апреле по неделям")
    assert weekly is not None
    assert weekly.rows == (("2026-04-06", 1), ("2026-04-20", 1))


def test_model_calls_are_counted_and_summed(memory: LongTermMemory) -> None:
    log = CallLog(memory.parts.index)
    for user, day, tokens, cost, cache in (
        ("ann", 5, 1000, 0.5, ""),
        ("ann", 6, 500, 0.25, "exact"),
        ("ann", 14, 40, 0.125, ""),
        ("bob", 6, 7, 100.0, ""),
    ):
        at = datetime(2026, 5, day, 9, tzinfo=UTC)
        log.record(user, "s5", ModelCall("big", tokens, 10, cost, cache, at=at))
    for question, value in (
        ("how many tokens did I spend last week?", 1520),
        ("сколько токенов я потратил на прошлой неделе?", 1520),
        ("сколько стоили вызовы модели в мае?", 0.875),
        ("how much did I spend on model calls in May?", 0.875),
        ("how many model calls were there in May?", 3),
        ("how many output tokens did I use in May?", 30),
        ("сколько вызовов модели было из кэша?", 1),
    ):
        found = asked(memory, question)
        assert found is not None, question
        assert found.value == pytest.approx(value), question
    assert asked(memory, "how much money did I spend in May?") is None
    assert asked(memory, "how many tokens are in the vault?") is None
    close_session(memory.parts.index, "ann", "s5", "clear")
    assert forget(memory.parts.index, session_target("ann", "s5"), "ann").clean
    found = asked(memory, "how many model calls were there in May?")
    assert found is not None
    assert found.value == 0
