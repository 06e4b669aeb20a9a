"""What the embedded store and `qdrant_edge` say to each other: config, filters, points, errors.

Plain functions; a shard's folder is `edge_files`, whose turn it is and when shards open is `edge`.
"""

import re
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from datetime import datetime
from typing import cast

import numpy as np
import qdrant_edge as engine

from indexing.conditions import Told, stretched, told
from indexing.edge_known import ENDS
from indexing.errors import SchemaMismatch, StoreError, StoreUnavailable
from indexing.payload import from_payload, to_payload
from indexing.store import check_call, ends, idf_corpus, starts
from indexing.types import (
    Branch,
    Collection,
    Filter,
    Memory,
    Point,
    Scored,
    SparseVector,
    Vector,
    VectorNames,
)

PACK_KB = 10_000
"""Vectors beyond this many KB are packed into a compact read-only segment by the optimizer."""

NO_GRAPH = engine.HnswIndexConfig(m=0, payload_m=0, ef_construct=16, full_scan_threshold=PACK_KB)
"""Search is exact: the graph of 20,000 memories takes 4 to 18 s to build, the interpreter held."""

SMALL = engine.ScalarQuantizationConfig(type=engine.ScalarType.Int8)
"""What is packed gets a copy of its vectors in one byte a number: a third of the time to scan."""

RESCORED = engine.SearchParams(
    quantization=engine.QuantizationSearchParams(rescore=True, oversampling=3.0)
)
"""Three times as many as are wanted are taken by their bytes, then ranked by the whole vectors."""

INDEXES: "dict[str, engine.PayloadSchemaParams]" = {
    "tenant": engine.KeywordIndexParams(is_tenant=True),
    "kind": engine.KeywordIndexParams(enable_hnsw=False),
    "lang": engine.KeywordIndexParams(enable_hnsw=False),
    "source_id": engine.KeywordIndexParams(enable_hnsw=False),
    "key": engine.KeywordIndexParams(enable_hnsw=False),
    "subject": engine.KeywordIndexParams(enable_hnsw=False),
    "value": engine.KeywordIndexParams(enable_hnsw=False),
    "superseded_by": engine.KeywordIndexParams(enable_hnsw=False),
    "expires_at": engine.FloatIndexParams(enable_hnsw=False),
    "lapses_at": engine.FloatIndexParams(enable_hnsw=False),
    "since": engine.FloatIndexParams(enable_hnsw=False),
    "valid_to": engine.FloatIndexParams(enable_hnsw=False),
    "filed": engine.KeywordIndexParams(enable_hnsw=False),
    "conversation_id": engine.KeywordIndexParams(enable_hnsw=False),
    "at": engine.FloatIndexParams(enable_hnsw=False),
    "also[].at": engine.FloatIndexParams(enable_hnsw=False),
}
"""Each index takes 4 ms when a shard is opened. A condition on a key without one, as ``uri``, is
checked on the payloads of what the other conditions leave: 60 ms over a tenant's 20,000."""

VENDOR_ERRORS: dict[str, type[StoreError]] = {
    r"No space left|File too large|Read-only file system|Permission denied": StoreUnavailable,
    r"incompatible|Vector dimension error|Not existing vector name": SchemaMismatch,
}


def build_filter(
    collection: Collection,
    where: Filter,
    lang: str | None = None,
    known: Set[str] = ENDS,
) -> engine.Filter:
    """Return the engine's filter: the tenant always, then all that is set.

    ``lang`` stands in for the languages of the filter; ``known`` are the ends of time that any
    memory of the collection has.
    """
    exact = dict(check_call(collection, where))
    if lang is not None:
        exact["lang"] = [lang]
        if collection == "global":  # has one tenant: whatever has a language is everyone's
            del exact["tenant"]
    must: list[engine.ConditionType] = [
        engine.FieldCondition(key, match=_match(values)) for key, values in exact.items()
    ]
    if where.ids is not None:
        must.append(engine.HasIdCondition(set(where.ids)))
    must += map(_any_place, told(where))
    if where.stretches is not None:
        parts: list[engine.ConditionType] = [
            engine.Filter(must=list(map(_any_place, stretched(s)))) for s in where.stretches
        ]
        must.append(engine.Filter(should=parts) if parts else engine.HasIdCondition(set()))
    hidden: list[engine.ConditionType] = [
        _until(key, time) for key, time in ends(where) if key in known
    ]
    hidden += [
        engine.FieldCondition(key, range=engine.RangeFloat(gt=time.timestamp()))
        for key, time in starts(where)
    ]
    return engine.Filter(must=must, must_not=hidden) if hidden else engine.Filter(must=must)


def past_filter(key: str, now: datetime) -> engine.Filter:
    """Return the filter of what has a time of that payload key by then, of all tenants."""
    return engine.Filter(must=[_until(key, now)])


def _until(key: str, time: datetime) -> engine.FieldCondition:
    return engine.FieldCondition(key, range=engine.RangeFloat(lte=time.timestamp()))


