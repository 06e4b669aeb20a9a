"""Rerankers behind HTTP: the three styles, and all that a server may do wrong."""

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from indexing.errors import ConfigError, ModelError
from retrieval.rerank.endpoint import AT_ONCE, EndpointReranker
from retrieval.rerank.stage import RerankLimits, RerankStage
from retrieval.rerank.types import sigmoid
from tests.endpoint import Answer, Endpoint, serving


def score(text: str) -> float:
    return len(text) / 100


def results(body: dict[str, Any]) -> tuple[int, bytes]:
    rows = [{"index": i, "relevance_score": score(t)} for i, t in enumerate(body["documents"])]
    rows.sort(key=lambda row: -row["relevance_score"])
    return 200, json.dumps({"id": "1", "results": rows, "meta": {}}).encode()


def ranks(body: dict[str, Any]) -> tuple[int, bytes]:
    rows = [{"index": i, "score": score(text)} for i, text in enumerate(body["texts"])]
    return 200, json.dumps(sorted(rows, key=lambda row: -row["score"])).encode()


@pytest.fixture
def server() -> Iterator[Endpoint]:
    with serving(results) as made:
        yield made


def open_at(server: Endpoint, **changes: Any) -> EndpointReranker:
    return EndpointReranker(server.url("/v2/"), **{"model": "m", "backoff": 0.0, **changes})


TEXTS = ["a", "ccc", "bb"]


@pytest.mark.parametrize(
    ("style", "answer", "asked"),
    [
        ("cohere", results, {"model": "m", "query": "q", "documents": TEXTS, "top_n": 3}),
        (
            "jina",
            results,
            {
                "model": "m",
                "query": "q",
                "documents": TEXTS,
                "top_n": 3,
                "return_documents": False,
            },
        ),
        ("tei", ranks, {"query": "q", "texts": TEXTS, "raw_scores": False, "truncate": False}),
    ],
)
def test_each_style_is_asked_as_its_servers_are(
    server: Endpoint, style: str, answer: Answer, asked: dict[str, Any]
) -> None:
    server.answer = answer
    reranker = open_at(server, style=style, api_key="k1")
    assert reranker.scores("q", TEXTS).tolist() == [0.01, 0.03, 0.02]
    assert server.seen == [("/v2/rerank", "Bearer k1", asked)]
    assert reranker.scores("q", []).shape == (0,)
    assert len(server.seen) == 1


def test_many_passages_are_several_requests(server: Endpoint) -> None:
    texts = ["x" * i for i in range(AT_ONCE + 3)]
    assert open_at(server).scores("q", texts).tolist() == [score(text) for text in texts]
    assert [len(body["documents"]) for _, _, body in server.seen] == [AT_ONCE, 3]


def test_logits_become_probabilities_when_it_is_said(server: Endpoint) -> None:
    rows = {"results": [{"index": 0, "relevance_score": -2.5}]}
    server.answer = lambda body: (200, json.dumps(rows).encode())
    with pytest.raises(ModelError, match=r"-2\.5, not 0\.\.1.*rerank\.logits = true"):
        open_at(server).scores("q", ["a"])
    assert open_at(server, logits=True).scores("q", ["a"])[0] == sigmoid([-2.5])[0]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_passes_is_tried_again(server: Endpoint, status: int) -> None:
    states = iter([status, status])

    def answer(body: dict[str, Any]) -> tuple[int, bytes]:
        failed = next(states, None)
        return results(body) if failed is None else (failed, b"busy")

    server.answer = answer
    assert open_at(server).scores("q", ["a"]).tolist() == [0.01]
    assert len(server.seen) == 3


