"""The turn log: order, idempotence, what can be searched for, and what was killed half way."""

import multiprocessing
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from configs.settings import Settings
from indexing.catalog_schema import owner_key
from indexing.closing import close_session
from indexing.errors import InvalidId, InvalidInput, ModelError, TurnConflict
from indexing.index import Index
from indexing.session_schema import turns as table
from indexing.types import Filter, session_scope
from sessions.kept import write_digest
from sessions.log import Indexing, TurnLog, head
from sessions.types import Digest, Entry, LoggedTurn, ToolCall
from tests.conftest import FixedClock, PartsMaker, TinyEmbedder

AT = datetime(2026, 5, 8, 10, 30, tzinfo=UTC)
SCOPE = session_scope("ann", "s")


def count(text: str) -> int:
    return len(text.split())


@pytest.fixture
def log(index: Index) -> TurnLog:
    return TurnLog(index, count)


def user(text: str, turn_id: str = "", at: datetime | None = None) -> Entry:
    return Entry("user", text, turn_id, at=at)


def texts(turns: Sequence[LoggedTurn]) -> list[str]:
    return [turn.entry.text for turn in turns]


def found(index: Index) -> dict[str, str]:
    """Return the texts that can be searched for in the session, by turn id."""
    return {m.turn_id: m.text for m in index.store.scroll("session", Filter(SCOPE))}


def test_turns_come_back_as_they_went_in_with_a_place_an_id_and_a_time(
    log: TurnLog, clock: FixedClock
) -> None:
    zoned = datetime.fromisoformat("2026-05-08T13:30:00+03:00")
    given = [
        Entry("system", "You are a clerk."),
        Entry("user", "Where is BX-4471-A?\0␛", "u-1", "Ann", zoned, tags=("orders",)),
        Entry("assistant", "", calls=(ToolCall("c1", "find", '{"id": "BX-4471-A"}'),)),
        Entry("tool", "lost", call_id="c1", status="error", cost=0.25),
    ]
    done = log.append("ann", "s", given)
    assert (done.new, done.known, done.forgotten) == (4, 0, 0)
    held = log.read("ann", "s")
    assert held == list(done.turns)
    assert [turn.seq for turn in held] == [1, 2, 3, 4]
    assert held[0].entry.at == clock.now
    assert held[1].entry == given[1]
    assert str(held[1].entry.at) == str(zoned)
    assert held[2].entry.calls == given[2].calls
    answer = held[3].entry
    assert (answer.tool, answer.arguments) == ("find", '{"id": "BX-4471-A"}')
    assert (answer.status, answer.cost) == ("error", 0.25)
    assert [turn.tokens for turn in held] == [4 + 4, 3 + 4, 3 + 4, 1 + 4]
    assert (log.count("ann", "s"), log.tokens("ann", "s", 1, 3)) == (4, 14)
    assert log.turn("ann", "s", "u-1") == held[1]
    assert log.turn("ann", "s", "u-2") is None


def test_windows_of_the_log(log: TurnLog) -> None:
    log.append("ann", "s", [user(f"turn {n} of it") for n in range(1, 8)])
    assert texts(log.read("ann", "s", after=2, through=4)) == ["turn 3 of it", "turn 4 of it"]
    assert texts(log.read("ann", "s", last=2)) == ["turn 6 of it", "turn 7 of it"]
    assert texts(log.read("ann", "s", through=5, last=1)) == ["turn 5 of it"]
    assert texts(log.first("ann", "s", 2)) == ["turn 1 of it", "turn 2 of it"]
    assert texts(log.turns("ann", "s", [7, 1, 99])) == ["turn 1 of it", "turn 7 of it"]
    assert log.read("ann", "s", last=0) == log.read("bob", "s") == log.read("ann", "s2") == []


def test_an_append_that_is_repeated_changes_nothing(log: TurnLog, embedder: TinyEmbedder) -> None:
    talk = [user("my size is L", "1"), user("send it to Tver", at=AT), user("send it", at=AT)]
    first = log.append("ann", "s", talk)
    embedded = len(embedder.embedded)
    log.append("ann", "s", talk)
    assert len(embedder.embedded) == embedded
    again = log.append("ann", "s", [*talk, user("to the office", "4")])
    assert (again.new, again.known) == (1, 3)
    assert again.turns[:3] == first.turns
    new = [text.partition("user: ")[2] for text in embedder.embedded[embedded:]]
    assert new == ["send it", "to the office"]  # the turn, and the one before it


def test_the_same_words_twice_are_two_turns(log: TurnLog) -> None:
    log.append("ann", "s", [user("yes"), user("yes")])
    log.append("ann", "s", [user("yes")])
    held = log.read("ann", "s")
    assert texts(held) == ["yes"] * 3
    assert len({turn.entry.turn_id for turn in held}) == 3


