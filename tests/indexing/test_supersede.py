"""Statements about a subject: one holds at a time, the others are its history."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from qdrant_client import QdrantClient

from chunking.types import Chunk
from configs.build import Parts
from indexing.errors import InvalidInput
from indexing.expire import sweep
from indexing.index import Changes, Index, Source
from indexing.remember import history, remember
from indexing.removal import remove_sources, settle
from indexing.server import ServerStore
from indexing.store import DENSE, SPARSE
from indexing.types import (
    COLLECTIONS,
    Filter,
    Memory,
    Scope,
    VectorNames,
    session_scope,
    user_scope,
)
from indexing.write import write
from retrieval.retriever import Retriever
from retrieval.types import Narrow

ANN = user_scope("ann")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
START = datetime(2026, 3, 1, 12, tzinfo=UTC)

Link = tuple[str, datetime | None, datetime | None]


def visible(index: Index, scope: Scope = ANN, **where: Any) -> list[str]:
    found = index.store.scroll(scope.collection, Filter(scope, index.clock(), **where))
    return sorted(memory.text for memory in found)


def chain(index: Index, subject: str, scope: Scope = ANN) -> list[Link]:
    return [(m.text, m.valid_from, m.valid_to) for m in history(index, scope, subject)]


def day(number: float) -> datetime:
    return START + number * DAY


def told(index: Index, *statements: tuple[str, float], subject: str | None = None) -> None:
    for text, number in statements:
        remember(index, ANN, text, at=day(number), subject=subject)


# a new value takes the place of the old one


@pytest.mark.parametrize(
    ("subject", "old", "new"),
    [
        ("user.employer", "I work at Google", "I work at Microsoft"),
        ("user.employer", "Я работаю в Google", "Теперь я работаю в Microsoft"),
        ("user.employer", "I work at Google", "Я работаю в Яндексе"),
        ("user.home", "I live in Berlin", "I moved to Munich"),
        ("user.home", "Я живу в Берлине", "Я переехал в Казань"),
    ],
)
def test_a_derived_subject_ends_the_old_value(
    index: Index, clock: Any, subject: str, old: str, new: str
) -> None:
    first = remember(index, ANN, old)
    assert (first.subject, first.valid_from, first.valid_to) == (subject, clock.now, None)
    clock.now += DAY
    second = remember(index, ANN, new)
    assert visible(index) == [new]
    before, after = history(index, ANN, subject)
    assert (before.id, before.valid_to, before.superseded_by) == (first.id, clock.now, second.id)
    assert (after, after.valid_to, after.superseded_by) == (second, None, "")


def test_a_given_subject_does_the_same_for_any_words(index: Index, clock: Any) -> None:
    remember(index, ANN, "The build takes nine minutes.", subject="build.time")
    remember(index, ANN, "The office is on floor 3.", subject="office")
    clock.now += DAY
    remember(index, ANN, "It is down to four.", subject="build.time")
    assert visible(index) == ["It is down to four.", "The office is on floor 3."]


def test_subjects_of_two_scopes_know_nothing_of_each_other(index: Index, clock: Any) -> None:
    scopes = [ANN, user_scope("bob"), session_scope("ann", "s")]
    for scope, firm in zip(scopes, ("Google", "Apple", "Microsoft"), strict=True):
        remember(index, scope, f"I work at {firm}")
        clock.now += DAY
    assert [visible(index, scope) for scope in scopes] == [
        ["I work at Google"],
        ["I work at Apple"],
        ["I work at Microsoft"],
    ]


def test_without_a_subject_nothing_ends(index: Index, clock: Any) -> None:
    for text in ("I work at Google", "I work at Microsoft"):
        remember(index, ANN, text, subject="")
    for text in ("She said she works at Google", "Do I work at Google?"):
        assert remember(index, ANN, text).subject == ""
    assert len(visible(index)) == 4


def test_only_facts_have_subjects(index: Index) -> None:
    with pytest.raises(InvalidInput, match="only a fact has a subject, not a procedure"):
        remember(index, ANN, "text", kind="procedure", subject="x")
    for bad in (" ", "x" * 257):
        with pytest.raises(InvalidInput, match="a subject is a name of 1 to 256 characters"):
            remember(index, ANN, "text", subject=bad)


def test_answers_show_what_holds_and_as_of_what_held(parts: Parts, clock: Any) -> None:
    index, retrieve = parts.index, parts.retriever.retrieve
    told(index, ("I work at Google", 1), ("I work at Microsoft", 5))

    def texts(as_of: datetime | None = None) -> list[str]:
        hits = retrieve("where do I work", "ann", k=5, narrow=Narrow(as_of=as_of)).hits
        return [hit.memory.text for hit in hits]

    assert texts() == texts(day(5)) == texts(day(9)) == ["I work at Microsoft"]
    assert texts(day(1)) == texts(day(5) - timedelta(microseconds=1)) == ["I work at Google"]
    assert texts(day(1) - timedelta(microseconds=1)) == []
    assert visible(index, superseded=True) == ["I work at Google", "I work at Microsoft"]
    with pytest.raises(InvalidInput, match="as_of has no time zone"):
        texts(day(1).replace(tzinfo=None))


# the order of arrival


def orders(*statements: tuple[str, float]) -> list[tuple[tuple[str, float], ...]]:
    return list(permutations(statements))


CHAINS = {
    "four values": [
        ("I work at Google", 1),
        ("I work at Apple", 2),
        ("I work at Intel", 3),
        ("I work at Microsoft", 4),
    ],
    "there and back": [
        ("I work at Google", 1),
        ("I work at Apple", 2),
        ("I work at Google", 3),
        ("I work at Apple", 4),
    ],
    "said again": [
        ("I work at Google", 1),
        ("I work at Google", 2),
        ("I work at Apple", 3),
        ("I work at Google", 4),
    ],
    "over": [
        ("I work at Google", 1),
        ("I no longer work at Google", 2),
        ("I work at Apple", 3),
        ("I work at Google", 4),
    ],
    "over for another": [
        ("I work at Google", 1),
        ("I work at Apple", 2),
        ("I no longer work at Google", 3),
        ("I no longer work at Apple", 4),
    ],
}
EXPECTED: dict[str, list[tuple[str, float, float | None]]] = {
    "four values": [
        ("I work at Google", 1, 2),
        ("I work at Apple", 2, 3),
        ("I work at Intel", 3, 4),
        ("I work at Microsoft", 4, None),
    ],
    "there and back": [
        ("I work at Google", 1, 2),
        ("I work at Apple", 2, 3),
        ("I work at Google", 3, 4),
        ("I work at Apple", 4, None),
    ],
    "said again": [
        ("I work at Google", 1, 3),
        ("I work at Apple", 3, 4),
        ("I work at Google", 4, None),
    ],
    "over": [
        ("I work at Google", 1, 2),
        ("I no longer work at Google", 2, 3),
        ("I work at Apple", 3, 4),
        ("I work at Google", 4, None),
    ],
    "over for another": [
        ("I work at Google", 1, 2),
        ("I work at Apple", 2, 4),
        ("I no longer work at Google", 3, None),
        ("I no longer work at Apple", 4, None),
    ],
}


@pytest.mark.parametrize("name", CHAINS)
def test_any_order_of_arrival_makes_the_same_chain(index: Index, name: str) -> None:
    wanted = [
        (text, day(since), None if until is None else day(until))
        for text, since, until in EXPECTED[name]
    ]
    for number, order in enumerate(permutations(CHAINS[name])):
        scope = user_scope(f"ann {number}")
        for text, when in order:
            remember(index, scope, text, at=day(when))
        assert chain(index, "user.employer", scope) == wanted, order
        ids = [m.id for m in history(index, scope, "user.employer")]
        links = [m.superseded_by for m in history(index, scope, "user.employer")]
        assert all(link == "" or link in ids for link in links)


def test_an_older_statement_that_arrives_later_does_not_win(index: Index) -> None:
    told(index, ("I work at Microsoft", 5))
    old = remember(index, ANN, "I work at Google", at=day(1))
    assert (old.valid_to, visible(index)) == (day(5), ["I work at Microsoft"])


def test_what_is_said_again_goes_on(index: Index, embedder: Any, clock: Any) -> None:
    first = remember(index, ANN, "I work at Google")
    embedder.embedded.clear()
    for _ in range(3):
        clock.now += DAY
        again = remember(index, ANN, "I work at Google")
        assert (again.id, again.valid_from) == (first.id, first.valid_from)
    assert len(first.sources) == len(again.sources) == 1
    other = remember(index, ANN, "i work at GOOGLE!")
    assert (other.id, other.text, len(other.sources)) == (first.id, first.text, 1)
    assert embedder.embedded == []
    earlier = remember(index, ANN, "I work at Google.", at=day(3))
    assert (earlier.valid_from, earlier.valid_to) == (day(3), None)
    assert visible(index) == ["I work at Google."]


def test_a_late_arrival_parts_what_was_said_twice(index: Index, clock: Any) -> None:
    began = clock.now
    remember(index, ANN, "I work at Google")
    clock.now += 4 * DAY
    remember(index, ANN, "I work at Google")
    assert len(chain(index, "user.employer")) == 1
    clock.now += DAY
    remember(index, ANN, "I work at Apple", at=began + 2 * DAY)
    assert chain(index, "user.employer") == [
        ("I work at Google", began, began + 2 * DAY),
        ("I work at Apple", began + 2 * DAY, began + 4 * DAY),
        ("I work at Google", began + 4 * DAY, None),
    ]
    assert visible(index) == ["I work at Google"]


def test_an_earlier_telling_moves_the_beginning_and_can_be_parted(index: Index) -> None:
    told(index, ("I work at Google", 5), ("I work at Google", 2), ("I work at Apple", 3))
    assert chain(index, "user.employer") == [
        ("I work at Google", day(2), day(3)),
        ("I work at Apple", day(3), day(5)),
        ("I work at Google", day(5), None),
    ]


def test_of_one_moment_the_last_one_told_stands(index: Index, clock: Any) -> None:
    firms = ["Google", "Apple", "Intel", "Microsoft"]
    for number, order in enumerate(permutations(firms)):
        scope = user_scope(f"ann {number}")
        for firm in order:
            remember(index, scope, f"I work at {firm}")
        assert visible(index, scope) == [f"I work at {order[-1]}"]
        remember(index, scope, "I work at Oracle", at=day(1))
        assert visible(index, scope) == [f"I work at {order[-1]}"]
    clock.now += DAY
    for number in range(24):
        scope = user_scope(f"ann {number}")
        remember(index, scope, "I work at SAP")
        assert visible(index, scope) == ["I work at SAP"]
        ends = [until for _, _, until in chain(index, "user.employer", scope)]
        assert ends.count(None) == 1


def test_values_in_other_words_are_one_statement(index: Index, clock: Any) -> None:
    first = remember(index, ANN, "I work at Google", at=day(1))
    clock.now += DAY
    again = remember(index, ANN, "I'm working at Google now.", at=day(3))
    assert again.id == first.id
    assert len(again.sources) == 2
    assert chain(index, "user.employer") == [("I work at Google", day(1), None)]


# endings


@pytest.mark.parametrize(
    ("value", "over"),
    [
        ("I work at Google", "I no longer work at Google"),
        ("Я работаю в Google", "Я больше не работаю в Google"),
    ],
)
def test_what_is_over_has_no_successor_until_there_is_one(
    index: Index, clock: Any, value: str, over: str
) -> None:
    remember(index, ANN, value, at=day(1))
    ended = remember(index, ANN, over, at=day(3))
    assert visible(index) == [over]
    (held, _) = history(index, ANN, "user.employer")
    assert (held.valid_to, held.superseded_by) == (day(3), ended.id)
    remember(index, ANN, "I work at Apple", at=day(4))
    assert visible(index) == ["I work at Apple"]


def test_the_end_of_what_does_not_hold_ends_nothing(index: Index) -> None:
    told(index, ("I work at Google", 1), ("I no longer work at Apple", 2))
    assert visible(index) == ["I no longer work at Apple", "I work at Google"]


def test_a_decision_ends_the_one_for_what_is_left(index: Index) -> None:
    said = [
        ("We switched from MySQL to Postgres", 1),
        ("We switched from Postgres to CockroachDB", 4),
    ]
    for number, order in enumerate(orders(*said)):
        scope = user_scope(f"ann {number}")
        for text, when in order:
            assert remember(index, scope, text, at=day(when)).subject.startswith("decision.")
        assert visible(index, scope) == ["We switched from Postgres to CockroachDB"]
        (old,) = history(index, scope, "decision.mysql")
        (new,) = history(index, scope, "decision.postgres")
        assert (old.valid_to, old.superseded_by) == (day(4), new.id)


# removal


def test_what_was_ended_stays_ended(index: Index) -> None:
    told(index, ("I work at Google", 1), ("I work at Apple", 3), ("I work at Intel", 5))
    google, apple, intel = history(index, ANN, "user.employer")
    remove_sources(index, ANN, apple.sources)
    assert chain(index, "user.employer") == [
        ("I work at Google", day(1), day(3)),
        ("I work at Intel", day(5), None),
    ]
    (before, _) = history(index, ANN, "user.employer")
    assert before.superseded_by == intel.id
    remove_sources(index, ANN, intel.sources)
    assert visible(index) == []
    (left,) = history(index, ANN, "user.employer")
    assert (left.id, left.valid_to, left.superseded_by) == (google.id, day(3), "")
    told(index, ("I work at SAP", 2))
    assert visible(index) == [], "what was said before the end does not outlive it"
    told(index, ("I work at Google", 6))
    assert visible(index) == ["I work at Google"]


def test_a_superseded_text_can_be_told_again(index: Index, clock: Any) -> None:
    made = []
    for firm in ("Google", "Microsoft", "Google"):
        made.append(remember(index, ANN, f"I work at {firm}"))
        clock.now += DAY
    assert visible(index) == ["I work at Google"]
    assert len({memory.id for memory in made}) == 3
    assert [text for text, _, _ in chain(index, "user.employer")] == [m.text for m in made]


def test_the_same_words_about_nothing_become_a_part_of_the_statement(index: Index) -> None:
    plain = remember(index, ANN, "I work at Google", subject="")
    stated = remember(index, ANN, "I work at Google", at=day(1))
    assert visible(index) == ["I work at Google"]
    assert set(stated.sources) == {*plain.sources, stated.source_id}
    again = remember(index, ANN, "I work at Google", subject="")
    assert (again.id, len(again.sources)) == (stated.id, 2)


# expiry


@contextmanager
def on_server(parts: Parts) -> Iterator[tuple[Index, Retriever]]:
    """The same parts over the server's adapter."""
    store = ServerStore(QdrantClient(":memory:"))
    for collection in COLLECTIONS:
        store.open_collection(collection, VectorNames({DENSE: parts.index.embedder.dim}, (SPARSE,)))
    yield replace(parts.index, store=store), replace(parts.retriever, store=store)
    store.close()


