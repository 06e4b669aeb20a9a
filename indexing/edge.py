"""The embedded store: one `qdrant_edge` shard per collection in one folder, under one `Lease`.

No server and no write-ahead log: a write is flushed before it returns, so it survives ``kill -9``,
and a deleted text leaves the files at `EdgeStore.vacuum` (no log keeps a copy). Shards open at
first use, close when the lease goes to another process, and open again by themselves.

What is packed is searched by a copy of one byte a number; three times as many as are wanted are
then ranked by the whole vectors. The optimizer (rewriting around deleted points, packing) runs only
in `vacuum` and in `close` after writes: it takes 2 s per 20,000 memories and keeps the interpreter
to itself. Measured in docs/decisions/0014-speed.md.
"""

import shutil
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path

import qdrant_edge as engine

from indexing.cores import cores
from indexing.edge_files import (
    BLANK,
    SPARE_BYTES,
    allocated,
    check_schema,
    check_space,
    claim_shard,
    count_points,
    create_shard,
    load_shard,
    loosen,
    note_count,
    shard_exists,
    tidy,
)
from indexing.edge_known import Known
from indexing.edge_shard import (
    build_filter,
    mapped,
    past_filter,
    to_dense,
    to_memory,
    to_point,
    to_request,
    to_scored,
)
from indexing.errors import StoreError
from indexing.lease import Lease
from indexing.store import check_call, check_page, check_points, is_empty, matches
from indexing.types import Branch, Collection, Filter, Memory, Point, Scored, Vector, VectorNames

PAGE = 256

SPLIT = 20_000
"""Points of a collection from which its branches are asked at once: one call uses one core."""


