"""Embedders on tiny real models made here: ONNX, fastembed, sentence-transformers, an endpoint."""

import importlib.util
import json
import logging
import socket
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper
from tokenizers import Tokenizer

from configs.embedders import EMBEDDERS
from configs.text_settings import EmbedderSettings
from indexing.dense import (
    E5,
    Embedder,
    FunctionEmbedder,
    PassageTooLong,
    Prefixes,
    normalize,
    own_tokens,
    prefixes_for,
    token_embedder,
)
from indexing.errors import ConfigError, InvalidInput, MissingExtra, ModelError
from indexing.onnx import SPECIAL_TOKENS, OnnxEmbedder
from indexing.onnx_model import batches_by_length
from indexing.vendors import (
    endpoint_embedder,
    fastembed_embedder,
    sentence_transformers_embedder,
)
from tests.endpoint import Endpoint, serving
from tests.tiny_models import SPECIAL, save_bert, save_onnx, word_level

WORDS = [*SPECIAL, "query", "passage", ":", "кот", "пёс", "cat", "dog", "dim"]
DIM = 8
ONE = Prefixes()


def tokenizer() -> Tokenizer:
    return word_level(WORDS)


def table() -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(7).normal(size=(len(WORDS), DIM)).astype(np.float32)


def write_model(folder: Path, *, pooled: bool = False, types: bool = False) -> None:
    """Write a model whose token vectors are rows of a table; ``pooled`` gives one vector a text."""
    names = ["input_ids", "attention_mask"] + ["token_type_ids"] * types
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["rows"])]
    if pooled:
        nodes.append(helper.make_node("ReduceMean", ["rows"], ["out"], axes=[1], keepdims=0))
    else:
        nodes.append(helper.make_node("Identity", ["rows"], ["out"]))
    save_onnx(folder, nodes, {"table": table()}, "out", names)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "tiny"
    made.mkdir()
    write_model(made)
    tokenizer().save(str(made / "tokenizer.json"))
    (made / "config.json").write_text(json.dumps({"hidden_size": DIM}))
    return made


def mean_of(text: str) -> list[float]:
    """Pool by hand what `OnnxEmbedder` should answer."""
    rows = table()[tokenizer().encode(text).ids]
    mean = rows.mean(0)
    return (mean / np.linalg.norm(mean)).tolist()  # type: ignore[no-any-return]


# batches


def test_batches_spell_out() -> None:
    assert batches_by_length([2, 2, 3, 9], budget=9) == [range(3), range(3, 4)]
    assert batches_by_length([], budget=9) == []


@given(st.lists(st.integers(1, 600), max_size=60).map(sorted), st.integers(1, 4096))
def test_batches_cover_all_and_keep_the_budget(lengths: list[int], budget: int) -> None:
    runs = batches_by_length(lengths, budget)
    assert [i for run in runs for i in run] == list(range(len(lengths)))
    assert all(len(run) == 1 or len(run) * lengths[run[-1]] <= budget for run in runs)
    for run, following in pairwise(runs):
        assert (len(run) + 1) * lengths[following[0]] > budget


def test_normalize_leaves_a_zero_row() -> None:
    rows = normalize(np.array([[3, 4], [0, 0]], np.float32))
    assert rows.tolist() == [[pytest.approx(0.6), pytest.approx(0.8)], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("intfloat/multilingual-E5-small", E5), ("e5", E5), ("BAAI/bge-small-en", ONE), ("", ONE)],
)
def test_only_e5_gets_prefixes(name: str, expected: Prefixes) -> None:
    assert prefixes_for(name) == expected


# onnx


def test_pooling_ignores_padding_and_order_is_kept(folder: Path) -> None:
    embedder = OnnxEmbedder(folder, batch_tokens=12)
    texts = ["кот пёс cat dog кот", "cat", "dog кот", "cat", "", "пёс " * 40]
    rows = embedder.passages(texts)
    assert rows.shape == (len(texts), DIM) == (6, embedder.dim)
    assert rows.dtype == np.float32
    for row, text in zip(rows, texts, strict=True):
        assert row.tolist() == pytest.approx(mean_of(text), abs=1e-5)
    assert embedder.passages([]).shape == (0, DIM)


