"""The stage: budget, windows, cache, failure. Time is the test's own, but for the watchdog."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.errors import ModelError
from retrieval.rerank.onnx import onnx_reranker
from retrieval.rerank.stage import PROBE, RerankLimits, RerankStage
from retrieval.rerank.types import Reranker
from retrieval.rerank.windows import Ruler, frame
from tests.retrieval.rerank.conftest import Words, by_hand


def staged(words: Words, **limits: Any) -> RerankStage:
    return RerankStage(lambda: words, RerankLimits(**limits), words.time)


def test_every_candidate_is_scored_in_its_place() -> None:
    words = Words()
    found = staged(words).rerank("cat dog", ["dog", "кот", "cat dog", ""])
    assert found.scores == (0.5, 0.0, 1.0, 0.0)
    assert (found.scored, found.windows, found.cached, found.note) == (4, 4, 0, "")
    assert not found.failed


def test_no_candidates_are_no_call() -> None:
    words = Words()
    assert staged(words).rerank("cat", []).scores == ()
    assert words.asked == []


def test_more_candidates_than_wanted_keep_their_order() -> None:
    found = staged(Words(), candidates=2).rerank("cat", ["cat", "dog", "cat"])
    assert (found.scores, found.scored, found.note) == ((1.0, 0.0, None), 2, "")


@pytest.mark.parametrize(
    ("characters", "read"), [(0, 4), (100, 4), (12, 4), (11, 3), (5, 1), (1, 1)]
)
def test_so_many_characters_are_read_at_most_and_one_passage_always(
    characters: int, read: int
) -> None:
    found = staged(Words(), candidates=4, characters=characters).rerank("cat", ["cat"] * 9)
    assert found.scored == read
    assert found.scores == (1.0,) * read + (None,) * (9 - read)
    cut = f"the first {read}: {characters} characters"
    assert found.note == ("" if read == 4 else cut)


# the budget


def test_a_budget_cuts_the_candidates_and_says_so() -> None:
    words = Words(cost=0.001)
    # 10 tokens a pair: 3 special ones, "cat", a passage of 6
    found = staged(words).rerank("cat", ["a b c d e f"] * 50, budget_ms=125)
    assert (found.scored, found.windows) == (12, 12)
    assert found.scores == (0.0,) * 12 + (None,) * 38
    assert found.note == "12 of 50 candidates: 125 ms budget at 1 ms a token"
    assert len(words.asked[0]) == PROBE  # the first call measures
    assert found.milliseconds == pytest.approx(120)
    assert not found.failed


def test_what_is_known_of_the_speed_is_used_at_once() -> None:
    words = Words(cost=0.001)
    stage = staged(words, budget_ms=65)
    stage.rerank("cat", ["a b c d e f"] * 50)
    words.asked.clear()
    found = stage.rerank("dog", ["a b c d e f"] * 50)
    assert found.scored == 6
    # 65, 35, 25 and 15 tokens are left before a call, which may have half of them
    assert [len(texts) for texts in words.asked] == [3, 1, 1, 1]


def test_a_remote_model_gets_all_that_fits_in_one_request() -> None:
    words = Words(cost=0.001)
    words.remote = True
    stage = staged(words, budget_ms=65)
    stage.rerank("cat", ["a b c d e f"] * 50)
    words.asked.clear()
    stage.rerank("dog", ["a b c d e f"] * 50)
    assert [len(texts) for texts in words.asked] == [6]


def test_one_candidate_is_always_scored() -> None:
    words = Words(cost=0.001)
    stage = staged(words, budget_ms=1)
    assert stage.rerank("cat", ["a b c d e f"] * 9).scored == PROBE  # nothing is known yet
    found = stage.rerank("dog", ["a b c d e f"] * 9)
    assert (found.scored, found.note) == (1, "1 of 9 candidates: 1 ms budget at 1 ms a token")


def test_a_model_that_slows_down_is_stopped_between_calls() -> None:
    words = Words(cost=0.0001)
    stage = staged(words, cache=0)
    stage.rerank("cat", ["a b c d e f"] * 50, budget_ms=125)
    words.cost = 0.001
    found = stage.rerank("cat", ["a b c d e f"] * 50, budget_ms=125)
    assert 0 < found.scored < 50
    assert found.milliseconds < 125 + words.call_tokens  # one call past it, at most
    assert "125 ms budget" in found.note


def test_without_a_budget_the_time_limit_is_one() -> None:
    words = Words(cost=0.01)
    found = staged(words, timeout=1.05).rerank("cat", ["a b c d e f"] * 50)
    assert (found.scored, found.failed) == (10, False)
    assert found.note.startswith("10 of 50 candidates: 1050 ms budget")


def test_what_is_in_the_cache_costs_nothing() -> None:
    words = Words(cost=0.001)
    stage = staged(words)
    texts = [f"w{i} b c d e f" for i in range(50)]
    assert stage.rerank("cat", texts, budget_ms=125).scored == 12
    found = stage.rerank("cat", texts, budget_ms=125)
    assert (found.scored, found.cached, found.windows) == (24, 12, 12)


def test_loading_is_not_in_the_budget() -> None:
    words = Words(cost=0.001)

    def load() -> Reranker:
        words.time.now += 5
        return words

    stage = RerankStage(load, RerankLimits(), words.time)
    assert not stage.loaded
    found = stage.rerank("cat", ["a b c d e f"] * 50, budget_ms=125)
    assert (stage.loaded, found.scored) == (True, 12)
    assert found.milliseconds == pytest.approx(5120)


# long texts


def test_a_passage_of_more_than_one_call_is_several_calls() -> None:
    words = Words(max_tokens=14)  # 10 for a passage; 4 windows of 14 tokens are a call of 64
    found = staged(words, overlap=0).rerank("cat", ["dog", "x " * 99 + "cat", "cat"])
    assert (found.scores, found.windows, found.note) == ((0.0, 1.0, 1.0), 12, "")
    assert [len(texts) for texts in words.asked] == [1, 4, 4, 2, 1]


def test_a_long_passage_scores_as_its_best_window() -> None:
    words = Words(max_tokens=14)  # 10 for a passage
    found = staged(words, overlap=2).rerank("cat", ["x " * 25 + "cat", "x " * 26])
    assert (found.scores, found.windows) == ((1.0, 0.0), 6)


def test_windows_of_a_real_model_by_hand(folder: Path) -> None:
    model = onnx_reranker(folder, threads=1)
    passage = " ".join(["кот", "cat", "dog", "пёс", "answer"] * 15)
    found = RerankStage(lambda: model, RerankLimits(overlap=8)).rerank("question", [passage])
    ruler = Ruler(model.tokenizer)
    windows = frame("question", 32, 0, ruler).windows(passage, 8, ruler)
    assert found.windows == len(windows) == 4
    assert found.scores[0] == pytest.approx(
        max(by_hand("question", window.text) for window in windows), abs=1e-5
    )


def test_a_long_query_is_cut_and_said() -> None:
    words = Words()
    found = staged(words).rerank("cat " * 50, ["cat", "dog"])
    assert found.scores == (1.0, 0.0)
    assert found.note == "query of 50 tokens cut to half of what the model reads"


# the cache


def test_a_second_question_of_the_same_words_asks_nothing() -> None:
    words = Words()
    stage = staged(words)
    first = stage.rerank("cat", ["cat", "dog"])
    again = stage.rerank("cat", ["dog", "cat", "кот"])
    assert again.scores == (first.scores[1], first.scores[0], 0.0)
    assert words.asked == [["cat", "dog"], ["кот"]]
    assert (again.cached, again.windows) == (2, 1)
    stage.clear()
    assert stage.rerank("cat", ["cat", "dog"]).cached == 0


def test_the_cache_is_by_query_and_is_bounded() -> None:
    words = Words()
    stage = staged(words, cache=2)
    stage.rerank("cat", ["cat"])
    assert stage.rerank("dog", ["cat"]).cached == 0
    stage.rerank("dog", ["кот"])
    assert stage.rerank("cat", ["cat"]).cached == 0


# failure


def test_a_model_that_fails_leaves_no_scores() -> None:
    words = Words()
    stage = staged(words)
    stage.rerank("cat", ["cat"])

    def fail() -> None:
        raise ModelError("rerank endpoint: HTTP 500")

    words.before = fail
    found = stage.rerank("cat", ["cat", "dog"])
    assert (found.scores, found.scored, found.failed) == ((None, None), 0, True)
    assert found.note == "not reranked: ModelError: rerank endpoint: HTTP 500"
    words.before = lambda: None
    assert not stage.rerank("cat", ["cat", "dog"]).failed


def test_a_model_that_cannot_be_loaded_is_a_failure_and_is_tried_again(folder: Path) -> None:
    model = folder / "model.onnx"
    kept = model.read_bytes()
    model.unlink()
    stage = RerankStage(lambda: onnx_reranker(folder, threads=1))
    found = stage.rerank("cat", ["cat"])
    assert found.failed
    assert "has no model.onnx" in found.note
    model.write_bytes(kept)
    assert stage.rerank("cat", ["cat"]).scores == (pytest.approx(by_hand("cat", "cat"), abs=1e-5),)


def test_a_call_that_hangs_is_not_waited_for() -> None:
    words, release = Words(), threading.Event()

    def hang() -> None:
        release.wait(30)

    words.before = hang
    stage = staged(words, timeout=0.05)
    found = stage.rerank("cat", ["cat"])
    assert (found.scores, found.failed) == ((None,), True)
    assert found.note == "not reranked: RerankTimeout: no answer within 0.05 s"
    release.set()
    stage.close()


# properties


@given(
    st.lists(st.lists(st.sampled_from(["cat", "dog", "x"]), max_size=40).map(" ".join)),
    st.floats(0.1, 500),
    st.integers(1, 30),
)
def test_what_is_scored_is_the_beginning_and_all_of_it_is_right(
    passages: list[str], budget: float, candidates: int
) -> None:
    words = Words(cost=0.001)
    stage = staged(words, candidates=candidates, overlap=4)
    whole = staged(Words(), candidates=len(passages) or 1, overlap=4).rerank("cat dog", passages)
    for _ in range(2):
        found = stage.rerank("cat dog", passages, budget_ms=budget)
        assert len(found.scores) == len(passages)
        assert found.scored >= min(1, len(passages))
        assert found.scores[: found.scored] == whole.scores[: found.scored]
        assert set(found.scores[found.scored :]) <= {None}
        assert bool(found.note) == (found.scored < min(candidates, len(passages)))


def test_callers_share_a_stage(folder: Path) -> None:
    loads: list[int] = []

    def load() -> Reranker:
        loads.append(1)
        return onnx_reranker(folder, threads=1)

    stage = RerankStage(load, RerankLimits(cache=10))
    texts = [" ".join(["кот", "dog", "x"][: 1 + i % 3] * (1 + i)) for i in range(12)]
    wanted = [by_hand("cat", text) for text in texts[:5]]
    found: list[Any] = []
    run: Callable[[], None] = lambda: found.append(stage.rerank("cat", texts).scores[:5])  # noqa: E731
    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(found) == 8
    for scores in found:
        assert scores == pytest.approx(wanted, abs=1e-5)
