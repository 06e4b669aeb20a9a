from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from indexing.edge import EdgeStore
from indexing.errors import ModelError, StoreUnavailable
from indexing.types import GLOBAL, Memory
from retrieval.relevance import SMALL
from retrieval.reorder import Reordering
from retrieval.rerank.stage import RerankLimits, RerankStage
from retrieval.rerank.types import Scores
from retrieval.retriever import Retriever
from retrieval.stages import Relevance, Reranking, read_as
from retrieval.trace import Log

from .conftest import NOW

Put = Callable[..., Memory]


class ByLength:
    """A reranker that likes long passages, and fails on a word."""

    name, max_tokens, call_tokens, remote = "by length", 512, 512, False
    tokenizer: Any = None

    def __init__(self) -> None:
        self.read: list[str] = []

    def scores(self, query: str, passages: Sequence[str]) -> Scores:
        if any("poison" in passage for passage in passages):
            raise ModelError("cannot read that")
        self.read += passages
        return np.array([min(1.0, len(passage) / 100) for passage in passages])


@pytest.fixture
def model() -> ByLength:
    return ByLength()


@pytest.fixture
def reranked(retriever: Retriever, model: ByLength) -> Iterator[Retriever]:
    stage = RerankStage(lambda: model, RerankLimits(candidates=5))
    yield replace(retriever, reranking=Reranking(stage))
    stage.close()


def test_more_candidates_than_hits_are_reranked(reranked: Retriever, put: Put) -> None:
    for size in range(8):
        put("cat " * (8 - size) + "and " * size * 3)
    best = reranked.retrieve("cat", "ann", k=2, rerank=False).hits
    hits = reranked.retrieve("cat", "ann", k=2).hits
    assert [hit.rank for hit in hits] == [1, 2]
    assert hits[0].memory.id != best[0].memory.id
    assert hits[0].fused_rank > 1
    assert hits[0].score == hits[0].reranked
    assert best[0].reranked is None
    trace = reranked.retrieve("cat", "ann", k=2).trace
    stages = {stage.name: (stage.before, stage.after) for stage in trace.stages}
    assert stages == {"fuse": (16, 8), "collapse": (5, 5), "rerank": (5, 5), "pack": (5, 2)}
    assert trace.models["reranker"] == "by length"


def test_a_weight_adds_both_scores(retriever: Retriever, model: ByLength, put: Put) -> None:
    for size in range(6):
        put("cat " * (6 - size) + "and " * size * 3)
    stage = RerankStage(lambda: model, RerankLimits(candidates=6))
    fused = retriever.retrieve("cat", "ann", k=6).hits

    def order(weight: float) -> list[str]:
        other = replace(retriever, reranking=Reranking(stage, weight=weight))
        hits = other.retrieve("cat", "ann", k=6).hits
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert all(hit.reranked is not None for hit in hits)
        return [hit.memory.id for hit in hits]

    assert order(1e-6) == [hit.memory.id for hit in fused]
    longest = sorted(fused, key=lambda hit: -len(hit.memory.text))
    assert order(1e6) == [hit.memory.id for hit in longest]
    stage.close()


@pytest.mark.parametrize("kind", ["turn", "document"])
def test_talk_may_have_a_weight_of_its_own(
    retriever: Retriever, model: ByLength, put: Put, kind: str
) -> None:
    for size in range(6):
        put("cat " * (6 - size) + "and " * size * 3, GLOBAL, kind=kind)
    stage = RerankStage(lambda: model, RerankLimits(candidates=6))
    reranking = Reranking(stage, weight=1e-6, talk=1e6)
    hits = replace(retriever, reranking=reranking).retrieve("cat", "ann", k=6).hits
    fused = retriever.retrieve("cat", "ann", k=6).hits
    longest = sorted(fused, key=lambda hit: -len(hit.memory.text))
    wanted = longest if kind == "turn" else fused
    assert [hit.memory.id for hit in hits] == [hit.memory.id for hit in wanted]
    stage.close()