def test_prefixes_go_in_front(folder: Path) -> None:
    embedder = OnnxEmbedder(folder, name="tiny-e5")
    assert embedder.passages(["кот"])[0].tolist() == pytest.approx(
        mean_of("passage: кот"), abs=1e-5
    )
    assert embedder.query("кот")[0].tolist() == pytest.approx(mean_of("query: кот"), abs=1e-5)
    assert embedder.max_tokens == 512 - SPECIAL_TOKENS - 2


def test_a_passage_fits_to_the_last_token_and_is_never_cut(folder: Path) -> None:
    embedder = OnnxEmbedder(folder, name="tiny-e5")
    assert embedder.passages(["кот " * embedder.max_tokens]).shape == (1, DIM)
    secret = "кот " * embedder.max_tokens + "dog"
    with pytest.raises(PassageTooLong, match=r"513 tokens is over the 512 .* chunking\.size") as e:
        embedder.passages(["cat", secret])
    assert "кот" not in str(e.value)
    assert "dog" not in str(e.value)
    assert isinstance(e.value, InvalidInput)
    with pytest.raises(PassageTooLong):
        embedder.tokens([secret])


def test_a_long_query_is_cut_with_a_warning(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    embedder = OnnxEmbedder(folder)
    with caplog.at_level(logging.WARNING):
        cut = embedder.query("кот " * 600)
    assert [record.getMessage() for record in caplog.records] == ["query of 602 tokens cut to 512"]
    assert cut[0].tolist() == pytest.approx(mean_of("кот " * 510), abs=1e-5)


def test_a_query_that_fits_is_no_warning(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    OnnxEmbedder(folder).query("кот " * 510)
    assert not caplog.records


def test_tokens_are_the_vectors_before_pooling_with_their_places(folder: Path) -> None:
    found = OnnxEmbedder(folder).tokens(["кот dog", " cat"])
    assert [read.vectors.tolist() for read in found] == [
        table()[[7, 10]].tolist(),
        table()[[9]].tolist(),
    ]
    assert [read.spans.tolist() for read in found] == [[[0, 3], [4, 7]], [[1, 4]]]


def test_a_prefix_is_read_but_is_no_token_of_the_text(folder: Path) -> None:
    (found,) = OnnxEmbedder(folder, prefixes=E5).tokens(["кот"])
    assert (found.spans.tolist(), len(found.vectors)) == ([[0, 3]], 1)
    assert OnnxEmbedder(folder).tokens([]) == []


def test_tokens_in_batches_are_those_of_each_text_alone(folder: Path) -> None:
    embedder = OnnxEmbedder(folder, batch_tokens=16)
    texts = ["кот " * count for count in (3, 1, 5, 2, 9)]
    for read, text in zip(embedder.tokens(texts), texts, strict=True):
        (alone,) = embedder.tokens([text])
        np.testing.assert_array_equal(read.vectors, alone.vectors)
        np.testing.assert_array_equal(read.spans, alone.spans)


def test_a_passage_over_the_limit_has_no_tokens(folder: Path) -> None:
    embedder = OnnxEmbedder(folder)
    with pytest.raises(PassageTooLong):
        embedder.tokens(["кот " * (embedder.max_tokens + 1)])
    assert len(embedder.tokens(["кот " * embedder.max_tokens])[0].vectors) == embedder.max_tokens


def test_a_longer_limit_is_a_setting(folder: Path) -> None:
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": 8192}))
    settings = EmbedderSettings(kind="onnx", folder=folder, max_length=1024)
    embedder = EMBEDDERS["onnx"](settings, folder, None)
    assert embedder.max_tokens == 1024 - SPECIAL_TOKENS


def check_tokens(embedder: Embedder) -> None:
    """Tokens pool to what the model answers, but for prefix and special tokens."""
    (found,) = token_embedder(embedder).tokens(["dog кот"])
    assert found.spans.tolist() == [[0, 3], [4, 7]]
    assert found.vectors.shape == (2, embedder.dim)
    assert np.abs(found.vectors[0] - found.vectors[1]).max() > 1e-3
    with pytest.raises(PassageTooLong):
        token_embedder(embedder).tokens(["кот " * (embedder.max_tokens + 1)])


def test_an_answer_of_other_tokens_is_a_model_error() -> None:
    read = tokenizer().encode("кот dog")
    with pytest.raises(ModelError, match=r"answered \(3, 8\) for 4 tokens"):
        own_tokens(read, np.ones((3, DIM)), "")


def test_an_embedder_without_token_vectors_is_refused_for_late_chunking() -> None:
    with pytest.raises(ConfigError, match="late chunking needs token vectors, which f does not"):
        token_embedder(FunctionEmbedder(lambda texts: [[1.0]] * len(texts), "f"))


@pytest.mark.parametrize(("stated", "limit"), [(16, 16), (4096, 512), (None, 512), ("x", 512)])
def test_the_config_says_how_much_the_model_reads(folder: Path, stated: Any, limit: int) -> None:
    (folder / "config.json").write_text(json.dumps({"max_position_embeddings": stated}))
    embedder = OnnxEmbedder(folder)
    assert embedder.max_tokens == limit - SPECIAL_TOKENS
    with pytest.raises(PassageTooLong):
        embedder.passages(["кот " * (embedder.max_tokens + 1)])


def test_no_config_is_fine(folder: Path) -> None:
    (folder / "config.json").unlink()
    assert OnnxEmbedder(folder).max_tokens == 510


def test_a_model_with_token_types(folder: Path) -> None:
    write_model(folder, types=True)
    assert OnnxEmbedder(folder).query("кот")[0].tolist() == pytest.approx(mean_of("кот"), abs=1e-5)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"has no {name}"):
        OnnxEmbedder(folder)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
@pytest.mark.parametrize("junk", [b"", b"\x00\xff junk", b"[1, 2]"])
def test_a_corrupt_file_is_a_model_error(folder: Path, name: str, junk: bytes) -> None:
    (folder / name).write_bytes(junk)
    with pytest.raises(ModelError):
        OnnxEmbedder(folder)


def test_a_model_without_token_vectors_is_refused(folder: Path) -> None:
    write_model(folder, pooled=True)
    with pytest.raises(ModelError, match=r"shape \(1, 8\), not one vector a token"):
        OnnxEmbedder(folder)


def test_a_tokenizer_of_another_model_is_a_model_error(folder: Path) -> None:
    alien = tokenizer()
    alien.add_tokens(["кит"])  # the id behind the last row
    alien.save(str(folder / "tokenizer.json"))
    embedder = OnnxEmbedder(folder)
    with pytest.raises(ModelError, match="the model tiny failed"):
        embedder.passages(["кит"])


def test_threads_share_an_embedder(folder: Path) -> None:
    embedder = OnnxEmbedder(folder)
    texts = ["кот", "пёс cat", "dog " * 30]
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(embedder.passages(texts))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [rows.tolist() for rows in found] == [embedder.passages(texts).tolist()] * 4


def test_the_settings_open_a_local_folder(folder: Path, tmp_path: Path) -> None:
    chosen = EmbedderSettings(kind="onnx", folder=folder, query_prefix="dog ")
    embedder = EMBEDDERS["onnx"](chosen, tmp_path, None)
    assert embedder.name == "tiny"
    assert embedder.query("кот")[0].tolist() == pytest.approx(mean_of("dog кот"), abs=1e-5)
    assert embedder.passages(["кот"])[0].tolist() == pytest.approx(mean_of("кот"), abs=1e-5)


# any function


def letters(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def test_a_function_becomes_an_embedder() -> None:
    embedder = FunctionEmbedder(letters, "some-e5", limit=20, count=len)
    assert (embedder.dim, embedder.max_tokens) == (2, 20 - len("passage: "))
    (row,) = embedder.passages(["abc"])
    assert row.tolist() == pytest.approx([12 / 145**0.5, 1 / 145**0.5])
    assert embedder.query("abc").shape == (1, 2)
    assert embedder.passages([]).shape == (0, 2)


def test_a_function_with_a_counter_never_cuts_silently(caplog: pytest.LogCaptureFixture) -> None:
    embedder = FunctionEmbedder(letters, "some-e5", limit=20, count=len)
    embedder.passages(["x" * embedder.max_tokens])
    with pytest.raises(PassageTooLong, match="21 tokens is over the 20") as error:
        embedder.passages(["x" * (embedder.max_tokens + 1)])
    assert "xx" not in str(error.value)
    assert not caplog.records
    embedder.query("x" * 20)
    assert [r.getMessage() for r in caplog.records] == [
        "query of 27 tokens: the model reads the first 20"
    ]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda texts: [[1.0, 2.0]] * (len(texts) + 1), "answered"),
        (lambda texts: [1.0 for _ in texts], "answered"),
        (lambda texts: [[1.0, float("nan")] for _ in texts], "not finite"),
        (lambda texts: [[1.0, float("inf")] for _ in texts], "not finite"),
        (lambda texts: [[1.0] * (i + 1) for i in range(len(texts) + 1)], "of one length"),
        (lambda texts: [["a"] for _ in texts], "of one length"),
        (lambda texts: None, "answered"),
    ],
)
def test_a_wrong_answer_is_a_model_error(answer: Callable[..., Any], reason: str) -> None:
    with pytest.raises(ModelError, match=reason):
        FunctionEmbedder(answer, "odd")


