"""Out and in again: exact round trips, other users, what is there already, other systems."""

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chunking.types import Document, Session, Turn
from configs.build import build
from configs.settings import Settings
from indexing.closing import close_session
from indexing.corrections import pin
from indexing.errors import Forgotten, InvalidInput
from indexing.forget import forget, lift
from indexing.hashing import digest
from indexing.index import Index
from indexing.ingest import document_source, ingest_session
from indexing.mentions import mentions
from indexing.remember import history, remember
from indexing.traces import memory_target
from indexing.transfer.export import export_user, write_lines
from indexing.transfer.read import import_file
from indexing.transfer.restore import restore
from indexing.types import Filter, Memory, Scope, session_scope, user_scope
from indexing.write import write
from tests.conftest import FixedClock, TinyEmbedder
from tests.indexing.test_portable_foreign import LANGGRAPH, MEM0_LIBRARY

ANN, BOB = user_scope("ann"), user_scope("bob")
MON, TUE = session_scope("ann", "mon"), session_scope("ann", "tue")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def lines(index: Index, user: str = "ann") -> list[str]:
    return list(export_user(index.catalog, index.store, user, index.clock()))


def body(index: Index, user: str = "ann") -> list[str]:
    return lines(index, user)[1:]


def records(index: Index, user: str = "ann") -> list[dict[str, Any]]:
    return [json.loads(line) for line in body(index, user)]


def stored(index: Index, scope: Scope = ANN, **where: Any) -> list[Memory]:
    return list(index.store.scroll(scope.collection, Filter(scope, **where)))


def texts(index: Index, scope: Scope = ANN, **where: Any) -> list[str]:
    return sorted(memory.text for memory in stored(index, scope, **where))


@pytest.fixture
def saved(index: Index, tmp_path: Path) -> Callable[[], Path]:
    """Export ann to a file."""

    def save() -> Path:
        write_lines(tmp_path / "ann.jsonl", lines(index), force=True)
        return tmp_path / "ann.jsonl"

    return save


@pytest.fixture
def other(make_parts: Any, tmp_path: Path) -> Index:
    """An empty deployment."""
    made: Index = make_parts(tmp_path / "other").index
    return made


def tell(index: Index, clock: FixedClock) -> None:
    """A history of every kind of memory: facts, a chain, documents, turns, two sessions."""
    zone = timezone(timedelta(hours=3))
    remember(index, ANN, "I live in Tver", at=datetime(2026, 1, 5, 9, tzinfo=zone))
    remember(index, ANN, "I live in Kazan", at=datetime(2026, 5, 5, 9, tzinfo=zone))
    tea = remember(index, ANN, "likes tea", expires_at=clock.now + DAY)
    clock.now += HOUR
    remember(index, ANN, "i live in kazan!")
    pin(index, ANN, tea.id, "ann")
    remember(index, MON, "the code is 4471", expires_at=clock.now + 2 * DAY)
    remember(index, ANN, "gone tomorrow", expires_at=clock.now + HOUR)
    page = Document("notes/a.md", "Заказы. Заказ BX-1 оплачен.\n\nВозвраты. За 14 дней.")
    write(index, ANN, [document_source(index.recipe, page, digest(page.text))])
    write(index, TUE, [document_source(index.recipe, replace(page, source_id="b.md"), digest("b"))])
    said = (Turn("1", "user", "Где заказ?", "Анна", clock.now), Turn("2", "assistant", "В пути"))
    ingest_session(index, MON, Session("talk", said))
    clock.now += HOUR
    close_session(index, "ann", "tue", "archive")


# Round trips


