"""What a person corrects: another text everywhere, pins, and no old word left in any file."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest

from chunking.types import Document, Session, Turn
from configs.build import Parts
from indexing.audit import Audit
from indexing.corrections import edit, pin, unpin
from indexing.documents import document_source
from indexing.duplicates import merge_duplicates
from indexing.errors import Forgotten, InvalidInput, UnknownMemory
from indexing.expire import sweep
from indexing.forget import forget
from indexing.hashing import digest
from indexing.index import Index
from indexing.mentions import mentions
from indexing.needles import id_needles, text_needle
from indexing.recovery import recover
from indexing.remember import history, remember
from indexing.scan import scan
from indexing.traces import memory_target, user_target
from indexing.turns import ingest_session
from indexing.types import GLOBAL, Filter, Kind, Memory, Scope, session_scope, user_scope
from indexing.write import write

ANN, BOB = user_scope("ann"), user_scope("bob")
HOME = "user.home"
DAY = timedelta(days=1)


def seen(index: Index, scope: Scope = ANN, **where: Any) -> list[Memory]:
    """Return what a reader sees."""
    found = index.store.scroll(scope.collection, Filter(scope, now=index.clock(), **where))
    return sorted(found, key=lambda memory: memory.text)


def texts(index: Index, scope: Scope = ANN) -> list[str]:
    return [memory.text for memory in seen(index, scope)]


def actions(index: Index, scope: Scope = ANN) -> list[str]:
    """Return what was done in a scope, the latest first."""
    return [event.action for event in Audit(index.catalog.database).events(scope=scope)]


def test_an_edit_keeps_all_but_the_words(index: Index, clock: Any, embedder: Any) -> None:
    until, said = clock.now + 9 * DAY, clock.now - 3 * DAY
    old = remember(index, ANN, "The tea is green", at=said, expires_at=until)
    clock.now += DAY
    new = edit(index, ANN, old.id, "The tea is black", "boss")
    assert new.id != old.id
    assert (new.text, new.start, new.end) == ("The tea is black", 0, 16)
    assert (new.at, new.created_at, new.expires_at) == (said, old.created_at, until)
    assert seen(index) == [new]
    assert embedder.embedded[-1] == "The tea is black"
    assert new == remember(index, ANN, "The tea is black", at=said, expires_at=until)
    assert set(index.catalog.sources(ANN)) == {new.source_id}
    assert actions(index) == ["edit"]


def test_the_old_text_leaves_every_place_and_every_file(parts: Parts, clock: Any) -> None:
    index, folder = parts.index, parts.settings.data_dir
    canary = "the vault opens with 7f3a91c2e5d846b0"
    first = remember(index, ANN, canary)
    clock.now += DAY
    remember(index, ANN, canary.upper() + "!", at=clock.now)
    memory = seen(index)[0]
    assert len(memory.sources) == 2
    wanted = [canary, canary.upper(), first.source_id, first.id, first.key, memory.key]
    needles = [needle for word in wanted for needle in (text_needle(word), *id_needles(word))]
    assert scan(folder, needles).hits
    new = edit(index, ANN, memory.id, "the vault opens with a key", "boss")
    assert {place.text for place in mentions(new)} == {"the vault opens with a key"}
    assert len(new.sources) == 2
    assert set(index.catalog.sources(ANN)) == set(new.sources)
    assert scan(folder, needles).hits == ()
    index.store.close()
    assert scan(folder, needles).hits == ()


@pytest.mark.parametrize("seed", range(10))
def test_no_byte_of_many_edited_texts_is_left(seed: int, parts: Parts) -> None:
    index, folder, dice = parts.index, parts.settings.data_dir, random.Random(seed)
    names = [f"{dice.getrandbits(160):040x}" for _ in range(20)]
    held = [remember(index, ANN, f"The code of door {n} is {name}") for n, name in enumerate(names)]
    if dice.random() < 0.5:
        index.store.vacuum("user")
    chosen = dice.sample(range(20), 6)
    for number in chosen:
        edit(index, ANN, held[number].id, f"Door {number} has no code", "boss")
    needles = [text_needle(names[number]) for number in chosen]
    assert scan(folder, needles).hits == ()
    kept = [text_needle(name) for number, name in enumerate(names) if number not in chosen]
    assert len(scan(folder, kept).needles) == 14


def test_an_edited_statement_stays_in_its_place(index: Index, clock: Any) -> None:
    remember(index, ANN, "I live in Perm", subject=HOME)
    clock.now += DAY
    second = remember(index, ANN, "I live in Kazan", subject=HOME)
    clock.now += DAY
    new = edit(index, ANN, second.id, "I live in Samara", "boss")
    first, last = history(index, ANN, HOME)
    assert last == new
    assert (new.subject, new.value, new.valid_from) == (HOME, "samara", second.valid_from)
    assert (first.text, first.valid_to) == ("I live in Perm", second.valid_from)
    assert first.superseded_by == new.id
    assert texts(index) == ["I live in Samara"]
    clock.now += DAY
    remember(index, ANN, "I live in Sochi", subject=HOME)
    line = [m.text.removeprefix("I live in ") for m in history(index, ANN, HOME)]
    assert line == ["Perm", "Samara", "Sochi"]


def test_an_edit_back_to_what_held_before_goes_on_from_then(index: Index, clock: Any) -> None:
    first = remember(index, ANN, "I live in Perm", subject=HOME)
    clock.now += DAY
    second = remember(index, ANN, "I live in Kazan", subject=HOME)
    clock.now += DAY
    new = edit(index, ANN, second.id, "I live in Perm", "boss")
    assert history(index, ANN, HOME) == [new]
    assert (new.id, new.valid_from, new.valid_to) == (first.id, first.valid_from, None)


def test_what_an_edited_decision_ended_names_it(index: Index, clock: Any) -> None:
    old = remember(index, ANN, "We decided to use MySQL instead of Oracle")
    clock.now += DAY
    new = remember(index, ANN, "We decided to use Postgres instead of MySQL")
    (ended,) = seen(index, ids=(old.id,), superseded=True)
    assert ended.superseded_by == new.id
    edited = edit(index, ANN, new.id, "We decided to use Postgres 16 instead of MySQL", "boss")
    (ended,) = seen(index, ids=(old.id,), superseded=True)
    assert ended.superseded_by == edited.id


def test_an_edit_into_what_is_known_makes_one_of_two(index: Index, clock: Any) -> None:
    known = remember(index, ANN, "The tea is black")
    wrong = remember(index, ANN, "The tea is green", at=clock.now - DAY)
    pin(index, ANN, wrong.id, "boss")
    new = edit(index, ANN, wrong.id, "the tea is BLACK", "boss")
    assert seen(index) == [new]
    assert new.id == known.id
    assert len(new.sources) == 2
    assert new.pinned
    assert set(index.catalog.sources(ANN)) == set(new.sources)


def test_a_plain_fact_joins_an_edited_statement_and_the_other_way_round(index: Index) -> None:
    plain = remember(index, ANN, "I live in Kazan", subject="")
    stated = remember(index, ANN, "I live in Perm", subject=HOME)
    new = edit(index, ANN, stated.id, "I live in Kazan", "boss")
    assert seen(index) == [new]
    assert (new.subject, len(new.sources)) == (HOME, 2)
    other = remember(index, ANN, "I sleep in Kazan", subject="")
    again = edit(index, ANN, other.id, "I live in Kazan", "boss")
    assert seen(index) == [again]
    assert (again.id, again.subject) == (new.id, HOME)
    assert set(index.catalog.sources(ANN)) == set(again.sources)
    assert plain.source_id in again.sources


def test_two_subjects_with_the_same_words_stay_two(index: Index) -> None:
    one = remember(index, ANN, "Kazan", subject="user.birthplace")
    two = remember(index, ANN, "Perm", subject=HOME)
    new = edit(index, ANN, two.id, "Kazan", "boss")
    assert {(m.id, m.subject) for m in seen(index)} == {(one.id, one.subject), (new.id, HOME)}


def test_an_edit_of_case_or_of_nothing_keeps_the_id(index: Index) -> None:
    old = remember(index, ANN, "the tea is green")
    new = edit(index, ANN, old.id, "The tea is green.", "boss")
    assert (new.id, texts(index)) == (old.id, ["The tea is green."])
    assert edit(index, ANN, new.id, new.text, "boss") == new
    assert set(index.catalog.sources(ANN)) == {new.source_id}


def test_an_expired_twin_is_in_nobodys_way(index: Index, clock: Any) -> None:
    remember(index, ANN, "The tea is black", expires_at=clock.now + timedelta(minutes=1))
    old = remember(index, ANN, "The tea is green")
    clock.now += DAY
    new = edit(index, ANN, old.id, "The tea is black", "boss")
    assert (new.expires_at, new.also, texts(index)) == (None, (), ["The tea is black"])


@pytest.mark.parametrize("kind", ["procedure", "digest"])
def test_other_told_kinds_are_edited_too(index: Index, kind: Kind) -> None:
    old = remember(index, ANN, "First press the red button", kind)
    new = edit(index, ANN, old.id, "First press the green button", "boss")
    assert (new.kind, texts(index)) == (kind, ["First press the green button"])


def test_what_has_a_source_is_edited_there(index: Index, clock: Any) -> None:
    name = "/docs/tea.md"
    source = document_source(
        index.recipe, Document(name, "The tea is green.", uri=name), digest("x")
    )
    write(index, ANN, [source])
    ingest_session(index, ANN, Session("s", (Turn("1", "user", "The cup is red", at=clock.now),)))
    for memory in seen(index):
        with pytest.raises(InvalidInput, match=r"is a (document|turn) of .* edit it at its source"):
            edit(index, ANN, memory.id, "The tea is black", "boss")
    assert texts(index) == ["The cup is red", "The tea is green."]
    assert actions(index) == []


Change = Callable[[Index, Scope, str], Memory]

CHANGES: list[Change] = [
    lambda index, scope, name: edit(index, scope, name, "The tea is black", "boss"),
    lambda index, scope, name: pin(index, scope, name, "boss"),
    lambda index, scope, name: unpin(index, scope, name, "boss"),
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_not_there_is_refused_by_name(index: Index, clock: Any, change: Change) -> None:
    of_bob = remember(index, BOB, "The tea is green")
    short = remember(index, ANN, "Wait", expires_at=clock.now + timedelta(minutes=1))
    clock.now += DAY
    for scope, name in ((ANN, of_bob.id), (ANN, short.id), (GLOBAL, of_bob.id)):
        with pytest.raises(UnknownMemory, match=f"has no memory {name}"):
            change(index, scope, name)
    with pytest.raises(InvalidInput, match="a memory id is a lower-case UUID"):
        change(index, ANN, of_bob.id.upper())
    assert texts(index, BOB) == ["The tea is green"]
    assert actions(index) == actions(index, BOB) == []


@pytest.mark.parametrize("change", CHANGES[:2])
def test_what_was_superseded_is_not_changed(index: Index, clock: Any, change: Change) -> None:
    old = remember(index, ANN, "I live in Perm", subject=HOME)
    clock.now += DAY
    new = remember(index, ANN, "I live in Kazan", subject=HOME)
    with pytest.raises(InvalidInput, match=f"was superseded by {new.id}"):
        change(index, ANN, old.id)


@pytest.mark.parametrize("text", ["", " \n", "\udcff", "word " * 600])
def test_a_text_that_cannot_be_remembered_is_no_edit(index: Index, text: str) -> None:
    old = remember(index, ANN, "The tea is green")
    with pytest.raises(InvalidInput):
        edit(index, ANN, old.id, text, "boss")
    assert seen(index) == [old]


def test_an_edit_into_what_was_forgotten_brings_it_back_since_it_is_told(index: Index) -> None:
    gone = remember(index, ANN, "The tea is black")
    forget(index, memory_target(ANN, [gone.id]), "boss")
    old = remember(index, ANN, "The tea is green")
    assert edit(index, ANN, old.id, "The tea is black", "boss").id == gone.id


def test_nothing_of_a_forgotten_user_is_edited(index: Index) -> None:
    old = remember(index, ANN, "The tea is green")
    index.catalog.tombstones.put("user", ANN, now=index.clock())
    with pytest.raises(Forgotten):
        edit(index, ANN, old.id, "The tea is black", "boss")
    forget(index, user_target("ann"), "boss")
    with pytest.raises(UnknownMemory):
        edit(index, ANN, old.id, "The tea is black", "boss")


def test_a_pinned_memory_outlives_all_its_ends(index: Index, clock: Any) -> None:
    until = clock.now + DAY
    old = remember(index, ANN, "The tea is green", expires_at=until)
    remember(index, ANN, "the tea is green!", at=clock.now - DAY, expires_at=until)
    pinned = pin(index, ANN, old.id, "boss")
    assert pinned.pinned
    assert [place.expires_at for place in mentions(pinned)] == [None, None]
    clock.now += 9 * DAY
    assert sweep(index).total == 0
    remember(index, ANN, "The tea is green", expires_at=clock.now + DAY)
    clock.now += 9 * DAY
    assert sweep(index).total == 0
    assert [memory.id for memory in seen(index)] == [old.id]
    assert pin(index, ANN, old.id, "boss").pinned
    assert actions(index) == ["pin", "pin"]


def test_an_unpinned_memory_begins_the_usual_life_of_its_kind(
    make_parts: Any, clock: Any, embedder: Any
) -> None:
    index = make_parts(embedder=embedder).index
    index = replace(index, recipe=replace(index.recipe, ttl={"fact": 7 * DAY}))
    old = remember(index, ANN, "The tea is green")
    pin(index, ANN, old.id, "boss")
    clock.now += 30 * DAY
    free = unpin(index, ANN, old.id, "boss")
    assert (free.pinned, free.expires_at) == (False, clock.now + 7 * DAY)
    clock.now += DAY
    assert unpin(index, ANN, old.id, "boss") == free
    assert actions(index) == ["unpin", "pin"]
    clock.now += 7 * DAY
    assert sweep(index).total == 1


def later_dedup(index: Index) -> Index:
    """Return an index that looks for near duplicates only when it is told to."""
    dedup = replace(index.recipe.dedup, at_write=False, cosine=0.5)
    return replace(index, recipe=replace(index.recipe, dedup=dedup))


def test_a_pinned_memory_is_what_stays_of_two(index: Index, clock: Any) -> None:
    index = later_dedup(index)
    remember(index, ANN, "Anna is allergic to peanuts")
    clock.now += DAY
    later = remember(index, ANN, "By the way, Anna is allergic to peanuts")
    pin(index, ANN, later.id, "boss")
    assert merge_duplicates(index).counts.total == 1
    (left,) = seen(index)
    assert (left.id, left.pinned, len(left.sources)) == (later.id, True, 2)


def test_a_pinned_memory_joins_no_other_one(index: Index) -> None:
    index = later_dedup(index)
    stated = remember(index, ANN, "I live in Kazan", subject=HOME)
    plain = remember(index, ANN, "By the way, I live in Kazan", subject="")
    pin(index, ANN, plain.id, "boss")
    assert merge_duplicates(index).counts.total == 0
    unpin(index, ANN, plain.id, "boss")
    assert merge_duplicates(index).counts.total == 1
    assert [memory.id for memory in seen(index)] == [stated.id]


def test_only_the_scope_that_is_named_is_touched(index: Index) -> None:
    monday = session_scope("ann", "monday")
    held = {scope: remember(index, scope, "The tea is green") for scope in (ANN, BOB, monday)}
    edit(index, monday, held[monday].id, "The tea is black", "boss")
    assert texts(index, monday) == ["The tea is black"]
    assert seen(index, ANN) == [held[ANN]]
    assert seen(index, BOB) == [held[BOB]]


def test_events_hold_no_word_of_what_was_changed(index: Index) -> None:
    old = remember(index, ANN, "The tea is green")
    new = edit(index, ANN, old.id, "The tea is black", "ann")
    (event,) = Audit(index.catalog.database).events(scope=ANN)
    assert event.actor == "(the person)"
    assert event.memory == Audit(index.catalog.database)._keyed.memory(new.id)
    assert not {"tea", "ann", old.id, new.id} & set(str(event).split())


@pytest.mark.parametrize("text", ["My office is in Brno", "The blue folder is on my desk"])
def test_an_edit_that_was_killed_is_finished_when_the_memory_is_opened(
    parts: Parts, clock: Any, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    index = parts.index
    old = remember(index, ANN, "My office is in room 7c41f09aa2", subject="office")
    clock.now += timedelta(days=1)
    with monkeypatch.context() as patch:
        patch.setattr(type(index.store), "delete", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            edit(index, ANN, old.id, text, "operator")
    recover(index)
    (made,) = index.store.scroll("user", Filter(ANN))
    assert (made.text, made.valid_from, made.valid_to) == (text, old.valid_from, None)
    assert list(index.catalog.sources(ANN)) == list(made.sources)
    assert index.catalog.tombstones.all() == []
    needle = text_needle("7c41f09aa2")
    assert scan(parts.settings.data_dir, [needle]).hits == ()


def test_an_edit_that_was_killed_before_it_wrote_changes_nothing(
    index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = remember(index, ANN, "My office is in Prague", subject="office")
    with monkeypatch.context() as patch:
        patch.setattr(type(index.store), "upsert", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            edit(index, ANN, old.id, "My office is in Brno", "operator")
    recover(index)
    assert [m.text for m in index.store.scroll("user", Filter(ANN))] == ["My office is in Prague"]
    assert index.catalog.tombstones.all() == []
    edit(index, ANN, old.id, "My office is in Brno", "operator")
    assert [m.text for m in index.store.scroll("user", Filter(ANN))] == ["My office is in Brno"]