def test_a_dimension_that_changes_is_a_model_error() -> None:
    embedder = FunctionEmbedder(lambda texts: [[1.0] * len(texts)] * len(texts), "odd")
    assert embedder.query("one").shape == (1, 1)
    with pytest.raises(ModelError, match=r"answered \(2, 2\) for 2 texts"):
        embedder.passages(["one", "two"])


# optional packages: what is asserted depends on what is installed, and is never nothing


def test_fastembed_reads_a_local_folder_offline(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"model_max_length": 16, "pad_token": "<pad>"})
    )
    embedder = fastembed_embedder("letopis-test/tiny-e5", threads=1, folder=folder)
    check_prefixed(embedder)
    check_tokens(embedder)
    (found,) = token_embedder(embedder).tokens(["dog кот"])
    np.testing.assert_allclose(found.vectors, table()[[10, 7]], atol=1e-6)
    assert embedder.max_tokens == 16 - SPECIAL_TOKENS - 2
    embedder.passages(["кот " * embedder.max_tokens])
    with pytest.raises(PassageTooLong, match="17 tokens is over the 16"):
        embedder.passages(["кот " * (embedder.max_tokens + 1)])


def check_prefixed(embedder: Embedder) -> None:
    rows = embedder.passages(["кот", "dog кот cat"])
    assert rows[0].tolist() == pytest.approx(mean_of("passage: кот"), abs=1e-3)
    assert rows[1].tolist() == pytest.approx(mean_of("passage: dog кот cat"), abs=1e-3)
    assert embedder.query("кот")[0].tolist() == pytest.approx(mean_of("query: кот"), abs=1e-3)


