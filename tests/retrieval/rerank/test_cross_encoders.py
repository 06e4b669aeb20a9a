"""Cross-encoders on this machine: ONNX, fastembed, sentence-transformers, on tiny models."""

import importlib.util
import json
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.errors import MissingExtra, ModelError
from retrieval.rerank.cross_encoder import CrossEncoder
from retrieval.rerank.onnx import onnx_reranker
from retrieval.rerank.types import PairTooLong, Reranker, probabilities, sigmoid
from retrieval.rerank.vendors import fastembed_reranker, sentence_transformers_reranker
from tests.retrieval.rerank.conftest import WORDS, by_hand, tokenizer, write_model
from tests.tiny_models import save_bert

QUERY = "question dog ?"
PASSAGES = ["кот", "cat dog answer", "", "пёс " * 20, "dog", "dog"]


def check(reranker: Reranker) -> None:
    scores = reranker.scores(QUERY, PASSAGES)
    assert scores.tolist() == pytest.approx([by_hand(QUERY, p) for p in PASSAGES], abs=1e-5)
    assert reranker.scores(QUERY, []).shape == (0,)
    with pytest.raises(PairTooLong, match="33 tokens are over the 32"):
        reranker.scores(QUERY, ["кот " * 27])
    reranker.scores(QUERY, ["кот " * 26])


def test_a_folder_scores_pairs(folder: Path) -> None:
    reranker = onnx_reranker(folder, threads=1)
    check(reranker)
    assert (reranker.name, reranker.max_tokens) == ("tiny", 32)


def test_padded_batches_give_the_scores_of_single_calls(folder: Path) -> None:
    reranker = onnx_reranker(folder, threads=1, batch_tokens=64)

    @given(st.lists(st.lists(st.sampled_from(["кот", "dog", "?", "x"]), max_size=24).map(" ".join)))
    def same(passages: list[str]) -> None:
        together = reranker.scores("dog", passages)
        alone = [reranker.scores("dog", [passage])[0] for passage in passages]
        np.testing.assert_allclose(together, alone, atol=1e-4)
        assert ((together >= 0) & (together <= 1)).all()

    same()


def test_a_model_with_token_types(folder: Path) -> None:
    write_model(folder, types=True)
    check(onnx_reranker(folder))


def test_the_setting_may_be_less_than_the_model(folder: Path) -> None:
    assert onnx_reranker(folder, max_length=16).max_tokens == 16
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 3}))
    reranker = onnx_reranker(folder, "named", max_length=64)
    assert (reranker.name, reranker.max_tokens) == ("named", 64)
    assert reranker.scores("dog", ["кот", "cat cat"])[0] == pytest.approx(by_hand("dog", "кот"))


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"has no {name}"):
        onnx_reranker(folder)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_corrupt_file_is_a_model_error(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"\x00\xff junk")
    with pytest.raises(ModelError):
        onnx_reranker(folder)


def test_a_model_of_another_kind_is_refused_when_it_is_loaded(folder: Path) -> None:
    write_model(folder, labels=2)
    with pytest.raises(ModelError, match=r"tiny answered \(1, 2\) for 1 passages"):
        onnx_reranker(folder)
    write_model(folder, extra=("pixel_values",))
    with pytest.raises(ModelError, match="wants pixel_values"):
        onnx_reranker(folder)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([1.0, 2.0], r"answered \(2,\) for 1"),
        ([[float("nan")]], "not finite"),
        (["x"], "no numbers"),
        (None, "answered"),
    ],
)
def test_a_wrong_answer_is_a_model_error(answer: Any, reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        CrossEncoder(lambda pairs, read: answer, "odd", tokenizer(), 32)


def test_what_a_model_says_of_its_failure_is_not_repeated() -> None:
    def run(pairs: Sequence[Any], read: Sequence[Any]) -> Any:
        if pairs[0][1] == "answer":
            return [0.0]
        raise RuntimeError(f"cannot read {pairs}")

    reranker = CrossEncoder(run, "odd", tokenizer(), 32)
    with pytest.raises(ModelError, match=r"the reranker odd failed: RuntimeError$"):
        reranker.scores("q", ["тайна"])


def test_a_probability_is_checked() -> None:
    assert sigmoid([0.0, 2.0]).tolist() == pytest.approx([0.5, 1 / (1 + np.exp(-2))])
    with pytest.raises(ModelError, match=r"answered -7\.5, not 0\.\.1.*rerank\.logits"):
        probabilities("m", np.array([0.5, -7.5, 1.5]))


def test_threads_share_a_reranker(folder: Path) -> None:
    reranker = onnx_reranker(folder, threads=1)
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(reranker.scores(QUERY, PASSAGES).tolist()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [reranker.scores(QUERY, PASSAGES).tolist()] * 4


# optional packages: what is asserted depends on what is installed, and is never nothing


def test_fastembed_reads_a_local_folder_offline(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 32, "pad_token": "<pad>"})
    )
    check(fastembed_reranker("letopis-test/tiny-reranker", threads=1, folder=folder))
    check(fastembed_reranker("letopis-test/tiny-reranker", threads=1, folder=folder))


def test_fastembed_names_what_it_cannot_load(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match="letopis-test/none"):
        fastembed_reranker("letopis-test/none")


def test_sentence_transformers_reads_a_local_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    place = tmp_path / "tiny"
    if importlib.util.find_spec("sentence_transformers") is None:
        with pytest.raises(MissingExtra, match=r"pip install 'letopis\[sentence-transformers\]'"):
            sentence_transformers_reranker(str(place))
        return
    save_bert(place, WORDS, max_tokens=32, labels=1, initializer_range=2.0)
    reranker = sentence_transformers_reranker(str(place))
    assert reranker.max_tokens == 32
    passages = ["кот", "cat dog answer", "пёс " * 20, "кот"]
    scores = reranker.scores(QUERY, passages)
    alone = [reranker.scores(QUERY, [passage])[0] for passage in passages]
    assert scores.tolist() == pytest.approx(alone, abs=1e-4)
    assert scores[0] == pytest.approx(scores[3], abs=1e-6)
    assert len(set(scores.round(6))) == 3
    assert ((scores > 0) & (scores < 1)).all()
    assert scores[0] == pytest.approx(bert_by_hand(place, passages[0]), abs=1e-5)
    with pytest.raises(PairTooLong):
        reranker.scores(QUERY, ["кот " * 27])


def bert_by_hand(place: Path, passage: str) -> float:
    import torch
    from transformers import BertForSequenceClassification

    read = tokenizer().encode(QUERY, passage)
    model = BertForSequenceClassification.from_pretrained(place).eval()
    with torch.no_grad():
        out = model(torch.tensor([read.ids]), token_type_ids=torch.tensor([read.type_ids]))
    return float(sigmoid([out.logits.item()])[0])