class EdgeStore:
    """A `VectorStore` in a folder of this machine, shared by turns with other processes."""

    concurrent = False
    residue = ""

    def __init__(self, folder: Path, *, busy_timeout: float = 10.0, idle: float = 5.0) -> None:
        self.folder = folder
        self._lease = Lease(folder, self._close_shards, busy_timeout=busy_timeout, idle=idle)
        self._shards: dict[Collection, engine.EdgeShard] = {}
        self._known: dict[Collection, Known] = {}
        self._threads = ThreadPoolExecutor(cores(), thread_name_prefix="letopis-engine")
        self._opening = threading.Lock()
        self._writing = threading.Lock()
        self._written: set[Collection] = set()
        self._closed = False

    def open_collection(
        self, collection: Collection, names: VectorNames, fingerprint: str = ""
    ) -> str:
        """Create the collection, or check that it has these vectors (`SchemaMismatch`)."""
        path = self.folder / collection
        with self._lease.hold(), mapped(collection):
            with self._opening:
                if not shard_exists(path):
                    check_space(self.folder)
                    create_shard(path, names, fingerprint)
                elif collection not in self._shards:
                    tidy(path)
            check_schema(path, names)
            return claim_shard(path, fingerprint)

    def upsert(self, collection: Collection, points: Sequence[Point]) -> None:
        """Write and flush one batch."""
        check_points(collection, points)
        if not points:
            return
        operation = engine.UpdateOperation.upsert_points([to_point(p) for p in points])
        with self._write(collection) as shard:
            shard.update(operation)
            shard.flush()
            note_count(self.folder / collection, count_points(shard))

    def search(
        self, collection: Collection, branches: Sequence[Branch], where: Filter
    ) -> list[list[Scored]]:
        """Ask all branches in one engine call, in a big collection in one for each core.

        A sparse query without terms finds nothing.
        """
        check_call(collection, where, branches)
        asked = [place for place, branch in enumerate(branches) if not is_empty(branch)]
        if not asked:
            return [[] for _ in branches]
        with self._read(collection) as shard:
            facts = self._known[collection].facts(shard)
            count = min(cores(), len(asked)) if facts.points >= SPLIT else 1
            parts = [asked[start::count] for start in range(count)]
            answers = self._ask(
                shard,
                [
                    to_request(collection, [branches[i] for i in part], where, facts.ends)
                    for part in parts
                ],
            )
        found = {
            place: to_scored(branches[place], hits)
            for part, answer in zip(parts, answers, strict=True)
            for place, hits in zip(part, answer, strict=True)
        }
        return [found.get(place, []) for place in range(len(branches))]

    def get(
        self, collection: Collection, where: Filter, limit: int, after: str = ""
    ) -> list[Memory]:
        """Return up to ``limit`` memories in id order, those behind the id ``after``."""
        check_page(limit, after)
        if where.ids is not None:  # read by id: a filtered scroll takes three times as long
            check_call(collection, where)
            with self._read(collection) as shard:
                named = shard.retrieve(list(where.ids), True, False)
            found = (to_memory(collection, record) for record in named)
            kept = (m for m in found if m.id > after and matches(m, where))
            return sorted(kept, key=lambda m: m.id)[:limit]
        condition = build_filter(collection, where)
        request = engine.ScrollRequest(
            offset=after or None, limit=limit + bool(after), filter=condition, with_payload=True
        )
        with self._read(collection) as shard:
            records, _ = shard.scroll(request)
        return [to_memory(collection, r) for r in records if str(r.id) != after][:limit]

    def scroll(self, collection: Collection, where: Filter) -> Iterator[Memory]:
        """Yield all in id order; the lease is held per page, not between pages."""
        condition = build_filter(collection, where)
        for record in self._pages(collection, condition, with_vector=False):
            yield to_memory(collection, record)

    def vectors(self, collection: Collection, where: Filter) -> dict[str, dict[str, Vector]]:
        """Return id -> dense vector name -> vector."""
        condition = build_filter(collection, where)
        return {
            str(record.id): to_dense(record)
            for record in self._pages(collection, condition, with_vector=True)
        }

    def count(self, collection: Collection, where: Filter) -> int:
        """Return the exact number of memories that match."""
        condition = build_filter(collection, where)
        with self._read(collection) as shard:
            return shard.count(engine.CountRequest(exact=True, filter=condition))

    def delete(self, collection: Collection, where: Filter) -> int:
        """Delete all that match and flush; the bytes stay in the files until `vacuum`."""
        return self._delete(collection, build_filter(collection, where))

    def everything(self, collection: Collection) -> Iterator[Memory]:
        """Yield the memories of all tenants in id order."""
        real = engine.Filter(must_not=[engine.HasIdCondition({BLANK})])
        for record in self._pages(collection, real, with_vector=False):
            yield to_memory(collection, record)

    def expired(self, collection: Collection, now: datetime) -> Iterator[Memory]:
        """Yield what has expired by then, of all tenants."""
        for record in self._pages(collection, past_filter("expires_at", now), with_vector=False):
            yield to_memory(collection, record)

    def lapsed(self, collection: Collection, now: datetime) -> Iterator[Memory]:
        """Yield what has a place that has expired by then, of all tenants."""
        for record in self._pages(collection, past_filter("lapses_at", now), with_vector=False):
            yield to_memory(collection, record)

    def _delete(self, collection: Collection, condition: engine.Filter) -> int:
        counting = engine.CountRequest(exact=True, filter=condition)
        operation = engine.UpdateOperation.delete_points_by_filter(condition)
        deleted = 0
        with self._write(collection) as shard:
            while found := shard.count(counting):
                note_count(self.folder / collection, count_points(shard) - found)
                shard.update(operation)
                deleted += found
            shard.flush()
        return deleted

    def drop(self, collection: Collection) -> None:
        """Close the shard and remove its folder, by a name that no crash leaves half of."""
        path = self.folder / collection
        dropped = path.with_name(f"{collection}.dropped")
        with self._lease.hold(), mapped(collection), self._writing, self._opening:
            if shard := self._shards.pop(collection, None):
                shard.close()
            self._written.discard(collection)
            if path.exists():
                path.rename(dropped)
            shutil.rmtree(dropped, ignore_errors=True)

    def vacuum(self, collection: Collection) -> None:
        """Rewrite what has deleted or changed points and index what has grown; others wait."""
        with self._write(collection) as shard:
            loosen(self.folder / collection, shard)
            self._optimize(collection, shard)

    def close(self) -> None:
        """Let go of the folder; what this store wrote and still has open is optimized first."""
        self._closed = True
        self._lease.release()
        self._threads.shutdown()

    def _ask(
        self, shard: engine.EdgeShard, requests: Sequence[engine.QueryBatchRequest]
    ) -> list[list[list[engine.ScoredPoint]]]:
        """Ask all at once: the first in this thread, which stays until the last is answered."""
        if len(requests) == 1:
            return [shard.query_batch(requests[0])]
        others = [self._threads.submit(shard.query_batch, request) for request in requests[1:]]
        try:
            first = shard.query_batch(requests[0])
        finally:
            wait(others)
        return [first, *(other.result() for other in others)]

    @contextmanager
    def _read(self, collection: Collection) -> Iterator[engine.EdgeShard]:
        with self._lease.hold(), mapped(collection):
            yield self._shard(collection)

    @contextmanager
    def _write(self, collection: Collection) -> Iterator[engine.EdgeShard]:
        with self._read(collection) as shard, self._writing:
            check_space(self.folder)
            self._written.add(collection)
            try:
                yield shard
            finally:
                self._known[collection].changed()

    def _shard(self, collection: Collection) -> engine.EdgeShard:
        if self._closed:
            raise StoreError(f"the store in {self.folder} is closed")
        with self._opening:
            if collection not in self._shards:
                path = self.folder / collection
                if not shard_exists(path):
                    raise StoreError(f"there is no collection {collection!r}: open it first")
                self._shards[collection] = load_shard(path)
                self._known[collection] = Known()
            return self._shards[collection]

    def _pages(
        self, collection: Collection, condition: engine.Filter, *, with_vector: bool
    ) -> Iterator[engine.Record]:
        offset = None
        while True:
            request = engine.ScrollRequest(
                offset=offset,
                limit=PAGE,
                filter=condition,
                with_payload=not with_vector,
                with_vector=with_vector,
            )
            with self._read(collection) as shard:
                records, offset = shard.scroll(request)
            yield from records
            if offset is None:
                return

    def _optimize(self, collection: Collection, shard: engine.EdgeShard) -> None:
        check_space(self.folder, SPARE_BYTES + 2 * allocated(self.folder / collection))
        shard.optimize()
        shard.flush()
        self._written.discard(collection)

    def _close_shards(self) -> None:
        """Close all that is open; runs while no thread is inside and the lock is still held."""
        shards, self._shards = self._shards, {}
        with ExitStack() as last_first:
            for collection, shard in shards.items():
                last_first.enter_context(mapped(collection))
                last_first.callback(shard.close)
                if self._closed and collection in self._written:
                    last_first.callback(self._optimize, collection, shard)
