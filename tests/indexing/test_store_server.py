"""The server adapter behind REST: what it sends, what it tries again, and how it fails."""

import inspect
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import httpx
import numpy as np
import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st
from qdrant_client import models

from indexing.errors import (
    ConfigError,
    LetopisError,
    SchemaMismatch,
    StoreError,
    StoreUnavailable,
)
from indexing.retries import PASSING
from indexing.server import ServerStore, connect
from indexing.server_options import ServerOptions
from indexing.server_schema import FINGERPRINT, INDEXES
from indexing.store import VectorStore
from indexing.types import Branch, Filter, Point, SparseVector, VectorNames, user_scope
from tests.indexing.rest import ROUTES, RestServer, Route, SchemaError, check_body, rest_server

PointMaker = Callable[..., Point]

URL = "http://qdrant.example:6333"
NAMES = VectorNames({"dense": 4}, ("sparse",))
ANN = Filter(user_scope("ann"))
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
X = np.array([1, 0, 0, 0], dtype=np.float32)
NEAR = Branch("dense", X, 5)
WORDS = Branch("sparse", SparseVector((1,), (1.0,)), 5)
QUICK = ServerOptions(backoff=0, retries=3)


@pytest.fixture
def server() -> Iterator[RestServer]:
    with rest_server() as opened:
        yield opened


@pytest.fixture
def store(server: RestServer) -> Iterator[ServerStore]:
    opened = connect(URL, QUICK, server)
    opened.open_collection("user", NAMES)
    server.requests.clear()
    server.bodies.clear()
    yield opened
    opened.close()


def sent(server: RestServer) -> list[str]:
    return [operation for operation, _ in server.bodies]


# every operation

CREATING = [
    "GET /",
    "GET /collections/{}/exists",
    "PUT /collections/{}",
    "GET /collections/{}",
    *["PUT /collections/{}/index"] * len(INDEXES),
]
CLAIMING = [
    "GET /",
    "GET /collections/{}/exists",
    "GET /collections/{}",
    *["PUT /collections/{}/index"] * len(INDEXES),
    "PATCH /collections/{}",
    "GET /collections/{}",
]
COUNT, DELETE = "POST /collections/{}/points/count", "POST /collections/{}/points/delete"
SCROLL, UPSERT = "POST /collections/{}/points/scroll", "PUT /collections/{}/points"
QUERY = "POST /collections/{}/points/query/batch"
DELETING = [COUNT, DELETE, COUNT]

FULL = Filter(
    user_scope("ann"), NOW, ("turn",), ("s",), ("0" * 8 + "-0000" * 3 + "-" + "0" * 12,), ("ru",)
)

Call = Callable[[ServerStore, PointMaker], object]
CALLS: dict[str, list[tuple[Call, list[str]]]] = {
    "open_collection": [
        (lambda s, p: s.open_collection("session", NAMES, "built so"), CREATING),
        (lambda s, p: s.open_collection("user", NAMES, "built so"), CLAIMING),
    ],
    "upsert": [(lambda s, p: s.upsert("user", [p("a", terms=(1,)), p("b")]), [UPSERT])],
    "search": [
        (lambda s, p: s.search("user", [NEAR, WORDS], ANN), [QUERY]),
        (lambda s, p: s.search("user", [NEAR, WORDS], FULL), [QUERY]),
    ],
    "get": [(lambda s, p: s.get("user", FULL, 3), [SCROLL])],
    "scroll": [(lambda s, p: list(s.scroll("user", FULL)), [SCROLL])],
    "vectors": [(lambda s, p: s.vectors("user", FULL), [SCROLL])],
    "count": [(lambda s, p: s.count("user", FULL), [COUNT])],
    "delete": [(lambda s, p: s.delete("user", ANN), DELETING)],
    "everything": [(lambda s, p: list(s.everything("user")), [SCROLL])],
    "expired": [(lambda s, p: list(s.expired("user", NOW)), [SCROLL])],
    "lapsed": [(lambda s, p: list(s.lapsed("user", NOW)), [SCROLL])],
    "drop": [
        (
            lambda s, p: s.drop("user"),
            ["GET /collections/{}/exists", "DELETE /collections/{}"],
        ),
        (lambda s, p: s.drop("session"), ["GET /collections/{}/exists"]),
    ],
    "vacuum": [(lambda s, p: s.vacuum("user"), ["PATCH /collections/{}"])],
    "close": [(lambda s, p: s.close(), [])],
}