def test_fastembed_names_what_it_cannot_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=r"letopis-test/none"):
        fastembed_embedder("letopis-test/none")
    with pytest.raises(ModelError, match="hidden_size"):
        fastembed_embedder("letopis-test/empty", folder=tmp_path)


def test_sentence_transformers_reads_a_local_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    place = tmp_path / "tiny-e5"
    if importlib.util.find_spec("sentence_transformers") is None:
        with pytest.raises(MissingExtra, match=r"pip install 'letopis\[sentence-transformers\]'"):
            sentence_transformers_embedder(str(place))
        return
    save_bert(place, WORDS, max_tokens=16)  # sentence-transformers adds mean pooling by itself
    embedder = sentence_transformers_embedder(str(place), E5)
    rows = embedder.passages(["кот", "dog кот cat", "кот"])
    assert rows.shape == (3, 8) == (3, embedder.dim)
    assert rows[0].tolist() == pytest.approx(rows[2].tolist(), abs=1e-6)
    assert np.linalg.norm(rows, axis=1).tolist() == pytest.approx([1, 1, 1], abs=1e-5)
    assert embedder.query("кот")[0].tolist() != pytest.approx(rows[0].tolist(), abs=1e-3)
    check_tokens(embedder)
    assert embedder.max_tokens == 16 - SPECIAL_TOKENS - 2
    embedder.passages(["кот " * embedder.max_tokens])
    with pytest.raises(PassageTooLong, match="17 tokens is over the 16"):
        embedder.passages(["кот " * (embedder.max_tokens + 1)])


