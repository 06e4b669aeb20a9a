"""Passages, without a store: windows, limits, merging, and the text of any chunking."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.types import GLOBAL, Memory, user_scope
from retrieval.passages import (
    Line,
    NeighbourPolicy,
    Passage,
    line_of,
    passages,
    text_of,
)
from retrieval.talk import in_order

AT = datetime(2026, 5, 8, 10, tzinfo=UTC)
ANN = user_scope("ann")


def words(text: str) -> int:
    return len(text.split())


def chunk(text: str, start: int, end: int, ordinal: int, *headings: str) -> Memory:
    return Memory(
        id=f"d{ordinal}",
        scope=GLOBAL,
        kind="document",
        source_id="doc",
        text=text[start:end],
        start=start,
        end=end,
        ordinal=ordinal,
        headings=headings,
    )


def turn(number: int, text: str, minutes: float | None = 0.0, **fields: object) -> Memory:
    at = None if minutes is None else AT + timedelta(minutes=minutes)
    made = Memory(
        id=f"t{number}",
        scope=ANN,
        kind="turn",
        source_id=f"turn:{number}",
        text=text,
        end=len(text),
        speaker="Anna",
        conversation_id="c",
        turn_id=str(number),
        at=at,
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def around(*places: Memory) -> dict[Line, list[Memory]]:
    found: dict[Line, list[Memory]] = {}
    for place in places:
        line = line_of(place)
        assert line
        found.setdefault(line, []).append(place)
    return found


def one(hit: Memory, places: Sequence[Memory], policy: NeighbourPolicy) -> Passage:
    (found,) = passages([hit], around(*places), policy, words)
    assert found
    return found


@st.composite
def chunkings(draw: st.DrawFn) -> tuple[str, list[Memory]]:
    """A text, and chunks of it that overlap or touch."""
    text = draw(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
    chunks: list[Memory] = []
    start = 0
    while start < len(text):
        end = draw(st.integers(start + 1, len(text)))
        if chunks and end <= chunks[-1].end:
            end = chunks[-1].end + 1
        chunks.append(chunk(text, start, end, len(chunks)))
        if end == len(text):
            break
        start = draw(st.integers(start + 1, end))
    return text, chunks


@given(chunkings(), st.data())
def test_the_text_is_that_of_the_source(
    made: tuple[str, list[Memory]], data: st.DataObject
) -> None:
    text, chunks = made
    hits = data.draw(st.lists(st.sampled_from(chunks), min_size=1, unique_by=lambda m: m.id))
    counts = st.integers(0, 3)
    policy = NeighbourPolicy(
        chunks_before=data.draw(counts),
        chunks_after=data.draw(counts),
        tokens=data.draw(st.integers(0, 200)),
    )
    found = passages(hits, around(*chunks), policy, len)
    named = [name for passage in found if passage for name in passage.hits]
    assert len(named) == len(set(named))
    for hit, passage in zip(hits, found, strict=True):
        if passage is None:
            continue
        assert passage.text == text[passage.start : passage.end]
        assert passage.hits[0] == hit.id
        assert len(passage.hits) > 1 or passage.truncated or len(passage.memories) > 1
        if len(passage.hits) == 1 and len(passage.memories) > 1:
            assert len(passage.text) <= policy.tokens
        numbers = [memory.ordinal for memory in passage.memories]
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
    spans = sorted((p.memories[0].ordinal, p.memories[-1].ordinal) for p in found if p)
    assert all(a[1] + 1 < b[0] for a, b in pairwise(spans))


def test_white_space_between_chunks_keeps_its_length() -> None:
    text = "One two.\n\nThree. Four."
    parts = [chunk(text, 0, 8, 0), chunk(text, 10, 16, 1), chunk(text, 17, 22, 2)]
    assert text_of(parts) == text


def test_a_section_ends_where_its_heading_does() -> None:
    text = "abcdefgh"
    places = [chunk(text, n, n + 1, n, "A", "1" if n < 4 else "2") for n in range(8)]
    section = NeighbourPolicy(chunks_before=50, chunks_after=50)
    found = one(places[5], places, section)
    assert (found.text, found.start, found.end) == ("efgh", 4, 8)
    whole = one(places[5], places, NeighbourPolicy(chunks_before=2, chunks_after=9, section=False))
    assert whole.text == "defgh"
    apart = passages([places[3], places[4]], around(*places), section, words)
    assert [p.text for p in apart if p] == ["abcd", "efgh"]


def test_a_missing_chunk_is_an_end() -> None:
    text = "abcdef"
    places = [chunk(text, n, n + 1, n) for n in (0, 1, 3, 4)]
    policy = NeighbourPolicy(chunks_before=3, chunks_after=3)
    found = passages([places[1], places[2]], around(*places), policy, words)
    assert [p.text for p in found if p] == ["ab", "de"]


def test_the_limit_drops_the_farthest_and_says_so() -> None:
    text = "a b c d e f g "
    places = [chunk(text, 2 * n, 2 * n + 2, n) for n in range(7)]
    policy = NeighbourPolicy(chunks_before=3, chunks_after=3, tokens=4)
    found = one(places[3], places, policy)
    assert (found.text, found.truncated) == ("b c d e ", True)
    found = one(places[3], places, NeighbourPolicy(chunks_before=3, chunks_after=3, tokens=7))
    assert (found.text, found.truncated) == (text, False)
    found = one(places[3], places, NeighbourPolicy(tokens=0))
    assert (found.text, found.truncated, found.hits) == ("d ", True, ("d3",))


def test_a_long_neighbour_does_not_stand_in_the_way_of_a_short_one() -> None:
    talk = [turn(1, "one two three four five", 0), turn(2, "hit", 1), turn(3, "short", 2)]
    found = one(talk[1], talk, NeighbourPolicy(tokens=5))
    assert (found.text, found.truncated) == ("Anna: hit\nAnna: short", True)


def test_passages_that_touch_are_one_and_the_better_hit_keeps_it() -> None:
    talk = [turn(n, f"turn {n}", n) for n in range(12)]
    hits = [talk[5], talk[1], talk[8], talk[0]]
    best, second, third, fourth = passages(hits, around(*talk), NeighbourPolicy(), words)
    assert best
    assert best.hits == ("t5", "t8")  # 4..6 and 7..9 touch
    assert best.text == "\n".join(f"Anna: turn {n}" for n in range(4, 10))
    assert [memory.id for memory in best.memories] == [f"t{n}" for n in range(4, 10)]
    assert second
    assert second.hits == ("t1", "t0")  # 0..2 and 0..1 overlap
    assert (third, fourth) == (None, None)


def test_lines_do_not_mix() -> None:
    talk = [turn(1, "a", 0), turn(2, "b", 1)]
    other = [turn(3, "x", 0.5, conversation_id="d"), turn(4, "y", 0.5, scope=user_scope("bob"))]
    doc = chunk("abc", 0, 1, 0)
    found = passages([talk[0], doc], around(*talk, *other, doc), NeighbourPolicy(), words)
    assert [p and p.text for p in found] == ["Anna: a\nAnna: b", None]
    fact = Memory(id="f", scope=ANN, kind="fact", source_id="fact:1", text="fact")
    assert passages([fact, None], {}, NeighbourPolicy(), words) == [None, None]


def test_turns_far_away_in_time_are_no_neighbours() -> None:
    talk = [turn(1, "yesterday", 0), turn(2, "today", 60 * 25), turn(3, "soon", 60 * 26)]
    found = one(talk[1], talk, NeighbourPolicy())
    assert found.text == "Anna: today\nAnna: soon"


def test_a_turn_in_parts_counts_once_and_is_put_together() -> None:
    text = "alpha beta gamma"
    parts = [
        turn(2, text[start:end], 1, id=f"p{n}", start=start, end=end, ordinal=n)
        for n, (start, end) in enumerate([(0, 10), (6, 16)])
    ]
    talk = [turn(1, "before", 0), *parts, turn(3, "after", 2)]
    found = one(parts[0], talk, NeighbourPolicy())
    assert found.text == "Anna: before\nAnna: alpha beta gamma\nAnna: after"
    found = one(talk[-1], talk, NeighbourPolicy())
    assert found.text == "Anna: alpha beta gamma\nAnna: after"


@pytest.mark.parametrize("minutes", [0.0, None])
def test_turns_of_one_time_follow_what_was_before_them(minutes: float | None) -> None:
    said = ["hi", "ok", "where is the long promised order number seven", "ok", "thanks"]
    before = ["", *(f"Anna: {text[-30:]}" for text in said)]
    ids = ["zz", "b", "x", "a", "c"]  # names that tell nothing
    talk = [turn(n, text, minutes, before=before[n], turn_id=ids[n]) for n, text in enumerate(said)]
    assert in_order(reversed(talk)) == talk
    numbered = [turn(n, f"turn {n}", minutes) for n in range(1, 12)]
    assert [part.id for part in in_order(reversed(numbered))] == [f"t{n}" for n in range(1, 12)]


def test_turns_that_are_each_before_the_other_are_all_there() -> None:
    one_, two = turn(1, "a", before="Anna: b"), turn(2, "b", before="Anna: a")
    assert in_order([two, one_]) == [one_, two]