@pytest.mark.parametrize("engine", ["edge", "server"])
def test_five_live_neighbours_are_found_among_five_hundred_expired(
    parts: Parts, clock: Any, engine: str
) -> None:
    with ExitStack() as opened:
        index, retriever = parts.index, parts.retriever
        if engine == "server":
            index, retriever = opened.enter_context(on_server(parts))
        words_only = replace(index.recipe.dedup, at_write=False)
        index = replace(index, recipe=replace(index.recipe, dedup=words_only))
        for number in range(5):
            remember(index, ANN, f"The gate code is {1000 + number}", subject="")
        until = clock.now + HOUR
        expired = [
            Source(f"{number}", "fact", "", [Chunk("", 0, 0, 21, f"The gate code is {number}")])
            for number in range(2000, 2500)
        ]
        write(index, ANN, [replace(source, expires_at=until) for source in expired])
        assert len(list(index.store.scroll("user", Filter(ANN, clock.now)))) == 505
        clock.now += HOUR
        live = [f"The gate code is {1000 + number}" for number in range(5)]
        for gone in (500, 0):
            hits = retriever.retrieve("the gate code", "ann", k=5).hits
            assert sorted(hit.memory.text for hit in hits) == live
            assert sweep(index).total == gone


def test_the_moment_of_expiry_is_the_first_at_which_it_is_gone(index: Index, clock: Any) -> None:
    until = clock.now + DAY
    remember(index, ANN, "I work at Google", expires_at=until)
    clock.now = until - timedelta(microseconds=1)
    assert visible(index) == ["I work at Google"]
    assert sweep(index).total == 0
    clock.now = until
    assert visible(index) == []
    assert history(index, ANN, "user.employer") == []
    assert sweep(index).total == 1