@pytest.mark.parametrize("kind", ["turn", "document"])
def test_the_best_of_the_hits_says_whether_it_is_talk_also_unread(
    retriever: Retriever, model: ByLength, put: Put, kind: str
) -> None:
    for size in range(4):
        put("cat " * (4 - size) + "and " * size * 3, kind="document" if kind == "turn" else "turn")
    fused = list(retriever.retrieve("cat", "ann").hits)
    first = replace(fused[0], memory=replace(fused[0].memory, text="cat " * 99, kind=kind))
    stage = RerankStage(lambda: model, RerankLimits())
    reranking = Reranking(stage, weight=1e-6, talk=1e6, longest=100)
    found = reranking("cat", [first, *fused], None, Log())
    assert found[0].memory == first.memory
    longest = sorted(fused, key=lambda hit: -len(hit.memory.text))
    wanted = longest if kind == "turn" else fused
    assert [hit.memory.id for hit in found[1:]] == [hit.memory.id for hit in wanted]
    stage.close()


def test_what_is_too_long_for_the_reranker_keeps_its_place(
    retriever: Retriever, model: ByLength, put: Put
) -> None:
    texts = ["cat " * (9 - size) + "and " * size * 3 for size in range(6)]
    for text in texts:
        put(text)
    fused = retriever.retrieve("cat", "ann", k=6).hits
    lengths = [len(hit.memory.text) for hit in fused]
    middle = sorted(lengths)[2]
    stage = RerankStage(lambda: model, RerankLimits(candidates=6))
    some = replace(retriever, reranking=Reranking(stage, weight=1e6, longest=middle))
    hits = some.retrieve("cat", "ann", k=6).hits
    assert [hit.score for hit in hits] == [hit.score for hit in fused]
    read = [at for at, length in enumerate(lengths) if length <= middle]
    for at, hit in enumerate(hits):
        if at not in read:
            assert hit.memory.id == fused[at].memory.id
            assert hit.reranked is None
    longest_first = sorted((lengths[at] for at in read), reverse=True)
    assert [len(hits[at].memory.text) for at in read] == longest_first
    assert all(len(text) <= middle for text in model.read)

    model.read.clear()
    none = replace(retriever, reranking=Reranking(stage, longest=1))
    result = none.retrieve("cat", "ann", k=6)
    assert [hit.memory.id for hit in result.hits] == [hit.memory.id for hit in fused]
    assert model.read == []
    assert result.trace.notes == ()
    (note,) = [stage.note for stage in result.trace.stages if stage.name == "rerank"]
    assert note == "all are longer than 1 characters"
    stage.close()


def test_what_the_reranker_finds_improbable_is_dropped(
    retriever: Retriever, model: ByLength, put: Put
) -> None:
    for text in ("cat", "cat " * 20, "cat and a dog", "cat " * 9 + "and more " * 9):
        put(text)
    stage = RerankStage(lambda: model, RerankLimits(candidates=3))
    strict = replace(retriever, reranking=Reranking(stage), relevance=Relevance(reranked=0.5))
    result = strict.retrieve("cat", "ann")
    fused = retriever.retrieve("cat", "ann").hits
    short = {hit.memory.id for hit in fused[:3] if len(hit.memory.text) < 50}
    kept = {hit.memory.id for hit in fused} - short
    assert 0 < len(short) < 3
    assert {hit.memory.id for hit in result.hits} == kept
    assert result.hits[-1].memory.id == fused[3].memory.id
    assert result.hits[-1].reranked is None
    assert {(drop.id, drop.why) for drop in result.trace.dropped} == {
        (name, "irrelevant") for name in short
    }
    assert all(drop.detail.endswith(" < 0.5") for drop in result.trace.dropped)
    relevance = [step for step in result.trace.stages if step.name == "relevance"]
    assert [(s.before, s.after, s.note) for s in relevance] == [
        (4, 4 - len(short), "reranker below 0.5")
    ]


def test_what_is_dropped_still_counts_against_the_confidence(
    retriever: Retriever, put: Put
) -> None:
    put("the cat sleeps")
    stage = RerankStage(lambda: Certain(0.01))
    reranked = replace(retriever, reranking=Reranking(stage, weight=1.0))
    kept = reranked.retrieve("where is the cat?", "ann")
    none = replace(reranked, relevance=Relevance(reranked=0.5)).retrieve("where is the cat?", "ann")
    assert len(kept.hits) == 1
    assert none.hits == ()
    assert none.confidence == kept.confidence
    assert none.trace.evidence["reranked"] == 0.01
    stage.close()
    stage.close()


def test_a_turn_is_read_with_the_turn_before_where_that_is_wanted(put: Put) -> None:
    memory = replace(put("the red one"), speaker="Ann", before="Tom: which one?")
    assert read_as(memory).endswith("Ann: the red one")
    assert read_as(memory, before=True).endswith("Ann: the red one Tom: which one?")
    assert read_as(replace(memory, before=""), before=True) == read_as(memory)


