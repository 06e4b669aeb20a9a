from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from configs.build import Parts
from configs.rerank_settings import RerankSettings
from configs.settings import Settings
from evals import arms, datasets, product
from evals.datasets import Dataset, Entry
from evals.errors import EvalError, UnknownArm
from indexing.dense import Matrix, PassageTooLong
from indexing.types import GLOBAL, Filter, user_scope

WriteSet = Callable[..., Path]


@pytest.fixture
def parts(settings: Settings, embedder: Any) -> Iterator[Parts]:
    with product.temporary(settings, embedder) as opened:
        yield opened


@pytest.mark.parametrize("rerank", [False, True])
def test_what_is_measured_is_not_reranked_unless_that_is_said(
    settings: Settings, embedder: Any, rerank: bool
) -> None:
    reranked = settings.model_copy(update={"rerank": RerankSettings()})
    with product.temporary(reranked, embedder, rerank) as opened:
        assert (opened.retriever.reranking is not None) == rerank


def answers(parts: Parts, dataset: Dataset, arm: str) -> dict[str, list[str]]:
    if arm in arms.BASELINES:
        return dict(arms.BASELINES[arm](dataset))
    return dict(arms.PRODUCT[arm](parts, dataset))


@pytest.mark.parametrize("arm", arms.ARMS)
def test_every_arm_finds_words_in_both_languages(parts: Parts, library: Path, arm: str) -> None:
    dataset = datasets.load("library", library)
    product.fill(parts, dataset)
    found = answers(parts, dataset, arm)
    assert {query: documents[0] for query, documents in found.items()} == {
        "q1": "ru-orders",
        "q2": "en-invoice",
        "q3": "en-garden",
    }


def test_one_branch_is_asked_alone(parts: Parts, library: Path) -> None:
    dataset = datasets.load("library", library)
    product.fill(parts, dataset)
    assert answers(parts, dataset, "sparse")["q2"] == ["en-invoice"], "no other has the code"
    assert len(answers(parts, dataset, "dense")["q2"]) == 6, "every vector has a cosine"
    hits = product.only(parts.retriever, ("sparse",)).retrieve("BX-4471-A", None).hits
    assert [set(hit.stages) for hit in hits] == [{"sparse"}]


@pytest.mark.parametrize("arm", arms.ARMS)
def test_a_conversation_is_one_user_and_sees_no_other(parts: Parts, chats: Path, arm: str) -> None:
    dataset = datasets.load("chats", chats)
    product.fill(parts, dataset)
    found = answers(parts, dataset, arm)
    assert found["qa"][0] == "a1"
    assert found["qb"][0] == "b1"
    assert set(found["qa"]) | set(found["qc"]) <= {"a1", "a2", "a3"}
    assert set(found["qb"]) <= {"b1", "b2", "b3", "b4"}


def test_turns_go_in_as_the_product_takes_them(parts: Parts, chats: Path) -> None:
    product.fill(parts, datasets.load("chats", chats))
    stored = {m.turn_id: m for m in parts.index.store.scroll("user", Filter(user_scope("a")))}
    assert (stored["a2"].kind, stored["a2"].speaker) == ("turn", "Bob")
    assert stored["a2"].before == "Ann: The locker code is 4417."
    assert (stored["a3"].before, stored["a3"].text) == ("", "Look at this! [photo: a red bicycle]")
    assert parts.index.store.count("global", Filter(GLOBAL)) == 0


def test_a_document_of_a_conversation_is_its_users(parts: Parts) -> None:
    entries = [Entry("1", "note", extra={"conv": "a"}), Entry("2", "note"), Entry("3", "  ")]
    dataset = Dataset("d", "d", {entry.id: entry for entry in entries}, {}, {})
    product.fill(parts, dataset)
    store = parts.index.store
    assert [m.source_id for m in store.scroll("user", Filter(user_scope("a")))] == ["1"]
    assert [m.source_id for m in store.scroll("global", Filter(GLOBAL))] == ["2"]


def test_a_document_of_many_chunks_counts_once_and_others_still_fill_the_list(
    parts: Parts, write_set: WriteSet
) -> None:
    long = " ".join(f"The harbour opens at hour {number}." for number in range(2_000))
    documents = {"long": long} | {f"d{n}": f"Harbour note {n}." for n in range(30)}
    folder = write_set("harbour", documents, {"q": "harbour"}, {"q": {"long": 1}})
    product.fill(parts, datasets.load("harbour", folder.parent))
    assert parts.index.store.count("global", Filter(GLOBAL)) > 31 + 20
    found = product.top(parts.retriever, "harbour", None, 20)
    assert len(found) == len(set(found)) == 20
    everything = product.top(parts.retriever, "harbour", None, 50)
    assert set(everything) == documents.keys()


def test_an_unknown_arm_lists_the_arms() -> None:
    with pytest.raises(UnknownArm, match="'magic'; the arms are bm25, sparse, dense, hybrid"):
        arms.check(["hybrid", "magic"])


class Refusing:
    """An embedder that finds every passage too long."""

    def __init__(self, inner: Any) -> None:
        self.name, self.dim, self.query = inner.name, inner.dim, inner.query
        self.max_tokens, self.tokenizer = inner.max_tokens, inner.tokenizer

    def passages(self, texts: Sequence[str]) -> Matrix:
        raise PassageTooLong("a passage of 999 tokens")


@pytest.mark.parametrize("name", ["library", "chats"])
def test_a_document_that_the_product_refuses_ends_the_run(
    settings: Settings, embedder: Any, library: Path, chats: Path, name: str
) -> None:
    dataset = datasets.load(name, library)
    with (
        product.temporary(settings, Refusing(embedder)) as parts,
        pytest.raises(EvalError, match=r"the product refused .*999 tokens"),
    ):
        product.fill(parts, dataset)