def test_an_expired_value_ends_nothing_any_more_and_leaves_no_gap_filled(
    index: Index, clock: Any
) -> None:
    remember(index, ANN, "I work at Google", at=day(1))
    remember(index, ANN, "I work at Apple", at=day(3), expires_at=clock.now + DAY)
    clock.now += DAY
    states = []
    for _ in range(2):
        states.append((visible(index), chain(index, "user.employer")))
        sweep(index)
    assert states[0] == states[1] == ([], [("I work at Google", day(1), day(3))])
    again = remember(index, ANN, "I work at Apple", at=day(3))
    assert (again.valid_from, again.valid_to, again.expires_at) == (day(3), None, None)
    assert visible(index) == ["I work at Apple"]


def test_a_memory_lives_as_long_as_its_longest_place(index: Index, clock: Any) -> None:
    remember(index, ANN, "I work at Google", at=day(1), expires_at=clock.now + DAY)
    remember(index, ANN, "I WORK AT GOOGLE", at=day(2), expires_at=clock.now + 3 * DAY)
    clock.now += DAY
    (memory,) = history(index, ANN, "user.employer")
    assert (memory.text, memory.valid_from) == ("I WORK AT GOOGLE", day(1))
    assert visible(index, as_of=day(1)) == ["I WORK AT GOOGLE"]
    assert sweep(index).total == 0
    (memory,) = history(index, ANN, "user.employer")
    assert (memory.also, memory.valid_from) == ((), day(1))
    clock.now += 2 * DAY
    assert visible(index) == []
    assert sweep(index).total == 1