def test_a_failing_reranker_keeps_the_fused_order_and_says_so(
    reranked: Retriever, put: Put
) -> None:
    put("cat poison")
    put("cat and more of the cat")
    result = reranked.retrieve("cat", "ann")
    plain = reranked.retrieve("cat", "ann", rerank=False)
    assert [hit.memory.id for hit in result] == [hit.memory.id for hit in plain]
    assert result.trace.notes == ("not reranked: ModelError: cannot read that",)
    assert plain.trace.notes == ()


def test_nothing_is_reranked_when_nothing_is_found(reranked: Retriever, model: ByLength) -> None:
    assert reranked.retrieve("cat", "ann").hits == ()
    assert model.read == []


def test_a_reranker_reads_who_and_where(reranked: Retriever, put: Put, model: ByLength) -> None:
    put("my cat is grey", speaker="Ann", at=NOW)
    put("кот серый", speaker="Аня", at=NOW)
    where = {"title": "Care", "headings": ("Care", "Food")}
    document = put("feed the cat", GLOBAL, kind="document", **where)
    reranked.retrieve("cat кот", "ann")
    assert set(model.read) == {
        "1 March 2026 Ann: my cat is grey",
        "1 марта 2026 Аня: кот серый",
        "Care › Food: feed the cat",
    }
    assert read_as(document) == "Care › Food: feed the cat"


# nothing found


def test_an_improbable_answer_is_none_and_the_trace_has_what_there_was(
    retriever: Retriever, put: Put
) -> None:
    for i in range(SMALL):
        put(f"the sea was calm on day {i}")
    strict = replace(retriever, relevance=Relevance(least=0.9))
    result = strict.retrieve("what about the tax return of the dog?", "ann")
    assert result.hits == ()
    assert result.confidence is not None
    assert result.confidence < 0.9
    dropped = [drop for drop in result.trace.dropped if drop.why == "irrelevant"]
    assert {drop.detail for drop in dropped} == {f"confidence {result.confidence:.2f} < 0.9"}
    assert len(dropped) == 8
    assert {"lift", "coverage", "known", "best"} <= result.trace.evidence.keys()


class Certain:
    """A reranker that gives every passage the same score."""

    name, max_tokens, call_tokens, remote = "certain", 512, 512, False
    tokenizer: Any = None

    def __init__(self, score: float) -> None:
        self.score = score

    def scores(self, query: str, passages: Sequence[str]) -> Scores:
        return np.full(len(passages), self.score)


@pytest.mark.parametrize(("score", "longest"), [(0.001, 0), (0.001, 60), (0.999, 60)])
def test_only_a_reranker_that_read_the_first_makes_an_answer_less_likely(
    retriever: Retriever, put: Put, score: float, longest: int
) -> None:
    put("the cat is asleep on the sofa in the hall, and so is the other cat of the house")
    for day in range(SMALL):
        put(f"the sea was calm on day {day}, and the cat of the harbour was")
        put(f"calm sea {day}")
    question = "which cats of Brussels like the tax office?" if score > 0.5 else "cat asleep sofa"
    plain = retriever.retrieve(question, "ann").confidence
    stage = RerankStage(lambda: Certain(score), RerankLimits(candidates=30))
    reranking = Reranking(stage, weight=1.0, longest=longest)
    found = replace(retriever, reranking=reranking).retrieve(question, "ann").confidence
    assert plain is not None
    assert found is not None
    if score > 0.5:
        assert found > plain
    elif longest:
        assert found == plain
    else:
        assert found < plain
    stage.close()


def test_a_few_facts_are_shown_however_improbable(retriever: Retriever, put: Put) -> None:
    for i in range(SMALL):
        put(f"the sea was calm on day {i}", GLOBAL)
    fact = put("Ann prefers Thursdays")
    strict = replace(retriever, relevance=Relevance(least=0.99))
    result = strict.retrieve("when should the parcel come?", "ann")
    assert [hit.memory.id for hit in result] == [fact.id]
    assert {drop.scope for drop in result.trace.dropped} == {"global"}


@pytest.mark.parametrize(
    "question", ["what do you know about me?", "что ты обо мне помнишь?", "who am I"]
)
def test_a_question_that_names_nothing_is_never_improbable(
    retriever: Retriever, put: Put, question: str
) -> None:
    for i in range(SMALL):
        put(f"the sea was calm on day {i}")
    result = replace(retriever, relevance=Relevance(least=0.99)).retrieve(question, "ann")
    assert len(result.hits) == 8