@pytest.mark.parametrize(("status", "tries"), [(500, 3), (429, 3), (401, 1), (413, 1), (422, 1)])
def test_what_does_not_pass_names_its_status(server: Endpoint, status: int, tries: int) -> None:
    server.answer = lambda body: (status, b"secret of a server")
    with pytest.raises(ModelError, match=f"HTTP {status}$") as error:
        open_at(server, api_key="secret-key").scores("тайна", ["секрет"])
    assert len(server.seen) == tries
    for text in ("secret", "тайна", "секрет"):
        assert text not in str(error.value)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (b"<html>", "no JSON"),
        (b"\xff\xfe\xff", "no JSON"),
        (b"[]", "not one of style cohere"),
        (b"{}", "not one of style cohere"),
        (b'{"results": 5}', "not one of style cohere"),
        (b'{"results": [{"index": 0}]}', "not one of style cohere"),
        (b'{"results": [{"relevance_score": 1}]}', "not one of style cohere"),
        (b'{"results": [{"index": 0, "relevance_score": "x"}]}', "not one of style cohere"),
        (b'{"results": []}', "0 scores for 1 passages"),
        (b'{"results": [{"index": 1, "relevance_score": 1}]}', "1 scores for 1 passages"),
        (b'{"results": [{"index": 0, "relevance_score": NaN}]}', "not finite"),
        (b'{"results": [{"index": 0, "relevance_score": 1.5}]}', r"not 0\.\.1"),
    ],
)
def test_a_malformed_answer_is_a_model_error(server: Endpoint, reply: bytes, reason: str) -> None:
    server.answer = lambda body: (200, reply)
    with pytest.raises(ModelError, match=reason):
        open_at(server).scores("q", ["a"])


def test_two_scores_for_one_passage_are_refused(server: Endpoint) -> None:
    row = {"index": 0, "score": 0.5}
    server.answer = lambda body: (200, json.dumps([row, row]).encode())
    with pytest.raises(ModelError, match="2 scores for 2 passages"):
        open_at(server, style="tei").scores("q", ["a", "b"])


def test_a_silent_server_leaves_the_fused_order(server: Endpoint) -> None:
    done = threading.Event()

    def silent(body: dict[str, Any]) -> tuple[int, bytes]:
        done.wait(30)
        return results(body)

    server.answer = silent
    reranker = open_at(server, timeout=0.1, retries=0)
    with pytest.raises(ModelError, match="timed out"):
        reranker.scores("q", ["a"])
    slow = open_at(server, timeout=30)
    stage = RerankStage(lambda: slow, RerankLimits(timeout=0.1))
    found = stage.rerank("q", ["a", "b"])
    assert (found.scores, found.failed) == ((None, None), True)
    assert "RerankTimeout" in found.note
    done.set()
    stage.close()


def test_a_server_that_is_not_there_is_a_model_error() -> None:
    with socket.socket() as taken:  # bound, not listening: a connection is refused
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ModelError, match=r"rerank endpoint: .*refused"):
            EndpointReranker(url, "m", retries=0).scores("q", ["a"])


def test_a_stage_sends_long_passages_in_windows(server: Endpoint) -> None:
    reranker = open_at(server, max_tokens=24)  # 4 special, 1 for "q": 19 tokens, 38 characters
    found = RerankStage(lambda: reranker, RerankLimits(overlap=4)).rerank("q", ["x" * 80, "y" * 9])
    (_, _, body), *rest = server.seen
    assert [len(text) for text in body["documents"]] == [38, 38, 20, 9]
    assert found.scores == (0.38, 0.09)
    assert rest == []


@pytest.mark.parametrize("url", ["", "host/v2", "ftp://host", "http://", "http://x:port"])
def test_an_address_that_is_none_is_a_config_error(url: str) -> None:
    with pytest.raises(ConfigError, match=r"rerank\.url is no URL"):
        EndpointReranker(url, "m")


def test_settings_that_cannot_work_are_config_errors() -> None:
    with pytest.raises(ConfigError, match="needs a model name"):
        EndpointReranker("http://x", "")
    with pytest.raises(ConfigError, match=r"rerank\.api_key") as error:
        EndpointReranker("http://u:hidden@x", "m")
    assert "hidden" not in str(error.value)
    assert EndpointReranker("http://x", "", style="tei").name == "tei:http://x"