def test_a_whole_conversation_that_is_handed_over_again_is_known(log: TurnLog) -> None:
    talk = [user("yes"), Entry("assistant", "sure?"), user("yes")]
    log.append("ann", "s", talk[:2])
    log.append("ann", "s", talk[2:])
    done = log.append("ann", "s", [*talk, user("yes")], whole=True)
    assert (done.new, done.known) == (1, 3)
    assert texts(log.read("ann", "s")) == ["yes", "sure?", "yes", "yes"]


def test_an_id_names_one_turn_and_nothing_of_the_append_stays(log: TurnLog) -> None:
    log.append("ann", "s", [user("my size is L", "1")])
    with pytest.raises(TurnConflict, match="turn 2"):
        log.append("ann", "s", [user("new words", "2"), user("my size is M", "1")])
    assert texts(log.read("ann", "s")) == ["my size is L"]
    log.append("ann", "other", [user("my size is M", "1")])  # another session's ids are its own


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (Entry("user", " "), "text: a turn of the user is empty"),
        (Entry("assistant", ""), "text: a turn of the assistant is empty"),
        (Entry("human", "hello"), "role: must be one of"),  # type: ignore[arg-type]
        (Entry("user", "hm", calls=(ToolCall("1", "t"),)), "calls: only"),
        (Entry("user", "hm", at=datetime(2026, 1, 1)), "at has no time zone"),
        (Entry("user", "hm", "*"), "turn id '\\*' is a wildcard"),
        (Entry("user", "\ud800"), "not valid Unicode"),
        (Entry("tool", "1", status="bad"), "status: must be"),  # type: ignore[arg-type]
    ],
)
def test_a_bad_turn_is_refused_with_its_place_and_nothing_is_appended(
    log: TurnLog, entry: Entry, reason: str
) -> None:
    with pytest.raises(InvalidInput, match=f"turn 2: {reason}"):
        log.append("ann", "s", [user("a good one"), entry])
    assert log.count("ann", "s") == 0
    with pytest.raises(InvalidId):
        log.append("ann", "*", [user("a good one")])


def test_what_can_be_searched_for(log: TurnLog, index: Index) -> None:
    long = "row " * 200
    log.append(
        "ann",
        "s",
        [
            Entry("system", "You are a clerk.", "0"),
            user("Привет! Спасибо большое :)", "1"),
            user("thanks, my order is 4471", "2"),
            Entry("assistant", "", "3", calls=(ToolCall("c", "list"),)),
            Entry("tool", long, "4", call_id="c", status="ok"),
            Entry("tool", "short result", "5", tool="list", status="error"),
        ],
    )
    assert found(index) == {
        "2": "thanks, my order is 4471",
        "4": head(long),
        "5": "short result",
    }
    whole = log.turn("ann", "s", "4")
    assert whole is not None
    assert whole.entry.text == long
    rows = {row.about.role: row.about for row in index.catalog.sources(SCOPE).values()}
    assert rows["system"].kind == "turn"  # counted, if not found
    (memory,) = (m for m in index.store.scroll("session", Filter(SCOPE)) if m.turn_id == "5")
    assert memory.kind == "tool_result"


def test_a_long_result_is_cut_by_what_is_handed_in(index: Index) -> None:
    log = TurnLog(index, count, Indexing(8, lambda text, _: f"cut to {text[:3]}"))
    log.append("ann", "s", [Entry("tool", "short", "1"), Entry("tool", "more than 8", "2")])
    assert found(index) == {"1": "short", "2": "cut to mor"}


def test_a_turn_is_remembered_with_the_one_before_it_in_another_append(
    log: TurnLog, index: Index
) -> None:
    for text in ("where do you live?", "thank you!", "in Tver, on the river"):
        log.append("ann", "s", [user(text)])
    (last,) = [m for m in index.store.scroll("session", Filter(SCOPE)) if "Tver" in m.text]
    assert last.before == "user: where do you live?"


def test_what_a_killed_append_left_is_indexed_later(log: TurnLog, index: Index) -> None:
    log.append("ann", "s", [user("my size is L", "1"), user("the colour is red", "2")])
    index.store.delete("session", Filter(SCOPE))
    index.catalog.remove(SCOPE, list(index.catalog.sources(SCOPE)))
    with index.catalog.database.write("x") as connection:
        connection.execute(update(table).values(indexed=0))
    assert found(index) == {}
    assert log.pending("bob") == log.pending("ann", "other") == 0
    assert log.pending() == 2
    assert set(found(index)) == {"1", "2"}
    assert log.pending() == 0


