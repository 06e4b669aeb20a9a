import json
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chunking.tokens import tiktoken_count
from indexing.types import Memory, session_scope
from retrieval.coverage import content_terms
from retrieval.types import Hit
from sessions.beside import Beside
from sessions.cache import ContextCache
from sessions.candidates import Candidate, candidates
from sessions.excerpt import excerpt
from sessions.layers import plain
from sessions.material import Material
from sessions.recall import Recall, Recalled, recall
from sessions.replaced import Replaced, marks, replacements, up_to_date
from sessions.types import Digest, Line, LoggedTurn, Note
from sessions.visible import Visible
from tests.sessions.turns import START, result, words

HERE = session_scope("ann", "s")
NOTHING = Visible("s", "", {})
ROOMY = 100_000


def hit(seq: int, text: str, rank: int = 1, **fields: Any) -> Hit:
    """Return a hit that is a turn of the session."""
    made = {
        "id": f"m{seq}", "scope": HERE, "kind": "turn", "source_id": f"s#{seq}", "at": START,
        "conversation_id": "s", "turn_id": f"t{seq}",
    }  # fmt: skip
    return Hit(Memory(**{**made, "text": text, **fields}), rank, 1 / rank, {})


def recalled(
    hits: Sequence[Hit],
    limit: int = ROOMY,
    beside: Beside | None = None,
    visible: Visible = NOTHING,
    question: str = "What does the ferry cost?",
    most: int = 24,
    **fields: Any,
) -> Recalled:
    given_all = Material(question, "s", **fields)
    return made(given_all, hits, beside, most).fill(limit, visible)


def made(given_all: Material, hits: Sequence[Hit], beside: Beside | None, most: int = 24) -> Recall:
    lease = ContextCache().begin()
    return recall(given_all, hits, (), beside or Beside(), most, tiktoken_count(), lease)


def around(asked: int, *results: LoggedTurn, latest: dict[int, int] | None = None) -> Beside:
    """Return what stands beside the turns of one question and its answer."""
    found = tuple(each.seq for each in results)
    last = {seq: seq for seq in found} | (latest or {})
    end = asked + len(found) + 2
    return Beside(
        {f"t{seq}": seq for seq in range(asked, end + 1)},
        {asked: found, end: found},
        last,
        {each.seq: each for each in results},
        dict.fromkeys(found, "Look for ferries."),
    )


def test_a_question_and_its_answer_bring_the_result_between_them_once() -> None:
    hits = (hit(4, "There is one crossing, early."), hit(1, "Look for ferries, please.", 2))
    shown = recalled(hits, beside=around(1, result(3, "c", "MV Hamnavoe, GBP 41.20")))
    assert shown.ids == ("m4", "m1")
    assert shown.brought == (3,)
    places = [shown.text.index(text) for text in ("one crossing", "41.20", "Look for")]
    assert places == sorted(places)
    assert shown.text.count("41.20") == 1
    assert '<memory source="turn 3" date="2026-11-01" kind="tool_result">' in shown.text


def test_a_result_that_was_brought_is_not_shown_again_as_a_hit() -> None:
    hits = (hit(4, "One crossing."), hit(3, "GBP 41.20", 2, kind="tool_result"))
    shown = recalled(hits, beside=around(1, result(3, "c", "GBP 41.20")))
    assert shown.text.count("41.20") == 1
    assert (shown.ids, shown.brought) == (("m4",), (3,))


def test_a_hit_in_the_digest_brings_its_result_still() -> None:
    beside = around(1, result(3, "c", "GBP 41.20"))
    shown = recalled(
        [hit(4, "One crossing.")], beside=beside, visible=Visible("s", "One crossing.", {})
    )
    assert (shown.ids, shown.twice, shown.brought) == ((), 1, (3,))


def test_a_result_of_the_window_is_not_brought() -> None:
    beside = around(1, result(3, "c", "GBP 41.20"))
    window = Visible("s", "cut", {"t3": "cut"})
    assert recalled([hit(4, "One crossing.")], beside=beside, visible=window).brought == ()


def test_of_the_same_call_the_last_result_stands_in_for_the_earlier() -> None:
    old, new = hit(3, "1462 pieces", kind="tool_result"), result(9, "d", "1207 pieces")
    beside = Beside({"t3": 3}, {}, {3: 9}, {9: new})
    shown = recalled([old, hit(5, "The shelf is blue.", 2)], beside=beside)
    assert "1462" not in shown.text
    assert shown.text.index("1207 pieces") < shown.text.index("blue")
    assert (shown.ids, shown.brought) == (("m5",), (9,))


def test_questions_and_small_talk_come_last() -> None:
    hits = (
        hit(1, "Is the ferry warm?"),
        hit(2, "Thank you!", 2),
        hit(3, "The ferry has a heated lounge.", 3),
        hit(4, "Is it warm? I am allergic to wool.", 4),
    )
    assert recalled(hits).ids == ("m3", "m4", "m1", "m2")
    room = recalled(hits[2:]).tokens
    tight = recalled(hits, room + 3)
    assert (tight.ids, tight.over) == (("m3", "m4"), 2)


def test_a_long_turn_is_its_sentences_on_the_question_until_there_is_room() -> None:
    talk = " ".join(f"On day {n} we walked through the old town." for n in range(40))
    long = hit(1, f"{talk} The ferry costs 41 pounds. {talk}", role="user")
    hits = (long, *(hit(n, f"The ferry number {n} is late.", n) for n in range(2, 9)))
    short = recalled(hits, 400)
    assert len(short.ids) == 8
    assert "user: … The ferry costs 41 pounds. …" in short.text
    assert "old town" not in short.text
    assert long.text in recalled(hits).text


