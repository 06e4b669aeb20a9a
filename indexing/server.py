"""The store on a Qdrant server (or the client's in-memory mode, for tests): `ServerStore`.

The same collections, named with a prefix, and the same answers as `edge`. The server must be 1.19
or newer: an older one counts IDF over all tenants, so scores would depend on strangers' texts. It
is refused at `open_collection`, since it may ignore the parameter without an error.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from qdrant_client import QdrantClient, models

from indexing.errors import InvalidInput, StoreError
from indexing.server_points import (
    build_filter,
    check_schema,
    check_version,
    create_collection,
    mapped,
    to_dense,
    to_memory,
    to_point,
    to_query,
    to_scored,
)
from indexing.store import check_points, idf_corpus, is_empty, narrowed
from indexing.types import Branch, Collection, Filter, Memory, Point, Scored, Vector, VectorNames

PAGE = 256


def connect(url: str, *, api_key: str | None = None, timeout: float = 10.0) -> "ServerStore":
    """Return the store of a server; nothing is sent before the first call."""
    client = QdrantClient(
        url=url, api_key=api_key, timeout=max(1, round(timeout)), check_compatibility=False
    )
    return ServerStore(client)


class ServerStore:
    """A `VectorStore` behind a `QdrantClient`, which it closes. The server does the locking."""

    concurrent = True

    def __init__(self, client: QdrantClient, *, prefix: str = "letopis_") -> None:
        self._client = client
        self._prefix = prefix
        self._closed = False

    def open_collection(self, collection: Collection, names: VectorNames) -> None:
        """Create the collection, or check that it has these vectors (`SchemaMismatch`)."""
        with self._call(collection) as name:
            check_version(self._client.info().version)
            if not self._client.collection_exists(name):
                create_collection(self._client, name, names)
            check_schema(name, self._client.get_collection(name).config.params, names)

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        """Write in batches of 256, each acknowledged when it is applied."""
        check_points(collection, points)
        with self._call(collection) as name:
            for start in range(0, len(points), PAGE):
                batch = [to_point(p) for p in points[start : start + PAGE]]
                self._client.upsert(name, batch, wait=True)

    def search(
        self, collection: Collection, branches: Sequence[Branch], where: Filter
    ) -> list[list[Scored]]:
        """Ask all branches in one request; a sparse query without terms finds nothing."""
        asked = [b for b in branches if not is_empty(b)]
        conditions = [build_filter(collection, narrowed(where, b), branches) for b in asked]
        if not asked:
            return [[] for _ in branches]
        corpus = build_filter(collection, idf_corpus(where))
        requests = [to_query(b, c, corpus) for b, c in zip(asked, conditions, strict=True)]
        with self._call(collection) as name:
            answers = iter(self._client.query_batch_points(name, requests))
        return [[] if is_empty(b) else to_scored(b, next(answers)) for b in branches]

    def get(self, collection: Collection, where: Filter, limit: int) -> list[Memory]:
        """Return up to ``limit`` memories in id order."""
        if limit < 1:
            raise InvalidInput(f"the limit is {limit}")
        condition = build_filter(collection, where)
        with self._call(collection) as name:
            records, _ = self._client.scroll(name, condition, limit, with_payload=True)
        return [to_memory(collection, r) for r in records]

    def scroll(self, collection: Collection, where: Filter) -> Iterator[Memory]:
        """Yield all in id order, page by page."""
        for record in self._pages(collection, where, with_vectors=False):
            yield to_memory(collection, record)

    def vectors(self, collection: Collection, where: Filter) -> dict[str, dict[str, Vector]]:
        """Return id -> dense vector name -> vector."""
        return {
            str(record.id): to_dense(record)
            for record in self._pages(collection, where, with_vectors=True)
        }

    def count(self, collection: Collection, where: Filter) -> int:
        """Return the exact number of memories that match."""
        condition = build_filter(collection, where)
        with self._call(collection) as name:
            return self._client.count(name, count_filter=condition, exact=True).count

    def delete(self, collection: Collection, where: Filter) -> int:
        """Delete all that match; returns when the server has applied it."""
        condition = build_filter(collection, where)
        selector = models.FilterSelector(filter=condition)
        deleted = 0
        with self._call(collection) as name:
            while found := self._client.count(name, count_filter=condition, exact=True).count:
                self._client.delete(name, selector, wait=True)
                deleted += found
        return deleted

    def vacuum(self, collection: Collection) -> None:
        """Do nothing: the server's own optimizer rewrites its files."""

    def close(self) -> None:
        """Close the client."""
        if not self._closed:
            self._closed = True
            self._client.close()

    def _pages(
        self, collection: Collection, where: Filter, *, with_vectors: bool
    ) -> Iterator[models.Record]:
        condition = build_filter(collection, where)
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
        name = self._prefix + collection
        with mapped(name):
            yield name