def test_a_pinned_memory_stays_pinned_and_has_no_end(index: Index, clock: Any) -> None:
    made = remember(index, ANN, "I work at Google", at=day(1))
    point = replace(made, pinned=True)
    _put(index, point)
    told(index, ("I work at Google", 4))
    remember(index, ANN, "I work at Google", at=day(5), expires_at=clock.now + HOUR)
    remember(index, ANN, "I work at Apple", at=day(2))
    assert [m.pinned for m in history(index, ANN, "user.employer")] == [True, False, True]
    clock.now += DAY
    assert visible(index) == ["I work at Google"]
    assert sweep(index).total == 0


def _put(index: Index, memory: Memory) -> None:
    settle(index, memory.scope, Changes(put=[memory]), {memory.id: memory})


# clocks


def test_times_without_a_zone_are_refused_by_name(index: Index) -> None:
    naive = datetime(2026, 5, 1)
    with pytest.raises(InvalidInput, match=r"^at has no time zone"):
        remember(index, ANN, "I work at Google", at=naive)
    with pytest.raises(InvalidInput, match=r"^expires_at has no time zone"):
        remember(index, ANN, "I work at Google", expires_at=naive)
    assert visible(index) == []


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
def test_an_hour_that_comes_twice_is_two_times(index: Index, clock: Any, zone: str) -> None:
    """The wall clock of both says the same; they are an hour, or half of one, apart."""
    local = ZoneInfo(zone)
    month, night = (4, 5) if zone.startswith("Australia") else (10, 25)
    month, night = (11, 1) if zone.startswith("America") else (month, night)
    wall = datetime(2026, month, night, 1 if zone.startswith(("America", "Aus")) else 2, 45)
    first, second = (wall.replace(tzinfo=local, fold=fold) for fold in (0, 1))
    assert timedelta() < second.astimezone(UTC) - first.astimezone(UTC) <= HOUR
    clock.now = second + 12 * HOUR
    made: list[Callable[[], Memory]] = [
        lambda: remember(index, ANN, "I work at Google", at=first),
        lambda: remember(index, ANN, "I work at Apple", at=second),
    ]
    for order in (made, made[::-1]):
        for tell in order:
            tell()
        assert chain(index, "user.employer") == [
            ("I work at Google", first.astimezone(UTC), second.astimezone(UTC)),
            ("I work at Apple", second.astimezone(UTC), None),
        ]


def test_a_time_to_come_counts_from_when_it_is_told(index: Index, clock: Any) -> None:
    remember(index, ANN, "I work at Google", at=clock.now + DAY)
    assert chain(index, "user.employer") == [("I work at Google", clock.now, None)]
    clock.now += 2 * DAY
    remember(index, ANN, "I work at Apple")
    assert visible(index) == ["I work at Apple"]


@pytest.mark.parametrize(("topic", "left"), [(" for billing", 0), ("", 0), (" for search", 1)])
def test_a_decision_ends_only_what_was_decided_for_the_same_thing(
    index: Index, clock: Any, topic: str, left: int
) -> None:
    first = "We decided to use Postgres instead of MySQL for billing"
    remember(index, ANN, first)
    clock.now += timedelta(days=1)
    remember(index, ANN, f"We decided to use CockroachDB instead of Postgres{topic}")
    seen = index.store.scroll("user", Filter(ANN, now=clock.now))
    assert sum(memory.text == first for memory in seen) == left
