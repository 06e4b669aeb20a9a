from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from indexing.errors import ModelError
from indexing.types import GLOBAL, Memory
from retrieval.rerank.stage import RerankLimits, RerankStage
from retrieval.rerank.types import Scores
from retrieval.retriever import Retriever
from retrieval.stages import Reranking, read_as

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