def public(kind: type) -> set[str]:
    members = inspect.getmembers(kind, inspect.isfunction)
    return {name for name, _ in members if not name.startswith("_")}


def test_every_operation_is_listed() -> None:
    assert set(CALLS) == public(VectorStore) == public(ServerStore)
    listed = {operation for calls in CALLS.values() for _, each in calls for operation in each}
    assert listed == set(ROUTES)


@pytest.mark.parametrize(
    ("call", "expected"), [pytest.param(*c, id=name) for name, cs in CALLS.items() for c in cs]
)
def test_every_operation_sends_what_the_schema_allows(
    store: ServerStore, server: RestServer, point: PointMaker, call: Call, expected: list[str]
) -> None:
    store.upsert("user", [point("old", terms=(1,), expires_at=NOW, lang="ru")])
    server.bodies.clear()
    call(store, point)
    assert sent(server) == expected


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("PUT /collections/{}", '{"vectors": {}, "shards": 2}'),
        ("PUT /collections/{}", '{"vectors": {"d": {"size": 4, "distance": "Cosine", "m": 1}}}'),
        ("PUT /collections/{}/points", '{"points": [{"id": 1, "vector": [1.0], "text": "x"}]}'),
        ("POST /collections/{}/points/count", '{"filter": {"must": [{"key": "a", "equals": 1}]}}'),
        ("POST /collections/{}/points/scroll", '{"limit": "ten"}'),
        ("GET /collections/{}", "{}"),
    ],
)
def test_the_check_refuses_what_the_schema_does_not_have(operation: str, body: str) -> None:
    with pytest.raises((SchemaError, ValueError)):
        check_body(operation, ROUTES[operation], body.encode())


def test_the_check_passes_what_it_has() -> None:
    route = Route(models.CountRequest, frozenset(), lambda client, name, body: None)
    body = '{"filter": {"must": [{"key": "a", "match": {"value": 1}}]}, "exact": true}'
    assert check_body("count", route, body.encode()).exact is True


# how collections are made


def created(server: RestServer) -> dict[str, Any]:
    (body,) = [body for operation, body in server.bodies if operation == "PUT /collections/{}"]
    assert isinstance(body, dict)
    return body


def test_the_usual_layout(server: RestServer) -> None:
    connect(URL, QUICK, server).open_collection("user", NAMES, "built so")
    assert created(server) == {
        "vectors": {"dense": {"size": 4, "distance": "Cosine", "on_disk": False}},
        "sparse_vectors": {"sparse": {"index": {"on_disk": False}, "modifier": "idf"}},
        "on_disk_payload": True,
        "hnsw_config": {"m": 0, "payload_m": 16, "on_disk": False},
        "metadata": {FINGERPRINT: "built so"},
    }
    indexes = [b for operation, b in server.bodies if operation == "PUT /collections/{}/index"]
    assert indexes[0] == {
        "field_name": "tenant",
        "field_schema": {"type": "keyword", "is_tenant": True},
    }
    keyword, number = (
        {"type": "keyword", "enable_hnsw": False},
        {"type": "float", "enable_hnsw": False},
    )
    assert indexes[1:] == [
        {"field_name": "kind", "field_schema": keyword},
        {"field_name": "lang", "field_schema": keyword},
        {"field_name": "source_id", "field_schema": keyword},
        {"field_name": "key", "field_schema": keyword},
        {"field_name": "subject", "field_schema": keyword},
        {"field_name": "value", "field_schema": keyword},
        {"field_name": "superseded_by", "field_schema": keyword},
        {"field_name": "filed", "field_schema": keyword},
        {"field_name": "conversation_id", "field_schema": keyword},
        {"field_name": "expires_at", "field_schema": number},
        {"field_name": "lapses_at", "field_schema": number},
        {"field_name": "since", "field_schema": number},
        {"field_name": "valid_to", "field_schema": number},
        {"field_name": "at", "field_schema": number},
        {"field_name": "also[].at", "field_schema": number},
    ]


