"""From a spec to a store, and what a server can answer wrong."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from indexing.edge import EdgeStore
from indexing.errors import ConfigError, StoreError, StoreUnavailable
from indexing.open import open_store
from indexing.server import ServerStore
from indexing.types import Filter, VectorNames, user_scope

ANN = Filter(user_scope("ann"))
NAMES = VectorNames({"dense": 4}, ("sparse",))


@pytest.fixture
def answer() -> Iterator[dict[str, object]]:
    """A server that gives one answer to everything: ``status`` and ``body``; ``url`` is its own."""
    given: dict[str, object] = {"status": 200, "body": {}}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(int(str(given["status"])))
            self.end_headers()
            self.wfile.write(json.dumps(given["body"]).encode())

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    given["url"] = f"http://127.0.0.1:{server.server_port}"
    yield given
    server.shutdown()
    thread.join()
    server.server_close()


def test_specs(tmp_path: Path) -> None:
    edge = open_store(f"edge:{tmp_path}/data")
    assert isinstance(edge, EdgeStore)
    assert edge.folder == tmp_path / "data"
    assert not edge.folder.exists()
    server = open_store("https://example.org:6333", api_key="key")
    assert isinstance(server, ServerStore)
    server.close()


@pytest.mark.parametrize(
    "spec", ["", "data", "./data", "ftp://host", "edge:", "http://", "C:/data"]
)
def test_an_unknown_spec_lists_the_schemes(spec: str) -> None:
    with pytest.raises(ConfigError, match="edge:, http:, https:"):
        open_store(spec)


def test_no_server_is_unavailable() -> None:
    store = open_store("http://127.0.0.1:9", busy_timeout=1)
    with pytest.raises(StoreUnavailable):
        store.count("user", ANN)
    store.close()


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_a_refusing_server_is_unavailable(answer: dict[str, object], status: int) -> None:
    answer.update(status=status, body={"status": {"error": "no"}})
    store = open_store(str(answer["url"]))
    with pytest.raises(StoreUnavailable):
        store.count("user", ANN)
    store.close()


def test_an_old_server_is_refused(answer: dict[str, object]) -> None:
    answer["body"] = {"title": "qdrant", "version": "1.18.2"}
    store = open_store(str(answer["url"]))
    with pytest.raises(StoreError, match=r"1\.18\.2; 1\.19 or newer"):
        store.open_collection("user", NAMES)
    store.close()