def test_a_history_comes_back_to_the_byte(
    index: Index, clock: FixedClock, other: Index, saved: Callable[[], Path]
) -> None:
    tell(index, clock)
    report = restore(other, saved(), "ann")
    assert lines(other) == lines(index)
    assert (report.seen, report.new) == (len(body(index)), len(body(index)))
    read = records(index)
    assert {record["collection"] for record in read} == {"user", "session"}
    assert {record.get("session_id") for record in read} == {None, "mon", "tue"}
    assert "gone tomorrow" not in {record["text"] for record in read}
    (tea,) = [record for record in read if record["text"] == "likes tea"]
    assert tea["pinned"]
    assert "expires_at" not in tea
    old, new = history(other, ANN, "user.home")
    assert (old.at, old.at and old.at.utcoffset()) == (
        datetime(2026, 1, 5, 6, tzinfo=UTC),
        timedelta(hours=3),
    )
    assert (old.valid_to, old.superseded_by, new.valid_to) == (new.valid_from, new.id, None)
    assert len(mentions(new)) == 2
    assert stored(other, TUE, now=clock.now) == []  # an archived session stays archived


def test_it_is_found_by_its_vectors_and_a_second_import_embeds_nothing(
    index: Index, clock: FixedClock, other: Index, saved: Callable[[], Path]
) -> None:
    tell(index, clock)
    restore(other, saved(), "ann")
    for scope in (ANN, MON, TUE):
        seen = stored(index, scope, now=clock.now, superseded=True)
        ids = tuple(memory.id for memory in seen)
        where = Filter(scope, ids=ids)
        before, after = (i.store.vectors(scope.collection, where) for i in (index, other))
        assert before.keys() == after.keys()
        assert all((after[name]["dense"] == before[name]["dense"]).all() for name in after)
    again = restore(other, saved(), "ann")
    assert (again.unchanged, again.embedded, again.new) == (again.seen, 0, 0)


def test_where_it_came_from_an_import_changes_nothing(
    index: Index, clock: FixedClock, saved: Callable[[], Path]
) -> None:
    tell(index, clock)
    before, rows = stored(index), index.catalog.sources(ANN)
    report = restore(index, saved(), "ann")
    assert (report.unchanged, report.new, report.joined) == (report.seen, 0, 0)
    assert stored(index) == before
    assert index.catalog.sources(ANN) == rows  # a sync still knows that nothing has changed


def test_another_user_gets_copies_of_their_own(
    index: Index, clock: FixedClock, saved: Callable[[], Path]
) -> None:
    tell(index, clock)
    before = lines(index)
    restore(index, saved(), "bob")
    assert lines(index) == before
    ann, bob = records(index), records(index, "bob")
    assert not {r["id"] for r in ann} & {r["id"] for r in bob}
    names = ("id", "superseded_by")
    plain = [[{k: v for k, v in r.items() if k not in names} for r in both] for both in (ann, bob)]
    assert sorted(map(json.dumps, plain[0])) == sorted(map(json.dumps, plain[1]))
    assert [m.text for m in history(index, BOB, "user.home")] == [
        m.text for m in history(index, ANN, "user.home")
    ]


SAID = [
    "I live in Tver",
    "I live in Kazan",
    "I no longer live in Tver",
    "likes tea",
    "Likes tea!",
    "By the way, Anna is allergic to peanuts",
    "Anna is allergic to peanuts",
    "Я живу в Казани",
]
acts = st.tuples(
    st.sampled_from([ANN, ANN, MON, TUE]),
    st.sampled_from(SAID),
    st.one_of(st.none(), st.integers(-40, 1)),
    st.sampled_from([None, "user.home", ""]),
    st.sampled_from([None, None, 3, 50]),
    st.booleans(),
)


def sources(index: Index, clock: FixedClock) -> set[str]:
    """Return the sources of all places of the user's own that have not expired."""
    held = stored(index, now=clock.now, superseded=True)
    places = [place for memory in held for place in mentions(memory)]
    return {p.source_id for p in places if p.expires_at is None or p.expires_at > clock.now}


@contextmanager
def deployments(clock: FixedClock, number: int) -> Iterator[list[Index]]:
    shared = Path("/dev/shm")
    with (
        tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder,
        ExitStack() as stack,
    ):
        made = []
        for one in range(number):
            chosen = Settings.model_construct(data_dir=Path(folder) / str(one), busy_timeout=5.0)
            parts = build(chosen, clock=clock, embedder=TinyEmbedder())
            stack.callback(parts.close)
            made.append(parts.index)
        yield made