def test_a_long_result_is_cut_by_its_kind_and_the_question() -> None:
    rows = [{"ship": f"Ship {n}", "cost": n, "note": "nothing to say " * 4} for n in range(60)]
    rows[41] = {"ship": "Hamnavoe", "cost": 41.2, "note": "bicycles go free"}
    beside = around(1, result(3, "c", json.dumps(rows)))
    shown = recalled(
        [hit(4, "Sixty ships.")], beside=beside, question="Does the Hamnavoe cost much?"
    )
    assert '"cost":41.2' in shown.text
    assert "turn 3" in shown.text
    assert tiktoken_count()(shown.text) < 200


def test_a_replaced_value_is_left_out_or_has_the_new_one_beside_it() -> None:
    new = Note("size", "L", seq=30)
    replaced = replacements([Note("size", "M", seq=7), Note("size", "M", seq=8)], [new])
    hits = (hit(7, "My size is M."), hit(8, "Size M, and no wool for me.", 2))
    beside = Beside({"t7": 7, "t8": 8})
    shown = recalled(hits, beside=beside, replaced=replaced)
    assert shown.ids == ("m8",)
    assert 'replaced_by="turn 30: size: L"' in shown.text


def test_only_another_value_replaces_one() -> None:
    now = Note("size", "L", seq=30)
    earlier = [Note("size", "l", seq=3), Note("colour", "red", seq=4), Note("size", "M", seq=0)]
    assert replacements(earlier, [now]) == {}
    assert replacements([Note("size", "M", seq=5)], [now]) == {5: (Replaced("size", "M", 5, now),)}
    assert marks("The parka is warm.", (Replaced("size", "M", 5, now),)) == ""


def test_lines_of_the_digest_with_replaced_values_are_dropped_or_marked() -> None:
    lines = [
        Line("fact", "My size is M.", 3, "user"),
        Line("fact", "Size M, and no wool for me.", 3, "user"),
        Line("fact", "My size is M.", 9, "user"),
    ]
    digest = Digest("s", "ann", 1, 20, None, None, (), tuple(lines))
    replaced = replacements([Note("size", "M", seq=3)], [Note("size", "L", seq=30)])
    found = up_to_date(digest, replaced)
    assert found
    assert [line.text for line in found.lines] == [
        "Size M, and no wool for me. [replaced by turn 30: size: L]",
        "My size is M.",
    ]
    assert up_to_date(digest, {}) is digest


def test_an_excerpt_is_word_for_word_and_in_order() -> None:
    said = "It rained.\nWe left Riga on Friday. The ferry was late. Riga was cold."
    assert excerpt(said, content_terms("Riga?"), 12, words) == (
        "… We left Riga on Friday. … Riga was cold."
    )
    assert excerpt(said, content_terms("Oslo?"), 8, words).startswith("It rained. We left Riga")
    assert excerpt("word " * 500, frozenset(), 60, words).startswith("word word")


sentence = st.lists(st.sampled_from(["ferry", "cost", "Riga", "late", "a", "the"]), max_size=8)


@given(st.lists(sentence, min_size=1, max_size=20), st.integers(1, 60))
def test_an_excerpt_is_never_longer_and_says_nothing_new(
    parts: list[list[str]], limit: int
) -> None:
    text = " ".join(f"{' '.join(part)} {n}." for n, part in enumerate(parts))
    kept = excerpt(text, content_terms("What does the ferry cost?"), limit, words)
    assert words(kept) <= limit
    place = 0
    for piece in filter(None, (plain(piece) for piece in kept.split("…"))):
        place = plain(text).index(piece, place) + len(piece)


turns = st.lists(
    st.tuples(
        st.sampled_from(["ask", "tell", "long", "result"]), st.booleans(), st.integers(0, 80)
    ),
    max_size=30,
)


@given(turns, st.integers(0, 900), st.integers(0, 24))
def test_within_the_limit_by_rank_and_nothing_twice(
    drawn: list[tuple[str, bool, int]], limit: int, most: int
) -> None:
    texts = {
        "ask": "Is number {} late?",
        "tell": "Ferry number {} is late." + " word" * 9,
        "long": "Ferry {} costs much. " + "So we all took the train home. " * 40,
        "result": '{{"ferry": {}}}',
    }
    hits, groups, results = [], {}, {}
    for seq, (kind, brings, near) in enumerate(drawn, 1):
        fields = {"kind": "tool_result"} if kind == "result" else {}
        hits.append(hit(seq, texts[kind].format(seq), seq, **fields))
        if kind == "result":
            results[seq] = result(seq, "c", texts[kind].format(seq))
        elif brings:
            groups[seq] = (100 + near,)
            results[100 + near] = result(100 + near, "c", f"found {near} ferries")
    beside = Beside(
        {f"t{seq}": seq for seq in range(1, len(drawn) + 1)},
        groups,
        {seq: seq for seq in results},
        results,
    )
    counted = tiktoken_count()
    shown = recalled(hits, limit, beside, most=most)
    assert shown.tokens <= limit
    assert shown.tokens == (counted(shown.text) + 4 if shown.text else 0)
    assert len(shown.ids) <= most
    names = [*shown.ids, *(f"m{seq}" for seq in shown.brought)]
    assert len(names) == len(set(names))
    idle = {f"m{seq}" for seq, (kind, _, _) in enumerate(drawn, 1) if kind == "ask"}
    told = [int(name[1:]) for name in shown.ids if name not in idle]
    assert told == sorted(told)
    assert recalled(hits, limit, beside, most=most) == shown


def test_candidates_keep_the_order_of_their_ranks() -> None:
    hits = [hit(n, f"Ferry {n} is late.", n) for n in range(1, 6)]
    assert candidates(hits, "s", Beside(), {}) == [Candidate(each) for each in hits]
