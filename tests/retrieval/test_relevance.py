from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.sparse import lexicon
from indexing.types import Scored
from retrieval.relevance import (
    DEPTH,
    E5,
    PRIOR,
    UNKNOWN,
    Evidence,
    Weights,
    confidence,
    evidence,
    gather,
    lift,
    sigmoid,
)
from retrieval.trace import ScopeTrace

RIGHT = "The locker code is 4417"
ASKED = "What is the locker code?"
OTHER = "What is the ferry timetable?"

shares = st.floats(0, 1)
cosines = st.floats(-1, 1)


@st.composite
def evidences(draw: st.DrawFn) -> Evidence:
    listed = draw(st.integers(0, 50))
    best = draw(cosines)
    coverage = draw(st.none() | shares)
    return Evidence(
        listed=listed,
        best=draw(st.sampled_from([None, best])),
        rest=draw(st.floats(-1, best)) if listed > 1 else 0.0,
        words=draw(st.integers(0, 9)),
        matched=0 if coverage is None else draw(st.integers(0, 50)),
        coverage=coverage,
        known=None if coverage is None else draw(st.floats(coverage, 1)),
        foreign=draw(st.booleans()),
        reranked=draw(st.none() | shares),
    )


def scope(
    dense: dict[str, float] | None, sparse: dict[str, float] | None, lang: str = "en"
) -> ScopeTrace:
    """The lists of one scope, by text; None is a branch that was not asked."""
    lists = {}
    if dense is not None:
        lists["dense"] = [Scored(text, score, lang) for text, score in dense.items()]
    if sparse is not None:
        lists["sparse"] = [Scored(text, s, "", lexicon(text, "")) for text, s in sparse.items()]
    return ScopeTrace("user:ann", lists, 1.0)


def crowd(best: float, rest: float, first: str = RIGHT, size: int = 50) -> dict[str, float]:
    """A list in which one memory stands out."""
    return {first: best} | {f"something else {n}": rest for n in range(size - 1)}


def asked(query: str, *scopes: ScopeTrace, reranked: float | None = None) -> float:
    return confidence(evidence(query, scopes, reranked))


@given(evidences())
def test_is_a_probability(found: Evidence) -> None:
    assert 0 <= confidence(found) <= 1


@given(evidences(), cosines)
def test_a_better_best_hit_never_makes_it_less_sure(found: Evidence, best: float) -> None:
    if found.best is not None:
        better = replace(found, best=max(found.best, best))
        assert confidence(better) >= confidence(found)


@given(evidences(), cosines)
def test_a_weaker_rest_never_makes_it_less_sure(found: Evidence, rest: float) -> None:
    weaker = replace(found, rest=min(found.rest, rest))
    assert confidence(weaker) >= confidence(found) - 1e-12


@given(evidences(), shares, shares)
def test_more_words_found_never_make_it_less_sure(
    found: Evidence, coverage: float, known: float
) -> None:
    if found.coverage is not None and found.known is not None:
        more = replace(found, coverage=max(found.coverage, coverage), known=max(found.known, known))
        assert confidence(more) >= confidence(found)


@given(evidences(), shares)
def test_a_surer_reranker_never_makes_it_less_sure(found: Evidence, reranked: float) -> None:
    if found.reranked is not None:
        surer = replace(found, reranked=max(found.reranked, reranked))
        assert confidence(surer) >= confidence(found)


@given(evidences())
def test_words_of_another_language_only_ever_help(found: Evidence) -> None:
    if found.best is not None and found.listed:
        crossed = replace(found, foreign=True)
        wordless = replace(crossed, coverage=None, known=None)
        assert confidence(crossed) >= confidence(wordless)


def test_an_answer_is_told_from_the_least_bad() -> None:
    found = scope(crowd(0.88, 0.80), {RIGHT: 9.0})
    absent = scope(crowd(0.81, 0.80), {"something else 1": 0.5})
    assert asked(ASKED, found) > 0.8
    assert asked(OTHER, absent) < 0.1


def test_nothing_listed_is_nothing_found() -> None:
    assert asked(ASKED) == 0
    assert asked(ASKED, scope({}, {})) == 0
    assert asked(ASKED, scope({}, None)) == 0
    assert asked(ASKED, scope(None, {})) == 0
    assert asked(ASKED, scope({}, {}), reranked=0.99) == 0


def test_a_scope_that_failed_says_nothing() -> None:
    failed = replace(scope(crowd(0.88, 0.80), {RIGHT: 9.0}), error="no answer within 5 s")
    assert asked(ASKED, failed) == 0


def test_a_dense_list_all_below_its_threshold_does_not_stand_out() -> None:
    below = scope({}, {RIGHT: 9.0})
    assert lift(evidence(ASKED, [below]), E5.usual) == 0
    assert asked(ASKED, below) < asked(ASKED, scope(crowd(0.88, 0.80), {RIGHT: 9.0}))


def test_a_single_memory_is_compared_with_the_usual_cosine() -> None:
    assert lift(Evidence(listed=1, best=0.885), usual=0.77) == pytest.approx(0.5)
    assert asked(ASKED, scope({RIGHT: 0.88}, {RIGHT: 1.0})) > 0.8
    assert asked(OTHER, scope({RIGHT: 0.78}, {RIGHT: 0.1})) < 0.2