def act(index: Index, clock: FixedClock, done: list[tuple[Any, ...]]) -> None:
    for scope, text, days, subject, hours, pinned in done:
        at = None if days is None else clock.now + days * DAY
        until = clock.now + hours * HOUR if hours else None
        memory = remember(index, scope, text, at=at, subject=subject, expires_at=until)
        if pinned and memory.valid_to is None:
            pin(index, scope, memory.id, "ann")
        clock.now += HOUR


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@example(
    [
        (ANN, "By the way, Anna is allergic to peanuts", None, "user.home", 3, False),
        (ANN, "Anna is allergic to peanuts", None, "user.home", None, False),
        (ANN, "I live in Tver", None, None, None, False),
    ]
)
@given(st.lists(acts, max_size=12))
def test_any_history_comes_back_to_the_byte_and_twice_is_once(done: list[Any]) -> None:
    clock = FixedClock()
    with deployments(clock, 2) as (one, two), tempfile.TemporaryDirectory() as folder:
        act(one, clock, done)
        file = Path(folder) / "ann.jsonl"
        write_lines(file, lines(one))
        here = restore(one, file, "ann")
        assert (here.new, here.joined) == (0, 0)
        assert restore(two, file, "ann").seen == len(body(one))
        assert lines(two) == lines(one)
        again = restore(two, file, "ann")
        assert (again.unchanged, again.embedded) == (again.seen, 0)


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(st.lists(acts, max_size=8), st.lists(acts, max_size=8))
def test_two_histories_make_one_with_one_present_value(mine: list[Any], theirs: list[Any]) -> None:
    clock = FixedClock()
    with deployments(clock, 2) as (one, two), tempfile.TemporaryDirectory() as folder:
        act(one, clock, mine)
        act(two, clock, theirs)
        file = Path(folder) / "ann.jsonl"
        write_lines(file, lines(one))
        there = sources(one, clock) | sources(two, clock)
        report = restore(two, file, "ann")
        assert report.new + report.joined + report.unchanged == report.seen
        held = stored(two, now=clock.now, superseded=True)
        assert there <= sources(two, clock)
        for subject in {memory.subject for memory in held} - {""}:
            current = [m for m in stored(two, now=clock.now, subjects=(subject,)) if not m.closes]
            assert len(current) <= 1
        before = lines(two)
        again = restore(two, file, "ann")
        assert (again.unchanged, again.embedded) == (again.seen, 0)
        assert lines(two) == before


# Beside what is there


def test_the_same_words_get_the_places_of_both(
    index: Index, clock: FixedClock, other: Index, saved: Callable[[], Path]
) -> None:
    remember(index, ANN, "Likes tea!", at=clock.now - DAY)
    mine = remember(other, ANN, "likes tea")
    report = restore(other, saved(), "ann")
    assert (report.joined, report.new) == (1, 0)
    (memory,) = stored(other)
    assert memory.id == mine.id
    assert sorted(place.text for place in mentions(memory)) == ["Likes tea!", "likes tea"]
    assert restore(other, saved(), "ann").unchanged == 1


def test_chains_become_one_whoever_said_it_first(
    index: Index, clock: FixedClock, other: Index, saved: Callable[[], Path]
) -> None:
    for text, month in (("I live in Tver", 1), ("I live in Omsk", 3)):
        remember(index, ANN, text, at=datetime(2026, month, 1, tzinfo=UTC))
    for text, month in (("I live in Kazan", 2), ("I live in Perm", 4)):
        remember(other, ANN, text, at=datetime(2026, month, 1, tzinfo=UTC))
    restore(other, saved(), "ann")
    line = history(other, ANN, "user.home")
    assert [m.value for m in line] == ["tver", "kazan", "omsk", "perm"]
    assert [m.superseded_by for m in line] == [*(m.id for m in line[1:]), ""]
    assert texts(other, now=clock.now) == ["I live in Perm"]


