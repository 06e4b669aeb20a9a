"""Qdrant's REST API in front of the client's in-memory mode: an `httpx` transport.

Every request is held against the schema that the client ships: the route must be one of `ROUTES`,
its query parameters those of the operation, and its body must survive the round trip through the
request model unchanged, so a field that the schema does not have, at any depth, is an error.
"""

import json
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any
from urllib.parse import unquote

import httpx
from pydantic import TypeAdapter, ValidationError
from qdrant_client import QdrantClient, models

WRITE = frozenset({"wait", "ordering", "timeout"})
READ = frozenset({"consistency", "timeout"})


@dataclass(frozen=True, slots=True)
class Route:
    """One operation of the API: its body's model, its query parameters, and what answers it."""

    body: Any
    parameters: frozenset[str]
    answer: Callable[[QdrantClient, str, Any], Any]


def _upsert(client: QdrantClient, name: str, body: models.PointsList) -> Any:
    return client.upsert(name, body.points)


def _create(client: QdrantClient, name: str, body: models.CreateCollection) -> Any:
    return client.create_collection(name, body.vectors, body.sparse_vectors, metadata=body.metadata)


def _query(client: QdrantClient, name: str, body: models.QueryRequestBatch) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Local mode performs exact")
        return client.query_batch_points(name, body.searches)


def _scroll(client: QdrantClient, name: str, body: models.ScrollRequest) -> Any:
    points, following = client.scroll(
        name,
        body.filter,
        body.limit or 10,
        offset=body.offset,
        with_payload=body.with_payload or False,
        with_vectors=body.with_vector or False,
    )
    return {"points": points, "next_page_offset": following}


ROUTES: dict[str, Route] = {
    "GET /": Route(None, frozenset(), lambda client, name, body: client.info()),
    "GET /collections/{}": Route(
        None, frozenset(), lambda client, name, body: client.get_collection(name)
    ),
    "GET /collections/{}/exists": Route(
        None, frozenset(), lambda client, name, body: {"exists": client.collection_exists(name)}
    ),
    "PUT /collections/{}": Route(models.CreateCollection, frozenset({"timeout"}), _create),
    "DELETE /collections/{}": Route(
        None,
        frozenset({"timeout"}),
        lambda client, name, body: client.delete_collection(name),
    ),
    "PATCH /collections/{}": Route(
        models.UpdateCollection,
        frozenset({"timeout"}),
        lambda client, name, body: client.update_collection(name, metadata=body.metadata),
    ),
    "PUT /collections/{}/index": Route(
        models.CreateFieldIndex, WRITE, lambda client, name, body: _done()
    ),
    "PUT /collections/{}/points": Route(models.PointInsertOperations, WRITE, _upsert),
    "POST /collections/{}/points/delete": Route(
        models.PointsSelector, WRITE, lambda client, name, body: client.delete(name, body)
    ),
    "POST /collections/{}/points/count": Route(
        models.CountRequest,
        READ,
        lambda client, name, body: client.count(name, body.filter, exact=bool(body.exact)),
    ),
    "POST /collections/{}/points/scroll": Route(models.ScrollRequest, READ, _scroll),
    "POST /collections/{}/points/query/batch": Route(models.QueryRequestBatch, READ, _query),
}


def _done() -> models.UpdateResult:
    return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)


class SchemaError(AssertionError):
    """A request that the API's schema does not allow."""


@dataclass
class RestServer(httpx.BaseTransport):
    """A server that keeps its points in memory.

    ``faults`` are answered, or raised, instead of the next requests, one each; ``lost`` are raised
    after the next requests were carried out: the answer did not arrive. ``bodies`` are the
    requests that were carried out, each with its operation.
    """

    client: QdrantClient = field(default_factory=lambda: QdrantClient(":memory:"))
    faults: deque[httpx.Response | Exception] = field(default_factory=deque)
    lost: deque[Exception] = field(default_factory=deque)
    requests: list[httpx.Request] = field(default_factory=list)
    bodies: list[tuple[str, Any]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with self._lock:
            self.requests.append(request)
            if self.faults:
                fault = self.faults.popleft()
                if isinstance(fault, Exception):
                    raise fault
                return fault
            try:
                response = self._answer(request)
            except (SchemaError, ValidationError) as error:  # the client would call it no answer
                self.violations.append(str(error))
                raise
            if self.lost:
                raise self.lost.popleft()
            return response

    def _answer(self, request: httpx.Request) -> httpx.Response:
        operation, name = _operation(request)
        route = ROUTES.get(operation)
        if route is None:
            raise SchemaError(f"no such operation: {operation}")
        check_parameters(operation, route, request)
        body = check_body(operation, route, request.read())
        self.bodies.append((operation, json.loads(request.read() or b"null")))
        try:
            result = route.answer(self.client, name, body)
        except (ValueError, RuntimeError) as error:
            status = 404 if "not found" in str(error) and name in str(error) else 400
            return httpx.Response(status, json={"status": {"error": str(error)}, "time": 0.0})
        found = TypeAdapter(Any).dump_python(result, mode="json")
        if operation == "GET /":
            return httpx.Response(200, json=found)
        return httpx.Response(200, json={"result": found, "status": "ok", "time": 0.0})


def _operation(request: httpx.Request) -> tuple[str, str]:
    """Return the method with the path whose collection is left open, and the collection."""
    parts = request.url.raw_path.decode().split("?")[0].split("/")
    name = ""
    if len(parts) > 2:
        name, parts[2] = unquote(parts[2]), "{}"
    return f"{request.method} {'/'.join(parts)}", name


def check_parameters(operation: str, route: Route, request: httpx.Request) -> None:
    """Every parameter is one of the operation's, and a write waits until it is applied."""
    given = dict(request.url.params)
    if not given.keys() <= route.parameters:
        raise SchemaError(f"{operation} has no parameters {given.keys() - route.parameters}")
    if route.parameters is WRITE and given.get("wait") != "true":
        raise SchemaError(f"{operation} does not wait")


def check_body(operation: str, route: Route, content: bytes) -> Any:
    """Return the body as its model; the model must say the very same when it is written again."""
    if route.body is None:
        if content:
            raise SchemaError(f"{operation} has no body")
        return None
    model = TypeAdapter(route.body)
    body = model.validate_json(content)
    again = model.dump_python(body, mode="json", exclude_unset=True)
    if again != json.loads(content):
        raise SchemaError(f"{operation}: the schema has no place for a part of {content!r}")
    return body


@contextmanager
def rest_server() -> Iterator[RestServer]:
    """Give a server, close it, and fail if it was sent what the schema does not allow."""
    server = RestServer()
    yield server
    server.client.close()
    assert server.violations == []
