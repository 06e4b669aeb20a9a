"""What `ServerStore` and `qdrant_client` say to each other: filters, points, queries, answers."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from qdrant_client import models

from indexing.conditions import Told, stretched, told
from indexing.payload import from_payload, to_payload
from indexing.store import check_call, ends, starts
from indexing.types import (
    Branch,
    Collection,
    Filter,
    Memory,
    Point,
    Scored,
    SparseVector,
    Vector,
)


def build_filter(
    collection: Collection, where: Filter, branches: Sequence[Branch] = ()
) -> models.Filter:
    """Return the client's filter: the tenant always, then all that is set."""
    must: list[models.Condition] = [
        models.FieldCondition(key=key, match=models.MatchAny(any=values))
        for key, values in check_call(collection, where, branches).items()
    ]
    if where.ids is not None:
        must.append(models.HasIdCondition(has_id=list(where.ids)))
    must += map(_any_place, told(where))
    if where.stretches is not None:
        parts: list[models.Condition] = [
            models.Filter(must=list(map(_any_place, stretched(s)))) for s in where.stretches
        ]
        nothing = models.HasIdCondition(has_id=[])
        must.append(models.Filter(should=parts) if parts else nothing)
    hidden: list[models.Condition] = [_until(key, time) for key, time in ends(where)]
    hidden += [
        models.FieldCondition(key=key, range=models.Range(gt=time.timestamp()))
        for key, time in starts(where)
    ]
    return models.Filter(must=must, must_not=hidden) if hidden else models.Filter(must=must)


def past_filter(key: str, now: datetime) -> models.Filter:
    """Return the filter of what has a time of that payload key by then, of all tenants."""
    return models.Filter(must=[_until(key, now)])


def _until(key: str, time: datetime) -> models.FieldCondition:
    return models.FieldCondition(key=key, range=models.Range(lte=time.timestamp()))


def _any_place(asked: Told) -> models.Filter:
    """Return the condition that one of the places of a memory meets."""
    fields: list[models.Condition]
    if asked.values is None:
        span = models.Range(gte=asked.low, lt=asked.high)
        fields = [models.FieldCondition(key=key, range=span) for key in asked.keys]
    else:
        match = models.MatchAny(any=list(asked.values))
        fields = [models.FieldCondition(key=key, match=match) for key in asked.keys]
    return models.Filter(should=fields)


def to_vector(vector: Vector | SparseVector) -> list[float] | models.SparseVector:
    """Return the client's form of a vector."""
    if isinstance(vector, SparseVector):
        return models.SparseVector(indices=list(vector.indices), values=list(vector.values))
    return [float(x) for x in vector]


def to_point(point: Point) -> models.PointStruct:
    """Return the client's form of a point; an empty sparse vector is left out."""
    vectors: dict[str, models.Vector] = {n: to_vector(v) for n, v in point.dense.items()}
    vectors.update({n: to_vector(v) for n, v in point.sparse.items() if v.indices})
    return models.PointStruct(id=point.memory.id, vector=vectors, payload=to_payload(point.memory))


def to_query(
    branch: Branch,
    condition: models.Filter,
    corpus: models.Filter,
    quantized: models.SearchParams | None = None,
) -> models.QueryRequest:
    """Return one branch as a query.

    ``corpus`` is what sparse IDF is counted over; ``quantized`` is how a dense one is asked.
    """
    sparse = isinstance(branch.vector, SparseVector)
    params = models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus)) if sparse else quantized
    return models.QueryRequest(
        query=to_vector(branch.vector),
        using=branch.name,
        filter=condition,
        limit=branch.limit,
        score_threshold=branch.threshold,
        params=params,
        with_payload=["terms"] if sparse else False,
    )


def to_memory(collection: Collection, found: models.Record | models.ScoredPoint) -> Memory:
    """Return the memory of a found point."""
    return from_payload(collection, str(found.id), found.payload or {})


def to_scored(branch: Branch, found: models.QueryResponse) -> list[Scored]:
    """Return one ranked list."""
    lang = branch.lang or ""
    return [
        Scored(str(p.id), p.score, lang, (p.payload or {}).get("terms", "")) for p in found.points
    ]


def to_dense(record: models.Record) -> dict[str, Vector]:
    """Return the dense vectors of a record by name."""
    vectors = record.vector if isinstance(record.vector, dict) else {}
    return {
        name: np.asarray(vector, dtype=np.float32)
        for name, vector in vectors.items()
        if isinstance(vector, list)
    }


def rescored(oversampling: float) -> models.SearchParams:
    """Return how quantized vectors are searched: more are found by them, the originals decide."""
    chosen = models.QuantizationSearchParams(rescore=True, oversampling=oversampling)
    return models.SearchParams(quantization=chosen)