def test_what_was_told_again_later_here_is_not_ended_by_the_file(
    index: Index, clock: FixedClock, other: Index, saved: Callable[[], Path]
) -> None:
    remember(index, ANN, "I live in Omsk", at=datetime(2026, 3, 1, tzinfo=UTC))
    for month in (1, 5):
        remember(other, ANN, "I live in Tver", at=datetime(2026, month, 1, tzinfo=UTC))
    restore(other, saved(), "ann")
    assert [m.value for m in history(other, ANN, "user.home")] == ["tver", "omsk", "tver"]
    assert texts(other, now=clock.now) == ["I live in Tver"]


def tell_twice(index: Index, clock: FixedClock, subject: str) -> Memory:
    """Tell one statement in two ways, the first for an hour; a minute passes after each."""
    first = remember(index, ANN, SAID[5], subject=subject, expires_at=clock.now + HOUR)
    clock.now += timedelta(minutes=1)
    assert remember(index, ANN, SAID[6], subject=subject).id == first.id
    clock.now += timedelta(minutes=1)
    return first


@pytest.mark.parametrize("subject", ["user.home", "anna.food"])
def test_what_is_there_keeps_its_name_when_its_first_words_have_expired(
    index: Index, clock: FixedClock, saved: Callable[[], Path], subject: str
) -> None:
    first = tell_twice(index, clock, subject)
    clock.now += HOUR
    before = stored(index)
    (told,) = records(index)
    assert (told["text"], told["id"] == first.id) == (SAID[6], False)
    report = restore(index, saved(), "ann")
    assert (report.unchanged, report.embedded) == (1, 0)
    assert stored(index) == before


@pytest.mark.parametrize(("old", "new"), [("Tver", "Kazan"), ("Kazan", "Tver")])
def test_what_gave_way_in_one_moment_stays_so_and_loses_no_place(
    index: Index, clock: FixedClock, other: Index, saved: Callable[[], Path], old: str, new: str
) -> None:
    for town in (old, new):
        remember(other, ANN, f"I live in {town}")
    remember(index, ANN, f"I live in {old}", at=clock.now)
    there = sources(index, clock) | sources(other, clock)
    assert len(there) == 3
    restore(other, saved(), "ann")
    assert sources(other, clock) == there
    assert texts(other, now=clock.now) == [f"I live in {new}"]
    assert restore(other, saved(), "ann").unchanged == 1


def test_ids_and_keys_of_a_file_are_not_believed(
    index: Index, saved: Callable[[], Path], tmp_path: Path
) -> None:
    theirs = remember(index, BOB, "the code is 4471")
    remember(index, ANN, "likes tea")
    head, line = saved().read_text().splitlines()
    forged = {**json.loads(line), "id": theirs.id, "key": theirs.key, "text": "likes milk"}
    file = tmp_path / "forged.jsonl"
    file.write_text(f"{head}\n{json.dumps(forged)}\n")
    restore(index, file, "ann")
    assert stored(index, BOB) == [theirs]
    (milk,) = [m for m in stored(index) if m.text == "likes milk"]
    assert milk.id != theirs.id
    assert remember(index, ANN, "likes milk").id == milk.id


def test_two_present_values_of_a_file_become_one(index: Index, tmp_path: Path) -> None:
    said = {"collection": "user", "kind": "fact", "subject": "user.home"}
    rows = [
        {**said, "id": f"0c7a4f7e-6d3c-5b0e-9a53-0f8e6a3f5b1{n}", "text": f"I live in {town}"}
        | {"value": town.lower(), "valid_from": f"2026-0{n}-01T00:00:00+00:00", "source_id": town}
        for n, town in enumerate(("Tver", "Kazan"), 1)
    ]
    head = {"format": "letopis-memories", "version": 1, "user_id": "ann", "memories": 2}
    head |= {"exported_at": "2026-03-01T00:00:00+00:00"}
    head |= {"scopes": [{"collection": "user", "memories": 2}]}
    file = tmp_path / "made.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in (head, *rows)))
    assert restore(index, file, "ann").new == 2
    assert texts(index, now=index.clock()) == ["I live in Kazan"]
    assert {m.created_at for m in stored(index)} == {datetime(2026, 3, 1, tzinfo=UTC)}
    assert restore(index, file, "ann").unchanged == 2


# What stops it