# an endpoint

Answer = Callable[[list[str]], tuple[int, bytes]]
"""Texts that are to be embedded -> status and body."""


def reply(texts: list[str], **changes: Any) -> tuple[int, bytes]:
    rows = [{"index": i, "embedding": row} for i, row in enumerate(letters(texts))]
    return 200, json.dumps({"data": rows[::-1], **changes}).encode()


def to_texts(answer: Answer) -> Callable[[Any], tuple[int, bytes]]:
    return lambda body: answer(body["input"])


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with serving(to_texts(reply)) as server:
        yield server


def url_of(server: Endpoint) -> str:
    return server.url("/v1/")


def test_an_endpoint_is_asked_as_openai_is(endpoint: Endpoint) -> None:
    embedder = endpoint_embedder(url_of(endpoint), "some-e5", api_key="k1")
    rows = embedder.passages(["a", "bbb", "cc"])
    assert rows.tolist() == normalize(np.array([[10, 1], [12, 1], [11, 1]], np.float32)).tolist()
    path, key, body = endpoint.seen[-1]
    assert (path, key) == ("/v1/embeddings", "Bearer k1")
    assert body == {"model": "some-e5", "input": ["passage: a", "passage: bbb", "passage: cc"]}
    embedder.query("q")
    assert endpoint.seen[-1][2]["input"] == ["query: q"]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (lambda texts: (500, b"boom"), "500"),
        (lambda texts: (401, b"{}"), "401"),
        (lambda texts: (200, b"<html>"), "sent no embeddings"),
        (lambda texts: (200, b"[]"), "sent no embeddings"),
        (lambda texts: (200, b"{}"), "sent no embeddings"),
        (lambda texts: (200, b"\xff\xfe\xff"), "sent no embeddings"),
        (lambda texts: reply(texts, data=[{"index": 0}]), "sent no embeddings"),
        (lambda texts: reply(texts, data=[{"embedding": [1]}]), "sent no embeddings"),
        (lambda texts: reply(texts, data=[]), "answered"),
        (lambda texts: reply(texts, data=[{"index": 0, "embedding": "x"}]), "of one length"),
        (lambda texts: reply(texts, data=[{"index": 0, "embedding": [float("nan")]}]), "finite"),
    ],
)
def test_a_bad_answer_names_the_endpoint(endpoint: Endpoint, answer: Answer, reason: str) -> None:
    endpoint.answer = to_texts(answer)
    with pytest.raises(ModelError, match=reason) as error:
        endpoint_embedder(url_of(endpoint), "m", api_key="secret-key")
    assert "secret-key" not in str(error.value)


def test_an_endpoint_that_fails_later_is_a_model_error(endpoint: Endpoint) -> None:
    embedder = endpoint_embedder(url_of(endpoint), "m")
    endpoint.answer = lambda body: (503, b"")
    with pytest.raises(ModelError, match="503") as error:
        embedder.passages(["тайна"])
    assert "тайна" not in str(error.value)


def test_an_endpoint_that_is_silent_times_out(endpoint: Endpoint) -> None:
    done = threading.Event()

    def silent(texts: list[str]) -> tuple[int, bytes]:
        done.wait(10)
        return reply(texts)

    endpoint.answer = to_texts(silent)
    with pytest.raises(ModelError, match="timed out"):
        endpoint_embedder(url_of(endpoint), "m", timeout=0.1)
    done.set()


def test_an_endpoint_that_is_not_there_is_a_model_error() -> None:
    with socket.socket() as taken:  # bound, not listening: a connection is refused
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ModelError, match=url):
            endpoint_embedder(url, "m")


@pytest.mark.parametrize(("url", "model"), [("http://x", ""), ("http://x:port", "m")])
def test_a_setting_that_cannot_work_is_a_config_error(url: str, model: str) -> None:
    with pytest.raises(ConfigError, match=r"embedder\.(model|url)"):
        endpoint_embedder(url, model)
