"""The store on a Qdrant server (or the client's in-memory mode, for tests): `ServerStore`.

The same collections, named with a prefix, and the same answers as `edge`. The server must be 1.19
or newer: an older one counts IDF over all tenants, so scores would depend on strangers' texts. It
is refused at `open_collection`, since it may ignore the parameter without an error.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

import httpx
from qdrant_client import QdrantClient, models

from indexing.errors import StoreError
from indexing.server_client import host_of, make_client
from indexing.server_errors import mapped
from indexing.server_options import USUAL, ServerOptions
from indexing.server_points import (
    build_filter,
    past_filter,
    rescored,
    to_dense,
    to_memory,
    to_point,
    to_query,
    to_scored,
)
from indexing.server_schema import check_version, ensure_collection
from indexing.store import check_page, check_points, idf_corpus, is_empty, narrowed
from indexing.types import Branch, Collection, Filter, Memory, Point, Scored, Vector, VectorNames

PAGE = 256
ORDERED = models.WriteOrdering.MEDIUM
"""Writes of a shard go through one of its replicas, so a delete and an upsert keep their order."""


def connect(
    url: str,
    options: ServerOptions = USUAL,
    transport: httpx.BaseTransport | None = None,
) -> "ServerStore":
    """Return the store of a server; nothing is sent before the first call."""
    place = host_of(url)
    return ServerStore(make_client(url, options, transport), options, place)


class ServerStore:
    """A `VectorStore` behind a `QdrantClient`, which it closes. The server does the locking."""

    concurrent = True
    residue = (
        "deleted points leave the server's files when its optimizer rewrites their segments, which "
        "was asked for; snapshots and backups of the server are not touched"
    )

    def __init__(
        self,
        client: QdrantClient,
        options: ServerOptions = USUAL,
        place: str = "in memory",
    ) -> None:
        self._client = client
        self._options = options
        self._place = place
        quantized = options.quantization != "none"
        self._dense = rescored(options.oversampling) if quantized else None
        self._closed = False

    def open_collection(
        self, collection: Collection, names: VectorNames, fingerprint: str = ""
    ) -> str:
        """Create the collection, or check that it has these vectors (`SchemaMismatch`)."""
        with self._call(collection) as name:
            check_version(self._client.info().version)
            return ensure_collection(self._client, name, names, self._options, fingerprint)

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        """Write in batches, each acknowledged when it is applied."""
        check_points(collection, points)
        size = self._options.batch
        with self._call(collection) as name:
            for start in range(0, len(points), size):
                batch = [to_point(p) for p in points[start : start + size]]
                self._client.upsert(name, batch, wait=True, ordering=ORDERED)

    def search(
        self, collection: Collection, branches: Sequence[Branch], where: Filter
    ) -> list[list[Scored]]:
        """Ask all branches in one request; a sparse query without terms finds nothing."""
        asked = [b for b in branches if not is_empty(b)]
        conditions = [build_filter(collection, narrowed(where, b), branches) for b in asked]
        if not asked:
            return [[] for _ in branches]
        corpus = build_filter(collection, idf_corpus(where))
        requests = [
            to_query(b, c, corpus, self._dense) for b, c in zip(asked, conditions, strict=True)
        ]
        with self._call(collection) as name:
            answers = iter(self._client.query_batch_points(name, requests))
        return [[] if is_empty(b) else to_scored(b, next(answers)) for b in branches]

    def get(
        self, collection: Collection, where: Filter, limit: int, after: str = ""
    ) -> list[Memory]:
        """Return up to ``limit`` memories in id order, those behind the id ``after``."""
        check_page(limit, after)
        condition = build_filter(collection, where)
        size = limit + bool(after)  # a page begins with the id itself, where it is there still
        with self._call(collection) as name:
            records, _ = self._client.scroll(
                name, condition, size, offset=after or None, with_payload=True
            )
        return [to_memory(collection, r) for r in records if str(r.id) != after][:limit]

    def scroll(self, collection: Collection, where: Filter) -> Iterator[Memory]:
        """Yield all in id order, page by page."""
        condition = build_filter(collection, where)
        for record in self._pages(collection, condition, with_vectors=False):
            yield to_memory(collection, record)

    def vectors(self, collection: Collection, where: Filter) -> dict[str, dict[str, Vector]]:
        """Return id -> dense vector name -> vector."""
        condition = build_filter(collection, where)
        return {
            str(record.id): to_dense(record)
            for record in self._pages(collection, condition, with_vectors=True)
        }

    def count(self, collection: Collection, where: Filter) -> int:
        """Return the exact number of memories that match."""
        condition = build_filter(collection, where)
        with self._call(collection) as name:
            return self._client.count(name, count_filter=condition, exact=True).count

    def delete(self, collection: Collection, where: Filter) -> int:
        """Delete all that match; returns when the server has applied it."""
        return self._delete(collection, build_filter(collection, where))

    def everything(self, collection: Collection) -> Iterator[Memory]:
        """Yield the memories of all tenants in id order."""
        for record in self._pages(collection, models.Filter(), with_vectors=False):
            yield to_memory(collection, record)

    def expired(self, collection: Collection, now: datetime) -> Iterator[Memory]:
        """Yield what has expired by then, of all tenants."""
        for record in self._pages(collection, past_filter("expires_at", now), with_vectors=False):
            yield to_memory(collection, record)

    def lapsed(self, collection: Collection, now: datetime) -> Iterator[Memory]:
        """Yield what has a place that has expired by then, of all tenants."""
        for record in self._pages(collection, past_filter("lapses_at", now), with_vectors=False):
            yield to_memory(collection, record)

    def _delete(self, collection: Collection, condition: models.Filter) -> int:
        selector = models.FilterSelector(filter=condition)
        deleted = 0
        with self._call(collection) as name:
            while found := self._client.count(name, count_filter=condition, exact=True).count:
                self._client.delete(name, selector, wait=True, ordering=ORDERED)
                deleted += found
        return deleted

    def drop(self, collection: Collection) -> None:
        """Remove the collection from the server."""
        with self._call(collection) as name:
            if self._client.collection_exists(name):
                self._client.delete_collection(name)

    def vacuum(self, collection: Collection) -> None:
        """Ask the server's optimizer to rewrite every segment that has a deleted point.

        It does so in the background; what it has not come to yet stays on its disk until then.
        """
        eager = models.OptimizersConfigDiff(deleted_threshold=1e-6, vacuum_min_vector_number=100)
        with self._call(collection) as name:
            self._client.update_collection(name, optimizers_config=eager)

    def close(self) -> None:
        """Close the client."""
        if not self._closed:
            self._closed = True
            self._client.close()

    def _pages(
        self, collection: Collection, condition: models.Filter, *, with_vectors: bool
    ) -> Iterator[models.Record]:
        offset = None
        while True:
            with self._call(collection) as name:
                records, offset = self._client.scroll(
                    name,
                    condition,
                    PAGE,
                    offset=offset,
                    with_payload=not with_vectors,
                    with_vectors=with_vectors,
                )
            yield from records
            if offset is None:
                return

    @contextmanager
    def _call(self, collection: Collection) -> Iterator[str]:
        """Give the server's name of the collection, and name the errors of the call."""
        if self._closed:
            raise StoreError("the store is closed")
        name = self._options.prefix + collection
        with mapped(f"collection {name!r} ({self._place})"):
            yield name