class Crash(Exception):
    """A process that dies."""


class Dying:
    """A store that dies before its nth upsert, or right after it."""

    def __init__(self, store: Any, at: int, after: bool) -> None:
        self._store, self._left, self._after = store, at, after

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def upsert(self, *given: Any) -> None:
        self._left -= 1
        if self._left == 0 and not self._after:
            raise Crash
        self._store.upsert(*given)
        if self._left == 0:
            raise Crash


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("at", [1, 2, 3, 5])
def test_a_stopped_import_is_finished_by_the_next(
    index: Index,
    clock: FixedClock,
    other: Index,
    saved: Callable[[], Path],
    at: int,
    after: bool,
) -> None:
    tell(index, clock)
    other = replace(other, batch=2)
    with pytest.raises(Crash):
        restore(replace(other, store=Dying(other.store, at, after)), saved(), "ann")  # type: ignore[arg-type]
    report = restore(other, saved(), "ann")
    assert report.new + report.unchanged == report.seen
    assert lines(other) == lines(index)


def test_a_dry_run_counts_and_writes_nothing(
    index: Index, clock: FixedClock, other: Index, saved: Callable[[], Path]
) -> None:
    tell(index, clock)
    remember(other, ANN, "likes tea")
    before, rows = lines(other), other.catalog.counts()
    dry = restore(other, saved(), "ann", dry_run=True)
    assert (lines(other), other.catalog.counts()) == (before, rows)
    assert (dry.embedded, dry.joined) == (0, 1)
    done = restore(other, saved(), "ann")
    assert replace(done, embedded=0) == dry


def test_a_file_that_is_cut_short_leaves_no_trace(
    index: Index, clock: FixedClock, other: Index, saved: Callable[[], Path]
) -> None:
    tell(index, clock)
    file = saved()
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(InvalidInput, match="cut short: 1 of the"):
        restore(other, file, "ann")
    assert body(other) == []


def test_what_was_forgotten_does_not_come_back(
    index: Index, clock: FixedClock, saved: Callable[[], Path]
) -> None:
    tea = remember(index, ANN, "likes tea")
    milk = remember(index, ANN, "likes milk")
    remember(index, ANN, "likes juice")
    file = saved()
    stones = index.catalog.tombstones
    stones.put("source", ANN, [tea.source_id], now=clock.now)
    stones.put("memory", ANN, [milk.id], now=clock.now)
    index.store.delete("user", Filter(ANN, ids=(tea.id, milk.id)))
    report = restore(index, file, "ann")
    assert (report.forgotten, report.unchanged, report.seen) == (2, 1, 3)
    assert texts(index) == ["likes juice"]
    stones.put("user", ANN, now=clock.now)
    with pytest.raises(Forgotten):
        restore(index, file, "ann")


def test_what_was_forgotten_does_not_come_back_under_another_name(
    index: Index, clock: FixedClock, saved: Callable[[], Path]
) -> None:
    memory = tell_twice(index, clock, "user.home")
    file = saved()
    clock.now += HOUR
    index.catalog.tombstones.put("memory", ANN, [memory.id], now=clock.now)
    index.store.delete("user", Filter(ANN, ids=(memory.id,)))
    report = restore(index, file, "ann")
    assert (report.forgotten, report.new, stored(index)) == (1, 0, [])


def test_a_file_that_names_it_otherwise_does_not_bring_back_what_was_forgotten(
    index: Index, clock: FixedClock, saved: Callable[[], Path]
) -> None:
    memory = tell_twice(index, clock, "user.home")
    clock.now += HOUR
    file = saved()
    (told,) = records(index)
    assert told["id"] != memory.id
    target = memory_target(ANN, [memory.id])
    assert forget(index, target, "ann").clean
    report = restore(index, file, "ann")
    assert (report.forgotten, report.new, stored(index)) == (1, 0, [])
    assert lift(index, target, "ann") == 1
    assert restore(index, file, "ann").new == 1