def test_a_cluster_layout(server: RestServer) -> None:
    options = ServerOptions(
        prefix="team-a_",
        shard_number=6,
        replication_factor=3,
        write_consistency_factor=2,
        quantization="int8",
        on_disk_vectors=True,
        on_disk_payload=False,
        on_disk_hnsw=True,
    )
    connect(URL, options, server).open_collection("user", NAMES)
    assert created(server) == {
        "vectors": {"dense": {"size": 4, "distance": "Cosine", "on_disk": True}},
        "sparse_vectors": {"sparse": {"index": {"on_disk": True}, "modifier": "idf"}},
        "shard_number": 6,
        "replication_factor": 3,
        "write_consistency_factor": 2,
        "on_disk_payload": False,
        "hnsw_config": {"m": 0, "payload_m": 16, "on_disk": True},
        "quantization_config": {"scalar": {"type": "int8", "quantile": 0.99, "always_ram": True}},
    }
    assert {r.url.path.split("/")[2] for r in server.requests[1:]} == {"team-a_user"}


@pytest.mark.parametrize(
    ("options", "dense"),
    [
        (ServerOptions(), None),
        (
            ServerOptions(quantization="binary", oversampling=3.0),
            {"rescore": True, "oversampling": 3},
        ),
        (ServerOptions(quantization="int8"), {"rescore": True, "oversampling": 2}),
    ],
)
def test_quantized_vectors_only_choose_and_the_originals_decide(
    server: RestServer, options: ServerOptions, dense: dict[str, Any] | None
) -> None:
    store = connect(URL, options, server)
    store.open_collection("user", NAMES)
    store.search("user", [NEAR, WORDS], ANN)
    near, words = server.bodies[-1][1]["searches"]
    assert (near.get("params") or {}).get("quantization") == dense
    assert words["params"].keys() == {"idf"}


def test_upserts_are_cut_into_batches(server: RestServer, point: PointMaker) -> None:
    store = connect(URL, ServerOptions(batch=10), server)
    store.open_collection("user", NAMES)
    server.bodies.clear()
    store.upsert("user", [point(f"m{i}") for i in range(25)])
    assert [len(body["points"]) for _, body in server.bodies] == [10, 10, 5]
    assert {request.url.params["ordering"] for request in server.requests[-3:]} == {"medium"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"prefix": ""},
        {"prefix": "a/b"},
        {"prefix": "х"},
        {"write_consistency_factor": 2},
        {"replication_factor": 2, "write_consistency_factor": 3},
        {"verify": False, "ca_file": Path("ca.pem")},
    ],
)
def test_contradicting_options_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"server\."):
        ServerOptions(**wrong)


# what it was built with


def test_a_collection_keeps_the_fingerprint_of_its_first_opener(server: RestServer) -> None:
    one, two = connect(URL, QUICK, server), connect(URL, QUICK, server)
    assert one.open_collection("user", NAMES, "one") == "one"
    assert two.open_collection("user", NAMES, "two") == "one"
    assert one.open_collection("user", NAMES) == "one"
    assert two.open_collection("global", NAMES, "two") == "two"


def test_a_collection_without_one_takes_it(server: RestServer) -> None:
    store = connect(URL, QUICK, server)
    assert store.open_collection("user", NAMES) == ""
    assert store.open_collection("user", NAMES, "one") == "one"
    assert store.open_collection("user", NAMES, "two") == "one"


