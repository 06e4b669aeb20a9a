"""A model that writes SQL, behind an endpoint; what it is told and what is made of its words."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from evals.sql_databases import canary, source_of
from indexing.errors import ConfigError, ModelError, SqlRefused
from retrieval.sql.answer import answer_statement
from retrieval.sql.run import Databases
from retrieval.sql.writer import EndpointWriter, instructions

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@contextmanager
def model(answer: Any, status: int = 200) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serve an endpoint that always answers so; give its URL and what it is asked."""
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append({"path": self.path, **json.loads(body)})
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", asked
        finally:
            server.shutdown()
            thread.join()


def said(text: str) -> dict[str, Any]:
    return {"choices": [{"message": {"content": text}}]}


def test_its_statement_runs_through_the_guard(shop_url: str, databases: Databases) -> None:
    source = source_of(shop_url)
    with model(said("```sql\nSELECT COUNT(*) FROM orders WHERE user_id = 'u2' OR 1 = 1;\n```")) as (
        url,
        asked,
    ):
        writer = EndpointWriter(url, "coder")
        statement = writer.write("how many orders do I have?", source, NOW)
        writer.close()
    found = answer_statement(statement, source, databases, "as written", user_id="u1")
    assert (found.value, found.understood) == (40, "as written")
    assert asked[0]["path"] == "/v1/chat/completions"
    assert asked[0]["messages"][1]["content"] == "how many orders do I have?"


def test_it_is_told_what_is_declared_and_no_row(shop_url: str) -> None:
    told = instructions(source_of(shop_url), NOW)
    assert "table orders (id, user_id, created_at" in told
    assert "status: one of 'paid', 'sent', 'returned'" in told
    assert "order_id refers to orders.id" in told
    for undeclared in ("secret", canary("u1"), "Moscow", shop_url):
        assert undeclared not in told


def test_what_it_should_not_write_is_refused(shop_url: str, databases: Databases) -> None:
    constants = ("SELECT 42", "SELECT 42 FROM orders LIMIT 1")
    for text in (
        *constants,
        "DROP TABLE orders",
        "SELECT secret FROM secrets",
        "I cannot help",
        "",
    ):
        with pytest.raises(SqlRefused):
            answer_statement(text, source_of(shop_url), databases, "", user_id="u1")


@pytest.mark.parametrize(
    ("answer", "status"),
    [({}, 200), ({"choices": []}, 200), (said("x"), 500), ({"choices": [{"message": {}}]}, 200)],
)
def test_an_endpoint_that_fails(answer: Any, status: int) -> None:
    with model(answer, status) as (url, _):
        writer = EndpointWriter(url, "coder", "key")
        with pytest.raises(ModelError):
            writer.write("how many?", source_of("sqlite:///x"), NOW)
        writer.close()


def test_an_answer_that_is_no_text() -> None:
    with model({"choices": [{"message": {"content": 7}}]}) as (url, _):
        writer = EndpointWriter(url, "coder")
        with pytest.raises(ModelError):
            writer.write("how many?", source_of("sqlite:///x"), NOW)
        writer.close()


def test_a_model_needs_a_name() -> None:
    with pytest.raises(ConfigError):
        EndpointWriter("http://127.0.0.1:9/v1", "")