def test_what_the_model_cannot_read_is_refused_and_the_rest_is_stored(
    index: Index, make_parts: Any, saved: Callable[[], Path], tmp_path: Path
) -> None:
    remember(index, ANN, "one two three four five six")
    remember(index, ANN, "likes tea")
    other = make_parts(tmp_path / "small", embedder=TinyEmbedder(max_terms=4)).index
    report = restore(other, saved(), "ann")
    assert (report.new, [one.reason for one in report.refused]) == (
        1,
        ["a passage of 6 terms is over 4"],
    )
    (long,) = [r["id"] for r in records(index) if r["text"].startswith("one")]
    assert report.refused[0].place == f"memory {long}"
    assert texts(other) == ["likes tea"]


def test_what_has_expired_meanwhile_is_counted(
    index: Index, clock: FixedClock, other: Index, saved: Callable[[], Path]
) -> None:
    remember(index, ANN, "the code is 4471", expires_at=clock.now + HOUR)
    file = saved()
    clock.now += HOUR
    report = restore(other, file, "ann")
    assert (report.expired, report.new, texts(other)) == (1, 0, [])
    assert body(index) == []


def test_a_source_that_was_imported_is_read_again_by_the_next_sync(
    index: Index, other: Index, saved: Callable[[], Path]
) -> None:
    page = Document("notes/a.md", "Заказ BX-1 оплачен.")
    write(index, ANN, [document_source(index.recipe, page, digest(page.text))])
    restore(other, saved(), "ann")
    row = other.catalog.sources(ANN)["notes/a.md"]
    assert (row.content_hash, row.chunks) == ("", 1)
    new = replace(page, text="Заказ BX-2 оплачен.")
    write(other, ANN, [document_source(other.recipe, new, digest(new.text))])
    assert texts(other) == ["Заказ BX-2 оплачен."]


# A file on the disk