def test_openers_at_once_agree(server: RestServer) -> None:
    start, answers = Barrier(6), []

    def opener(name: str) -> None:
        store = connect(URL, QUICK, server)
        start.wait()
        answers.append(store.open_collection("user", NAMES, name))

    threads = [Thread(target=opener, args=(f"f{i}",)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert len(set(answers)) == 1


def test_a_lost_race_is_no_error(server: RestServer) -> None:
    connect(URL, QUICK, server).open_collection("user", NAMES, "one")
    server.faults.append(httpx.Response(200, json={"title": "qdrant", "version": "1.19.0"}))
    server.faults.append(
        httpx.Response(200, json={"result": {"exists": False}, "status": "ok", "time": 0})
    )
    assert connect(URL, QUICK, server).open_collection("user", NAMES, "two") == "one"


# what is tried again


FAULTS: dict[str, Callable[[], httpx.Response | Exception]] = {
    **{str(status): partial(httpx.Response, status) for status in PASSING},
    "no connection": partial(httpx.ConnectError, "refused"),
    "connecting takes too long": partial(httpx.ConnectTimeout, "timed out"),
    "answering takes too long": partial(httpx.ReadTimeout, "timed out"),
    "broken off": partial(httpx.ReadError, "reset"),
    "gone": partial(httpx.RemoteProtocolError, "server disconnected"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_may_pass_is_tried_again(
    store: ServerStore, server: RestServer, point: PointMaker, fault: str
) -> None:
    server.faults.extend(FAULTS[fault]() for _ in range(QUICK.retries))
    store.upsert("user", [point("a")])
    assert len(server.requests) == 1 + QUICK.retries
    assert store.count("user", ANN) == 1


@pytest.mark.parametrize("fault", FAULTS)
def test_what_does_not_pass_is_unavailable_with_the_host(
    store: ServerStore, server: RestServer, fault: str
) -> None:
    server.faults.extend(FAULTS[fault]() for _ in range(9))
    with pytest.raises(StoreUnavailable, match=r"'letopis_user' \(qdrant\.example:6333\): \S"):
        store.search("user", [NEAR], ANN)
    assert len(server.requests) == 1 + QUICK.retries


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, StoreError),
        (401, StoreUnavailable),
        (403, StoreUnavailable),
        (404, StoreError),
        (409, StoreError),
        (422, StoreError),
    ],
)
def test_what_cannot_pass_is_not_tried_again(
    store: ServerStore, server: RestServer, status: int, error: type[StoreError]
) -> None:
    refusal = {"status": {"error": "because\nof\nthis"}, "time": 0.0}
    server.faults.append(httpx.Response(status, json=refusal))
    with pytest.raises(error, match=rf"qdrant\.example:6333\): {status} .*because of this"):
        store.count("user", ANN)
    assert len(server.requests) == 1


def test_a_server_says_how_long_to_wait(store: ServerStore, server: RestServer) -> None:
    server.faults.append(httpx.Response(429, headers={"Retry-After": "1"}))
    before = time.monotonic()
    assert store.count("user", ANN) == 0
    assert time.monotonic() - before >= 1


def test_an_endless_wait_is_refused_by_name(store: ServerStore, server: RestServer) -> None:
    for _ in range(9):
        server.faults.append(httpx.Response(429, headers={"Retry-After": "soon"}))
    with pytest.raises(StoreUnavailable):
        store.count("user", ANN)


LOST = httpx.ReadTimeout("timed out")


def test_an_answer_that_got_lost_changes_nothing(
    store: ServerStore, server: RestServer, point: PointMaker
) -> None:
    points = [point(f"m{i}", terms=(1,)) for i in range(3)]
    server.lost.append(LOST)
    store.upsert("user", points)
    assert sent(server) == [UPSERT] * 2
    assert [m.id for m in store.scroll("user", ANN)] == sorted(p.memory.id for p in points)
    server.bodies.clear()
    server.lost.extend([LOST, LOST])
    assert store.delete("user", ANN) == 3
    assert store.count("user", ANN) == 0


def test_a_collection_whose_creation_got_lost_is_there(server: RestServer) -> None:
    store = connect(URL, QUICK, server)
    store.open_collection("global", NAMES)
    server.bodies.clear()
    server.lost.extend([LOST] * 3)
    assert store.open_collection("user", NAMES, "one") == "one"
    assert sent(server).count("PUT /collections/{}") >= 1


def test_indexes_that_a_crash_left_out_are_made_up_for(server: RestServer) -> None:
    store = connect(URL, ServerOptions(retries=0), server)

    def broken_after(number: int) -> None:
        server.bodies.clear()
        server.requests.clear()
        original = server.handle_request

        def handle(request: httpx.Request) -> httpx.Response:
            if len(server.requests) == number:
                raise httpx.ConnectError("the process dies here")
            return original(request)

        dying = connect(URL, ServerOptions(retries=0), httpx.MockTransport(handle))
        with pytest.raises(StoreUnavailable):
            dying.open_collection("user", NAMES, "one")

    broken_after(5)
    assert sent(server).count("PUT /collections/{}/index") < 5
    server.bodies.clear()
    assert store.open_collection("user", NAMES, "one") == "one"
    assert sent(server).count("PUT /collections/{}/index") == len(INDEXES)


# what is not a server's answer


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>private words</html>"),
        httpx.Response(200, json={"result": {"count": "private words"}, "status": "ok", "time": 0}),
        httpx.Response(200, json=["private words"]),
        httpx.Response(200, content=b"\xff\xfe"),
        httpx.Response(400, text="<html>private words</html>"),
        httpx.Response(400, json="private words"),
    ],
)
def test_another_kind_of_answer(
    store: ServerStore, server: RestServer, answer: httpx.Response
) -> None:
    server.faults.append(answer)
    with pytest.raises(StoreError, match=r"qdrant\.example:6333") as error:
        store.count("user", ANN)
    assert "private" not in str(error.value)