def test_a_probable_answer_is_shown_with_its_confidence(retriever: Retriever, put: Put) -> None:
    for text in ("the cat sleeps on the sofa", *(f"sea and tax {i}" for i in range(12))):
        put(text)
    result = replace(retriever, relevance=Relevance(least=0.5)).retrieve("sleeping cat", "ann")
    assert result.hits[0].memory.text == "the cat sleeps on the sofa"
    assert result.confidence is not None
    assert result.confidence >= 0.5


def test_an_empty_memory_has_no_answer(retriever: Retriever) -> None:
    assert retriever.retrieve("cat", "ann").confidence == 0


# neighbours


def talk(put: Put, conversation: str, *texts: str) -> list[Memory]:
    return [
        put(
            text,
            speaker="Ann",
            source_id=f"{conversation}/{i}",
            conversation_id=conversation,
            turn_id=str(i),
            at=NOW - timedelta(minutes=60 - i),
        )
        for i, text in enumerate(texts)
    ]


def test_a_hit_brings_what_was_said_around_it(retriever: Retriever, put: Put) -> None:
    talk(put, "monday", "good morning", "where is the cat", "on the sofa", "thank you")
    talk(put, "tuesday", "the sea is far")
    (hit,) = retriever.retrieve("cat", "ann", k=1, neighbours=True).hits
    assert hit.passage is not None
    assert hit.text == "Ann: good morning\nAnn: where is the cat\nAnn: on the sofa"
    (alone,) = retriever.retrieve("cat", "ann", k=1).hits
    assert (alone.passage, alone.text) == (None, "Ann: where is the cat")


def test_a_hit_within_a_better_ones_passage_is_named_and_dropped(
    retriever: Retriever, put: Put
) -> None:
    first, second, *_ = talk(put, "monday", "cat cat cat", "the cat again")
    result = retriever.retrieve("cat", "ann", neighbours=True)
    (hit,) = result.hits
    assert hit.passage is not None
    assert set(hit.passage.hits) == {first.id, second.id}
    (dropped,) = result.trace.dropped
    assert (dropped.why, dropped.detail) == ("neighbour", hit.memory.id)


def test_neighbours_that_cannot_be_read_leave_the_hits(
    retriever: Retriever, put: Put, store: EdgeStore
) -> None:
    talk(put, "monday", "where is the cat", "on the sofa")

    class Deaf:
        def scroll(self, *_: Any) -> Any:
            raise StoreUnavailable("no answer")

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

    deaf = replace(retriever, store=Deaf())  # type: ignore[arg-type]
    result = deaf.retrieve("cat", "ann", neighbours=True)
    assert result.hits
    assert result.trace.notes == ("no neighbours: no answer",)


def test_a_passage_that_does_not_fit_the_budget_leaves_its_hit(
    retriever: Retriever, put: Put
) -> None:
    talk(put, "monday", "one two three four", "where is the cat", "five six seven eight")
    (alone,) = retriever.retrieve("cat", "ann", budget=6).hits
    tight = retriever.retrieve("cat", "ann", budget=6, neighbours=True)
    assert [hit.text for hit in tight] == [alone.text]
    assert tight.trace.stages[-1].note == "1 without what stands around, for the budget"
    assert retriever.retrieve("cat", "ann", budget=3, neighbours=True).hits == ()


# order


def test_what_is_old_counts_less_where_it_is_said_to(retriever: Retriever, put: Put) -> None:
    old = put("cat", at=NOW - timedelta(days=300))
    new = put("cat and dog", at=NOW)
    assert [h.memory.id for h in retriever.retrieve("cat", "ann")] == [old.id, new.id]
    ageing = replace(retriever, reordering=Reordering({"turn": timedelta(days=30)}))
    result = ageing.retrieve("cat", "ann")
    assert [h.memory.id for h in result] == [new.id, old.id]
    assert "recency" in {stage.name for stage in result.trace.stages}


def test_variety_is_chosen_from_more_than_is_shown(retriever: Retriever, put: Put) -> None:
    for text in ("cat one", "cat two", "cat three"):
        put(text)
    put("cat and sea")
    various = replace(retriever, reordering=Reordering(lambda_=0.1))
    shown = {hit.memory.text for hit in various.retrieve("cat", "ann", k=2)}
    assert "cat and sea" in shown
    assert "cat and sea" not in {h.memory.text for h in retriever.retrieve("cat", "ann", k=2)}