def test_a_file_is_private_whole_and_not_replaced_unasked(tmp_path: Path) -> None:
    target = tmp_path / "ann.jsonl"
    assert write_lines(target, ["a\n", "б\n"]) == 2
    assert target.read_bytes() == "a\nб\n".encode()
    assert target.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InvalidInput, match="is there already: --force replaces it"):
        write_lines(target, ["b\n"])

    def stopped() -> Iterator[str]:
        yield "b\n"
        raise Crash

    with pytest.raises(Crash):
        write_lines(target, stopped(), force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["ann.jsonl"]
    assert target.read_text() == "a\nб\n"
    for wrong, why in ((tmp_path, "is a folder"), (tmp_path / "no" / "x", "there is no folder")):
        with pytest.raises(InvalidInput, match=why):
            write_lines(wrong, ["a\n"])


# Other systems


def mem0(tmp_path: Path, *items: dict[str, Any]) -> Path:
    path = tmp_path / "mem0.json"
    named = [{"id": f"m{n}", "user_id": "ann", **item} for n, item in enumerate(items)]
    path.write_text(json.dumps(named, ensure_ascii=False))
    return path


def test_mem0_items_are_facts_in_the_order_in_which_they_were_said(
    index: Index, clock: FixedClock, tmp_path: Path
) -> None:
    path = mem0(
        tmp_path,
        {"memory": "I live in Kazan", "created_at": "2026-02-01T10:00:00+03:00", "run_id": "s-17"},
        {"memory": "I live in Tver", "created_at": "2026-01-01T10:00:00Z", "metadata": {"a": 1}},
        {"memory": "gone", "expiration_date": "2026-01-31"},
    )
    report = import_file(index, path, ANN)
    assert (report.format, report.seen, report.new, report.expired) == ("mem0", 3, 2, 1)
    assert report.left_out == {"metadata": 1}
    old, new = history(index, ANN, "user.home")
    assert (old.value, new.value, old.superseded_by) == ("tver", "kazan", new.id)
    assert (new.source_id, new.conversation_id, new.at and new.at.utcoffset()) == (
        "mem0:m0",
        "s-17",
        timedelta(hours=3),
    )
    before = stored(index)
    clock.now += DAY
    again = import_file(index, path, ANN)
    assert (again.unchanged, again.new, again.embedded) == (2, 0, 0)
    assert stored(index) == before


def test_an_item_that_was_changed_there_is_changed_here(index: Index, tmp_path: Path) -> None:
    import_file(index, mem0(tmp_path, {"memory": "likes tea"}, {"memory": "likes jazz"}), ANN)
    import_file(index, mem0(tmp_path, {"memory": "likes milk"}, {"memory": "likes jazz"}), ANN)
    assert texts(index) == ["likes jazz", "likes milk"]


def test_an_item_that_says_what_is_known_joins_it(index: Index, tmp_path: Path) -> None:
    mine = remember(index, ANN, "likes tea")
    report = import_file(index, mem0(tmp_path, {"memory": "Likes tea!"}), ANN)
    assert (report.joined, report.new) == (1, 0)
    (memory,) = stored(index)
    assert (memory.id, memory.sources) == (mine.id, (mine.source_id, "mem0:m0"))


def test_runs_become_sessions_where_that_is_asked(index: Index, tmp_path: Path) -> None:
    path = mem0(tmp_path, {"memory": "likes tea", "run_id": "mon"}, {"memory": "likes milk"})
    import_file(index, path, ANN, by_run=True)
    assert (texts(index), texts(index, MON)) == (["likes milk"], ["likes tea"])
    with pytest.raises(InvalidInput, match="either one session"):
        import_file(index, path, TUE, by_run=True)
    import_file(index, path, TUE)
    assert texts(index, TUE) == ["likes milk", "likes tea"]


def test_nothing_of_a_file_is_lost_silently(index: Index, tmp_path: Path) -> None:
    path = mem0(
        tmp_path,
        {"memory": "likes tea"},
        {"memory": "somebody else's", "user_id": "bob"},
        {"memory": "no zone", "created_at": "2026-01-01T10:00:00"},
        {"memory": "word " * 400},
        {"memory": "said by a robot", "agent_id": "r2", "role": "assistant"},
    )
    report = import_file(index, path, ANN)
    assert (report.seen, report.new, len(report.refused)) == (5, 2, 3)
    reasons = {one.place: one.reason for one in report.refused}
    assert "user" in reasons["item 2"]
    assert "zone" in reasons["item 3"]
    assert "over the limit of" in reasons["item 4"]
    assert "somebody" not in str(report.refused)
    assert report.left_out == {"agent_id": 1, "role": 1}
    assert index.catalog.dead() == []  # a retry would read the file as a document
    zoned = import_file(index, path, ANN, timezone="Europe/Moscow")
    assert (zoned.new, len(zoned.refused)) == (1, 2)
    (memory,) = [m for m in stored(index) if m.text == "no zone"]
    assert memory.at == datetime(2026, 1, 1, 7, tzinfo=UTC)


def test_the_samples_of_both_systems_are_imported(index: Index, tmp_path: Path) -> None:
    anna = user_scope("anna")
    for name, sample, kind in (("m", MEM0_LIBRARY, "mem0"), ("l", LANGGRAPH, "langgraph")):
        path = tmp_path / name
        path.write_text(json.dumps(sample))
        dry = import_file(index, path, anna, dry_run=True)
        assert (dry.format, dry.new, dry.embedded) == (kind, dry.seen - dry.expired, 0)
    assert texts(index, anna) == []
    import_file(index, tmp_path / "l", anna, namespaces=["memories.anna"])
    assert texts(index, anna) == ["Her dog is called Rex", "Анна не ест мясо"]
    assert {m.source_id.partition(":")[0] for m in stored(index, anna)} == {"langgraph"}


def test_a_choice_that_a_file_does_not_leave_is_refused(
    index: Index, saved: Callable[[], Path]
) -> None:
    remember(index, ANN, "likes tea")
    for scope, more in ((MON, {}), (ANN, {"by_run": True}), (ANN, {"namespaces": ["a"]})):
        with pytest.raises(InvalidInput, match="names its sessions itself"):
            import_file(index, saved(), scope, **more)  # type: ignore[arg-type]
    empty = saved().with_name("empty.txt")
    empty.write_text("{}")
    with pytest.raises(InvalidInput, match="not an export of memories"):
        import_file(index, empty, ANN)