@given(st.binary(max_size=40))
def test_any_answer_is_a_named_error_or_a_number(body: bytes) -> None:
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=body))
    store = connect(URL, ServerOptions(retries=0), transport)
    with pytest.raises(StoreError):
        store.count("user", ANN)


@pytest.mark.parametrize("version", ["1.18.2", "0.9", "1", "dev"])
def test_an_old_server_is_refused(store: ServerStore, server: RestServer, version: str) -> None:
    server.faults.append(httpx.Response(200, json={"title": "qdrant", "version": version}))
    with pytest.raises(StoreError, match=rf"{version}; 1\.19 or newer"):
        store.open_collection("user", NAMES)


# the address, the key, the certificate


@pytest.mark.parametrize(
    "url",
    [
        "http://user:s3cret@host:6333",
        "http://s3cret@host",
        "https://host/?api_key=s3cret",
        "https://host/#s3cret",
        "http://host:s3cret",
        "http://[s3cret",
    ],
)
def test_an_address_that_is_none_is_refused_without_its_key(url: str) -> None:
    with pytest.raises(ConfigError) as error:
        connect(url)
    assert "s3cret" not in str(error.value)


def test_the_key_goes_to_the_server_and_nowhere_else(server: RestServer) -> None:
    options = ServerOptions(api_key="s3cret", retries=0)
    store = connect("https://qdrant.example/path", options, server)
    server.faults.append(httpx.Response(401, json={"status": {"error": "Invalid API key"}}))
    with pytest.raises(
        StoreUnavailable, match=r"qdrant\.example\): 401 .*Invalid API key"
    ) as error:
        store.count("user", ANN)
    assert server.requests[0].headers["api-key"] == "s3cret"
    assert str(server.requests[0].url).startswith("https://qdrant.example:6333/path/collections/")
    assert "s3cret" not in f"{error.value!r}{options!r}{store!r}"


def test_a_key_over_plain_http_is_warned_about_except_to_oneself(server: RestServer) -> None:
    options = ServerOptions(api_key="s3cret")
    with pytest.warns(UserWarning, match="insecure"):
        connect(URL, options, server)
    connect("http://localhost:6333", options, server).close()


@contextmanager
def https_server(authority: trustme.CA) -> Iterator[str]:
    """A server with a certificate of the authority's that answers every count with 7."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"result": {"count": 7}, "status": "ok", "time": 0}')

        def log_message(self, format: str, *args: object) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server = HTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_certificates(tmp_path: Path) -> None:
    ours, strangers = trustme.CA(), trustme.CA()
    for name, authority in (("ours", ours), ("strangers", strangers)):
        authority.cert_pem.write_to_path(str(tmp_path / f"{name}.pem"))
    with https_server(ours) as url:
        for options in (ServerOptions(ca_file=tmp_path / "ours.pem"), ServerOptions(verify=False)):
            trusting = connect(url, options)
            assert trusting.count("user", ANN) == 7
            trusting.close()
        for ca_file in (None, tmp_path / "strangers.pem"):
            wary = connect(url, ServerOptions(ca_file=ca_file))
            with pytest.raises(StoreUnavailable, match="certificate verify failed"):
                wary.count("user", ANN)
            wary.close()


def test_a_ca_file_that_is_none_is_named(tmp_path: Path) -> None:
    empty = tmp_path / "empty.pem"
    empty.touch()
    for path in (empty, tmp_path / "nowhere.pem"):
        with pytest.raises(ConfigError, match=rf"server.ca_file .*{path.name}"):
            connect("https://qdrant.example", ServerOptions(ca_file=path))


def test_other_vectors_are_a_mismatch_of_the_names(store: ServerStore, server: RestServer) -> None:
    with pytest.raises(SchemaMismatch, match="'dense': 4"):
        store.open_collection("user", VectorNames({"dense": 5}, ("sparse",)))
    assert not issubclass(SchemaMismatch, StoreUnavailable)
    assert issubclass(SchemaMismatch, LetopisError)
