"""The nightly pass: what may be merged is, whole, once, and nothing else changes."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from chunking.types import Document
from indexing.candidates import candidates
from indexing.dedup import decide, gist
from indexing.duplicates import DuplicatesReport, find_duplicates, merge_duplicates
from indexing.index import Dedup, Index
from indexing.ingest import document_source
from indexing.mentions import mentions
from indexing.remember import history, remember
from indexing.removal import remove_sources
from indexing.types import GLOBAL, Filter, Kind, Memory, Scope, session_scope, user_scope
from indexing.write import write

ANN, BOB = user_scope("ann"), user_scope("bob")
DAY = timedelta(days=1)

SAME = (
    "Anna is allergic to peanuts",
    "Anna is allergic to peanuts, by the way",
    "By the way, Anna is allergic to peanuts",
)
OTHER = "Anna is allergic to almonds"


@pytest.fixture
def told(make_parts: Any) -> Index:
    """An index that does not look for near duplicates when it writes."""
    index: Index = make_parts().index
    return replace(index, recipe=replace(index.recipe, dedup=Dedup(cosine=0.5, at_write=False)))


def stored(index: Index, scope: Scope = ANN, **where: Any) -> list[Memory]:
    return list(index.store.scroll(scope.collection, Filter(scope, **where)))


def tell(index: Index, clock: Any, *texts: str, scope: Scope = ANN, **how: Any) -> list[Memory]:
    """Store texts a day apart; return the memories."""
    made = []
    for text in texts:
        made.append(remember(index, scope, text, **{"subject": "", **how}))
        clock.now += DAY
    return made


def done(report: DuplicatesReport) -> list[tuple[str, str]]:
    return [(pair.merged.text, pair.kept.text) for pair in report.pairs]


def test_the_samples_are_what_they_seem() -> None:
    assert all(decide(one, other).merge for one, other in permutations(SAME, 2))
    assert not decide(SAME[0], OTHER).merge


def test_the_first_stays_with_the_places_of_all_and_a_second_run_finds_nothing(
    told: Index, clock: Any
) -> None:
    first, second, third = tell(told, clock, *SAME)
    (other,) = tell(told, clock, OTHER)
    report = merge_duplicates(told)
    assert sorted(done(report)) == sorted([(SAME[1], SAME[0]), (SAME[2], SAME[0])])
    assert {(pair.reason, pair.score > 0.5) for pair in report.pairs} == {
        ("the same in other words", True)
    }
    assert (report.counts.compared, report.counts.total) == (4, 2)
    assert report.counts.merged == {"global": 0, "user": 2, "session": 0}
    kept, alone = sorted(stored(told), key=lambda m: m.text != first.text)
    assert alone == other
    assert (kept.id, kept.text, kept.key) == (first.id, first.text, first.key)
    assert [place.text for place in mentions(kept)] == list(SAME)
    assert kept.sources == (first.source_id, second.source_id, third.source_id)
    again = merge_duplicates(told)
    assert (again.pairs, again.counts.total) == ([], 0)


def test_a_dry_run_says_the_same_and_writes_nothing(told: Index, clock: Any) -> None:
    tell(told, clock, *SAME)
    before = stored(told)
    dry = merge_duplicates(told, dry_run=True)
    assert stored(told) == before
    assert dry.counts == merge_duplicates(told).counts
    assert dry.counts.total == 2


def test_a_source_that_goes_takes_only_its_place(told: Index, clock: Any) -> None:
    first, second, _ = tell(told, clock, *SAME)
    merge_duplicates(told)
    assert remove_sources(told, ANN, [first.source_id]) == 0
    (left,) = stored(told)
    assert [place.text for place in mentions(left)] == list(SAME[1:])
    assert left.terms == second.terms


def test_what_was_merged_is_not_stored_again_when_it_is_told_again(
    make_parts: Any, told: Index, clock: Any
) -> None:
    tell(told, clock, *SAME)
    merge_duplicates(told)
    watchful = replace(told, recipe=replace(told.recipe, dedup=Dedup(cosine=0.5)))
    tell(watchful, clock, *SAME)
    (kept,) = stored(told)
    assert sorted(place.text for place in mentions(kept)) == sorted(SAME)


def test_scopes_are_apart_and_only_the_asked_are_touched(told: Index, clock: Any) -> None:
    other = session_scope("ann", "s")
    for scope in (ANN, other, GLOBAL):
        tell(told, clock, SAME[0], scope=scope)
    tell(told, clock, SAME[1], scope=BOB)
    assert merge_duplicates(told).pairs == []
    for scope in (ANN, other):
        tell(told, clock, SAME[1], scope=scope)
    seen: list[tuple[str, int, int]] = []
    report = merge_duplicates(told, lambda *args: seen.append(args), scopes=[other, other])
    assert seen == [("session", 0, 2)]
    assert report.counts.merged == {"global": 0, "user": 0, "session": 1}
    assert len(stored(told)) == 2
    assert merge_duplicates(told).counts.merged == {"global": 0, "user": 1, "session": 0}


@pytest.mark.parametrize("kind", ["turn", "tool_result", "digest"])
def test_events_are_never_merged_whatever_the_settings_say(
    told: Index, clock: Any, kind: Kind
) -> None:
    told = replace(told, recipe=replace(told.recipe, dedup=Dedup((kind,), 5, 0.5, False)))
    tell(told, clock, *SAME, kind=kind)
    assert merge_duplicates(told).pairs == []


def test_kinds_are_apart(told: Index, clock: Any) -> None:
    tell(told, clock, SAME[0])
    tell(told, clock, SAME[1], kind="procedure")
    assert merge_duplicates(told).pairs == []
    tell(told, clock, SAME[2], kind="procedure")
    assert done(merge_duplicates(told)) == [(SAME[2], SAME[1])]


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        ("# Food\n\n{}", "# Food\n\n{}", 1),
        ("# Food\n\n{}", "# Guests\n\n{}", 0),
        ("# Food\n\n## Ann\n\n{}", "# Food\n\n## Bob\n\n{}", 0),
        ("{}", "{}", 1),
    ],
)
def test_documents_are_merged_only_under_the_same_headings(
    told: Index, one: str, other: str, merged: int
) -> None:
    told = replace(told, recipe=replace(told.recipe, dedup=Dedup(("document",), 5, 0.5, False)))
    for number, (text, form) in enumerate(zip(SAME, (one, other), strict=False)):
        made = _document(told, f"{number}.md", form, text)
        write(told, GLOBAL, [made])
    assert merge_duplicates(told).counts.merged["global"] == merged


def _document(index: Index, name: str, form: str, text: str) -> Any:
    headings = [line.lstrip("# ") for line in form.splitlines() if line.startswith("#")]
    source = document_source(index.recipe, Document(name, text), name)
    chunks = [replace(chunk, headings=tuple(headings)) for chunk in source.chunks]
    return replace(source, chunks=chunks, uri=name)


def test_what_has_expired_or_was_superseded_is_left_alone(told: Index, clock: Any) -> None:
    tell(told, clock, SAME[0], expires_at=clock.now + DAY)
    tell(told, clock, SAME[1])
    assert merge_duplicates(told).pairs == []
    tell(told, clock, SAME[2], "Anna eats everything", subject="anna.allergy")
    assert merge_duplicates(told).pairs == []
    assert len(stored(told)) == 4


def test_a_statement_keeps_its_subject_and_its_place_among_others(told: Index, clock: Any) -> None:
    (loose,) = tell(told, clock, SAME[0])
    before, now = tell(told, clock, OTHER, SAME[1], subject="anna.allergy")
    assert done(merge_duplicates(told)) == [(loose.text, now.text)]
    old, new = history(told, ANN, "anna.allergy")
    assert (old.id, old.superseded_by, new.id) == (before.id, now.id, now.id)
    assert new.sources == (loose.source_id, now.source_id)
    assert (new.subject, new.valid_from, new.valid_to) == ("anna.allergy", now.valid_from, None)


def test_statements_about_two_subjects_stay(told: Index, clock: Any) -> None:
    tell(told, clock, SAME[0], subject="anna")
    tell(told, clock, SAME[1], subject="guest.allergy")
    assert merge_duplicates(told).pairs == []


def _change(index: Index, memory: Memory, **fields: Any) -> None:
    from indexing.index import Changes
    from indexing.write import carry_out

    carry_out(index, ANN, Changes([replace(memory, **fields)]), {memory.id: memory}, {}, {})


def test_what_points_at_the_merged_one_points_at_the_one_that_stays(
    told: Index, clock: Any
) -> None:
    first, second = tell(told, clock, *SAME[:2])
    (ended,) = tell(told, clock, OTHER, subject="anna.allergy")
    _change(told, ended, valid_to=clock.now, superseded_by=second.id)
    assert done(merge_duplicates(told)) == [(second.text, first.text)]
    assert [m.superseded_by for m in stored(told, subjects=("anna.allergy",))] == [first.id]
    assert stored(told, successors=(second.id,)) == []


def test_the_pinned_one_stays_and_nothing_of_it_expires(told: Index, clock: Any) -> None:
    first, second = tell(told, clock, *SAME[:2], expires_at=clock.now + 30 * DAY)
    _change(told, second, pinned=True, expires_at=None)
    assert done(merge_duplicates(told)) == [(first.text, second.text)]
    (kept,) = stored(told)
    assert (kept.id, kept.pinned) == (second.id, True)
    assert [place.expires_at for place in mentions(kept)] == [None, None]


def test_a_place_that_expires_goes_by_itself(told: Index, clock: Any) -> None:
    tell(told, clock, SAME[0], expires_at=clock.now + 5 * DAY)
    tell(told, clock, SAME[1])
    merge_duplicates(told)
    clock.now += 9 * DAY
    (kept,) = stored(told, now=clock.now)
    assert (kept.text, kept.expires_at) == (SAME[1], None)
    assert merge_duplicates(told).pairs == []


def test_a_third_joins_only_what_it_may_be_merged_with(told: Index, clock: Any) -> None:
    """The first and the last are about two subjects; the one between goes to the first only."""
    first, _ = tell(told, clock, *SAME[:2], subject="")
    tell(told, clock, SAME[2])
    held = {m.text: m for m in stored(told)}
    _change(told, held[SAME[0]], subject="anna")
    _change(told, held[SAME[2]], subject="guest")
    report = merge_duplicates(told)
    assert done(report) == [(SAME[1], SAME[0])]
    assert sorted(m.text for m in stored(told)) == sorted([SAME[0], SAME[2]])
    assert first.id in {m.id for m in stored(told)}
    assert merge_duplicates(told).pairs == []


def test_a_pass_that_is_killed_is_finished_by_the_next(
    told: Index, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(told, clock, *SAME)
    delete: Callable[..., int] = told.store.delete

    def die(*args: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(told.store, "delete", die)
    with pytest.raises(KeyboardInterrupt):
        merge_duplicates(told)
    assert len(stored(told)) == 3  # one has the places of two by now
    monkeypatch.setattr(told.store, "delete", delete)
    merge_duplicates(told)
    (kept,) = stored(told)
    assert sorted(place.text for place in mentions(kept)) == sorted(SAME)
    assert len(mentions(kept)) == 3


def test_a_source_that_said_it_twice_has_one_memory_now(told: Index, clock: Any) -> None:
    told = replace(told, recipe=replace(told.recipe, dedup=Dedup(("document",), 5, 0.5, False)))
    source = document_source(told.recipe, Document("a", SAME[0]), "hash")
    (chunk,) = source.chunks
    end = len(SAME[0])
    second = replace(chunk, text=SAME[1], ordinal=1, start=end, end=end + len(SAME[1]))
    write(told, ANN, [replace(source, chunks=[chunk, second])])
    assert told.catalog.sources(ANN)["a"].chunks == 2
    assert merge_duplicates(told).counts.total == 1
    assert told.catalog.sources(ANN)["a"].chunks == 1


def test_many_that_use_the_same_words_are_not_compared_each_with_each(
    told: Index, clock: Any
) -> None:
    """Forty facts of one gist, eighteen of them the same but for the order: no n² pairs."""
    names = [f"{a} met {b}" for a, b in permutations(("Ann", "Bob", "Cid", "Dan", "Eve", "Fay"), 2)]
    tell(told, clock, *names)
    pairs = list(candidates(told, ANN, "fact"))
    assert len(pairs) == len(set(pairs)) == 15  # each with its mirror image, and no other
    assert list(find_duplicates(told, ANN, "fact")) == []


def test_texts_that_are_merged_have_one_gist() -> None:
    from evals.near_duplicates import read_pairs

    merged = [pair for pair in read_pairs() if decide(pair.a, pair.b).merge]
    assert len(merged) > 100
    assert [pair for pair in merged if gist(pair.a) != gist(pair.b)] == []
    assert len({gist(text) for text in (*SAME, OTHER)}) == 2


def test_what_stands_for_a_shorter_life_is_not_stored_twice(told: Index, clock: Any) -> None:
    watchful = replace(told, recipe=replace(told.recipe, dedup=Dedup(cosine=0.5)))
    tell(watchful, clock, SAME[0], expires_at=clock.now + 30 * DAY)
    tell(watchful, clock, SAME[1])
    tell(watchful, clock, SAME[1])
    (kept,) = stored(told)
    assert [place.text for place in mentions(kept)] == [SAME[1], SAME[0]]