def _any_place(asked: Told) -> engine.Filter:
    """Return the condition that one of the places of a memory meets."""
    fields: list[engine.ConditionType]
    if asked.values is None:
        span = engine.RangeFloat(gte=asked.low, lt=asked.high)
        fields = [engine.FieldCondition(key, range=span) for key in asked.keys]
    else:
        match = _match(list(asked.values))
        fields = [engine.FieldCondition(key, match=match) for key in asked.keys]
    return engine.Filter(should=fields)


def _match(values: list[str]) -> engine.MatchValue | engine.MatchAny:
    """One value is asked as one value: over a tenant of 20,000 that is 1 ms less per query."""
    return engine.MatchValue(values[0]) if len(values) == 1 else engine.MatchAny(values)


def config(names: VectorNames) -> engine.EdgeConfig:
    """Return the shard config: no log, and an optimizer that rewrites for one deleted point."""
    cosine = engine.Distance.Cosine
    return engine.EdgeConfig(
        vectors={
            n: engine.EdgeVectorParams(size=d, distance=cosine) for n, d in names.dense.items()
        },
        sparse_vectors={
            n: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf) for n in names.sparse
        },
        hnsw_config=NO_GRAPH,
        quantization_config=SMALL,
        optimizers=engine.EdgeOptimizersConfig(
            deleted_threshold=1e-9,
            vacuum_min_vector_number=1,
            default_segment_number=1,
            indexing_threshold=PACK_KB,
        ),
        wal_enabled=False,
    )


def to_vector(vector: Vector | SparseVector) -> list[float] | engine.SparseVector:
    """Return the engine's form of a vector."""
    if isinstance(vector, SparseVector):
        return engine.SparseVector(list(vector.indices), list(vector.values))
    return cast("list[float]", vector.tolist())


def to_point(point: Point) -> engine.Point:
    """Return the engine's form of a point; an empty sparse vector is left out."""
    vectors: dict[str, engine.NamedVector] = {n: to_vector(v) for n, v in point.dense.items()}
    vectors.update({n: to_vector(v) for n, v in point.sparse.items() if v.indices})
    return engine.Point(point.memory.id, vectors, to_payload(point.memory))


def to_request(
    collection: Collection, branches: Sequence[Branch], where: Filter, known: Set[str] = ENDS
) -> engine.QueryBatchRequest:
    """Return the branches, none of them without terms, as one request.

    What several branches have in common, filters and a vector, is made once. ``known``: see
    `build_filter`.
    """
    filters = {b.lang: build_filter(collection, where, b.lang, known) for b in branches}
    vectors = {id(b.vector): to_vector(b.vector) for b in branches}
    whole = idf_corpus(where)
    corpus = filters.get(None) if whole == where else None
    idf = engine.IdfParams(corpus or build_filter(collection, whole, known=known))
    return engine.QueryBatchRequest(
        [_query(b, vectors[id(b.vector)], filters[b.lang], idf) for b in branches]
    )


def _query(
    branch: Branch, vector: "engine.NamedVector", condition: engine.Filter, idf: engine.IdfParams
) -> engine.QueryRequest:
    """Return one branch as a query; ``idf`` is what sparse IDF is counted over."""
    sparse = isinstance(branch.vector, SparseVector)
    return engine.QueryRequest(
        limit=branch.limit,
        query=engine.Query.Nearest(vector, branch.name),
        filter=condition,
        score_threshold=branch.threshold,
        params=engine.SearchParams(idf=idf) if sparse else RESCORED,
        with_payload=["terms"] if sparse else False,
    )


def to_memory(collection: Collection, found: engine.Record | engine.ScoredPoint) -> Memory:
    """Return the memory of a found point."""
    return from_payload(collection, str(found.id), found.payload or {})


def to_scored(branch: Branch, found: list[engine.ScoredPoint]) -> list[Scored]:
    """Return one ranked list."""
    lang = branch.lang or ""
    if not isinstance(branch.vector, SparseVector):
        return [Scored(str(p.id), p.score, lang) for p in found]
    return [Scored(str(p.id), p.score, lang, (p.payload or {}).get("terms", "")) for p in found]


def to_dense(record: engine.Record) -> dict[str, Vector]:
    """Return the dense vectors of a record by name."""
    vectors = cast("dict[str, engine.NamedVector]", record.vector or {})
    return {
        name: np.asarray(vector, dtype=np.float32)
        for name, vector in vectors.items()
        if not isinstance(vector, engine.SparseVector)
    }


@contextmanager
def mapped(collection: str, unknown: type[StoreError] = StoreError) -> Iterator[None]:
    """Name the engine's errors: it raises plain `Exception` with a text, or a Rust panic.

    ``unknown`` is what an error of no known text becomes.
    """
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(f"collection {collection!r}: {error}") from error
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise _named(collection, str(error), unknown) from error


def _named(collection: str, text: str, unknown: type[StoreError]) -> StoreError:
    for pattern, kind in VENDOR_ERRORS.items():
        if re.search(pattern, text):
            return kind(f"collection {collection!r}: {text}")
    return unknown(f"collection {collection!r}: {text}")