class _Down(TinyEmbedder):
    down = True

    def passages(self, texts: Sequence[str]) -> object:  # type: ignore[override]
        if self.down:
            raise ModelError("no answer")
        return super().passages(texts)


def test_nothing_is_lost_when_the_model_does_not_answer(make_parts: PartsMaker) -> None:
    embedder = _Down()
    index = make_parts(embedder=embedder).index
    log = TurnLog(index, count)
    with pytest.raises(ModelError):
        log.append("ann", "s", [user("my size is L", "1")])
    assert texts(log.read("ann", "s")) == ["my size is L"]
    embedder.down = False
    log.append("ann", "s", [user("the colour is red", "2")])
    assert set(found(index)) == {"1", "2"}


def test_threads_get_numbers_without_gaps(log: TurnLog, index: Index) -> None:
    def append(number: int) -> None:
        log.append("ann", "s", [user(f"{number} {part}", f"{number}-{part}") for part in "ab"])

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(append, range(12)))
    held = log.read("ann", "s")
    assert [turn.seq for turn in held] == list(range(1, 25))
    assert all(a.entry.turn_id.split("-")[0] == b.entry.turn_id.split("-")[0]
               for a, b in zip(held[::2], held[1::2], strict=True))  # fmt: skip
    assert len(found(index)) == 24
    assert log.pending() == 0


def _process(folder: Path, name: str) -> None:
    from configs.build import build
    from configs.retrieval_settings import RetrievalSettings

    shown = RetrievalSettings(least_confidence=0)
    settings = Settings.model_construct(data_dir=folder, busy_timeout=30.0, retrieval=shown)
    parts = build(settings, embedder=TinyEmbedder())
    log = TurnLog(parts.index, count)
    for number in range(5):
        log.append("ann", "s", [user(f"{name} says {number}", f"{name}{number}")])
    parts.close()


def test_processes_get_numbers_without_gaps(memory_folder: Path, make_parts: PartsMaker) -> None:
    context = multiprocessing.get_context("spawn")
    made = [context.Process(target=_process, args=(memory_folder, name)) for name in "pq"]
    for process in made:
        process.start()
    for process in made:
        process.join()
    assert [process.exitcode for process in made] == [0, 0]
    index = make_parts().index
    held = TurnLog(index, count).read("ann", "s")
    assert [turn.seq for turn in held] == list(range(1, 11))
    for name in "pq":
        mine = [t.entry.turn_id for t in held if t.entry.turn_id.startswith(name)]
        assert mine == [f"{name}{number}" for number in range(5)]
    assert len(found(index)) == 10


def test_sessions_of_a_user(log: TurnLog, index: Index, clock: FixedClock) -> None:
    log.append("ann", "old", [user("one of it", at=AT), user("two of it", at=AT)])
    clock.now += timedelta(hours=2)
    log.append("ann", "new", [user("three of it")])
    log.append("anna", "old", [user("of another user")])
    assert write_digest(index, Digest("old", "ann", 1, 1, None, None, (), ()))
    old, new = log.sessions("ann")
    assert (old.session_id, old.started_at, old.last_at) == ("old", AT, AT)
    assert (old.turns, old.undigested, old.closed_at) == (2, 1, None)
    assert new.written_at == clock.now
    assert [turn.digest for turn in log.read("ann", "old")] == [1, 0]
    assert log.idle(clock.now) == [("ann", "old")]
    close_session(index, "ann", "old", "archive")
    assert log.idle(clock.now + timedelta(1)) == [("ann", "new"), ("anna", "old")]
    assert log.sessions("ann")[0].closed_at == clock.now
    log.append("ann", "old", [user("once more")])
    assert log.sessions("ann")[0].closed_at is None
    assert texts(log.read("ann", "old"))[-1] == "once more"
    with index.catalog.database.read() as connection:
        owners = connection.exec_driver_sql("SELECT DISTINCT owner FROM scopes").scalars()
        assert owner_key("ann") in set(owners)


def test_threads_on_postgres(postgres_url: str, make_parts: PartsMaker) -> None:
    log = TurnLog(make_parts(catalog=postgres_url).index, count)

    def append(number: int) -> None:
        log.append("ann", "s", [user(f"{number} {part}", f"{number}-{part}") for part in "ab"])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(append, range(8)))
    assert [turn.seq for turn in log.read("ann", "s")] == list(range(1, 17))
    assert log.pending() == 0
    assert len(found(log.index)) == 16
    assert [one.turns for one in log.sessions("ann")] == [16]
    assert log.idle(log.index.clock() + timedelta(1)) == [("ann", "s")]