def test_three_alike_are_not_found_wanting_for_being_alike() -> None:
    texts = {RIGHT: 0.90, "The locker code was changed": 0.89, "A locker has a code": 0.89}
    assert asked(ASKED, scope(texts, dict.fromkeys(texts, 2.0))) > 0.8


def test_lift_is_the_part_of_the_way_from_the_rest_to_one() -> None:
    found = Evidence(listed=11, best=0.9, rest=0.8)  # nine in the tail, ten more at the usual 0.73
    rest = (9 * 0.8 + PRIOR * 0.73) / (9 + PRIOR)
    assert lift(found, usual=0.73) == pytest.approx((0.9 - rest) / (1 - rest))


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.05, 1))
def test_lift_does_not_depend_on_how_a_model_spreads_its_cosines(
    best: float, rest: float, width: float
) -> None:
    """Cosines squeezed into ``1 - width .. 1`` give the same lift, as the usual one is squeezed."""

    def squeezed(cosine: float) -> float:
        return 1 - width * (1 - cosine)

    wide = Evidence(listed=50, best=best, rest=rest)
    narrow = replace(wide, best=squeezed(best), rest=squeezed(rest))
    assert lift(narrow, squeezed(0.1)) == pytest.approx(lift(wide, 0.1))


def test_a_question_in_another_language_is_not_judged_by_words_it_cannot_share() -> None:
    crossed = scope(crowd(0.88, 0.75), {"something else 1": 0.1})
    assert asked("Какой код у шкафчика?", crossed) > 0.7
    assert asked(OTHER, crossed) < asked("Какой код у шкафчика?", crossed)


def test_the_language_that_has_the_answer_speaks_for_a_mixed_memory() -> None:
    """Russian memories score higher for a Russian question, but none of them stands out."""
    dense = [Scored(f"r{n}", 0.84, "ru") for n in range(50)]
    dense += [Scored(f"e{n}", 0.85 if n == 0 else 0.75, "en") for n in range(50)]
    mixed = ScopeTrace("global", {"dense": dense, "sparse": []}, 1.0)
    query = "Какой код у шкафчика?"
    assert [each.lang for each in gather(query, [mixed])] == ["ru", "en"]
    found = evidence(query, [mixed])
    assert (found.lang, found.foreign) == ("en", True)
    assert confidence(found) > 0.5


def test_a_question_without_content_words_is_judged_by_its_vector() -> None:
    near, far = scope(crowd(0.88, 0.80), {}), scope(crowd(0.805, 0.80), {RIGHT: 1.0})
    assert asked("what about it?", near) > 0.5 > asked("what about it?", far)
    assert asked("what about it?", scope(None, {RIGHT: 1.0})) == UNKNOWN


def test_one_branch_alone_is_enough() -> None:
    dense, sparse = crowd(0.90, 0.80), {RIGHT: 9.0}
    assert asked(ASKED, scope(dense, None)) > 0.5
    assert asked(ASKED, scope(None, sparse)) > 0.5
    assert asked(OTHER, scope(crowd(0.805, 0.80), None)) < 0.3
    assert asked(OTHER, scope(None, {"something else": 0.2})) < 0.1


def test_the_surest_scope_speaks_for_all() -> None:
    sure = scope(crowd(0.88, 0.80), {RIGHT: 9.0})
    unsure = replace(scope(crowd(0.805, 0.80), {}), scope="global")
    assert evidence(ASKED, [unsure, sure]).scope == "user:ann"
    assert asked(ASKED, unsure, sure) == asked(ASKED, sure)


def test_a_longer_list_says_the_same() -> None:
    words = {RIGHT: 9.0} | {f"locker {n}": 1.0 for n in range(DEPTH)}
    usual = scope(crowd(0.88, 0.80, size=DEPTH), dict(list(words.items())[:DEPTH]))
    long = scope(crowd(0.88, 0.80, size=DEPTH) | {"far": 0.5}, words)
    assert evidence(ASKED, [long]) == evidence(ASKED, [usual])


def test_a_reranker_is_heard_beside_the_lists() -> None:
    found = scope(crowd(0.84, 0.80), {RIGHT: 9.0})
    without = asked(ASKED, found)
    assert asked(ASKED, found, reranked=0.01) < without < asked(ASKED, found, reranked=0.999)
    assert asked(ASKED, found, reranked=without) == pytest.approx(without)


def test_evidence_says_what_it_counted() -> None:
    found = evidence(
        ASKED,
        [scope({RIGHT: 0.9, "b": 0.8, "c": 0.7}, {"My locker is red": 2.0, "No code": 1.0})],
    )
    assert (found.scope, found.lang, found.listed, found.matched) == ("user:ann", "en", 3, 2)
    assert found.best == 0.9
    assert found.rest == pytest.approx(0.75)
    assert (found.words, found.coverage, found.known) == (2, 0.5, 1.0)


def test_weights_are_the_callers() -> None:
    flat = Weights(0.5, (0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0))
    found = Evidence(listed=1, best=0.2, words=1, matched=1, coverage=0.0, known=0.0)
    assert confidence(found, flat) == pytest.approx(sigmoid(1.0))


@pytest.mark.parametrize("odds", [-1e6, -30.0, 0.0, 30.0, 1e6])
def test_sigmoid_is_safe_at_both_ends(odds: float) -> None:
    assert 0 <= sigmoid(odds) <= 1
    assert sigmoid(odds) + sigmoid(-odds) == pytest.approx(1)
